//! Planted bugs: known bugs that are compiled into the engine and enabled one at a time, to prove that the simulator
//! detects each.
//!
//! The bugs are patches, which `cargo xtask trial` applies to a copy of the tree.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{canary, cloud_life, dispute, inventory, play, run_seed};

/// All planted bugs: the name in the code, and its effect.
pub const BUGS: &[(&str, &str)] = &[
    ("alias-applied-twice", "one alias matches two declared resources with one recorded resource"),
    ("answer-not-searched", "a secret in the answer of a provider is recorded in the clear"),
    ("aws-adopted-without-mark", "a resource of others with the same name is taken for a created one"),
    ("aws-deletion-not-awaited", "a deletion counts as done when the service has accepted it"),
    ("aws-denied-is-gone", "a resource that may not be read counts as deleted"),
    ("aws-drift-overwritten", "an update overwrites a value that was changed outside"),
    (
        "aws-end-not-asked",
        "an operation with a value that is not kept is left to a person although it has a token",
    ),
    (
        "aws-first-read-believed",
        "a value that was changed before recovery counts as one that the service made",
    ),
    ("aws-half-made-dropped", "a resource whose create failed half-way is forgotten"),
    ("aws-half-made-of-others", "a resource of others counts as half-made by a failed create"),
    ("aws-lost-answer-is-failure", "a request whose answer was lost counts as refused"),
    ("aws-mark-not-written", "a created resource gets no mark of its owner"),
    ("aws-stale-read-believed", "a resource that a read does not find yet counts as not created"),
    ("aws-tags-of-others-removed", "an update removes tags that the program does not declare"),
    ("aws-token-of-each-attempt", "a repeated create has another client token"),
    ("begun-deletion-unasked", "a command without a program repeats a started deletion"),
    ("begun-deletion-unguarded", "recovery repeats a started deletion without asking the current guards"),
    ("changed-file-deleted", "a file that was changed outside is deleted"),
    ("changed-file-overwritten", "an update overwrites a file that was changed outside"),
    (
        "changed-secret-not-searched",
        "a secret that was changed elsewhere is recorded in the clear where an answer repeats it",
    ),
    ("check-not-concealed", "a problem of a provider quotes a value that only the schema calls secret"),
    ("claim-not-synced", "the claim file of a living holder may be lost in a power loss"),
    ("condemned-dropped-early", "the old copy is dropped from the state when the new one is created"),
    ("conflict-taken-as-own", "a journal slot taken by another writer counts as written"),
    ("create-first-ignored", "a create-first replacement deletes first"),
    ("create-retried-on-timeout", "a create without an answer is repeated with a new idempotency key"),
    ("debug-shows-secrets", "`{:?}` of a secret shows its value"),
    ("delete-first-ignored", "a delete-first replacement creates first"),
    ("deletions-do-not-wait", "deletions run although creates failed"),
    ("dependants-deleted-last", "dependencies are deleted before their dependents"),
    ("dependency-not-awaited", "a step starts before its dependencies are done"),
    (
        "echo-after-answer-believed",
        "an update that did not happen is recorded with its new inputs after an answer",
    ),
    (
        "echo-after-refusal-believed",
        "an update that did not happen is recorded with its new inputs after a repeat",
    ),
    ("end-before-effect", "a deletion is recorded as done before the call returns"),
    ("epoch-off-by-one", "recovery ignores the last epoch"),
    ("export-in-the-clear", "an export has the outputs of the stack in the clear"),
    ("folder-chain-not-synced", "the parent folders of a new blob are not synced"),
    ("folder-not-synced", "the folder of a new blob is not synced"),
    (
        "foreign-import-unasked",
        "an export of another stack is imported into an empty stack without a word for it",
    ),
    ("head-before-snapshot", "head names a snapshot that is not stored yet"),
    ("head-not-synced", "the new head is not synced"),
    ("id-of-another-believed", "the id of another resource is recorded for a created one"),
    ("import-deleted-undeclared", "a resource that was imported is deleted before a program declared it"),
    ("import-loses-guarded", "an import of state drops guarded records and their protection"),
    ("import-of-anothers-id", "an object managed by one resource is imported as another"),
    (
        "imported-secret-not-searched",
        "a secret that the program declares is recorded in the clear when its resource is imported",
    ),
    ("intent-in-the-clear", "the intent of a create has its inputs in the clear"),
    ("journal-gap-ignored", "a journal counts as ended before its first missing batch"),
    ("journal-removed-first", "the journal is removed before head names the snapshot that contains it"),
    ("key-reused", "all operations share one idempotency key"),
    ("late-batch-accepted", "a batch of a dead run arrives after the plan was compared with its journal"),
    ("living-taken-for-dead", "a living holder counts as dead"),
    ("mark-from-program-only", "the guard ignores recorded marks"),
    ("message-not-searched", "a secret in the message of a provider is recorded and reported"),
    ("missing-head-is-empty", "a stack without its head counts as an empty one"),
    ("missing-output-is-null", "an output that a provider lost is passed on as null"),
    ("no-look-after-refusal", "an operation in doubt is never settled by a read"),
    ("older-keys-dropped", "a rotation drops the older keys of the ring"),
    ("operation-reused", "operations are numbered from one in every run"),
    (
        "outputs-not-asked-for",
        "an operation that cannot be looked at is recorded as done without its outputs",
    ),
    ("overlap-applied", "a saved plan is applied although what it read changed"),
    ("owner-not-asked", "the mark of another stack does not refuse"),
    ("partial-create-lost", "a partial create is not recorded"),
    ("path-by-spelling", "two spellings of one path are two files"),
    ("pending-dropped", "recovery drops pending operations"),
    ("permit-reused", "one permit allows every deletion"),
    ("pin-absence-ends-it", "a pin in state ends if a section of the pinfile has no entry for it"),
    ("pin-lost-at-move", "a resource that is moved to another stack loses its pin"),
    ("pin-lost-at-rename", "a renamed resource loses its pin"),
    (
        "pin-of-file-lost-at-move",
        "a pin that only the pinfile has is lost when its resource gets another name",
    ),
    ("pin-of-general-section-ends", "a pin ends if the more special section has no entry for it"),
    ("pinfile-not-written", "the pinfile is not updated"),
    ("pinned-permitted", "a pin does not prevent a deletion"),
    ("place-not-compared", "a run with credentials of another account takes everything for deleted"),
    ("plan-by-spelling", "a plan takes two spellings of one path for two files"),
    ("progress-forgotten", "the token of an operation under way is not recorded"),
    ("protection-by-name-only", "today's program protects only resources that have the same name in state"),
    ("protection-of-today-ignored", "destroy, rollback and saved plans go by the recorded protection alone"),
    ("read-back-is-durable", "a failed write that can be read counts as durable"),
    ("read-error-is-absence", "a resource that cannot be read is recorded as deleted"),
    ("receipt-before-durable", "the provider is called before the intent is durable"),
    ("receipt-never-expires", "a writer that was suspended during a takeover still starts a call"),
    ("rename-loses-aliases", "a rename drops the former name"),
    ("retain-ends-when-taken-back", "a retained resource that is imported again loses its deletion policy"),
    ("retain-ignored-on-replace", "a replacement deletes the old copy of a retained resource"),
    ("rollback-unprotects", "a rollback restores the marks and pins of the time"),
    ("rules-not-asked", "a record that violates a rule becomes durable"),
    ("same-thing-twice", "two declarations of one file are applied one after the other"),
    ("seal-removed", "the seal of an epoch is removed with its journal"),
    ("seal-skipped", "a takeover leaves the old epoch open"),
    ("second-refusal-is-proof", "a refused second attempt proves that the first did not happen"),
    (
        "secret-of-others-not-searched",
        "a secret is recorded in the clear in the answer about another resource",
    ),
    ("secret-written-plainly", "a sealed secret is serialised with its value"),
    (
        "sent-secret-not-searched",
        "a secret of an interrupted update is recorded in the clear when the real resource is read",
    ),
    ("siblings-by-counter", "resources without an id are matched by their place in the program"),
    (
        "siblings-not-by-content",
        "resources without an id and without an identity are matched by counter alone",
    ),
    ("snapshot-in-the-clear", "a snapshot has the inputs of resources in the clear"),
    ("spool-forgotten", "spooled answers are not replayed"),
    ("spool-in-the-clear", "a spooled answer has its outputs in the clear"),
    ("stream-shows-secrets", "a secret that is not sealed is serialised with its value"),
    ("takeover-does-not-wait", "a takeover does not wait until receipts expire"),
    ("uid-counter-lost", "the counter of uids is not recorded"),
    ("unselected-touched", "a targeted run changes unselected resources"),
    ("version-not-compared", "head is replaced without comparing its version"),
];

