//! A plan as a person reads it: what, why, and what each property was and will be.

use std::fmt::Write as _;

use stead_model::Input;
use stead_plan::{Action, Plan, Step, Summary, Why};
use stead_schema::{Change, ReplaceOrder};

use crate::{Paint, Style, input, value};

/// What the plan is for.
pub struct Header<'a> {
    pub project: &'a str,
    pub environment: &'a str,
    pub target: &'a str,
}

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

/// `2 to create, 1 to replace, 3 unchanged`.
pub fn summary(summary: &Summary) -> String {
    let Summary { create, update, replace, delete, unchanged } = summary;
    let parts =
        [(create, "to create"), (update, "to update"), (replace, "to replace"), (delete, "to delete")];
    let mut text: Vec<String> = parts
        .iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    text.push(format!("{unchanged} unchanged"));
    text.join(", ")
}

/// The old half of a replacement is told with the new one.
fn is_shown(step: &Step) -> bool {
    !matches!((&step.action, &step.why), (Action::Gather, _) | (Action::Delete { .. }, Why::OldCopy))
}

fn describe(step: &Step, style: &Style, out: &mut String) {
    let (sign, paint, what) = match (&step.action, &step.why) {
        (Action::Create { .. }, Why::Replaced { .. }) => ("±", Paint::Danger, "replace"),
        (Action::Create { .. }, _) => ("+", Paint::Good, "create"),
        (Action::Update { .. }, _) => ("~", Paint::Caution, "update"),
        (Action::Delete { .. }, _) => ("-", Paint::Danger, "delete"),
        (Action::Forget { .. }, _) => ("-", Paint::Caution, "forget"),
        (Action::Record { .. } | Action::Gather, _) => ("·", Paint::Quiet, "record"),
    };
    let place = style.paint(Paint::Quiet, &format!("  {}", step.source));
    let _ = writeln!(
        out,
        "{} {what} {}{place}",
        style.paint(paint, sign),
        style.paint(Paint::Strong, &step.name.to_string())
    );
    if let Some(reason) = reason(step) {
        let _ = writeln!(out, "    {}", style.paint(Paint::Quiet, &format!("because {reason}")));
    }
    match &step.action {
        Action::Create { inputs, .. } if step.changes.is_empty() => {
            for (key, wanted) in inputs {
                let _ = writeln!(out, "    {key}: {}", input(wanted));
            }
        }
        Action::Create { .. } | Action::Update { .. } => {
            step.changes.iter().for_each(|change| out.push_str(&change_line(change, style)));
        }
        _ => {}
    }
}

fn reason(step: &Step) -> Option<String> {
    Some(match &step.why {
        Why::New | Why::OldCopy | Why::Gathering => return None,
        Why::Missing => "it is recorded, and the real thing is not there any more".to_owned(),
        Why::Changed => {
            let roots: std::collections::BTreeSet<&str> =
                step.changes.iter().filter_map(|change| change.path.root()).collect();
            let roots: Vec<String> = roots.into_iter().map(|root| format!("`{root}`")).collect();
            format!("{} changed", roots.join(", "))
        }
        Why::Replaced { forced_by, order } => {
            let order = match order {
                ReplaceOrder::CreateFirst => "the new one is made first",
                ReplaceOrder::DeleteFirst => "the old one is deleted first",
            };
            let paths: Vec<String> = forced_by.iter().map(|path| format!("`{path}`")).collect();
            match paths.as_slice() {
                [] => format!("its type changed; {order}"),
                paths => format!("{} cannot be changed in place; {order}", paths.join(", ")),
            }
        }
        Why::Removed => "the program no longer declares it".to_owned(),
        Why::Destroyed => "everything is to be destroyed".to_owned(),
        Why::LeftOver => "an earlier run replaced it and did not get to delete the old copy".to_owned(),
        Why::Bookkeeping => "its dependencies or its marks changed; nothing real does".to_owned(),
    })
}

/// `    path: "a" → "b"`, with a mark if it forces a replacement.
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
