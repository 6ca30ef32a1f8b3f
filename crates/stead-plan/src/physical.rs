//! Physical identities: the values that name the real resource, such as the path of a file.
//!
//! Two resources with one identity are one real resource, so that the one can exist only after the other is deleted.

use std::collections::HashMap;

use stead_model::{Input, Inputs, Resource, TypeToken, Uid, Value};
use stead_schema::{Catalog, identity};

/// The name of a real resource: its type, its provider, and the properties that identify it, with their values as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Physical<'a> {
    ty: &'a TypeToken,
    /// The provider resource, or `None` for the default provider of the target.
    provider: Option<&'a Uid>,
    values: Vec<(&'a str, String)>,
}

impl<'a> Physical<'a> {
    /// Returns the first property that identifies the real resource.
    pub(crate) fn property(&self) -> &'a str {
        self.values.first().map_or("id", |(property, _)| property)
    }
}

/// Reads physical identities, and keeps the identifying properties of each type.
pub(crate) struct Identities<'a> {
    catalog: &'a Catalog,
    properties: HashMap<&'a TypeToken, Vec<&'a str>>,
}

impl<'a> Identities<'a> {
    pub(crate) fn new(catalog: &'a Catalog) -> Identities<'a> {
        Identities { catalog, properties: HashMap::new() }
    }

    /// Returns the properties that identify a resource of the type. A prefix alone does not.
    pub(crate) fn properties(&mut self, ty: &'a TypeToken) -> &[&'a str] {
        let catalog = self.catalog;
        self.properties.entry(ty).or_insert_with(|| {
            let all = catalog.get(ty).map(identity).unwrap_or_default();
            all.into_iter().filter(|name| !name.ends_with("Prefix")).collect()
        })
    }

    /// Returns the identity of a recorded copy, if its inputs tell it.
    pub(crate) fn of_record(&mut self, record: &'a Resource) -> Option<Physical<'a>> {
        // A secret cannot be compared as text, and two of them would look alike.
        let open = |property: &str| record.inputs.get(property).filter(|value| !value.has_secrets());
        let set = |property: &&'a str| Some((*property, open(property)?.to_json()));
        let values: Vec<_> = self.properties(&record.ty).iter().filter_map(set).collect();
        let provider = record.ties.provider.as_ref().map(|copy| &copy.uid);
        (!values.is_empty()).then_some(Physical { ty: &record.ty, provider, values })
    }

    /// Returns the identity that inputs ask for, or `None` if a value is not known before the run.
    pub(crate) fn of_inputs(
        &mut self,
        ty: &'a TypeToken,
        provider: Option<&'a Uid>,
        inputs: &Inputs,
    ) -> Option<Physical<'a>> {
        let mut values = Vec::new();
        for property in self.properties(ty) {
            match inputs.get(*property) {
                Some(Input::Known(value)) if !value.has_secrets() => {
                    values.push((*property, value.to_json()))
                }
                Some(_) => return None,
                None => {}
            }
        }
        (!values.is_empty()).then_some(Physical { ty, provider, values })
    }

    /// Returns true if inputs ask for another real resource than the recorded one. Compares values, without copies of them.
    pub(crate) fn differ(&mut self, ty: &'a TypeToken, inputs: &Inputs, record: &Resource) -> bool {
        let known = |property: &str| inputs.get(property).and_then(Input::as_known);
        let other = |old: Option<&Value>, new: &Value| old.is_some_and(|old| old != new);
        self.properties(ty)
            .iter()
            .any(|property| known(property).is_some_and(|new| other(record.inputs.get(*property), new)))
    }
}
