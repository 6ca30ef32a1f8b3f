//! A refused deletion and its diagnostic.

use std::sync::Arc;

use stead_model::{
    Code, DeletionPolicy, Diagnostic, Hint, Level, MarkSource, Marks, Name, NextStep, Resource,
    STATE_PROTECT, SourceRef, TypeToken,
};

use super::{Cause, DeletionEffect, Mark, pin_refusal};
use crate::pins::PinVerdict;

pub(super) const CHECKED_BEFORE_RUN: &str =
    "Nothing was changed: the guards check the whole plan before it runs.";

/// The source of the mark because of which a deletion is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SetBy {
    pub(super) source: Arc<MarkSource>,
    /// True if the mark is recorded in state and no longer in force.
    recorded: bool,
}

impl SetBy {
    pub(super) fn prevention(resource: &Resource, current: &Marks) -> Option<SetBy> {
        let now = current.prevent_delete.as_ref().filter(|mark| mark.value);
        let then = resource.recorded_marks().prevent_delete.filter(|mark| mark.value);
        let recorded = now.is_none();
        Some(SetBy { source: now.cloned().or(then)?.source, recorded })
    }

    pub(super) fn retention(resource: &Resource, current: &Marks) -> Option<SetBy> {
        let retains = DeletionPolicy::Retain;
        let now = current.deletion_policy.as_ref().filter(|mark| mark.value == retains);
        let then = resource.recorded_marks().deletion_policy.filter(|mark| mark.value == retains);
        let recorded = now.is_none();
        Some(SetBy { source: now.cloned().or(then)?.source, recorded })
    }

    /// A pin counts as set on the resource itself. Its [`PinVerdict`](crate::pins::PinVerdict) tells where it is recorded.
    pub(super) fn pin(resource: &Resource) -> SetBy {
        let level = Level::Resource(resource.name.to_string());
        let source = MarkSource { level, key: "pinned".to_owned(), place: None };
        SetBy { source: Arc::new(source), recorded: false }
    }

    /// Returns the source as messages show it in parentheses.
    fn display(&self) -> String {
        match (self.source.key == STATE_PROTECT, self.recorded) {
            (true, _) => format!("set with `{STATE_PROTECT}`"),
            (false, true) => format!("last set by {}", self.source),
            (false, false) => self.source.to_string(),
        }
    }

    /// Returns a hint that starts with `before` and tells how to remove prevent-delete.
    fn release(&self, before: &str, name: &Name) -> Hint {
        match (self.source.key.as_str(), &self.source.level) {
            (STATE_PROTECT, _) => Hint::text(before).then(NextStep::Unprotect { name: name.clone() }),
            (_, Level::Flag) => Hint::text(format!("{before}omit the flag, if it was given by mistake")),
            (key, _) if key.ends_with("-lock") => {
                Hint::text(format!("{before}have the lock removed, set `preventDelete: false` on it, "))
                    .then(NextStep::Apply)
            }
            _ => Hint::text(format!("{before}set `preventDelete: false` on it, ")).then(NextStep::Apply),
        }
    }
}

/// A deletion that the guards refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub name: Name,
    pub source: SourceRef,
    pub cause: Cause,
    pub effect: DeletionEffect,
    pub mark: Mark,
    pub(super) set_by: SetBy,
    pub resource: TypeToken,
}

impl Refusal {
    /// Returns the source of the mark because of which the deletion is refused.
    pub fn set_by(&self) -> &MarkSource {
        &self.set_by.source
    }

    /// Returns the refusal with the place at which the program of today pins the resource, if state alone seems to have the pin.
    #[must_use]
    pub fn pinned_by_program(self, place: SourceRef) -> Refusal {
        let Mark::Pinned(verdict) = self.mark else { return self };
        if !verdict.is_in_state_only() {
            return self;
        }
        let source = MarkSource { place: Some(place), ..self.set_by.source.as_ref().clone() };
        let set_by = SetBy { source: Arc::new(source), recorded: false };
        Refusal { mark: Mark::Pinned(PinVerdict::Declared), set_by, ..self }
    }

