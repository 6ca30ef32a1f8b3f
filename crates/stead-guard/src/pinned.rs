//! What is said when a pin stands against a deletion.

use stead_model::{Code, Diagnostic};

use crate::Refusal;
use crate::decide::{Cause, Fate};
use crate::pins::{Hold, physical_path};

pub(crate) fn diagnostic(refusal: &Refusal, hold: Hold) -> Diagnostic {
    let name = &refusal.name;
    let path = physical_path(name, &refusal.resource);
    let what = match (&refusal.cause, &refusal.fate) {
        (_, Fate::GoneWith { name: with }) => format!("{name} would go with {with}"),
        (Cause::Removed, _) => format!("{name} was removed from the program"),
        (Cause::Destroyed, _) => format!("cannot delete {name}"),
        (Cause::Replaced { because }, _) => format!("cannot replace {name}: {because}"),
        (Cause::LeftOver, _) => format!("cannot delete the old copy of {name}"),
    };
    let code = if hold == Hold::Lost { Code::PINFILE_LOST } else { Code::PINNED };
    let why = match hold {
        Hold::Lost => "it was pinned at the last run (the pinfile is gone)",
        Hold::Unlisted => {
            "it is pinned (the run that made it did not end well, so the pinfile has no entry yet)"
        }
        _ => "it is pinned",
    };
    let joint = match (&refusal.cause, &refusal.fate) {
        (Cause::Destroyed | Cause::LeftOver, Fate::Deleted) => ":",
        _ => ", and",
    };
    let problem = Diagnostic::error(code, format!("{what}{joint} {why}"))
        .at(refusal.source.clone(), 0, "declared here")
        .note("Nothing was changed: the guards look at the whole plan before anything runs.");
    match (hold, &refusal.cause) {
        (Hold::Lost, _) => problem
            .help("`stead pin restore` writes the pinfile again from what state remembers")
            .help(format!("if it is to go: stead pin rm {path}, then try again")),
        (Hold::Unlisted, Cause::Removed) => problem
            .help("keep it: declare it again and run `stead up`, which writes its entry")
            .help("if it is to go: stead up --update-pins"),
        (Hold::Unlisted, _) => problem
            .help("set `pinned: false` on it, run `stead up`, then try again")
            .help("if it is in the program no more: stead up --update-pins"),
        (_, Cause::Replaced { .. }) => problem
            .help("undo the change")
            .help("or set `pinned: false` on it, run `stead up`, then change it"),
        _ => problem
            .help("keep it; or set `pinned: false` on it, run `stead up`, then try again")
            .help(format!("if it is in the program no more: stead pin rm {path}, then try again")),
    }
}
