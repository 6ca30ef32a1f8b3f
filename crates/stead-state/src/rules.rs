//! The integrity rules: numbered, one function each. There is no way to switch one off.
//!
//! A rule looks at one copy, one resource, one pending operation, or the whole. [`verify`] asks all rules
//! about all of a snapshot, before `head` refers to it and after every read; [`crate::Sound`] asks them
//! while a run writes, about what a record touched and what refers to that.

mod circle;
mod copies;
mod names;
mod pending;
mod references;
mod view;

use std::fmt;

use stead_model::{CopyRef, Generation, Lifecycle, Name, OpId, Resource, Uid};

use crate::{Pending, Snapshot};
pub(crate) use circle::needs;
pub(crate) use view::View;

/// One thing that is never true of a sound state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// `S01`, …
    pub rule: &'static str,
    /// The resource's name, or what else it is about.
    pub subject: String,
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rule, self.subject, self.problem)
    }
}

/// What is wrong, one entry a problem. Who it is about is plain from what was looked at.
pub(crate) type Problems = Vec<String>;

/// What a rule may look at: everything by its key, nothing by a walk over all.
pub(crate) trait Look {
    /// All copies of a resource, oldest first.
    fn copies(&self, uid: &Uid) -> Vec<&Resource>;
    fn copy(&self, copy: &CopyRef) -> Option<&Resource>;
    /// The copy that is not condemned.
    fn current(&self, uid: &Uid) -> Option<&Resource>;
    fn newest(&self, uid: &Uid) -> Option<Generation>;
    /// The resources that have a name now, sorted.
    fn holders(&self, name: &Name) -> Vec<&Uid>;
    /// The resources that had a name, sorted.
    fn alias_holders(&self, name: &Name) -> Vec<&Uid>;
    fn pending_on(&self, copy: &CopyRef) -> usize;
    fn pending_with_key(&self, key: &str) -> usize;
    fn pending_creates(&self, name: &Name) -> usize;
    /// How many resources there are, how many uids were given out, and the next operation's number.
    fn counts(&self) -> (usize, u64, OpId);

    /// The copy that a reference to a copy means: that very one, or the current one once it is gone.
    fn resolve(&self, copy: &CopyRef) -> Option<&Resource> {
        self.copy(copy).or_else(|| self.current(&copy.uid))
    }
}

/// What a rule's function looks at.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// One copy, and what it refers to.
    Copy(fn(&dyn Look, &Resource, &mut Problems)),
    /// All copies of one resource.
    Kin(fn(&dyn Look, &Uid, &mut Problems)),
    Pending(fn(&dyn Look, &Pending, &mut Problems)),
    /// The counters.
    Counts(fn(&dyn Look, &mut Problems)),
    /// The whole, where no part can tell; pairs of a subject and what is wrong with it.
    Whole(fn(&View<'_>, &mut Vec<(String, String)>)),
}

/// A rule: its number, what it demands, and the functions that look.
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
    rule("S01", "each copy is stored once", &[Check::Kin(copies::stored_once)]),
    rule("S02", "a resource has at most one copy that is not condemned", &[Check::Kin(copies::one_current)]),
    rule("S03", "a name belongs to one resource", &[Check::Copy(names::belongs_to_one)]),
    rule("S04", "what exists has an id, what is deleted has none", &[Check::Copy(copies::id_fits)]),
    rule("S05", "the newest copy is the current one", &[Check::Kin(copies::newest_is_current)]),
    rule("S06", "each dependency exists", &[Check::Copy(references::dependencies_exist)]),
    rule(
        "S07",
        "a property's sources are dependencies",
        &[Check::Copy(references::sources_are_dependencies)],
    ),
    rule("S08", "nothing waits for itself, over edges of any kind", &[Check::Whole(circle::no_circle)]),
    rule("S09", "pending operations speak of what exists", &[Check::Pending(pending::speaks_of_what_exists)]),
    rule(
        "S10",
        "counters are ahead of what they counted",
        &[Check::Counts(pending::uids_are_ahead), Check::Pending(pending::number_was_given_out)],
    ),
    rule("S11", "each copy has an identity", &[Check::Copy(copies::has_identity)]),
    rule("S12", "each copy has a type, and its name says the same one", &[Check::Copy(names::says_the_type)]),
    rule("S13", "the provider that serves a copy exists", &[Check::Copy(references::provider_exists)]),
    rule("S14", "what serves as a provider is one", &[Check::Copy(references::provider_is_one)]),
    rule(
        "S15",
        "what is not condemned is served by what is not condemned altogether",
        &[Check::Copy(references::provider_is_current)],
    ),
    rule("S16", "the parent exists", &[Check::Copy(references::parent_exists)]),
    rule("S17", "what a copy is deleted with exists", &[Check::Copy(references::deleted_with_exists)]),
    rule("S18", "what a copy is replaced with exists", &[Check::Copy(references::replace_with_exists)]),
    rule(
        "S19",
        "an alias belongs to one resource, which has another name",
        &[Check::Copy(names::alias_belongs_to_one)],
    ),
    rule(
        "S20",
        "a reference to a copy names one that was made",
        &[Check::Copy(references::copies_were_made)],
    ),
    rule(
        "S21",
        "lists are sorted, and say each thing once",
        &[Check::Copy(copies::lists_are_sorted), Check::Whole(view::resources_are_sorted)],
    ),
    rule(
        "S22",
        "one operation at a time is pending on a copy, under a key of its own",
        &[Check::Pending(pending::is_alone)],
    ),
];

/// Every violation of every rule.
pub fn verify(snapshot: &Snapshot) -> Vec<Violation> {
    let view = View::of(snapshot);
    let mut violations = Vec::new();
    for rule in RULES {
        for check in rule.checks {
            ask(rule, *check, &view, &mut violations);
        }
    }
    violations
}

fn ask(rule: &Rule, check: Check, view: &View<'_>, violations: &mut Vec<Violation>) {
    let mut problems = Problems::new();
    let mut found = |subject: &dyn fmt::Display, problems: &mut Problems| {
        report(rule, subject, problems, violations);
    };
    match check {
        Check::Copy(look) => {
            for resource in view.resources() {
                look(view, resource, &mut problems);
                found(&resource.name, &mut problems);
            }
        }
        Check::Kin(look) => {
            for resource in view.one_of_each() {
                look(view, &resource.uid, &mut problems);
                found(&resource.name, &mut problems);
            }
        }
        Check::Pending(look) => {
            for pending in view.pending() {
                look(view, pending, &mut problems);
                found(&format_args!("operation {}", pending.op), &mut problems);
            }
        }
        Check::Counts(look) => {
            look(view, &mut problems);
            found(&"uids", &mut problems);
        }
        Check::Whole(look) => {
            let mut all = Vec::new();
            look(view, &mut all);
            violations.extend(all.into_iter().map(|(subject, problem)| Violation {
                rule: rule.number,
                subject,
                problem,
            }));
        }
    }
}

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
