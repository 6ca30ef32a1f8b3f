//! A refusal in words: what, why, and what now.

use std::sync::Arc;

use stead_model::{
    Code, DeletionPolicy, Diagnostic, Level, MarkSource, Marks, Name, Resource, STATE_PROTECT, SourceRef,
    TypeToken,
};

use crate::decide::{Cause, Fate, Mark};

/// Who set the mark that stands against a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetBy {
    pub source: Arc<MarkSource>,
    /// Only state knows of it; nothing that is read today says so.
    pub recorded: bool,
}

impl SetBy {
    pub(crate) fn prevention(resource: &Resource, today: &Marks) -> Option<SetBy> {
        let now = today.prevent_delete.as_ref().filter(|mark| mark.value);
        let then = resource.recorded_marks().prevent_delete.filter(|mark| mark.value);
        let recorded = now.is_none();
        Some(SetBy { source: now.cloned().or(then)?.source, recorded })
    }

    pub(crate) fn retention(resource: &Resource, today: &Marks) -> Option<SetBy> {
        let retains = DeletionPolicy::Retain;
        let now = today.deletion_policy.as_ref().filter(|mark| mark.value == retains);
        let then = resource.recorded_marks().deletion_policy.filter(|mark| mark.value == retains);
        let recorded = now.is_none();
        Some(SetBy { source: now.cloned().or(then)?.source, recorded })
    }

    /// A pin stands on the resource itself; who knows of it still is told by how it holds.
    pub(crate) fn pin(resource: &Resource) -> SetBy {
        let level = Level::Resource(resource.name.to_string());
        let source = MarkSource { level, key: "pinned".to_owned(), place: None };
        SetBy { source: Arc::new(source), recorded: false }
    }

    /// As it stands in brackets.
    fn shown(&self) -> String {
        match (self.source.key == STATE_PROTECT, self.recorded) {
            (true, _) => format!("set with `{STATE_PROTECT}`"),
            (false, true) => format!("last set by {}", self.source),
            (false, false) => self.source.to_string(),
        }
    }

    /// What takes a prevent-delete away.
    fn release(&self, name: &Name) -> String {
        match (self.source.key.as_str(), &self.source.level) {
            (STATE_PROTECT, _) => format!("run `stead state unprotect '{name}'`"),
            (_, Level::Flag) => "leave the flag out, if it was given by mistake".to_owned(),
            (key, _) if key.ends_with("-lock") => {
                "ask who set the lock; without it, set `preventDelete: false`, run `stead up`".to_owned()
            }
            _ => "set `preventDelete: false` on it, run `stead up`".to_owned(),
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
    pub mark: Mark,
    pub(crate) set_by: SetBy,
    pub resource: TypeToken,
}

impl Refusal {
    /// Where the mark was set that stands against it.
    pub fn set_by(&self) -> &MarkSource {
        &self.set_by.source
    }

    pub fn diagnostic(&self) -> Diagnostic {
        let (message, help) = match self.mark {
            Mark::PreventDelete => self.prevented(),
            Mark::Retain => self.retained(),
            Mark::Pinned(hold) => return crate::pinned::diagnostic(self, hold),
        };
        let problem = Diagnostic::error(Code::GUARDED, message).at(self.source.clone(), 0, "declared here");
        let problem = match self.set_by.source.place.as_ref().filter(|_| !self.set_by.recorded) {
            Some(place) if *place != self.source => problem.at(place.clone(), 0, "the mark is set here"),
            _ => problem,
        };
        let problem =
            problem.note("Nothing was changed: the guards look at the whole plan before anything runs.");
        help.into_iter().fold(problem, Diagnostic::help)
    }

    fn prevented(&self) -> (String, Vec<String>) {
        let name = &self.name;
        let (source, release) = (self.set_by.shown(), self.set_by.release(name));
        let again = format!("{release}, then try again");
        match (&self.cause, &self.fate) {
            (_, Fate::GoneWith { name: with }) => (
                format!("{name} would go with {with}, and prevent-delete is true on it ({source})"),
                vec![format!("keep what it is in; or {again}")],
            ),
            (Cause::Removed, _) => (
                format!("{name} was removed from the program, but prevent-delete is true on it ({source})"),
                self.put_it_back(),
            ),
            (Cause::Destroyed, _) => {
                (format!("cannot delete {name}: prevent-delete is true ({source})"), vec![again])
            }
            (Cause::Replaced { because }, _) => (
                format!("cannot replace {name}: {because}, and prevent-delete is true ({source})"),
                vec![format!("undo the change; or {release}, then change it")],
            ),
            (Cause::LeftOver, _) => (
                format!("cannot delete the old copy of {name}: prevent-delete is true on it ({source})"),
                vec![again],
            ),
        }
    }

    fn retained(&self) -> (String, Vec<String>) {
        let (name, source) = (&self.name, self.set_by.shown());
        let release = "set `deletionPolicy: \"delete\"` on it, run `stead up`";
        if let Fate::GoneWith { name: with } = &self.fate {
            let message =
                format!("{name} would go with {with}, and its deletion-policy is retain ({source})");
            return (message, vec![format!("keep what it is in; or {release}, then try again")]);
        }
        let message = format!(
            "cannot replace {name}: {}, and the old one stays where the new one has to be, because its \
             deletion-policy is retain ({source})",
            because(&self.cause)
        );
        let help = format!("undo the change, or give the new one another name; or {release}, then change it");
        (message, vec![help])
    }

    fn put_it_back(&self) -> Vec<String> {
        let Refusal { name, set_by, .. } = self;
        let renamed = format!("if you renamed it, tell the new one: `aliases: [\"{name}\"]`");
        let first = match (set_by.source.key.as_str(), &set_by.source.level) {
            (STATE_PROTECT, _) | (_, Level::Flag) => format!("{}, then try again", set_by.release(name)),
            _ => format!("put it back, {}, then remove it", set_by.release(name)),
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
    let set_by = SetBy::prevention(resource, today)?;
    let name = &resource.name;
    let message = format!("cannot forget {name}: prevent-delete is true ({})", set_by.shown());
    let problem = Diagnostic::error(Code::GUARDED, message)
        .note("Losing track of it is as bad as losing it. Nothing was changed.")
        .help(format!("{}, then try again", set_by.release(name)));
    Some(problem)
}
