//! The keys of a stack's objects in its store.

use std::collections::BTreeSet;

use stead_model::{Digest, Epoch, OpId, RunId, Seq};
use stead_store::Key;

/// The keys of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackKeys {
    prefix: Key,
}

impl StackKeys {
    /// Returns the keys of the stack of one program, in one environment (with its namespace), on one target.
    pub fn new(project: &str, environment: &str, target: &str) -> StackKeys {
        StackKeys { prefix: Key::root().child(project).child(environment).child(target) }
    }

    /// Returns the keys of another stack of the same project.
    #[must_use]
    pub fn sibling(&self, environment: &str, target: &str) -> StackKeys {
        let project = self.prefix.segments().next().unwrap_or_default();
        StackKeys::new(&project, environment, target)
    }

    /// Returns the environment with its namespace.
    pub fn environment(&self) -> String {
        self.prefix.segments().nth(1).unwrap_or_default()
    }

    pub fn target(&self) -> String {
        self.prefix.segments().nth(2).unwrap_or_default()
    }

    /// Returns the stacks in a listing of a store, as (project, environment, target), also those whose head is missing.
    pub fn in_listing(keys: &[Key]) -> Vec<(String, String, String)> {
        let stack = |key: &Key| {
            let mut segments = key.segments();
            let stack = (segments.next()?, segments.next()?, segments.next()?);
            let of_a_stack = ["head", "snapshot", "journal", "history"];
            of_a_stack.contains(&segments.next()?.as_str()).then_some(stack)
        };
        let stacks: BTreeSet<(String, String, String)> = keys.iter().filter_map(stack).collect();
        stacks.into_iter().collect()
    }

    pub fn head(&self) -> Key {
        self.prefix.child("head")
    }

    pub fn lease(&self) -> Key {
        self.prefix.child("lease")
    }

    pub fn snapshot(&self, digest: &Digest) -> Key {
        self.prefix.child("snapshot").child(digest.as_str())
    }

    /// Prefix of all snapshots.
    pub fn snapshots(&self) -> Key {
        self.prefix.child("snapshot")
    }

    pub(crate) fn journals(&self) -> Key {
        self.prefix.child("journal")
    }

    /// Key of a head that a repair replaced, by the digest of its bytes.
    pub fn replaced_head(&self, digest: &Digest) -> Key {
        self.prefix.child("kept").child(digest.as_str())
    }

    pub fn journal(&self, epoch: Epoch) -> Key {
        self.prefix.child("journal").child(&format!("{:010}", epoch.0))
    }

    pub fn batch(&self, epoch: Epoch, seq: Seq) -> Key {
        self.journal(epoch).child(&format!("{:010}", seq.0))
    }

    /// Prefix of the answers that could not be appended to the journal.
    pub fn spools(&self) -> Key {
        self.prefix.child("spool")
    }

    pub fn spool(&self, epoch: Epoch, op: OpId) -> Key {
        self.spools().child(&format!("{:010}-{:010}", epoch.0, op.0))
    }

    /// Prefix of all run records.
    pub fn histories(&self) -> Key {
        self.prefix.child("history")
    }

    pub fn history(&self, run: &RunId) -> Key {
        self.prefix.child("history").child(run.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_contains_each_stack_once() {
        let (dev, prod) = (StackKeys::new("shop", "dev", "local"), StackKeys::new("shop", "prod:eu", "aws"));
        let lost = StackKeys::new("shop", "without-head", "aws");
        let other = StackKeys::new("shop", "lease-alone", "aws");
        let keys = [dev.head(), dev.lease(), dev.batch(Epoch(1), Seq(0)), prod.head()];
        let keys = [&keys[..], &[lost.batch(Epoch(1), Seq(0)), other.lease()]].concat();
        let stack =
            |environment: &str, target: &str| ("shop".to_owned(), environment.to_owned(), target.to_owned());
        let found = [stack("dev", "local"), stack("prod:eu", "aws"), stack("without-head", "aws")];
        assert_eq!(StackKeys::in_listing(&keys), found);
    }
}
