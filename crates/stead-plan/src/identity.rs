//! Whether a new copy of a resource would have the name that the old one has outside.

use std::collections::BTreeMap;

use stead_model::{Input, NodeId, Resource, Value};
use stead_schema::{Shape, TypeSchema};

use crate::planner::Planner;

/// How the physical names of an old and a new copy compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The two cannot be there at once.
    Same,
    Differs,
    /// Nothing that is known says so.
    Unknown,
}

impl Planner<'_> {
    pub(crate) fn identity(&self, id: NodeId, old: &Resource, inputs: &BTreeMap<String, Input>) -> Identity {
        let node = &self.graph.nodes[id.index()];
        if old.resource != node.resource {
            return Identity::Differs;
        }
        let Some(schema) = self.catalog.get(&node.resource) else { return Identity::Unknown };
        let names = match published_identifier(schema) {
            Some(roots) => roots,
            None => named_by_id(schema, old),
        };
        compare(schema, &names, old, inputs)
    }
}

/// The properties that make up a published type's identifier.
fn published_identifier(schema: &TypeSchema) -> Option<Vec<String>> {
    let published = schema.properties.iter().find_map(|property| match &property.shape {
        Shape::Published(form) => Some(&form.schema),
        _ => None,
    })?;
    let roots = published.primary_identifier.iter().filter_map(|path| path.root());
    Some(roots.map(str::to_owned).collect())
}

/// The properties whose value is the id: nothing else is known of types that are written by hand.
fn named_by_id(schema: &TypeSchema, old: &Resource) -> Vec<String> {
    let is_id = |name: &String| {
        let value = old.inputs.get(name).and_then(Value::as_str);
        value.is_some() && value == old.id.as_ref().map(|id| id.as_str())
    };
    let settable = schema.properties.iter().filter(|property| property.settable());
    settable.map(|property| property.name.clone()).filter(is_id).collect()
}

fn compare(
    schema: &TypeSchema,
    names: &[String],
    old: &Resource,
    inputs: &BTreeMap<String, Input>,
) -> Identity {
    let mut found = if names.is_empty() { Identity::Unknown } else { Identity::Same };
    for name in names {
        // What the service makes up is new every time.
        if schema.property(name).is_some_and(|property| !property.settable()) {
            return Identity::Differs;
        }
        match (old.inputs.get(name), inputs.get(name)) {
            (Some(old), Some(Input::Known(new))) if old == new => {}
            (Some(_), Some(_)) => return Identity::Differs,
            _ => found = Identity::Unknown,
        }
    }
    found
}
