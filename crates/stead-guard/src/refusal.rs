//! A refusal in words: what, why, and what now.

use std::sync::Arc;

use stead_model::{
    Code, DeletionPolicy, Diagnostic, Level, MarkSource, Marks, Name, Resource, STATE_PROTECT, SourceRef,
};

use crate::decide::{Cause, Fate, Mark};

/// The mark that stands against a deletion, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Against {
    pub mark: Mark,
    pub set_by: Arc<MarkSource>,
    /// Only state knows of it; nothing that is read today says so.
    pub recorded: bool,
}

impl Against {
    pub(crate) fn prevention(resource: &Resource, today: &Marks) -> Option<Against> {
        let now = today.prevent_delete.as_ref().filter(|mark| mark.value);
        let then = resource.recorded_marks().prevent_delete.filter(|mark| mark.value);
        let recorded = now.is_none();
        let set_by = now.cloned().or(then)?.source;
        Some(Against { mark: Mark::PreventDelete, set_by, recorded })
    }

    pub(crate) fn retention(resource: &Resource, today: &Marks) -> Option<Against> {
        let retains = DeletionPolicy::Retain;
        let now = today.deletion_policy.as_ref().filter(|mark| mark.value == retains);
        let then = resource.recorded_marks().deletion_policy.filter(|mark| mark.value == retains);
        let recorded = now.is_none();
        let set_by = now.cloned().or(then)?.source;
        Some(Against { mark: Mark::Retain, set_by, recorded })
    }

    /// As it stands in brackets.
    fn source(&self) -> String {
        let set_by = &self.set_by;
        match (set_by.key == STATE_PROTECT, self.recorded) {
            (true, _) => format!("set with `{STATE_PROTECT}`"),
            (false, true) => format!("last set by {set_by}"),
            (false, false) => set_by.to_string(),
        }
    }

    /// What takes the mark away.
    fn release(&self, name: &Name) -> String {
        let MarkSource { level, key, .. } = self.set_by.as_ref();
        match self.mark {
            Mark::Retain => "set `deletionPolicy: \"delete\"` on it, run `stead up`".to_owned(),
            Mark::PreventDelete if key == STATE_PROTECT => format!("run `stead state unprotect '{name}'`"),
            Mark::PreventDelete if *level == Level::Flag => {
                "leave the flag out, if it was given by mistake".to_owned()
            }
            Mark::PreventDelete if key.ends_with("-lock") => {
                "ask who set the lock; without it, set `preventDelete: false`, run `stead up`".to_owned()
            }
            Mark::PreventDelete => "set `preventDelete: false` on it, run `stead up`".to_owned(),
        }
    }
}

/// A deletion that a guard does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub name: Name,
    pub source: SourceRef,
    pub cause: Cause,
    pub fate: Fate,
    pub(crate) against: Against,
}

impl Refusal {
    pub fn mark(&self) -> Mark {
        self.against.mark
    }

    /// Where the mark was set that stands against it.
    pub fn set_by(&self) -> &MarkSource {
        &self.against.set_by
    }

    pub fn diagnostic(&self) -> Diagnostic {
        let (message, help) = self.message();
        let problem = Diagnostic::error(Code::GUARDED, message).at(self.source.clone(), 0, "declared here");
        let problem = match self.against.set_by.place.as_ref().filter(|_| !self.against.recorded) {
            Some(place) if *place != self.source => problem.at(place.clone(), 0, "the mark is set here"),
            _ => problem,
        };
        let problem =
            problem.note("Nothing was changed: the guards look at the whole plan before anything runs.");
        help.into_iter().fold(problem, Diagnostic::help)
    }

    fn message(&self) -> (String, Vec<String>) {
        let Refusal { name, against, .. } = self;
        let (source, release) = (against.source(), against.release(name));
        let again = format!("{release}, then try again");
        let or_again = |first: &str| vec![format!("{first}; or {again}")];
        match (&self.cause, &self.fate, against.mark) {
            (_, Fate::GoneWith { name: with }, Mark::PreventDelete) => (
                format!("{name} would go with {with}, and prevent-delete is true on it ({source})"),
                or_again("keep what it is in"),
            ),
            (_, Fate::GoneWith { name: with }, Mark::Retain) => (
                format!("{name} would go with {with}, and its deletion-policy is retain ({source})"),
                or_again("keep what it is in"),
            ),
            (cause, _, Mark::Retain) => (
                format!(
                    "cannot replace {name}: {}, and the old one stays where the new one has to be, because its \
                     deletion-policy is retain ({source})",
                    because(cause)
                ),
                vec![format!(
                    "undo the change, or give the new one another name; or {release}, then change it"
                )],
            ),
            (Cause::Removed, _, Mark::PreventDelete) => (
                format!("{name} was removed from the program, but prevent-delete is true on it ({source})"),
                self.put_it_back(),
            ),
            (Cause::Destroyed, _, Mark::PreventDelete) => {
                (format!("cannot delete {name}: prevent-delete is true ({source})"), vec![again])
            }
            (Cause::Replaced { because }, _, Mark::PreventDelete) => (
                format!("cannot replace {name}: {because}, and prevent-delete is true ({source})"),
                vec![format!("undo the change; or {release}, then change it")],
            ),
            (Cause::LeftOver, _, Mark::PreventDelete) => (
                format!("cannot delete the old copy of {name}: prevent-delete is true on it ({source})"),
                vec![again],
            ),
        }
    }

    fn put_it_back(&self) -> Vec<String> {
        let Refusal { name, against, .. } = self;
        let renamed = format!("if you renamed it, tell the new one: `aliases: [\"{name}\"]`");
        let first = match (against.set_by.key.as_str(), &against.set_by.level) {
            (STATE_PROTECT, _) | (_, Level::Flag) => format!("{}, then try again", against.release(name)),
            _ => format!("put it back, {}, then remove it", against.release(name)),
        };
        vec![first, renamed]
    }
}

fn because(cause: &Cause) -> &str {
    match cause {
        Cause::Replaced { because } => because,
        _ => "it has to go first",
    }
}

/// Why the record of a resource may not go although the real thing stays; `None`: it may.
pub fn cannot_forget(resource: &Resource, today: &Marks) -> Option<Diagnostic> {
    if !resource.prevents_deletion() && !today.prevents_deletion() {
        return None;
    }
    let against = Against::prevention(resource, today)?;
    let name = &resource.name;
    let message = format!("cannot forget {name}: prevent-delete is true ({})", against.source());
    let problem = Diagnostic::error(Code::GUARDED, message)
        .note("Losing track of it is as bad as losing it. Nothing was changed.")
        .help(format!("{}, then try again", against.release(name)));
    Some(problem)
}
