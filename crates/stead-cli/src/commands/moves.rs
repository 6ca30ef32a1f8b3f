//! A plan that looks like it moves something: shown as what it looks like, and stopped before it deletes anything.

use stead::plan::{Ambiguity, Plan, Suggestion};
use stead_model::{Code, Diagnostic, NextStep};
use stead_render::{ambiguities, reason, rename_step, suggestions};

use crate::failure::{Failure, Kind, Preface};
use crate::hints;
use crate::ui::Ui;

/// How many renames a problem spells out; `plan --suggest-renames` shows all.
const SHOWN: usize = 10;

/// Everything that looks like a move, for `--suggest-renames`.
pub(crate) fn show_suggestions(plan: &Plan, ui: &Ui) {
    plan.suggestions.iter().for_each(|suggestion| ui.json("suggestion", suggestion));
    plan.ambiguities.iter().for_each(|ambiguity| ui.json("ambiguity", ambiguity));
    if plan.suggestions.is_empty() && plan.ambiguities.is_empty() {
        ui.result("Nothing looks like a move.\n");
    } else {
        ui.result(&suggestions(plan, &ui.out_style(), &command));
    }
}

/// The failure of a run that would delete and create what looks like one resource.
pub(crate) fn failure(plan: &Plan) -> Failure {
    let failure = Failure::new(Kind::Failed, problem(plan));
    match plan.ambiguities.is_empty() {
        true => failure,
        false => failure.after(Preface::Note(ambiguities(plan, SHOWN))),
    }
}

fn problem(plan: &Plan) -> Diagnostic {
    let moves: Vec<&Suggestion> =
        plan.suggestions.iter().filter(|suggestion| suggestion.blocks_deletions()).collect();
    let unsure = plan.ambiguities.iter().map(|Ambiguity { from, .. }| from.len()).sum::<usize>();
    let count = moves.len() + unsure;
    let what = if count == 1 { "resource looks like it was" } else { "resources look like they were" };
    let problem = Diagnostic::error(Code::LOOKS_MOVED, format!("{count} {what} renamed, not removed"))
        .note("As it stands, the old one is deleted and a new one created. Nothing was changed.");
    let spelled = moves.iter().take(SHOWN).fold(problem, |problem, suggestion| {
        problem.help(format!("{}   ({})", command(&rename_step(suggestion)), reason(&suggestion.reason)))
    });
    let more = moves.len().saturating_sub(SHOWN);
    let spelled = match more {
        0 => spelled,
        more => spelled.help(format!("{more} more: `stead plan --suggest-renames`")),
    };
    let spelled = match plan.ambiguities.first().and_then(|one| one.from.first().zip(one.to.first())) {
        None => spelled,
        Some((from, to)) => spelled
            .note("Where several look alike, only you can tell which is which; `--accept-moves` leaves them out.")
            .help(format!("say which is which, one by one, such as: stead rename '{from}' '{to}'"))
            .help("what has no `id` yet gets one in the program first"),
    };
    spelled.help("`--accept-moves` takes the certain ones, `--no-moves` says that they are different things")
}

/// Returns the command of an operation, ready to paste.
fn command(step: &NextStep) -> String {
    hints::phrase(step).trim_matches('`').to_owned()
}
