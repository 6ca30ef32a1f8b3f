//! Plans as text: each step with its reason and its property changes.

use std::fmt::Write as _;

use stead_model::{Input, Name, PropertyPath};
use stead_plan::{Action, Certainty, Match, Plan, RecordChange, ReplacementCause, Step, Summary, Why};
use stead_schema::{Change, ReplaceOrder};

use crate::{Paint, Style, input, value};

/// The stack that a plan is for.
pub struct Header<'a> {
    pub project: &'a str,
    pub environment: &'a str,
    pub target: &'a str,
}

/// Renders a plan with its summary.
pub fn plan(plan: &Plan, header: &Header<'_>, style: &Style) -> String {
    let Header { project, environment, target } = header;
    let title = format!("{project} · environment {environment} · target {target}");
    let mut out = format!("{}\n", style.paint(Paint::Strong, &title));
    let shown = plan.steps.iter().filter(|step| is_shown(step));
    for step in shown {
        out.push('\n');
        describe(step, style, &mut out);
    }
    if !plan.output_changes.is_empty() {
        let _ = writeln!(out, "\n{} outputs", style.paint(Paint::Caution, "~"));
        plan.output_changes.iter().for_each(|change| out.push_str(&change_line(change, style)));
    }
    let _ = writeln!(out, "\n{}", summary(&plan.summary));
    out
}

/// Renders the names of unchanged resources.
pub fn same<'n>(names: impl Iterator<Item = &'n Name>, style: &Style) -> String {
    let mut out = String::new();
    for name in names {
        let _ = writeln!(out, "  {} {name}", style.paint(Paint::Quiet, "same"));
    }
    out
}

/// Renders a summary: `2 to create, 1 to replace, 3 unchanged`.
pub fn summary(summary: &Summary) -> String {
    let Summary { create, update, replace, delete, import, moved, forget, unchanged, left_alone, .. } =
        summary;
    let parts = [
        (create, "to create"),
        (import, "to import"),
        (update, "to update"),
        (replace, "to replace"),
        (moved, "to rename"),
        (delete, "to delete"),
        (forget, "to forget"),
        (left_alone, "left alone"),
    ];
    let mut text: Vec<String> = parts
        .iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, label)| format!("{count} {label}"))
        .collect();
    text.push(format!("{unchanged} unchanged"));
    text.join(", ")
}

/// Returns false for internal steps, and for the deletion in a replacement, which is shown with its creation.
fn is_shown(step: &Step) -> bool {
    match (&step.action, &step.why) {
        (Action::Barrier, _) | (_, Why::NameVacated) => false,
        (Action::Delete { .. } | Action::Forget { .. }, Why::OldCopy) => false,
        (Action::Forget { .. }, Why::DeletedWithContainer { .. }) => step.node.is_none(),
        _ => true,
    }
}

fn describe(step: &Step, style: &Style, out: &mut String) {
    let possible = Certainty::Possible;
    let (sign, paint, verb) = match (&step.action, &step.why) {
        (Action::Create { .. }, Why::Replaced { certainty, .. }) if *certainty == possible => {
            ("±", Paint::Danger, "may replace")
        }
        (Action::Create { .. }, Why::Replaced { .. }) => ("±", Paint::Danger, "replace"),
        (Action::Create { .. }, _) => ("+", Paint::Good, "create"),
        (Action::Import { .. }, _) => ("=", Paint::Good, "import"),
        (Action::Update { .. }, _) => ("~", Paint::Caution, "update"),
        (Action::Delete { .. }, _) => ("-", Paint::Danger, "delete"),
        (Action::Forget { .. }, Why::DeletedWithContainer { .. }) => ("-", Paint::Danger, "lose"),
        (Action::Forget { .. }, _) => (".", Paint::Caution, "forget"),
        (Action::Move { .. }, _) => (">", Paint::Caution, "rename"),
        (Action::Record { .. } | Action::Barrier, _) => ("·", Paint::Quiet, "record"),
    };
    let place = style.paint(Paint::Quiet, &format!("  {}", step.source));
    let name = match &step.action {
        Action::Move { from, to, .. } => format!("{from} → {to}"),
        _ => step.name.to_string(),
    };
    let _ = writeln!(out, "{} {verb} {}{place}", style.paint(paint, sign), style.paint(Paint::Strong, &name));
    for reason in reason(step).into_iter().chain(dragged(step)) {
        let _ = writeln!(out, "    {}", style.paint(Paint::Quiet, &format!("because {reason}")));
    }
    match &step.action {
        Action::Create { inputs, .. } if step.changes.is_empty() => {
            for (key, wanted) in inputs {
                let _ = writeln!(out, "    {key}: {}{}", input(wanted), pinned(step, key, style));
            }
        }
        Action::Import { inputs, .. } => {
            for (key, found) in inputs {
                let _ = writeln!(out, "    {key}: {}", value(found));
            }
        }
        Action::Create { .. } | Action::Update { .. } => {
            for change in &step.changes {
                let line = change_line(change, style);
                let root = change.path.root().unwrap_or_default();
                let _ = writeln!(out, "{}{}", line.trim_end_matches('\n'), pinned(step, root, style));
            }
        }
        _ => {}
    }
}

