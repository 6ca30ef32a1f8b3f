//! Secrets that become known one after the other, while texts are searched for all of them.
//!
//! Making needles costs more than a search. Secrets are therefore indexed when the next text comes, in batches of which each is
//! larger than the next one: there are few batches, and a secret is indexed a few times only.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use stead_model::Value;
use zeroize::Zeroizing;

use crate::search::{Needles, SEARCHED, digest_of, leaves};

/// The secrets known so far. It has no `Debug`, and its bytes are overwritten when it is dropped.
pub struct KnownSecrets {
    /// Secrets that no batch has yet.
    waiting: Vec<Value>,
    seen: BTreeSet<Leaf>,
    batches: Vec<Batch>,
    short: ShortSecrets,
    digests: Digests,
}

/// Whether the SHA-256 of a secret is found as well, in any form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digests {
    Found,
    Ignored,
}

/// Whether a secret of fewer than eight bytes is found, where it is the whole text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortSecrets {
    Found,
    Ignored,
}

struct Batch {
    leaves: Vec<Leaf>,
    needles: Needles,
}

impl KnownSecrets {
    /// Returns no secrets. Their digests will not be found.
    pub const fn new(short: ShortSecrets) -> KnownSecrets {
        let digests = Digests::Ignored;
        KnownSecrets { waiting: Vec::new(), seen: BTreeSet::new(), batches: Vec::new(), short, digests }
    }

    /// Chooses whether digests of the secrets are found.
    #[must_use]
    pub const fn digests(mut self, digests: Digests) -> KnownSecrets {
        self.digests = digests;
        self
    }

    /// Adds a secret with all its parts.
    pub fn add(&mut self, secret: &Value) {
        self.waiting.push(secret.clone());
    }

    /// Returns true if the text contains a secret.
    pub fn are_in_text(&mut self, text: &[u8]) -> bool {
        self.index_waiting();
        self.batches.iter().any(|batch| batch.needles.contains(text))
    }

    /// Returns true if a string or a number in the value contains a secret.
    pub fn are_in(&mut self, value: &Value) -> bool {
        self.index_waiting();
        let found = |text: &Zeroizing<Vec<u8>>| {
            self.batches.iter().any(|batch| batch.needles.contains(text.as_slice()))
        };
        leaves(value).iter().any(found)
    }

    /// Returns true if a part of the text that was cut off somewhere contains a secret, or a long line of one.
    pub fn are_in_message(&mut self, text: &[u8]) -> bool {
        self.index_waiting();
        self.batches.iter().any(|batch| batch.needles.are_in_message(text))
    }

    /// Returns the text with `[secret]` in the place of each secret.
    pub fn redact<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        self.redacted(text, |needles, text| needles.contains(text).then(|| needles.redact(text)))
    }

    /// Returns a message or a log with `[secret]` in the place of each secret, and of each long line of one.
    pub fn redact_message<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        self.redacted(text, |needles, text| {
            needles.are_in_message(text).then(|| needles.redact_message(text))
        })
    }

    /// Returns the lines of a log with `[secret]` in the place of each secret, and of each part of one that goes over several lines.
    pub fn redact_lines(&mut self, lines: Vec<String>) -> Vec<String> {
        self.index_waiting();
        self.batches.iter().fold(lines, |lines, batch| batch.needles.redact_lines(&lines))
    }

    fn redacted<'a>(
        &mut self,
        text: &'a str,
        redact: impl Fn(&Needles, &str) -> Option<String>,
    ) -> Cow<'a, str> {
        self.index_waiting();
        let mut text = Cow::Borrowed(text);
        for batch in &self.batches {
            if let Some(redacted) = redact(&batch.needles, &text) {
                text = Cow::Owned(redacted);
            }
        }
        text
    }

    fn index_waiting(&mut self) {
        let mut new = Vec::new();
        for leaf in std::mem::take(&mut self.waiting).iter().flat_map(leaves) {
            let leaf = Leaf(Arc::new(leaf));
            if leaf.bytes().is_empty() || !self.seen.insert(leaf.clone()) {
                continue;
            }
            if self.digests == Digests::Found {
                new.push(Leaf(Arc::new(digest_of(leaf.bytes()))));
            }
            if leaf.bytes().len() >= SEARCHED || self.short == ShortSecrets::Found {
                new.push(leaf);
            }
        }
        if new.is_empty() {
            return;
        }
        while let Some(smaller) = self.batches.pop_if(|last| last.leaves.len() <= new.len()) {
            new.extend(smaller.leaves);
        }
        let needles = Needles::new(new.iter().map(Leaf::bytes));
        self.batches.push(Batch { leaves: new, needles });
    }
}

/// A part of a secret that gives it away.
#[derive(Clone)]
struct Leaf(Arc<Zeroizing<Vec<u8>>>);

impl Leaf {
    fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Leaf) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Leaf {}

impl PartialOrd for Leaf {
    fn partial_cmp(&self, other: &Leaf) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Leaf {
    fn cmp(&self, other: &Leaf) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn secrets_added_at_any_time_are_taken_out_of_later_texts() {
        let mut known = KnownSecrets::new(ShortSecrets::Ignored);
        assert!(matches!(known.redact("secret-number-1"), Cow::Borrowed(_)));
        for n in 0..200 {
            known.add(&Value::from(format!("secret-number-{n}!")));
            let shown = known.redact(&format!("a secret-number-{n}! b secret-number-0!")).into_owned();
            assert_eq!(shown, "a [secret] b [secret]", "{n}");
        }
        assert!(known.batches.len() < 10);
    }

    #[test]
    fn digest_of_a_secret_is_found_in_any_form_if_digests_count() {
        let of_a_password = "9f735e0df9a1ddc702bf0a1a7b83033f9f7153a00c29de82cedadc9957289b05";
        assert_eq!(stead_model::hex(&digest_of(b"testpassword")), of_a_password);
        for secret in ["testpassword", "pin"] {
            let hex = stead_model::hex(&digest_of(secret.as_bytes()));
            let base64 = STANDARD.encode(digest_of(secret.as_bytes()).as_slice());
            let mut known = KnownSecrets::new(ShortSecrets::Ignored);
            known.add(&Value::from(secret));
            assert!(!known.are_in_text(hex.as_bytes()));
            let mut known = KnownSecrets::new(ShortSecrets::Ignored).digests(Digests::Found);
            known.add(&Value::from(secret));
            for text in [hex.clone(), hex.to_uppercase(), base64, format!("sha256:{hex}")] {
                assert!(known.are_in_text(text.as_bytes()), "{secret}: {text}");
            }
            assert!(!known.are_in_text(b"a text"));
        }
    }

    #[test]
    fn parts_of_structured_secrets_are_found_and_short_ones_only_if_they_count() {
        let secret: Value = ["correct horse", "pony"].into_iter().map(Value::from).collect();
        let mut known = KnownSecrets::new(ShortSecrets::Ignored);
        known.add(&secret);
        assert_eq!(known.redact("a pony on a correct horse"), "a pony on a [secret]");
        assert_eq!(known.redact(&secret.to_json()), "[secret]");
        assert!(!known.are_in(&Value::from("pony")));
        let mut known = KnownSecrets::new(ShortSecrets::Found);
        known.add(&secret);
        assert!(known.are_in(&Value::from("pony")) && !known.are_in(&Value::from("a pony")));
        assert!(known.are_in(&["a", "the correct horse"].into_iter().map(Value::from).collect()));
    }
}
