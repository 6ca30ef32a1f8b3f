//! Many secrets, to be found in texts.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use super::base64::is_character;
use super::decoded::{Places, readings};
use super::forms::all;
use super::index::{Found, Index, MOST_COMPARED};
use super::{SEARCHED, leaves};
use crate::HIDDEN;
use stead_model::Value;

/// The secrets that texts are searched for. It has no `Debug`, and its bytes are overwritten when it is dropped.
#[derive(Default)]
pub struct Needles {
    index: Index,
    /// Short secrets, each as one number.
    short: BTreeSet<u64>,
}

impl Needles {
    /// Returns the needles of these secrets. An empty secret is none.
    pub fn new<S: AsRef<[u8]>>(secrets: impl IntoIterator<Item = S>) -> Needles {
        let (mut forms, mut short) = (Vec::new(), BTreeSet::new());
        for secret in secrets {
            match secret.as_ref() {
                [] => {}
                secret => match packed(secret) {
                    Some(number) => drop(short.insert(number)),
                    None => forms.extend(all(secret)),
                },
            }
        }
        Needles { index: Index::new(forms), short }
    }

    /// Returns the needles of structured secrets: their strings, their numbers and their JSON.
    pub fn of_values<'a>(secrets: impl IntoIterator<Item = &'a Value>) -> Needles {
        Needles::new(secrets.into_iter().flat_map(leaves))
    }

    /// Returns true if the text contains a secret of eight bytes or more in any form, or is a shorter one.
    pub fn contains(&self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        self.is_secret_text(text)
            || self.has_form(text)
            || (!self.index.is_empty()
                && readings(text, Places::Ignored).iter().any(|reading| self.has_form(&reading.bytes)))
    }

    fn has_form(&self, text: &[u8]) -> bool {
        let mut found = false;
        self.index.each_found(text, MOST_COMPARED, &mut |_| {
            found = true;
            ControlFlow::Break(())
        });
        found
    }

    /// Returns true if the whole text is a secret that is too short to be searched for.
    pub fn is_secret_text(&self, text: impl AsRef<[u8]>) -> bool {
        packed(text.as_ref()).is_some_and(|number| self.short.contains(&number))
    }

    /// Returns the text with `[secret]` in the place of each secret.
    pub fn redact(&self, text: &str) -> String {
        let on_boundaries =
            |found: Range<usize>| text.floor_char_boundary(found.start)..text.ceil_char_boundary(found.end);
        let found = self.found(text.as_bytes()).into_iter().map(on_boundaries);
        String::from_utf8_lossy(&replaced(text.as_bytes(), found)).into_owned()
    }

    /// Returns the bytes with `[secret]` in the place of each secret.
    pub fn redact_bytes(&self, text: &[u8]) -> Vec<u8> {
        replaced(text, self.found(text).into_iter())
    }

    /// Returns the places of all secrets, in any reading of the text.
    fn found(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = self.found_comparing(text, MOST_COMPARED);
        if self.index.is_empty() {
            return found;
        }
        for reading in readings(text, Places::Known) {
            let places = self.found_comparing(&reading.bytes, MOST_COMPARED);
            found.extend(places.into_iter().map(|place| reading.place(place)));
        }
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

    /// Returns the places of all secrets, in order. Secrets that overlap have one place, so that nothing of either remains.
    pub(super) fn found_comparing(&self, text: &[u8], most_compared: usize) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.is_secret_text(text) {
            found.push(0..text.len());
        }
        self.index.each_found(text, most_compared, &mut |place| {
            let mut place = with_shared_characters(text, place);
            while let Some(last) = found.pop_if(|last| place.start < last.end) {
                place = last.start.min(place.start)..last.end.max(place.end);
            }
            found.push(place);
            ControlFlow::Continue(())
        });
        found
    }
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
