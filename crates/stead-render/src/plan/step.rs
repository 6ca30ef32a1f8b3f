//! One step as text.

use std::fmt::Write as _;

use stead_model::PropertyPath;
use stead_plan::{Action, Certainty, Step, Why};
use stead_schema::Shape;
use stead_schema::cfn::Class;

use super::{Sections, going, reason};
use crate::change::{lines_with, property};
use crate::node::Node;
use crate::{Detail, Paint, Style, value};

pub(super) fn describe(step: &Step, sections: &Sections<'_, '_>, out: &mut String) {
    let (view, style) = (sections.view, &sections.view.style);
    let (sign, paint, verb) = verb(step);
    let name = match &step.action {
        Action::Move { from, to, .. } => format!("{} → {}", view.name(from), view.name(to)),
        _ => view.name(&step.name),
    };
    let remark = match (style.detail, gone(step, sections)) {
        // The declaration of a resource that goes is no longer at its recorded place.
        (_, Some(id)) => format!("  {id}"),
        (Detail::Concise, None) if !step.changes.is_empty() => {
            format!("  {}", reason::roots(step).join(", "))
        }
        _ => format!("  {}", step.source),
    };
    let remark = style.paint(Paint::Quiet, &remark);
    let _ =
        writeln!(out, "{} {verb} {}{remark}", style.paint(paint, sign), style.paint(Paint::Strong, &name));
    if style.detail == Detail::Concise {
        return;
    }
    for reason in reason::reasons(step, view) {
        let text = style.sentence(&format!("because {reason}"), "    ");
        let _ = writeln!(out, "    {}", style.paint(Paint::Quiet, &text));
    }
    properties(step, sections, out);
}

fn verb(step: &Step) -> (&'static str, Paint, &'static str) {
    match (&step.action, &step.why) {
        (Action::Create { .. }, Why::Replaced { certainty: Certainty::Possible, .. }) => {
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
    }
}

/// Returns the id of a resource that goes.
fn gone(step: &Step, sections: &Sections<'_, '_>) -> Option<String> {
    let (Action::Delete { copy, .. } | Action::Forget { copy, .. }) = &step.action else { return None };
    let resource = (sections.view.record)(copy)?;
    Some(match &resource.id {
        Some(id) => format!("id {}", value(&id.as_str().into())),
        None => "without an id".to_owned(),
    })
}

fn properties(step: &Step, sections: &Sections<'_, '_>, out: &mut String) {
    let (view, style) = (sections.view, &sections.view.style);
    match &step.action {
        Action::Delete { copy, .. } | Action::Forget { copy, .. } => {
            let Some(resource) = (view.record)(copy) else { return };
            for (key, value) in going::telling(resource, view) {
                out.push_str(&shown(step, key, &Node::from(value), sections));
            }
            if resource.imported {
                return;
            }
            let place = format!("was declared at {}", resource.source);
            let _ = writeln!(out, "    {}", style.paint(Paint::Quiet, &place));
        }
        Action::Create { inputs, incarnation } => {
            if let Why::Replaced { .. } = step.why
                && let Some((copy, fate)) = sections.going.replaced(incarnation)
                && let Some(id) = (view.record)(&copy).and_then(|old| old.id.as_ref())
            {
                let _ = writeln!(out, "    old: id {}{fate}", value(&id.as_str().into()));
                let _ = writeln!(out, "    new: id (known after apply)");
            }
            if !step.changes.is_empty() {
                return changes(step, sections, out);
            }
            if sections.is_short(step) {
                return;
            }
            for (key, wanted) in inputs {
                out.push_str(&shown(step, key, &Node::from(wanted), sections));
            }
        }
        Action::Import { inputs, .. } => {
            for (key, found) in inputs {
                out.push_str(&shown(step, key, &Node::from(found), sections));
            }
        }
        Action::Update { .. } => changes(step, sections, out),
        Action::Record { .. } | Action::Move { .. } | Action::Barrier => {}
    }
}

fn changes(step: &Step, sections: &Sections<'_, '_>, out: &mut String) {
    let style = &sections.view.style;
    for change in &step.changes {
        let remark = pinned(step, change.path.root().unwrap_or_default(), style);
        if is_non_public(step, &change.path, sections) {
            let _ = writeln!(out, "    {}: (changed, and not shown){remark}", change.path);
        } else {
            out.push_str(&lines_with(change, &remark, style));
        }
    }
}

fn shown(step: &Step, key: &str, value: &Node<'_>, sections: &Sections<'_, '_>) -> String {
    let (path, style) = (PropertyPath::of(key), &sections.view.style);
    let remark = pinned(step, key, style);
    if is_non_public(step, &path, sections) {
        return format!("    {path}: (not shown){remark}\n");
    }
    property(&path, value, &remark, style)
}

/// Returns true for a property that the published schema calls non-public.
fn is_non_public(step: &Step, path: &PropertyPath, sections: &Sections<'_, '_>) -> bool {
    let schema = (sections.view.schema)(&step.ty);
    schema.into_iter().flat_map(|schema| schema.properties.first()).any(|property| match &property.shape {
        Shape::Published(published) => published.schema.classes.of(Class::NonPublic).covers(path),
        _ => false,
    })
}

/// Returns a remark if the value comes from the pinfile instead of the program.
fn pinned(step: &Step, property: &str, style: &Style) -> String {
    let from_pinfile = step.from_pinfile.iter().any(|name| name == property);
    if from_pinfile { style.paint(Paint::Caution, "  from the pinfile") } else { String::new() }
}
