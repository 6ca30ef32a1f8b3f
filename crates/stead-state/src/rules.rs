//! The integrity rules of a state: numbered, with one function for each. No option disables a rule.
//!
//! A rule checks one copy, all copies of one resource, one pending operation, or the whole snapshot. [`verify`] checks
//! all rules on a whole snapshot, before `head` refers to it and after every read. [`crate::VerifiedState`] checks them
//! while a run writes, on the copies that a record changed and those that refer to them.

mod copies;
mod cycle;
mod names;
mod pending;
mod references;
mod secrets;
mod view;

use std::fmt;

use stead_model::{CopyRef, Generation, KeyId, Lifecycle, Name, OpId, OperationToken, Resource, Uid};

use crate::{Pending, Snapshot};
pub(crate) use cycle::needs;
pub(crate) use view::SnapshotView;

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The number of the rule: `S01`, …
    pub rule: &'static str,
    /// The resource or operation that breaks the rule.
    pub subject: String,
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rule, self.subject, self.problem)
    }
}

/// The problems that one check found. The caller of the check knows the subject.
pub(crate) type Problems = Vec<String>;

/// A state as the rules see it: look-ups by key, without iteration over all resources.
pub(crate) trait StateView {
    /// Returns all copies of a resource, oldest first.
    fn copies(&self, uid: &Uid) -> Vec<&Resource>;
    fn copy(&self, copy: &CopyRef) -> Option<&Resource>;
    /// Returns the copy that is not condemned.
    fn current(&self, uid: &Uid) -> Option<&Resource>;
    fn newest(&self, uid: &Uid) -> Option<Generation>;
    /// Returns the current resources with a name, sorted.
    fn holders(&self, name: &Name) -> Vec<&Uid>;
    /// Returns the current resources that have a name among their aliases, sorted.
    fn alias_holders(&self, name: &Name) -> Vec<&Uid>;
    fn pending_on(&self, copy: &CopyRef) -> usize;
    fn pending_with_key(&self, key: &str) -> usize;
    fn pending_with_token(&self, token: &OperationToken) -> usize;
    fn pending_creates(&self, name: &Name) -> usize;
    /// Returns the number of resources, the number of allocated uids, and the number of the next operation.
    fn counters(&self) -> (usize, u64, OpId);
    /// Returns the serial of the state.
    fn serial(&self) -> u64;
    /// Returns true if the ring of the stack has the key.
    fn has_key(&self, key: &KeyId) -> bool;

    /// Returns the copy that a reference means: the named copy, or the current one if the named copy is gone.
    fn resolve(&self, copy: &CopyRef) -> Option<&Resource> {
        self.copy(copy).or_else(|| self.current(&copy.uid))
    }
}

