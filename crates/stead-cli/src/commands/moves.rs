//! Likely moves in a plan: their suggestions, and the failure that stops a run before it deletes a moved resource.

use stead::plan::{Ambiguity, MovedPlace, Plan, Suggestion};
use stead_model::{Code, Diagnostic, Hint, NextStep};
use stead_render::{ambiguities, place_reason, reason, rename_place_step, rename_step, suggestions};

use crate::failure::{Failure, Kind, Preface};
use crate::ui::Ui;

/// Maximum number of renames in a problem; `plan --suggest-renames` lists all.
const MAX_SHOWN: usize = 10;

/// Shows all likely moves, for `--suggest-renames`.
pub(crate) fn show_suggestions(plan: &Plan, ui: &Ui) {
    plan.places.iter().for_each(|place| ui.json("moved_place", place));
    plan.suggestions.iter().for_each(|suggestion| ui.json("suggestion", suggestion));
    plan.ambiguities.iter().for_each(|ambiguity| ui.json("ambiguity", ambiguity));
    if plan.places.is_empty() && plan.suggestions.is_empty() && plan.ambiguities.is_empty() {
        ui.result("No resource looks renamed.\n");
    } else {
        ui.result(&suggestions(plan, &ui.out_style(), &|step| command(step, ui)));
    }
}

/// Failure of a run that would delete a resource and create another one that looks like it.
pub(crate) fn failure(plan: &Plan) -> Failure {
    let failure = Failure::new(Kind::Failed, problem(plan));
    match plan.ambiguities.is_empty() {
        true => failure,
        false => failure.with_preface(Preface::Note(ambiguities(plan, MAX_SHOWN))),
    }
}

fn problem(plan: &Plan) -> Diagnostic {
    let moves: Vec<&Suggestion> =
        plan.suggestions.iter().filter(|suggestion| suggestion.blocks_deletions()).collect();
    let places: Vec<&MovedPlace> = plan.places.iter().filter(|place| place.blocks_deletions()).collect();
    let together = places.iter().map(|place| place.resources.len()).sum::<usize>();
    let unsure = plan.ambiguities.iter().map(|Ambiguity { from, .. }| from.len()).sum::<usize>();
    let count = together + moves.len() + unsure;
    let subject = if count == 1 { "resource looks like it was" } else { "resources look like they were" };
    let problem = Diagnostic::error(Code::LOOKS_MOVED, format!("{count} {subject} renamed, not removed"))
        .note("This plan would delete the old resource and create a new one. Nothing was changed.");
    let places = places.iter().map(|place| (rename_place_step(place), place_reason(place)));
    let moves = moves.iter().map(|suggestion| (rename_step(suggestion), reason(suggestion)));
    let steps: Vec<(NextStep, String)> = places.chain(moves).collect();
    let more = steps.len().saturating_sub(MAX_SHOWN);
    let problem = steps
        .into_iter()
        .take(MAX_SHOWN)
        .fold(problem, |problem, (step, why)| problem.help(Hint::from(step).and(format!("   ({why})"))));
    let problem = match more {
        0 => problem,
        more => problem.help(format!("{more} more: `stead plan --suggest-renames`")),
    };
    let problem = match plan.ambiguities.first().and_then(|one| one.from.first().zip(one.to.first())) {
        None => problem,
        Some((from, to)) => problem
            .note("Several resources look alike, so that stead cannot match them; `--accept-moves` leaves them out.")
            .help(Hint::text("match them one by one, such as: ").then(NextStep::Rename { from: from.clone(), to: to.clone() }))
            .help("give each resource without an `id` one in the program first"),
    };
    problem.help("`--accept-moves` applies the certain moves as renames, `--no-moves` deletes and creates")
}

/// Returns the command of an operation, ready to paste.
fn command(step: &NextStep, ui: &Ui) -> String {
    ui.phrase(step).trim_matches('`').to_owned()
}
