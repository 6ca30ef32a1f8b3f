//! Suspected moves: as proposed renames, and as tables where the pairs are ambiguous.

use std::fmt::Write as _;

use stead_model::{Name, NextStep};
use stead_plan::{Ambiguity, Confidence, Difference, MovedPlace, Plan, Reason, Suggestion};

use crate::{Paint, Style, input, value};

/// Phrases an operation in the words of the front end.
pub type PhraseStep<'a> = &'a dyn Fn(&NextStep) -> String;

/// Renders all suspected moves, near misses included.
pub fn suggestions(plan: &Plan, style: &Style, phrase: PhraseStep<'_>) -> String {
    let mut out = String::new();
    for place in &plan.places {
        let _ = writeln!(out, "{}: {}", sureness(place.confidence, style), place_reason(place));
        let _ = writeln!(out, "    {}", phrase(&rename_place_step(place)));
    }
    for suggestion in &plan.suggestions {
        let Suggestion { differences, confidence, .. } = suggestion;
        let _ = writeln!(out, "{}: {}", sureness(*confidence, style), reason(suggestion));
        let _ = writeln!(out, "    {}", phrase(&rename_step(suggestion)));
        for Difference { property, old, new } in differences {
            let old = old.as_ref().map_or_else(|| "(not set)".to_owned(), value);
            let new = new.as_ref().map_or_else(|| "(not set)".to_owned(), input);
            let _ = writeln!(out, "    {property} differs: {old} → {new}");
        }
    }
    plan.ambiguities.iter().for_each(|ambiguity| table(ambiguity, usize::MAX, &mut out));
    out
}

fn sureness(confidence: Confidence, style: &Style) -> String {
    match confidence {
        Confidence::Certain => style.paint(Paint::Good, "certain"),
        Confidence::Likely => style.paint(Paint::Caution, "likely"),
        Confidence::Weak => style.paint(Paint::Quiet, "near miss"),
    }
}

/// Returns the rename of all resources in a moved place.
pub fn rename_place_step(place: &MovedPlace) -> NextStep {
    NextStep::RenamePlace { from: place.from.clone(), to: place.to.clone() }
}

/// Renders the reason why a removed and a new place are taken for one.
pub fn place_reason(place: &MovedPlace) -> String {
    let MovedPlace { equal, resources, .. } = place;
    let count = resources.len();
    let same = format!("all {count} resources in it have the same types, ids and scopes");
    match count - equal {
        0 => format!("{same}, inputs and sources"),
        1 => format!("{same}; 1 has other inputs"),
        changed => format!("{same}; {changed} have other inputs"),
    }
}

/// Renders at most `rows` ambiguous groups, with at most `rows` rows each.
pub fn ambiguities(plan: &Plan, rows: usize) -> String {
    let mut out = String::new();
    plan.ambiguities.iter().take(rows).for_each(|ambiguity| table(ambiguity, rows, &mut out));
    if let Some(more) = plan.ambiguities.len().checked_sub(rows).filter(|more| *more > 0) {
        let _ = writeln!(out, "and {more} more tables");
    }
    out
}

/// Returns the rename that a suggestion proposes. Names that change at once are changed by the run itself.
pub fn rename_step(suggestion: &Suggestion) -> NextStep {
    match suggestion.reason {
        Reason::Swapped { .. } | Reason::NameTaken { .. } => NextStep::AcceptMoves,
        _ => NextStep::Rename { from: suggestion.from.clone(), to: suggestion.to.clone() },
    }
}

/// Renders the reason why a removed and a new resource are taken for one.
pub fn reason(suggestion: &Suggestion) -> String {
    let Suggestion { from, to, reason, .. } = suggestion;
    match reason {
        Reason::Swapped { property } => {
            format!("{from} and {to} swapped names: `{property}` identifies the real resource of the other")
        }
        Reason::NameTaken { property } => {
            format!("{from} became {to}, a name in use: `{property}` identifies the same real resource")
        }
        Reason::SameGivenId => "same type and id, in another scope".to_owned(),
        Reason::SamePhysicalId { property } => format!("`{property}` identifies the same real resource"),
        Reason::SameContent => "same type, inputs and sources".to_owned(),
        Reason::SameDependents => "same type, inputs and sources, and the same dependents".to_owned(),
        Reason::SameId => "same type, inputs and sources, and the same id".to_owned(),
        Reason::Similar { equal, of } => format!("{equal} of {of} properties are the same"),
    }
}

/// Renders the recorded and the declared names of an ambiguous group side by side.
fn table(ambiguity: &Ambiguity, rows: usize, out: &mut String) {
    let names = |names: &[Name]| names.iter().take(rows).map(ToString::to_string).collect::<Vec<_>>();
    let (from, to) = (names(&ambiguity.from), names(&ambiguity.to));
    let width = from.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("recorded".len());
    let _ = writeln!(out, "ambiguous: these look the same, so it is unknown which is which");
    let _ = writeln!(out, "    {:width$}   declared", "recorded");
    for row in 0..from.len().max(to.len()) {
        let cell = |names: &[String]| names.get(row).cloned().unwrap_or_default();
        let _ = writeln!(out, "    {:width$}   {}", cell(&from), cell(&to));
    }
    let all = ambiguity.from.len().max(ambiguity.to.len());
    if let Some(more) = all.checked_sub(rows).filter(|more| *more > 0) {
        let _ = writeln!(out, "    and {more} more");
    }
}
