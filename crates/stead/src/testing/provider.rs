//! A provider that answers every call by the schema: its creates give placeholders, and nothing real is read or changed.
//!
//! Checks and differences are those of the real provider where there is one: they use only their arguments, and the provider is
//! given a world without a machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use stead_model::{Graph, Inputs, Map, Name, Operation, PhysicalId, Resource, TypeToken, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, LiveState, Provider, Reads,
    Receipt, Recovery, Refusal, UpdateRequest, Updated,
};
use stead_schema::{Access, Catalog, Change, Problem, Shape, TypeSchema, cfn, check, diff};

use super::placeholder::placeholder;
use super::requests::Lookups;

/// Answers for the types of one provider.
pub(super) struct PlaceholderProvider {
    pub(super) name: &'static str,
    /// The provider itself, in a world without a machine; `None` for types that only a schema describes.
    pub(super) real: Option<Arc<dyn Provider>>,
    pub(super) catalog: Catalog,
    /// Properties that the graph reads, which need a value even if a provider may leave them out.
    pub(super) read: BTreeSet<(TypeToken, String)>,
    /// Existing resources that the test gives, for imports.
    pub(super) lookups: Lookups,
}

/// Returns the properties that the deferred expressions of a graph read.
pub(super) fn properties_read(graph: &Graph) -> BTreeSet<(TypeToken, String)> {
    let property = |expr: &stead_model::Expr| match expr {
        stead_model::Expr::Property { node, property } => {
            Some((graph.node(*node)?.ty.clone(), property.clone()))
        }
        _ => None,
    };
    graph.exprs.iter().filter_map(property).collect()
}

impl PlaceholderProvider {
    /// Returns placeholders for the properties that a provider sets and the inputs leave out.
    fn outputs(&self, ty: &TypeToken, name: &Name, inputs: &Map, old: Option<&Map>) -> Map {
        let Some(schema) = self.catalog.get(ty) else { return Map::new() };
        let wanted = |property: &&stead_schema::Property| {
            let read = || self.read.contains(&(ty.clone(), property.name.clone()));
            property.access == Access::ReadOnly || (property.provisioned() && read())
        };
        let missing =
            schema.properties.iter().filter(wanted).filter(|property| !inputs.contains_key(&property.name));
        let value = |property: &stead_schema::Property| {
            let kept = old.and_then(|old| old.get(&property.name).cloned());
            kept.unwrap_or_else(|| placeholder(ty, property, name))
        };
        missing.map(|property| (property.name.clone(), value(property))).collect()
    }

    /// Returns the physical id: the primary identifier of a published type, or the name.
    fn id(&self, ty: &TypeToken, name: &Name, values: &Map) -> PhysicalId {
        let published = self.catalog.get(ty).and_then(published);
        let parts = published.into_iter().flat_map(|schema| &schema.primary_identifier);
        let known: Option<Vec<&str>> =
            parts.map(|path| values.get(path.root()?).and_then(Value::as_str)).collect();
        let known = known.filter(|parts| !parts.is_empty()).map(|parts| parts.join("|"));
        PhysicalId(known.unwrap_or_else(|| name.to_string()))
    }
}

/// Returns the published schema of a type, if AWS publishes it.
pub(super) fn published(schema: &TypeSchema) -> Option<&cfn::Schema> {
    match &schema.properties.first()?.shape {
        Shape::Published(published) => Some(&published.schema),
        _ => None,
    }
}

/// Marks the changes inside create-only parts of a published type, and drops the changes of order that the type ignores.
fn of_published(schema: &cfn::Schema, changes: Vec<Change>) -> Vec<Change> {
    let create_only = schema.classes.of(cfn::Class::CreateOnly);
    let unordered = |change: &Change| {
        let form = change.path.0.iter().try_fold(cfn::Schema::ROOT, |form, segment| match segment {
            stead_model::Segment::Key(key) => schema.member(form, key),
            stead_model::Segment::Index(_) => schema.element(form),
        });
        let new = change.new.as_ref().and_then(stead_model::Input::as_known);
        let lists = change.old.as_ref().and_then(Value::as_list).zip(new.and_then(Value::as_list));
        form.is_some_and(|form| schema.is_unordered(form))
            && lists.is_some_and(|(old, new)| same_items(old, new))
    };
    let changes = changes.into_iter().filter(|change| !unordered(change));
    changes
        .map(|change| Change { replaces: change.replaces || create_only.covers(&change.path), ..change })
        .collect()
}

fn same_items(old: &[Value], new: &[Value]) -> bool {
    let sorted = |items: &[Value]| {
        let mut items = items.to_vec();
        items.sort();
        items
    };
    sorted(old) == sorted(new)
}

#[async_trait]
impl Provider for PlaceholderProvider {
    fn name(&self) -> &str {
        self.name
    }

    /// The catalog of the engine lists the types; published ones are parsed only when they are used.
    fn types(&self) -> Vec<TypeSchema> {
        Vec::new()
    }

    async fn check(&self, resource: &TypeToken, inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
        if let Some(real) = &self.real {
            return real.check(resource, inputs).await;
        }
        let problems = self.catalog.get(resource).map(|schema| check(schema, &inputs)).unwrap_or_default();
        if problems.is_empty() { Ok(inputs) } else { Err(problems) }
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        if let Some(real) = &self.real {
            return real.diff(old, inputs).await;
        }
        let Some(schema) = self.catalog.get(&old.ty) else { return Diff::default() };
        let changes = diff(schema, &old.inputs, inputs);
        let changes = match published(schema) {
            Some(published) => of_published(published, changes),
            None => changes,
        };
        Diff { changes, order: schema.replace_order, ..Diff::default() }
    }

    fn reads(&self, _: &TypeToken) -> Reads {
        Reads::StateOnly
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        Ok(Some(LiveState { inputs: resource.inputs.clone(), outputs: resource.outputs.clone() }))
    }

    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        let given = self.lookups.get(resource.as_str()).and_then(|of_type| of_type.get(id.as_str()));
        let Some(given) = given else {
            let message = format!("the test gives no {resource} with the id `{}`", id.as_str());
            let help =
                format!("give it: `lookups: {{ \"{resource}\": {{ \"{}\": {{ … }} }} }}`", id.as_str());
            return Err(Refusal::new(message).help(help));
        };
        let schema = self.catalog.get(resource);
        let settable =
            |key: &str| schema.and_then(|schema| schema.property(key)).is_some_and(|one| one.settable());
        let (inputs, outputs) = given.clone().into_iter().partition(|(key, _)| settable(key));
        Ok(Some(LiveState { inputs, outputs }))
    }

    async fn create(&self, _: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        let CreateRequest { name, resource, inputs, .. } = request;
        let outputs = self.outputs(resource, name, inputs, None);
        let all: Map = inputs.clone().into_iter().chain(outputs.clone()).collect();
        CallOutcome::Done(Created { id: self.id(resource, name, &all), outputs })
    }

    async fn update(&self, _: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let Resource { ty, name, inputs, outputs, .. } = request.resource;
        CallOutcome::Done(Updated { outputs: self.outputs(ty, name, inputs, Some(outputs)) })
    }

    async fn delete(&self, _: Receipt, _: DeletePermit, _: DeleteRequest<'_>) -> CallOutcome<()> {
        CallOutcome::Done(())
    }

    fn recovery(&self, _: Operation, _: &TypeToken, _: &Map) -> Recovery {
        Recovery::Repeat
    }
}
