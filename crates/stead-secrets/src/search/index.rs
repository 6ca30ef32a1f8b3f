//! An index of byte strings that finds the longest one at each place of a text.
//!
//! The first eight bytes of a string are its key in a table, and one bit for each key tells most places apart without a look at
//! the table. The strings with one key are sorted, and each knows its longest proper prefix among them, so that a look-up
//! compares a few strings however many there are. The index needs little more
//! memory than the strings. An automaton of Aho and Corasick (`aho-corasick` 1.1, contiguous) measured 13 bytes for each byte of
//! the strings and 30 more while it is built: 6 to 19 MB for a secret of 64 KiB in all its forms. In return its time is linear.
//! Here a long secret that repeats itself, in a text that repeats it too, costs the product of both: 3.6 s for 64 KiB in 1 MiB.

use std::collections::HashMap;
use std::ops::Range;

use super::SEARCHED;
use super::forms::Form;

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

    /// Returns the longest form that the text has at its beginning.
    pub(super) fn longest(&self, text: &[u8]) -> Option<&Form> {
        let head = head(text)?;
        let (word, bit) = self.filter_place(head);
        if self.filter.get(word)? & bit == 0 {
            return None;
        }
        let range = self.heads.get(&head)?;
        let same_head = &self.forms[range.start as usize..range.end as usize];
        // Every form that the text begins with is a prefix of the last form that is not greater than the text.
        let not_greater = same_head.partition_point(|form| form.bytes.as_slice() <= text);
        let mut candidate =
            (range.start as usize + not_greater).checked_sub(1).filter(|_| not_greater > 0)?;
        while !text.starts_with(&self.forms[candidate].bytes) {
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
