//! Teeth: bugs that are put into the engine one at a time, and the search for each until a life shows it.
//!
//! The list is always here; the bugs themselves are compiled with `--cfg stead_planted` alone.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{live, play};

/// Every planted bug: its name in the code, and what it does.
pub const BUGS: &[(&str, &str)] = &[
    ("alias-applied-twice", "two declared resources become one recorded one by the same alias"),
    ("begun-deletion-unguarded", "a deletion that an earlier run began is sent whatever is pinned by now"),
    ("claim-not-synced", "the file that shows a holder is alive may be gone after a loss of power"),
    ("condemned-dropped-early", "the old copy is forgotten when the new one is made"),
    ("conflict-taken-as-own", "a slot that another writer took counts as written"),
    ("create-first-ignored", "the old one is deleted before the new one is made"),
    ("create-retried-on-timeout", "a create without an answer is sent again under a new key"),
    ("delete-first-ignored", "the new one is made while the old one is there"),
    ("deletions-do-not-wait", "things are deleted although others could not be made"),
    ("dependants-deleted-last", "what others need is deleted before them"),
    ("dependency-not-awaited", "a step starts before what it depends on is done"),
    ("end-before-effect", "a deletion is recorded as done before it is"),
    ("epoch-off-by-one", "recovery does not look at the last epoch"),
    ("folder-chain-not-synced", "the names of the folders above are left to luck"),
    ("folder-not-synced", "the name of a new blob is left to luck"),
    ("head-before-snapshot", "head speaks of a snapshot that is not stored yet"),
    ("head-not-synced", "the new head is left to luck"),
    ("id-of-another-believed", "what is one resource already is recorded as another that was just made"),
    ("import-of-anothers-id", "what is one resource already is imported as another"),
    ("journal-removed-first", "the journal goes before head speaks of the snapshot that holds it"),
    ("key-reused", "all operations share one idempotency key"),
    ("living-taken-for-dead", "whoever holds the stack counts as dead"),
    ("mark-from-program-only", "the guard does not look at the recorded mark"),
    ("no-look-after-refusal", "an operation in doubt is never settled by a look"),
    ("operation-reused", "operations are numbered from one in every run"),
    ("partial-create-lost", "what was made in part is forgotten"),
    ("pending-dropped", "recovery forgets what was under way"),
    ("permit-reused", "one permit serves for every deletion"),
    ("pin-lost-at-rename", "what moves is not pinned any more"),
    ("pinfile-not-written", "the pinfile is left as it was"),
    ("pinned-permitted", "a pin does not stand against a deletion"),
    ("pins-recorded-first", "state calls a pin listed before the pinfile has it"),
    ("read-back-is-durable", "a failed write that can be read counts as durable"),
    ("read-error-is-absence", "what cannot be read is recorded as gone"),
    ("receipt-before-durable", "the provider is called before the intent is durable"),
    ("receipt-never-expires", "a writer that slept through a takeover still starts a call"),
    ("rename-loses-aliases", "a former name is forgotten"),
    ("retain-ignored-on-replace", "the old copy of a retained thing is deleted"),
    ("rules-not-asked", "a record that breaks a rule becomes durable"),
    ("seal-removed", "the seal of an epoch goes with its journal"),
    ("seal-skipped", "a takeover leaves the old epoch open"),
    ("second-refusal-is-proof", "a refused second attempt proves that the first did not happen"),
    ("spool-forgotten", "answers that were kept elsewhere are not taken in"),
    ("takeover-does-not-wait", "a takeover goes on while receipts are valid"),
    ("uid-counter-lost", "the counter of uids is not recorded"),
    ("unselected-touched", "a run for a part changes the rest"),
    ("version-not-compared", "head is swapped whatever it is now"),
];

/// How a bug came to light.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// How many lives it took.
    pub lives: u64,
    /// What was noticed.
    pub oracle: String,
}

/// Lives, long ones and plays in turn, until one is lost. `None`: none was.
pub fn hunt(most: u64) -> Option<Find> {
    for lives in 1..=most {
        let seed = (lives - 1) / 2;
        let lived = catch_unwind(AssertUnwindSafe(|| match lives % 2 {
            0 => live(seed).map(|_| ()),
            _ => play(seed).map(|_| ()),
        }));
        let oracle = match lived {
            Ok(Ok(())) => continue,
            Ok(Err(lost)) => lost.lines().next().unwrap_or_default().to_owned(),
            Err(_) => "it panicked".to_owned(),
        };
        return Some(Find { lives, oracle });
    }
    None
}

/// Puts a bug into this thread's engine, in place of any other.
#[cfg(stead_planted)]
pub fn plant(bug: &'static str) {
    stead_model::planted::plant(bug);
    stead_world::planted::plant(bug);
}

#[cfg(all(test, stead_planted))]
compile_error!("the tests are about the engine without planted bugs");

#[cfg(test)]
mod tests {
    use super::BUGS;

    #[test]
    fn there_are_enough_bugs_and_each_is_listed_once() {
        assert!(BUGS.len() >= 25);
        assert!(BUGS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