/// Returns a remark if the value comes from the pinfile instead of the program.
fn pinned(step: &Step, property: &str, style: &Style) -> String {
    let from_pinfile = step.from_pinfile.iter().any(|name| name == property);
    if from_pinfile { style.paint(Paint::Caution, "  from the pinfile") } else { String::new() }
}

fn reason(step: &Step) -> Option<String> {
    Some(match &step.why {
        Why::New | Why::OldCopy | Why::Barrier | Why::NameVacated => return None,
        Why::Missing => "it is recorded, but no longer exists".to_owned(),
        Why::Changed => {
            let roots: std::collections::BTreeSet<&str> =
                step.changes.iter().filter_map(|change| change.path.root()).collect();
            let roots: Vec<String> = roots.into_iter().map(|root| format!("`{root}`")).collect();
            format!("{} changed", roots.join(", "))
        }
        Why::Replaced { forced_by, order, cause: drag, certainty } => {
            let cause = replaced(forced_by, drag.as_ref(), *certainty);
            let order = match order {
                ReplaceOrder::CreateFirst => "the new one is created first",
                ReplaceOrder::DeleteFirst => "the old one is deleted first",
            };
            format!("{cause}; {order}")
        }
        Why::Removed | Why::Destroyed if matches!(step.action, Action::Forget { .. }) => {
            "it no longer exists; only its record is removed".to_owned()
        }
        Why::Removed => "the program no longer declares it".to_owned(),
        Why::Destroyed => "the whole stack is destroyed".to_owned(),
        Why::LeftOver => "an earlier run replaced it, but did not delete the old copy".to_owned(),
        Why::Retained => {
            "its deletion policy is `retain`: the real resource stays, without a record".to_owned()
        }
        Why::RetainedNameConflict => {
            "its deletion policy is `retain`, but its replacement needs the same name".to_owned()
        }
        Why::DeletedWithContainer { name } => format!("it is deleted with {name}"),
        Why::Imported => match &step.action {
            Action::Import { id, .. } => {
                format!("it already exists, with the id {}", value(&id.as_str().into()))
            }
            _ => "it already exists".to_owned(),
        },
        Why::Moved { by } => match by {
            Match::Name | Match::Alias => "the program declares this as its former name",
            Match::Pinfile => "the pinfile records this move",
            Match::Rename => "it had this name before",
            Match::Content => "it has no `id`, and its content is the same",
            Match::Accepted => "it looks the same, and certain moves are applied",
        }
        .to_owned(),
        Why::RecordOnly { changes: noted } => {
            let noted: Vec<&str> = noted.iter().copied().map(changed_record).collect();
            format!("{}; only the record changes", noted.join(", "))
        }
    })
}

fn changed_record(noted: RecordChange) -> &'static str {
    match noted {
        RecordChange::Pinned => "it is pinned now",
        RecordChange::Unpinned => "it is no longer pinned",
        RecordChange::PreventDelete => "its protection against deletion changed",
        RecordChange::DeletionPolicy => "its deletion policy changed",
        RecordChange::MarkSource => "its marks are now set in another place",
        RecordChange::FormerNames => "its former names changed",
        RecordChange::Parent => "its parent changed",
        RecordChange::Provider => "its provider changed",
        RecordChange::DeletedWith => "its `deletedWith` changed",
        RecordChange::ReplaceWith => "its `replaceWith` changed",
        RecordChange::Dependencies => "its dependencies changed",
    }
}

fn replaced(forced_by: &[PropertyPath], drag: Option<&ReplacementCause>, certainty: Certainty) -> String {
    let paths: Vec<String> = forced_by.iter().map(|path| format!("`{path}`")).collect();
    match (paths.as_slice(), drag) {
        ([], None) => "its type changed".to_owned(),
        ([], Some(ReplacementCause::ReplaceWith { name })) => format!("it is replaced together with {name}"),
        ([], Some(ReplacementCause::DeletedWith { name })) => format!("it is deleted with the old {name}"),
        ([], Some(ReplacementCause::Provider { name })) => {
            format!("its provider {name} now points elsewhere")
        }
        (_, Some(ReplacementCause::Requested)) => "the command asks for its replacement".to_owned(),
        (paths, _) if certainty == Certainty::Possible => {
            format!("{} may change, and cannot be changed in place", paths.join(", "))
        }
        (paths, _) => format!("{} cannot be changed in place", paths.join(", ")),
    }
}

/// Renders the resources that the unknown values of a step come from.
fn dragged(step: &Step) -> Option<String> {
    let names: Vec<String> = step.unknown_from.iter().take(3).map(ToString::to_string).collect();
    let more = step.unknown_from.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("of changes to {}{more}", names.join(", ")))
}

/// Renders `    path: "a" → "b"`, with a remark if the change forces a replacement.
pub fn change_line(change: &Change, style: &Style) -> String {
    let old = change.old.as_ref().map(value);
    let new = change.new.as_ref().map(|new: &Input| input(new));
    let text = match (old, new) {
        (Some(old), Some(new)) => format!("{old} → {new}"),
        (None, Some(new)) => format!("{new} (new)"),
        (Some(old), None) => format!("{old} → (removed)"),
        (None, None) => String::new(),
    };
    let forces =
        if change.replaces { style.paint(Paint::Danger, "  forces replacement") } else { String::new() };
    format!("    {}: {text}{forces}\n", change.path)
}
