//! Existing resources that no stack manages yet: found by the lists of a provider, read, and named for an import.
//!
//! The result is data: imports with names, and declarations for a program. **Invariants:** nothing is written; a value that is
//! secret is in no declaration.

mod lists;
mod names;
mod references;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt as _;
use stead_engine::ops::{Import, ListScope, OpError, Workspace};
use stead_model::{Code, Diagnostic, Input, Map, PhysicalId, TypeToken, Value};
use stead_provider::LiveState;
use stead_schema::{Access, Property, Shape, TypeSchema, check};

use self::lists::{Lists, lists};
use self::names::{id_of, variable_of};
pub use self::references::Reference;
use self::references::{References, ordered};

/// Which resources are looked for.
#[derive(Clone, Debug)]
pub struct ExistingRequest {
    /// Types, as `aws.s3.Bucket` or `AWS::S3::Bucket`. Empty: all types that can be listed.
    pub types: Vec<String>,
    pub scope: ListScope,
    /// Tag that a resource must have, with this value if one is given.
    pub tag: Option<(String, Option<String>)>,
    /// Module of the declarations, such as `imported`.
    pub module: String,
    /// Text of the file that the declarations are added to.
    pub written: String,
}

/// An existing resource that can be imported.
#[derive(Clone, Debug)]
pub struct Existing {
    pub import: Import,
    /// Name of the constant that declares it.
    pub variable: String,
    /// Properties to declare: without empty values, defaults and secrets.
    pub inputs: Map,
    /// Why a declaration would be incomplete, such as a required property that cannot be read.
    pub incomplete: Option<String>,
    /// Strings of the inputs that lead to other resources that are declared before this one.
    pub references: Vec<Reference>,
}

/// Result of a search.
#[derive(Debug, Default)]
pub struct Survey {
    /// Resources, each after the resources that it refers to.
    pub found: Vec<Existing>,
    /// Number of resources that the stack records already.
    pub recorded: usize,
    /// Types that could not be listed, each with the reason.
    pub unlisted: Vec<(TypeToken, String)>,
    /// Resources that could not be read, each with the reason.
    pub unread: Vec<(TypeToken, PhysicalId, String)>,
}

/// A resource as it was read.
struct Found {
    ty: TypeToken,
    id: PhysicalId,
    live: LiveState,
}

/// Finds existing resources that the stack does not record.
pub async fn existing(workspace: &Workspace, request: &ExistingRequest) -> Result<Survey, OpError> {
    let types = types(workspace, &request.types)?;
    let state = workspace.load().await?.state;
    let Lists { mut ids, unlisted, read, unread, .. } = lists(workspace, types, request.scope, &state).await;
    let mut survey = Survey { unlisted, ..Survey::default() };
    let recorded: BTreeSet<(&TypeToken, &PhysicalId)> =
        state.copies().filter_map(|copy| Some((&copy.ty, copy.id.as_ref()?))).collect();
    let all = ids.len();
    ids.retain(|(ty, id)| !recorded.contains(&(ty, id)));
    survey.recorded = all - ids.len();
    let known = &read;
    let reads = futures_util::stream::iter(ids).map(|(ty, id)| async move {
        let key = (ty, id);
        let live = match known.get(&key) {
            Some(live) => Ok(Some(live.clone())),
            None => workspace.engine.find(&key.0, &key.1, None).await,
        };
        (key.0, key.1, live)
    });
    let mut found = Vec::new();
    for (ty, id, read) in reads.buffered(workspace.engine.parallel).collect::<Vec<_>>().await {
        match read {
            Ok(Some(live)) if has_tag(&live.outputs, request.tag.as_ref()) => {
                found.push(Found { ty, id, live })
            }
            // A resource that is gone since the list is none to import.
            Ok(_) => {}
            Err(refusal) => survey.unread.push((ty, id, refusal.message)),
        }
    }
    let parents = unread.into_iter().filter(|parent| !survey.unread.contains(parent)).collect::<Vec<_>>();
    survey.unread.extend(parents);
    survey.found = named(workspace, request, found)?;
    Ok(survey)
}

