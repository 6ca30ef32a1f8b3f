//! The redactor: knows the secrets of a process, and takes them out of every text before it is shown.
//!
//! The redactor is the last line of defence of a front end, behind values that know that they are secret and behind the veil of provider calls.
//! **Invariants:** a process without secrets pays one look at a flag for each text; a secret of fewer than eight bytes is not
//! searched for.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use stead_model::Value;

use crate::{KnownSecrets, ShortSecrets};

/// The secrets that a process made or opened.
pub struct Redactor {
    any: AtomicBool,
    known: Mutex<KnownSecrets>,
}

impl Redactor {
    pub const fn new() -> Redactor {
        Redactor { any: AtomicBool::new(false), known: Mutex::new(KnownSecrets::new(ShortSecrets::Ignored)) }
    }

    /// Adds a secret. Its parts are searched for in every later text.
    pub fn add(&self, secret: &Value) {
        self.known().add(secret);
        self.any.store(true, Ordering::Release);
    }

    /// Returns the text with `[secret]` in the place of each secret.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.any.load(Ordering::Acquire) {
            false => Cow::Borrowed(text),
            true => self.known().redact(text),
        }
    }

    /// Returns a message or a log with `[secret]` in the place of each secret, and of each long line of one.
    pub fn redact_message<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.any.load(Ordering::Acquire) {
            false => Cow::Borrowed(text),
            true => self.known().redact_message(text),
        }
    }

    /// Returns the text like [`redact_message`](Redactor::redact_message), or `None` while another text is searched: a panic must not
    /// wait.
    pub fn try_redact(&self, text: &str) -> Option<String> {
        if !self.any.load(Ordering::Acquire) {
            return Some(text.to_owned());
        }
        let mut known = self.known.try_lock().ok()?;
        Some(known.redact_message(text).into_owned())
    }

    fn known(&self) -> MutexGuard<'_, KnownSecrets> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Redactor {
    fn default() -> Redactor {
        Redactor::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_in_a_search_does_not_wait_for_it() {
        let redactor = Redactor::new();
        redactor.add(&Value::from("correct horse"));
        let held = redactor.known();
        assert_eq!(redactor.try_redact("anything"), None);
        drop(held);
        assert_eq!(redactor.try_redact("a correct horse").as_deref(), Some("a [secret]"));
    }
}
