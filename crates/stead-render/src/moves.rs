//! What looks like a move, as commands to paste and as a table where nobody can tell.

use std::fmt::Write as _;

use stead_model::Name;
use stead_plan::{Ambiguity, Confidence, Difference, Plan, Reason, Suggestion};

use crate::{Paint, Style, input, value};

/// Everything that looks like a move, near misses included.
pub fn suggestions(plan: &Plan, style: &Style) -> String {
    let mut out = String::new();
    for suggestion in &plan.suggestions {
        let Suggestion { differences, confidence: sureness, .. } = suggestion;
        let sure = match sureness {
            Confidence::Certain => style.paint(Paint::Good, "certain"),
            Confidence::Likely => style.paint(Paint::Caution, "likely"),
            Confidence::Weak => style.paint(Paint::Quiet, "near miss"),
        };
        let _ = writeln!(out, "{sure}: {}", reason(&suggestion.reason));
        let _ = writeln!(out, "    {}", rename(suggestion));
        for Difference { property, old, new } in differences {
            let old = old.as_ref().map_or_else(|| "(not set)".to_owned(), value);
            let new = new.as_ref().map_or_else(|| "(not set)".to_owned(), input);
            let _ = writeln!(out, "    {property} differs: {old} → {new}");
        }
    }
    plan.ambiguities.iter().for_each(|ambiguity| table(ambiguity, usize::MAX, &mut out));
    out
}

/// The resources of which nobody can tell which is which, a few rows of each table.
pub fn ambiguities(plan: &Plan, rows: usize) -> String {
    let mut out = String::new();
    plan.ambiguities.iter().take(rows).for_each(|ambiguity| table(ambiguity, rows, &mut out));
    if let Some(more) = plan.ambiguities.len().checked_sub(rows).filter(|more| *more > 0) {
        let _ = writeln!(out, "and {more} more tables");
    }
    out
}

/// `stead rename 'OLD' 'NEW'`, ready to paste.
pub fn rename(suggestion: &Suggestion) -> String {
    format!("stead rename '{}' '{}'", suggestion.from, suggestion.to)
}

/// Why two are taken for one, in a few words.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::SamePhysicalId { property } => format!("`{property}` is the id of the real thing"),
        Reason::SameContent => "same type, inputs and sources".to_owned(),
        Reason::SameDependents => "same type, inputs and sources, and the same dependants".to_owned(),
        Reason::SameId => "same type, inputs and sources, and the same id".to_owned(),
        Reason::Similar { equal, of } => format!("{equal} of {of} properties are the same"),
    }
}

fn table(ambiguity: &Ambiguity, rows: usize, out: &mut String) {
    let names = |names: &[Name]| names.iter().take(rows).map(ToString::to_string).collect::<Vec<_>>();
    let (from, to) = (names(&ambiguity.from), names(&ambiguity.to));
    let width = from.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("recorded".len());
    let _ = writeln!(out, "ambiguous: these look the same, and nothing tells which is which");
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
