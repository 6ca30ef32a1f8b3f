//! The diagnostic for a deletion that a pin refuses.

use stead_model::{Code, Diagnostic, Hint, NextStep, SourceRef};

use super::refusal::{CHECKED_BEFORE_RUN, Refusal};
use super::{Cause, DeletionEffect};
use crate::pins::{PinVerdict, physical_path};

pub(super) fn diagnostic(refusal: &Refusal, verdict: PinVerdict) -> Diagnostic {
    if let Some(place) = &refusal.set_by().place {
        return pinned_by_program(refusal, place);
    }
    let code = if verdict == PinVerdict::Lost { Code::PINFILE_LOST } else { Code::PINNED };
    let problem = refusal.placed(Diagnostic::error(code, message(refusal, verdict))).note(CHECKED_BEFORE_RUN);
    help(refusal, verdict).into_iter().fold(problem, Diagnostic::help)
}

/// Describes a pin that only the program of today has.
fn pinned_by_program(refusal: &Refusal, place: &SourceRef) -> Diagnostic {
    let message = format!("{}, and the program declares it pinned by now", refused(refusal));
    Diagnostic::error(Code::PINNED, message)
        .at(place.clone(), 0, "declared here")
        .note(CHECKED_BEFORE_RUN)
        .help("remove `pinned` there, or set `pinned: false` on it, then try again")
}

/// Returns the deletion that is refused, without the reason.
fn refused(refusal: &Refusal) -> String {
    let name = &refusal.name;
    match (&refusal.cause, &refusal.effect) {
        (_, DeletionEffect::DeletedWithContainer { name: with }) => {
            format!("{name} would be deleted with {with}")
        }
        (Cause::Removed, _) => format!("{name} was removed from the program"),
        (Cause::Destroyed, _) => format!("cannot delete {name}"),
        (Cause::Replaced { because }, _) => format!("cannot replace {name}: {because}"),
        (Cause::LeftOver, _) => format!("cannot delete the old copy of {name}"),
    }
}

fn message(refusal: &Refusal, verdict: PinVerdict) -> String {
    let refused = refused(refusal);
    let joint = match (&refusal.cause, &refusal.effect) {
        (Cause::Destroyed | Cause::LeftOver, DeletionEffect::Deleted) => ":",
        _ => ", and",
    };
    let reason = match verdict {
        PinVerdict::Lost => {
            "it was pinned at the last run (the pinfile is missing, or has no section for this stack)"
        }
        PinVerdict::Unlisted => {
            "it was pinned at the last run (the pinfile has no entry for it, and no release)"
        }
        PinVerdict::Free | PinVerdict::Declared | PinVerdict::Listed => "it is pinned",
    };
    format!("{refused}{joint} {reason}")
}

fn help(refusal: &Refusal, verdict: PinVerdict) -> Vec<Hint> {
    let remove_pin = || NextStep::RemovePin { path: physical_path(&refusal.name, &refusal.resource) };
    let unpin =
        |before: &str| Hint::text(format!("{before}set `pinned: false` on it, ")).then(NextStep::Apply);
    match (verdict, &refusal.cause) {
        (PinVerdict::Lost | PinVerdict::Unlisted, cause) => {
            let keep = Hint::text("to keep it, write its entry again: ").then(NextStep::RestorePins);
            let end = Hint::text("to end the pin: ").then(remove_pin()).and(", then try again");
            let rest = Hint::text("to keep it and apply the rest: ").then(NextStep::ApplyKeepingPinned);
            let rest = (*cause == Cause::Removed).then_some(rest);
            [keep, end].into_iter().chain(rest).collect()
        }
        (_, Cause::Replaced { .. }) => {
            vec![Hint::text("undo the change"), unpin("or ").and(", then change it")]
        }
        _ => vec![
            unpin("keep it; or ").and(", then try again"),
            Hint::text("if the program no longer declares it: ").then(remove_pin()).and(", then try again"),
        ],
    }
}