/// Returns the types to list.
fn types(workspace: &Workspace, wanted: &[String]) -> Result<Vec<TypeToken>, OpError> {
    let engine = &workspace.engine;
    if wanted.is_empty() {
        let listing =
            |name: &&str| engine.providers.named(name).is_some_and(|provider| provider.listing().is_some());
        let names: Vec<&str> = engine.providers.names().filter(listing).collect();
        return Ok(names.iter().flat_map(|name| engine.catalog.tokens_of(name)).cloned().collect());
    }
    let mut types = Vec::new();
    for text in wanted {
        let ty = stead_schema::token_of(text).unwrap_or_else(|| TypeToken(text.clone()));
        if engine.providers.of(&ty).is_none() || engine.catalog.get(&ty).is_none() {
            let message = format!("no provider of this target serves {text}");
            return Err(OpError::invalid(Diagnostic::error(Code::NO_PROVIDER, message)));
        }
        types.push(ty);
    }
    Ok(types)
}

/// Gives every resource a name that no other has, and finds the references between them.
fn named(
    workspace: &Workspace,
    request: &ExistingRequest,
    found: Vec<Found>,
) -> Result<Vec<Existing>, OpError> {
    let mut taken: BTreeMap<TypeToken, BTreeSet<String>> = BTreeMap::new();
    let mut variables = names::variables_in(&request.written);
    let mut all = Vec::with_capacity(found.len());
    for Found { ty, id, live } in found {
        let name =
            id_of(&ty, id.as_str(), &live.outputs, taken.entry(ty.clone()).or_default(), &request.written);
        let import = Import::in_module(workspace, &request.module, ty.as_str(), &name, id.as_str())?;
        let variable = variable_of(&name, &ty, &mut variables);
        let schema = workspace.engine.catalog.get(&ty);
        let (inputs, incomplete) = declarable(schema, &live.inputs);
        let existing = Existing { import, variable, inputs, incomplete, references: Vec::new() };
        all.push((existing, live.outputs));
    }
    let references = References::of(&all, &|ty| workspace.engine.catalog.get(ty));
    Ok(ordered(all, &references))
}

/// Returns the properties to declare, and why a declaration of them would be incomplete.
fn declarable(schema: Option<&TypeSchema>, inputs: &Map) -> (Map, Option<String>) {
    let Some(schema) = schema else { return (inputs.clone(), None) };
    let says_something = |name: &str, value: &Value| {
        let property = schema.property(name).filter(|property| property.settable());
        property.is_some_and(|property| !is_empty(value) && !is_default(property, value))
    };
    let kept: Map = inputs
        .iter()
        .filter(|(name, value)| says_something(name, value) && !value.has_secrets())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let known = kept.iter().map(|(name, value)| (name.clone(), Input::Known(value.clone()))).collect();
    let incomplete = check(schema, &known).into_iter().next().map(|problem| problem.message);
    (kept, incomplete)
}

/// Returns true for a value that the service would give the property anyway.
fn is_default(property: &Property, value: &Value) -> bool {
    match &property.shape {
        Shape::Published(of) => {
            property.access != Access::Required && of.schema.default_of(of.form) == Some(value)
        }
        _ => false,
    }
}

/// Returns true for a value without content. A required one is what is left of an object whose members cannot be read.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}

/// Returns true if the resource has the tag. Tags are objects with `Key` and `Value`, or members of an object.
fn has_tag(properties: &Map, wanted: Option<&(String, Option<String>)>) -> bool {
    let Some((key, value)) = wanted else { return true };
    let fits = |found: Option<&Value>| value.is_none() || found.and_then(Value::as_str) == value.as_deref();
    match properties.get("Tags") {
        Some(Value::Map(tags)) => tags.get(key.as_str()).is_some_and(|found| fits(Some(found))),
        Some(Value::List(tags)) => tags
            .iter()
            .filter_map(Value::as_map)
            .any(|tag| tag.get("Key").and_then(Value::as_str) == Some(key) && fits(tag.get("Value"))),
        _ => false,
    }
}
