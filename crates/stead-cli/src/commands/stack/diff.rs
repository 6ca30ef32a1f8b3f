//! `stead stack diff A B`: compares two states, property by property. Reads only.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use stead::{load_run, read_export};
use stead_model::{
    Code, Diagnostic, Environment, Input, Inputs, Lifecycle, Map, Name, PropertyPath, Resource, RunId, Value,
};
use stead_render::{Detail, Paint, Style, change_lines, value};
use stead_schema::{Change, TypeSchema, diff as changes_between};
use stead_state::Snapshot;

use crate::args::DiffArguments;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

/// First part of the path of an output.
const OUTPUT: &str = "output";

/// Difference of one resource.
#[derive(Serialize)]
struct Difference {
    /// Name without the environment.
    name: String,
    only_in: Option<Side>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Change>,
    #[serde(skip)]
    inputs: Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Side {
    A,
    B,
}

#[derive(Default, Serialize)]
struct Compared {
    only_in_a: usize,
    only_in_b: usize,
    changed: usize,
    same: usize,
}

pub(crate) async fn diff(session: &Session, arguments: &DiffArguments, ui: &Ui) -> Result<u8, Failure> {
    let (a, b) = (&arguments.before, &arguments.after);
    let (before, after) = (read(session, a).await?, read(session, b).await?);
    let (differences, compared) = compare(&before, &after);
    let style = ui.out_style();
    for difference in &differences {
        ui.json("difference", difference);
        ui.result(&describe(difference, &style));
    }
    ui.json("compared", &compared);
    let Compared { only_in_a, only_in_b, changed, same } = compared;
    match differences.is_empty() {
        true => ui.result(&format!("No difference: {same} resources are the same.\n")),
        false => ui.result(&format!(
            "{only_in_a} only in {a}, {only_in_b} only in {b}, {changed} different, {same} the same\n"
        )),
    }
    Ok(if arguments.exit_code && !differences.is_empty() { 10 } else { 0 })
}

/// Reads the state of a stack, of a run in its history, or of an exported file.
async fn read(session: &Session, text: &str) -> Result<Snapshot, Failure> {
    if text.contains('/') || text.ends_with(".json") {
        return Ok(read_export(session.project.world(), Path::new(text))?.into_snapshot());
    }
    let (stack, run) = match text.split_once('#') {
        Some((stack, run)) => (stack, Some(run)),
        None => (text, None),
    };
    let workspace = if stack.is_empty() { session.workspace.clone() } else { session.sibling(stack)? };
    let Some(run) = run else { return Ok(workspace.load_existing().await?.state.snapshot(None)) };
    let id = RunId(format!("run-{}", run.trim_start_matches("run-")));
    load_run(&workspace.stack.store, &workspace.stack.keys, &id).await?.ok_or_else(|| {
        let message = format!("the history of environment {} has no {id}", workspace.environment());
        let problem = Diagnostic::error(Code::NOT_FOUND, message);
        Failure::new(Kind::Failed, problem.help("`stead stack history` lists the runs"))
    })
}

fn compare(before: &Snapshot, after: &Snapshot) -> (Vec<Difference>, Compared) {
    let (a, b) = (by_name(before), by_name(after));
    // Outputs always differ between two stacks; within one stack they show drift.
    let with_outputs = before.stack == after.stack;
    let mut compared = Compared::default();
    let mut differences = Vec::new();
    let names: std::collections::BTreeSet<&Name> = a.keys().chain(b.keys()).collect();
    for name in names {
        let (only_in, changes, inputs) = match (a.get(name), b.get(name)) {
            (Some(old), Some(new)) => (None, changes(old, new, with_outputs), Map::new()),
            (Some(old), None) => (Some(Side::A), Vec::new(), old.inputs.clone()),
            (None, Some(new)) => (Some(Side::B), Vec::new(), new.inputs.clone()),
            (None, None) => continue,
        };
        match only_in {
            Some(Side::A) => compared.only_in_a += 1,
            Some(Side::B) => compared.only_in_b += 1,
            None if changes.is_empty() => {
                compared.same += 1;
                continue;
            }
            None => compared.changed += 1,
        }
        differences.push(Difference { name: without_environment(name), only_in, changes, inputs });
    }
    let outputs = property_changes(OUTPUT, &before.outputs, &after.outputs);
    if !outputs.is_empty() {
        compared.changed += 1;
        let name = "outputs".to_owned();
        differences.push(Difference { name, only_in: None, changes: outputs, inputs: Map::new() });
    }
    (differences, compared)
}

/// Maps the resources by name, with a placeholder for the environment. Condemned copies are left out.
fn by_name(snapshot: &Snapshot) -> BTreeMap<Name, &Resource> {
    let placeholder = Environment::new("-");
    let current = snapshot.resources.iter().filter(|resource| resource.lifecycle != Lifecycle::Condemned);
    current.map(|resource| (resource.name.in_environment(&placeholder), resource.as_ref())).collect()
}

/// Returns a name without the placeholder for the environment.
fn without_environment(name: &Name) -> String {
    name.to_string().trim_start_matches('-').trim_start_matches(':').to_owned()
}

fn changes(old: &Resource, new: &Resource, with_outputs: bool) -> Vec<Change> {
    let mut changes = property_changes("", &old.inputs, &new.inputs);
    if with_outputs {
        changes.extend(property_changes(OUTPUT, &old.outputs, &new.outputs));
    }
    let record = |resource: &Resource| -> Map {
        let id = resource.id.as_ref().filter(|_| with_outputs).map(|id| Value::from(id.as_str()));
        let mut record: Map =
            [("preventDelete".to_owned(), Value::from(resource.prevents_deletion()))].into();
        record.insert("type".to_owned(), Value::from(resource.ty.as_str()));
        record.extend(id.map(|id| ("id".to_owned(), id)));
        record.extend(resource.pinned.then(|| ("pinned".to_owned(), Value::from(true))));
        record
    };
    changes.extend(property_changes("record", &record(old), &record(new)));
    changes
}

fn property_changes(group: &str, old: &Map, new: &Map) -> Vec<Change> {
    let new: Inputs = new.iter().map(|(key, value)| (key.clone(), Input::Known(value.clone()))).collect();
    let mut changes = changes_between(&TypeSchema::new("", "", Vec::new()), old, &new);
    if !group.is_empty() {
        for change in &mut changes {
            let mut path = PropertyPath::of(group);
            path.0.append(&mut change.path.0);
            change.path = path;
        }
    }
    changes
}

fn describe(difference: &Difference, style: &Style) -> String {
    let (sign, paint) = match difference.only_in {
        Some(Side::A) => ("-", Paint::Danger),
        Some(Side::B) => ("+", Paint::Good),
        None => ("~", Paint::Caution),
    };
    let name = style.paint(Paint::Strong, &difference.name);
    let mut out = format!("{} {name}\n", style.paint(paint, sign));
    for (key, input) in &difference.inputs {
        let _ = writeln!(out, "    {key}: {}", value(input));
    }
    // Outputs are never cut.
    let whole = Style { detail: Detail::Full, ..*style };
    for change in &difference.changes {
        let is_output = change.path.root() == Some(OUTPUT);
        out.push_str(&change_lines(change, if is_output { &whole } else { style }));
    }
    out.push('\n');
    out
}