/// A function of a rule, by the part of the state that it checks.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// One copy and its references.
    Copy(fn(&dyn StateView, &Resource, &mut Problems)),
    /// All copies of one resource.
    AllCopies(fn(&dyn StateView, &Uid, &mut Problems)),
    Pending(fn(&dyn StateView, &Pending, &mut Problems)),
    /// The counters.
    Counters(fn(&dyn StateView, &mut Problems)),
    /// The whole snapshot. The function appends pairs of a subject and its problem.
    Whole(fn(&SnapshotView<'_>, &mut Vec<(String, String)>)),
}

/// A rule: its number, its demand in words, and the functions that check it.
pub struct Rule {
    pub number: &'static str,
    pub demand: &'static str,
    pub(crate) checks: &'static [Check],
}

const fn rule(number: &'static str, demand: &'static str, checks: &'static [Check]) -> Rule {
    Rule { number, demand, checks }
}

/// All rules, in order.
pub const RULES: &[Rule] = &[
    rule("S01", "each copy is stored once", &[Check::AllCopies(copies::stored_once)]),
    rule(
        "S02",
        "a resource has at most one copy that is not condemned",
        &[Check::AllCopies(copies::one_current)],
    ),
    rule("S03", "a name belongs to one resource", &[Check::Copy(names::belongs_to_one)]),
    rule(
        "S04",
        "an existing copy has an id, a deleted one has none",
        &[Check::Copy(copies::id_matches_lifecycle)],
    ),
    rule("S05", "the newest copy is the current one", &[Check::AllCopies(copies::newest_is_current)]),
    rule("S06", "each dependency exists", &[Check::Copy(references::dependencies_exist)]),
    rule(
        "S07",
        "the sources of a property are dependencies",
        &[Check::Copy(references::sources_are_dependencies)],
    ),
    rule("S08", "no cycle exists, over references of any kind", &[Check::Whole(cycle::no_cycle)]),
    rule(
        "S09",
        "pending operations refer to existing copies",
        &[Check::Pending(pending::refers_to_existing_copies)],
    ),
    rule(
        "S10",
        "counters are beyond all numbers in use",
        &[
            Check::Counters(pending::uid_counter_is_beyond),
            Check::Pending(pending::operation_counter_is_beyond),
            Check::Copy(pending::serial_is_beyond),
        ],
    ),
    rule("S11", "each copy has a uid and a generation", &[Check::Copy(copies::has_identity)]),
    rule("S12", "each copy has a type, and its name has the same type", &[Check::Copy(names::type_matches)]),
    rule("S13", "the provider of a copy exists", &[Check::Copy(references::provider_exists)]),
    rule("S14", "the provider of a copy has a provider type", &[Check::Copy(references::provider_is_one)]),
    rule(
        "S15",
        "the provider of a current copy has a current copy",
        &[Check::Copy(references::provider_is_current)],
    ),
    rule("S16", "the parent exists", &[Check::Copy(references::parent_exists)]),
    rule(
        "S17",
        "the resource that a copy is deleted with exists",
        &[Check::Copy(references::deleted_with_exists)],
    ),
    rule(
        "S18",
        "each resource that a copy is replaced with exists",
        &[Check::Copy(references::replace_with_exists)],
    ),
    rule(
        "S19",
        "an alias belongs to one resource, which has another name",
        &[Check::Copy(names::alias_belongs_to_one)],
    ),
    rule(
        "S20",
        "a reference to a copy names a generation that was created",
        &[Check::Copy(references::generations_exist)],
    ),
    rule(
        "S21",
        "lists are sorted, without duplicates",
        &[Check::Copy(copies::lists_are_sorted), Check::Whole(view::resources_are_sorted)],
    ),
    rule(
        "S22",
        "a copy has at most one pending operation, with a unique key and token",
        &[Check::Pending(pending::is_alone)],
    ),
    rule(
        "S23",
        "each secret is encrypted with a key of the ring",
        &[Check::Copy(secrets::of_copy), Check::Pending(secrets::of_pending)],
    ),
];

/// Checks all rules on a snapshot and returns all violations.
pub fn verify(snapshot: &Snapshot) -> Vec<Violation> {
    let view = SnapshotView::of(snapshot);
    let mut violations = Vec::new();
    for rule in RULES {
        for check in rule.checks {
            run_check(rule, *check, &view, &mut violations);
        }
    }
    violations
}

fn run_check(rule: &Rule, check: Check, view: &SnapshotView<'_>, violations: &mut Vec<Violation>) {
    let mut problems = Problems::new();
    let mut found = |subject: &dyn fmt::Display, problems: &mut Problems| {
        report(rule, subject, problems, violations);
    };
    match check {
        Check::Copy(check) => {
            for resource in view.resources() {
                check(view, resource, &mut problems);
                found(&resource.name, &mut problems);
            }
        }
        Check::AllCopies(check) => {
            for resource in view.one_of_each() {
                check(view, &resource.uid, &mut problems);
                found(&resource.name, &mut problems);
            }
        }
        Check::Pending(check) => {
            for pending in view.pending() {
                check(view, pending, &mut problems);
                found(&format_args!("operation {}", pending.op), &mut problems);
            }
        }
        Check::Counters(check) => {
            check(view, &mut problems);
            found(&"uids", &mut problems);
        }
        Check::Whole(check) => {
            let mut all = Vec::new();
            check(view, &mut all);
            violations.extend(all.into_iter().map(|(subject, problem)| Violation {
                rule: rule.number,
                subject,
                problem,
            }));
        }
    }
}

/// Moves the found problems into `violations`.
pub(crate) fn report(
    rule: &Rule,
    subject: &dyn fmt::Display,
    problems: &mut Problems,
    violations: &mut Vec<Violation>,
) {
    for problem in problems.drain(..) {
        violations.push(Violation { rule: rule.number, subject: subject.to_string(), problem });
    }
}

pub(crate) fn is_current(resource: &Resource) -> bool {
    resource.lifecycle != Lifecycle::Condemned
}

#[cfg(test)]
pub(crate) mod tests;
