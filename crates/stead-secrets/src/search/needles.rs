//! Many secrets, to be found in texts.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use super::base64::is_character;
use super::decoded::{Places, readings};
use super::forms::{all, of_lines};
use super::index::{Found, Index, MOST_COMPARED};
use super::{SEARCHED, digest_of, leaves};
use crate::HIDDEN;
use stead_model::Value;
use zeroize::Zeroizing;

/// The secrets that texts are searched for. It has no `Debug`, and its bytes are overwritten when it is dropped.
#[derive(Default)]
pub struct Needles {
    pub(super) index: Index,
    /// Lines of the secrets that have several, for messages.
    lines: Index,
    /// Short secrets, each as one number.
    short: BTreeSet<u64>,
}

impl Needles {
    /// Returns the needles of these secrets. An empty secret is none.
    pub fn new<S: AsRef<[u8]>>(secrets: impl IntoIterator<Item = S>) -> Needles {
        let (mut forms, mut lines, mut short) = (Vec::new(), Vec::new(), BTreeSet::new());
        for secret in secrets {
            match secret.as_ref() {
                [] => {}
                secret => match packed(secret) {
                    Some(number) => drop(short.insert(number)),
                    None => {
                        forms.extend(all(secret));
                        lines.extend(of_lines(secret));
                    }
                },
            }
        }
        Needles { index: Index::new(forms), lines: Index::new(lines), short }
    }

    /// Returns the needles of these secrets and of their SHA-256, with which a guess can be checked.
    pub fn with_digests<S: AsRef<[u8]>>(secrets: impl IntoIterator<Item = S>) -> Needles {
        let both = |secret: S| {
            let digest = digest_of(secret.as_ref());
            [Zeroizing::new(secret.as_ref().to_vec()), digest]
        };
        Needles::new(secrets.into_iter().flat_map(both))
    }

    /// Returns the needles of structured secrets: their strings, their numbers and their JSON.
    pub fn of_values<'a>(secrets: impl IntoIterator<Item = &'a Value>) -> Needles {
        Needles::new(secrets.into_iter().flat_map(leaves))
    }

    /// Returns true if the text contains a secret of eight bytes or more in any form, or is a shorter one.
    pub fn contains(&self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        self.is_secret_text(text) || is_in_a_reading(&self.index, text)
    }

    /// Returns true if a message or a log contains a secret, or a long line of one.
    pub fn are_in_message(&self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        self.contains(text) || is_in_a_reading(&self.lines, text)
    }

    /// Returns true if the whole text is a secret that is too short to be searched for.
    pub fn is_secret_text(&self, text: impl AsRef<[u8]>) -> bool {
        packed(text.as_ref()).is_some_and(|number| self.short.contains(&number))
    }

    /// Returns the text with `[secret]` in the place of each secret.
    pub fn redact(&self, text: &str) -> String {
        redacted(text, self.found(text.as_bytes()))
    }

    /// Returns a message or a log with `[secret]` in the place of each secret, and of each long line of one.
    pub fn redact_message(&self, text: &str) -> String {
        redacted(text, self.found_in_message(text))
    }

    /// Returns the lines of a log with `[secret]` in the place of each secret, and of each part of one that goes over several lines.
    pub fn redact_lines(&self, lines: &[String]) -> Vec<String> {
        let texts: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(['\n', '\r'])).collect();
        let found = self.found_in_message(&texts.join("\n"));
        let (mut start, mut next) = (0, 0);
        let redact = |(line, text): (&String, &str)| {
            let range = start..start + text.len();
            start = range.end + 1;
            next += found[next..].iter().take_while(|place| place.end <= range.start).count();
            let inside = found[next..].iter().take_while(|place| place.start < range.end);
            let in_line = |place: &Range<usize>| {
                place.start.max(range.start) - range.start..place.end.min(range.end) - range.start
            };
            redacted(text, inside.map(in_line).collect()) + &line[text.len()..]
        };
        lines.iter().zip(texts.iter().copied()).map(redact).collect()
    }

    fn found_in_message(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.found(text.as_bytes());
        found.extend(found_in_readings(&self.lines, text.as_bytes()));
        united(found)
    }

    /// Returns the bytes with `[secret]` in the place of each secret.
    pub fn redact_bytes(&self, text: &[u8]) -> Vec<u8> {
        replaced(text, self.found(text).into_iter())
    }

    /// Returns the places of all secrets, in any reading of the text.
    fn found(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = found_in_readings(&self.index, text);
        if self.is_secret_text(text) {
            found.push(0..text.len());
        }
        united(found)
    }
}