    pub fn diagnostic(&self) -> Diagnostic {
        let (message, help) = match self.mark {
            Mark::PreventDelete => self.prevented(),
            Mark::Retain => self.retained(),
            Mark::Pinned(verdict) => return pin_refusal::diagnostic(self, verdict),
        };
        let problem = self.placed(Diagnostic::error(Code::GUARDED, message));
        let problem = match self.set_by.source.place.as_ref().filter(|_| !self.set_by.recorded) {
            Some(place) if *place != self.source => problem.at(place.clone(), 0, "the mark is set here"),
            _ => problem,
        };
        help.into_iter().fold(problem.note(CHECKED_BEFORE_RUN), Diagnostic::help)
    }

    /// Adds the place of the declaration. A place that only the record has may be another line by now, so that it is not quoted.
    pub(super) fn placed(&self, problem: Diagnostic) -> Diagnostic {
        let quotable = match (&self.cause, &self.mark) {
            (Cause::Removed, _) => false,
            (Cause::Destroyed, Mark::Pinned(verdict)) => *verdict == PinVerdict::Declared,
            (Cause::Destroyed, _) => !self.set_by.recorded,
            (Cause::Replaced { .. } | Cause::LeftOver, _) => true,
        };
        match quotable {
            true => problem.at(self.source.clone(), 0, "declared here"),
            false => problem.note(format!("It was declared at {}.", self.source)),
        }
    }

    fn prevented(&self) -> (String, Vec<Hint>) {
        let (name, source) = (&self.name, self.set_by.display());
        let release = |before: &str| self.set_by.release(before, name);
        let then_try_again = |before: &str| vec![release(before).and(", then try again")];
        match (&self.cause, &self.effect) {
            (_, DeletionEffect::DeletedWithContainer { name: with }) => (
                format!("{name} would be deleted with {with}, and prevent-delete is true on it ({source})"),
                then_try_again("keep its container; or "),
            ),
            (Cause::Removed, _) => (
                format!("{name} was removed from the program, but prevent-delete is true on it ({source})"),
                self.declare_again(),
            ),
            (Cause::Destroyed, _) => {
                (format!("cannot delete {name}: prevent-delete is true ({source})"), then_try_again(""))
            }
            (Cause::Replaced { because }, _) => (
                format!("cannot replace {name}: {because}, and prevent-delete is true ({source})"),
                vec![release("undo the change; or ").and(", then change it")],
            ),
            (Cause::LeftOver, _) => (
                format!("cannot delete the old copy of {name}: prevent-delete is true on it ({source})"),
                then_try_again(""),
            ),
        }
    }

    fn retained(&self) -> (String, Vec<Hint>) {
        let (name, source) = (&self.name, self.set_by.display());
        let release = |before: &str| {
            Hint::text(format!("{before}set `deletionPolicy: \"delete\"` on it, ")).then(NextStep::Apply)
        };
        if let DeletionEffect::DeletedWithContainer { name: with } = &self.effect {
            let message =
                format!("{name} would be deleted with {with}, and its deletion-policy is retain ({source})");
            return (message, vec![release("keep its container; or ").and(", then try again")]);
        }
        let message = format!(
            "cannot replace {name}: {}, and the old resource keeps the name that the new one needs, because its \
             deletion-policy is retain ({source})",
            because(&self.cause)
        );
        let help = release("undo the change, or give the new resource another name; or ");
        (message, vec![help.and(", then change it")])
    }

    fn declare_again(&self) -> Vec<Hint> {
        let Refusal { name, set_by, .. } = self;
        let renamed = format!("if you renamed it, set `aliases: [\"{name}\"]` on the new one");
        let first = match (set_by.source.key.as_str(), &set_by.source.level) {
            (STATE_PROTECT, _) | (_, Level::Flag) => set_by.release("", name).and(", then try again"),
            _ => set_by.release("declare it again, ", name).and(", then remove it"),
        };
        vec![first, renamed.into()]
    }
}

fn because(cause: &Cause) -> &str {
    match cause {
        Cause::Replaced { because } => because,
        _ => "it has to be deleted first",
    }
}

/// Returns why the record of a resource may not be removed from state, or `None` if it may.
pub fn forget_refusal(resource: &Resource, current_marks: &Marks) -> Option<Diagnostic> {
    let set_by = SetBy::prevention(resource, current_marks)?;
    let name = &resource.name;
    let message = format!("cannot forget {name}: prevent-delete is true ({})", set_by.display());
    let problem = Diagnostic::error(Code::GUARDED, message)
        .note("A resource that may not be deleted may not be forgotten either. Nothing was changed.")
        .help(set_by.release("", name).and(", then try again"));
    Some(problem)
}
