//! An index of byte strings that finds those in a text.
//!
//! The first eight bytes of a string are its key in a table, and one bit for each key tells most places apart without a look at
//! the table. The strings with one key are sorted, and each knows its longest proper prefix among them, so that a look-up
//! compares a few strings however many there are. The index needs little more memory than the strings.
//!
//! Only a long string that repeats itself, in a text that repeats it too, would be compared again and again. The compared bytes
//! are counted, and a text that costs more than [`MOST_COMPARED`] for each of its bytes is searched with an automaton
//! instead, whose time is linear and whose memory is not small.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use super::SEARCHED;
use super::automaton::{Automaton, common_prefix};
use super::forms::Form;

/// Most bytes that the index compares for each byte of a text. Secrets with one common beginning need a dozen.
pub(super) const MOST_COMPARED: usize = 128;

/// Byte strings of eight bytes or more.
#[derive(Default)]
pub(super) struct Index {
    /// Sorted by bytes, each once.
    forms: Vec<Form>,
    /// For each form the position of the longest other form that it begins with.
    prefixes: Vec<Option<u32>>,
    /// The forms with the same first eight bytes.
    heads: HashMap<u64, Range<u32>>,
    /// One bit for each hash of a head.
    filter: Vec<u64>,
    /// Made for the first text that needs it.
    automaton: OnceLock<Automaton>,
}

/// A place of a text that has a form.
pub(super) struct Found<'a> {
    pub(super) start: usize,
    pub(super) form: &'a Form,
}

/// Bytes that were compared, and how many may be.
struct Work {
    done: usize,
    most: usize,
}

impl Index {
    pub(super) fn new(mut forms: Vec<Form>) -> Index {
        forms.retain(|form| form.bytes.len() >= SEARCHED);
        forms.sort();
        // Of equal strings the one that reaches furthest remains.
        forms.dedup_by(|later, kept| {
            let same = later.bytes == kept.bytes;
            if same {
                (kept.before, kept.after) = (kept.before.max(later.before), kept.after.max(later.after));
            }
            same
        });
        let mut index = Index { filter: vec![0; filter_words(forms.len())], ..Index::default() };
        let mut enclosing: Vec<u32> = Vec::new();
        for (at, form) in forms.iter().enumerate() {
            let at = at as u32;
            while enclosing.last().is_some_and(|last| !form.bytes.starts_with(&forms[*last as usize].bytes)) {
                enclosing.pop();
            }
            index.prefixes.push(enclosing.last().copied());
            enclosing.push(at);
            let Some(head) = head(&form.bytes) else { continue };
            index.heads.entry(head).or_insert(at..at).end = at + 1;
            let (word, bit) = index.filter_place(head);
            index.filter[word] |= bit;
        }
        index.forms = forms;
        index
    }

    pub(super) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Calls `each` with places of the text that have a form, until it breaks. Every other place that has one is inside of these.
    ///
    /// The places are in the order of their starts, or of their ends. Returns the number of bytes that were compared before the
    /// automaton took over, if it did.
    pub(super) fn each_found<'a>(
        &'a self,
        text: &[u8],
        most_compared: usize,
        each: &mut dyn FnMut(Found<'a>) -> ControlFlow<()>,
    ) -> usize {
        let mut work = Work { done: 0, most: text.len().saturating_mul(most_compared) };
        for start in 0..text.len().saturating_sub(SEARCHED - 1) {
            if let Some(form) = self.longest(&text[start..], &mut work)
                && each(Found { start, form }).is_break()
            {
                break;
            }
            if work.done > work.most {
                self.each_found_by_automaton(text, start + 1, each);
                break;
            }
        }
        work.done
    }

    /// Goes on from a place of the text.
    fn each_found_by_automaton<'a>(
        &'a self,
        text: &[u8],
        from: usize,
        each: &mut dyn FnMut(Found<'a>) -> ControlFlow<()>,
    ) {
        let automaton = self.automaton.get_or_init(|| Automaton::new(&self.forms));
        let mut state = 0;
        for (at, byte) in text.iter().enumerate().skip(from) {
            state = automaton.next(state, *byte);
            let Some(form) = automaton.form_at_end(state).map(|form| &self.forms[form]) else { continue };
            if each(Found { start: at + 1 - form.bytes.len(), form }).is_break() {
                return;
            }
        }
    }

    /// Returns the longest form that the text has at its beginning.
    fn longest(&self, text: &[u8], work: &mut Work) -> Option<&Form> {
        let head = head(text)?;
        let (word, bit) = self.filter_place(head);
        if self.filter.get(word)? & bit == 0 {
            return None;
        }
        let range = self.heads.get(&head)?;
        let same_head = &self.forms[range.start as usize..range.end as usize];
        // Every form that the text begins with is a prefix of the last form that is not greater than the text.
        let not_greater = same_head.partition_point(|form| {
            let common = common_prefix(&form.bytes, text);
            work.done += common;
            form.bytes[common..].first() <= text[common..].first()
        });
        let mut candidate =
            (range.start as usize + not_greater).checked_sub(1).filter(|_| not_greater > 0)?;
        let common = common_prefix(&self.forms[candidate].bytes, text);
        work.done += common;
        // A prefix of the candidate is at the beginning of the text if it is not longer than what they have in common.
        while self.forms[candidate].bytes.len() > common {
            candidate = self.prefixes[candidate]? as usize;
        }
        Some(&self.forms[candidate])
    }

    fn filter_place(&self, head: u64) -> (usize, u64) {
        let hash = head.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = self.filter.len() * 64;
        let bit = (hash >> 32) as usize & bits.wrapping_sub(1);
        (bit / 64, 1 << (bit % 64))
    }
}

/// Returns the size of the filter: a power of two, with at least 16 bits for each form.
fn filter_words(forms: usize) -> usize {
    if forms == 0 { 0 } else { (forms / 4).next_power_of_two().clamp(64, 1 << 20) }
}

fn head(text: &[u8]) -> Option<u64> {
    text.first_chunk::<SEARCHED>().map(|first| u64::from_le_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::super::forms::all;
    use super::*;

    #[test]
    fn work_is_linear_in_the_text_for_a_long_secret_of_one_letter() {
        const LENGTH: usize = 64 << 10;
        let index = Index::new(all(("a".repeat(LENGTH) + "b").as_bytes()));
        for size in [1 << 18, 1 << 20] {
            let text = "a".repeat(size);
            let compared =
                index.each_found(text.as_bytes(), MOST_COMPARED, &mut |_| ControlFlow::Continue(()));
            // One look-up compares with several forms at most before the count is looked at.
            assert!(compared <= MOST_COMPARED * size + 64 * LENGTH, "{compared} for {size}");
            let looked_at = index.automaton.get().map(|automaton| automaton.looked_at(text.as_bytes()));
            assert!(looked_at.is_some_and(|looked_at| looked_at <= 8 * size), "{looked_at:?} for {size}");
        }
    }
}