fn has_form(index: &Index, text: &[u8]) -> bool {
    let mut found = false;
    index.each_found(text, MOST_COMPARED, &mut |_| {
        found = true;
        ControlFlow::Break(())
    });
    found
}

/// Returns true if the text, or a reading of it, has a form of the index.
fn is_in_a_reading(index: &Index, text: &[u8]) -> bool {
    !index.is_empty()
        && (has_form(index, text)
            || readings(text, Places::Ignored).iter().any(|reading| has_form(index, &reading.bytes)))
}

/// Returns the places of the forms of an index, in any reading of the text.
fn found_in_readings(index: &Index, text: &[u8]) -> Vec<Range<usize>> {
    if index.is_empty() {
        return Vec::new();
    }
    let mut found = found_comparing(index, text, MOST_COMPARED);
    for reading in readings(text, Places::Known) {
        let places = found_comparing(index, &reading.bytes, MOST_COMPARED);
        found.extend(places.into_iter().map(|place| reading.place(place)));
    }
    found
}

/// Returns the places of the forms of an index, in order. Forms that overlap have one place, so that nothing of either remains.
pub(super) fn found_comparing(index: &Index, text: &[u8], most_compared: usize) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    index.each_found(text, most_compared, &mut |place| {
        let mut place = with_shared_characters(text, place);
        while let Some(last) = found.pop_if(|last| place.start < last.end) {
            place = last.start.min(place.start)..last.end.max(place.end);
        }
        found.push(place);
        ControlFlow::Continue(())
    });
    found
}

/// Sorts places, and joins overlapping ones.
fn united(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|place| place.start);
    found.dedup_by(|later, kept| {
        let overlap = later.start < kept.end;
        if overlap {
            kept.end = kept.end.max(later.end);
        }
        overlap
    });
    found
}

/// Replaces the places, which are in order, with `[secret]`.
fn redacted(text: &str, found: Vec<Range<usize>>) -> String {
    let on_boundaries =
        |found: Range<usize>| text.floor_char_boundary(found.start)..text.ceil_char_boundary(found.end);
    String::from_utf8_lossy(&replaced(text.as_bytes(), found.into_iter().map(on_boundaries))).into_owned()
}

/// Returns the place of a form with the characters of base64 beside it that contain bits of the secret.
fn with_shared_characters(text: &[u8], Found { start, form }: Found<'_>) -> Range<usize> {
    let end = start + form.bytes.len();
    let shared = |bytes: &[u8]| bytes.iter().all(|byte| is_character(*byte));
    let before = start.saturating_sub(form.before.into());
    let after = text.len().min(end + usize::from(form.after));
    let start = if shared(&text[before..start]) { before } else { start };
    let end = if shared(&text[end..after]) { after } else { end };
    start..end
}

/// Returns a text of less than eight bytes as a number: its bytes and its length.
fn packed(text: &[u8]) -> Option<u64> {
    if text.len() >= SEARCHED {
        return None;
    }
    let mut bytes = [0; SEARCHED];
    bytes[..text.len()].copy_from_slice(text);
    bytes[SEARCHED - 1] = text.len() as u8;
    Some(u64::from_be_bytes(bytes))
}

/// Replaces the places, which are in order.
fn replaced(text: &[u8], found: impl Iterator<Item = Range<usize>>) -> Vec<u8> {
    let (mut result, mut kept) = (Vec::with_capacity(text.len()), 0);
    for place in found {
        result.extend_from_slice(&text[kept..place.start.max(kept)]);
        result.extend_from_slice(HIDDEN.as_bytes());
        kept = place.end.max(kept);
    }
    result.extend_from_slice(&text[kept..]);
    result
}