/// Detection of a planted bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// Number of lives run until the detection.
    pub lives: u64,
    /// Name of the oracle that was violated.
    pub oracle: String,
}

/// Runs lives, plays, disputes, inventories and canaries alternately until one fails, and a cloud life after each fifth of
/// them. Returns `None` if none of `most` fails.
pub fn hunt(most: u64) -> Option<Detection> {
    for lives in 1..=most {
        let seed = (lives - 1) / 3;
        let lived = catch_unwind(AssertUnwindSafe(|| match lives % 7 {
            0 | 3 => run_seed(seed).map(|_| ()),
            1 | 4 => play(seed).map(|_| ()),
            2 => dispute(seed).map(|_| ()),
            5 => inventory(seed).map(|_| ()),
            _ => canary(seed).map(|_| ()),
        }));
        let lived = match lived {
            Ok(Ok(())) if lives % 5 == 0 => {
                catch_unwind(AssertUnwindSafe(|| cloud_life(lives / 5).map(|_| ())))
            }
            lived => lived,
        };
        let oracle = match lived {
            Ok(Ok(())) => continue,
            Ok(Err(lost)) => lost.lines().next().unwrap_or_default().to_owned(),
            Err(_) => "a panic".to_owned(),
        };
        return Some(Detection { lives, oracle });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::BUGS;

    #[test]
    fn there_are_enough_bugs_and_each_is_listed_once() {
        assert!(BUGS.len() >= 25);
        assert!(BUGS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
