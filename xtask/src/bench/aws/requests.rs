//! Requests per resource of each command, as the served cloud counts them.

use std::fmt::Write as _;

use stead_model::PropertyPath;
use stead_schema::cfn::{Class, Schema, bundle};

use super::program::{RESOURCES, Stage};
use super::served::Calls;

/// Names of the calls of Cloud Control, in the order of the table.
const CALLS: [&str; 6] = [
    "CreateResource",
    "UpdateResource",
    "DeleteResource",
    "GetResource",
    "GetResourceRequestStatus",
    "ListResources",
];

/// Calls of each command.
pub(super) struct Requests {
    pub(super) of_stages: Vec<(Stage, Calls)>,
}

/// Returns the calls since an earlier count.
pub(super) fn since(earlier: &Calls, now: &Calls) -> Calls {
    let before = |name: &String| earlier.get(name).copied().unwrap_or_default();
    now.iter().map(|(name, count)| (name.clone(), count - before(name))).collect()
}

impl Requests {
    pub(super) fn section(&self) -> String {
        let (alone, all) = only_identifiers();
        let mut out = format!(
            "### Requests\n\nPer resource, with {RESOURCES} resources; counted by the served cloud.\n\n| | {} | all |\n|---|{}\n",
            CALLS.map(|call| format!("`{call}`")).join(" | "),
            "---:|".repeat(CALLS.len() + 1),
        );
        for (stage, calls) in &self.of_stages {
            let per_resource = |count: u64| format!("{:.2}", count as f64 / RESOURCES as f64);
            let columns = CALLS.map(|call| per_resource(calls.get(call).copied().unwrap_or_default()));
            let _ = writeln!(
                out,
                "| {} | {} | {} |",
                stage.label(),
                columns.join(" | "),
                per_resource(calls.values().sum())
            );
        }
        let _ = write!(
            out,
            "\nA refresh uses no list: a list promises identifiers only, and of the {all} types that can be managed, {alone} have no \
             property besides\ntheir identifier.\n"
        );
        out
    }
}

/// Returns the number of types whose reads tell nothing but that the resource exists, and that of all types that can be managed.
fn only_identifiers() -> (usize, usize) {
    let shipped = bundle::shipped();
    let schemas = shipped.names().filter_map(|name| shipped.schema(name));
    let managed: Vec<Schema> = schemas.filter(is_managed).collect();
    (managed.iter().filter(|schema| is_identifier_alone(schema)).count(), managed.len())
}

fn is_managed(schema: &Schema) -> bool {
    let handlers = &schema.handlers;
    handlers.create.is_some() && handlers.read.is_some() && handlers.delete.is_some()
}

fn is_identifier_alone(schema: &Schema) -> bool {
    schema.properties().all(|(name, _)| {
        let path = PropertyPath::of(name);
        schema.primary_identifier.contains(&path) || schema.classes.of(Class::WriteOnly).covers(&path)
    })
}
