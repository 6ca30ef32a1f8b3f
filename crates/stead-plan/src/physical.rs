//! Physical identities: the values that name the real resource, such as the path of a file.
//!
//! Two resources with one identity are one real resource, so that the one can exist only after the other is deleted. An
//! identity is the canonical one of the provider if it tells one, and else the values of properties as they are spelled.

use std::collections::HashMap;

use stead_model::{Input, Inputs, NodeId, PhysicalIdentity, Resource, TypeToken, Uid, Value};
use stead_schema::{Catalog, identity};

use crate::CanonicalIdentities;

/// The identity of a real resource of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Physical<'a> {
    ty: &'a TypeToken,
    name: RealName<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RealName<'a> {
    /// The parts of the real resource, as the provider tells them.
    Canonical(&'a [PhysicalIdentity]),
    Spelled {
        /// The provider resource, or `None` for the default provider of the target.
        provider: Option<&'a Uid>,
        /// The identifying properties, with their values as JSON.
        values: Vec<(&'a str, String)>,
    },
}

/// A part of a real resource. Two resources of any type with a common part cannot exist side by side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part<'a> {
    Canonical(&'a PhysicalIdentity),
    Spelled(Physical<'a>),
}

impl<'a> Physical<'a> {
    fn spelled(
        ty: &'a TypeToken,
        provider: Option<&'a Uid>,
        values: Vec<(&'a str, String)>,
    ) -> Option<Physical<'a>> {
        (!values.is_empty()).then_some(Physical { ty, name: RealName::Spelled { provider, values } })
    }

    fn canonical(ty: &'a TypeToken, parts: &'a [PhysicalIdentity]) -> Physical<'a> {
        Physical { ty, name: RealName::Canonical(parts) }
    }

    pub(crate) fn is_canonical(&self) -> bool {
        matches!(self.name, RealName::Canonical(_))
    }

    /// Returns the parts of the real resource; the key pair of a path, for example, has two files.
    pub(crate) fn parts(self) -> Vec<Part<'a>> {
        match self.name {
            RealName::Canonical(parts) => parts.iter().map(Part::Canonical).collect(),
            RealName::Spelled { .. } => vec![Part::Spelled(self)],
        }
    }
}

/// The properties that identify the resources of each type. A prefix alone does not.
pub(crate) struct IdentifyingProperties<'a> {
    catalog: &'a Catalog,
    of: HashMap<&'a TypeToken, Vec<&'a str>>,
}

impl<'a> IdentifyingProperties<'a> {
    pub(crate) fn new(catalog: &'a Catalog) -> IdentifyingProperties<'a> {
        IdentifyingProperties { catalog, of: HashMap::new() }
    }

    pub(crate) fn of(&mut self, ty: &'a TypeToken) -> &[&'a str] {
        let catalog = self.catalog;
        self.of.entry(ty).or_insert_with(|| {
            let all = catalog.get(ty).map(identity).unwrap_or_default();
            all.into_iter().filter(|name| !name.ends_with("Prefix")).collect()
        })
    }
}

/// Reads physical identities.
pub(crate) struct Identities<'a> {
    canonical: &'a CanonicalIdentities,
    properties: IdentifyingProperties<'a>,
}

impl<'a> Identities<'a> {
    pub(crate) fn new(catalog: &'a Catalog, canonical: &'a CanonicalIdentities) -> Identities<'a> {
        Identities { canonical, properties: IdentifyingProperties::new(catalog) }
    }

    /// Returns the properties that identify a resource of the type.
    pub(crate) fn properties(&mut self, ty: &'a TypeToken) -> &[&'a str] {
        self.properties.of(ty)
    }

    /// Returns the first property that identifies the real resource.
    pub(crate) fn property(&mut self, physical: &Physical<'a>) -> &'a str {
        let spelled = match &physical.name {
            RealName::Spelled { values, .. } => values.first().map(|(property, _)| *property),
            RealName::Canonical(_) => None,
        };
        spelled.or_else(|| self.properties(physical.ty).first().copied()).unwrap_or("id")
    }

    /// Returns the identity of a recorded copy, if its inputs tell it.
    pub(crate) fn of_record(&mut self, record: &'a Resource) -> Option<Physical<'a>> {
        // A secret cannot be compared as text, and two of them would look alike.
        let is_open =
            |property: &&&str| record.inputs.get(**property).is_some_and(|value| !value.has_secrets());
        let open: Vec<&'a str> = self.properties(&record.ty).iter().filter(is_open).copied().collect();
        if open.is_empty() {
            return None;
        }
        if let Some(parts) = self.canonical.of_record(record) {
            return Some(Physical::canonical(&record.ty, parts));
        }
        let value = |property: &'a str| Some((property, record.inputs.get(property)?.to_json()));
        let provider = record.ties.provider.as_ref().map(|copy| &copy.uid);
        Physical::spelled(&record.ty, provider, open.into_iter().filter_map(value).collect())
    }

    /// Returns the identity that a declaration asks for, or `None` if a value is not known before the run.
    ///
    /// `told` is the canonical identity that a verdict told, because the program alone does not.
    pub(crate) fn of_declared<'b>(
        &mut self,
        (id, ty): (NodeId, &'a TypeToken),
        provider: Option<&'a Uid>,
        inputs: &Inputs,
        told: &'b [PhysicalIdentity],
    ) -> Option<Physical<'b>>
    where
        'a: 'b,
    {
        let mut open = Vec::new();
        for property in self.properties(ty) {
            match inputs.get(*property) {
                Some(Input::Known(value)) if !value.has_secrets() => open.push((*property, value)),
                Some(_) => return None,
                None => {}
            }
        }
        if open.is_empty() {
            return None;
        }
        if let Some(parts) = Some(told).filter(|told| !told.is_empty()).or(self.canonical.of_node(id)) {
            return Some(Physical::canonical(ty, parts));
        }
        let values = open.into_iter().map(|(property, value)| (property, value.to_json()));
        Physical::spelled(ty, provider, values.collect())
    }

    /// Returns true if a declaration asks for another real resource than the recorded one. Compares values, without copies of
    /// them.
    pub(crate) fn differ(
        &mut self,
        (id, ty): (NodeId, &'a TypeToken),
        inputs: &Inputs,
        record: &Resource,
    ) -> bool {
        if let (Some(new), Some(old)) = (self.canonical.of_node(id), self.canonical.of_record(record)) {
            return new != old;
        }
        let known = |property: &str| inputs.get(property).and_then(Input::as_known);
        let other = |old: Option<&Value>, new: &Value| old.is_some_and(|old| old != new);
        self.properties(ty)
            .iter()
            .any(|property| known(property).is_some_and(|new| other(record.inputs.get(*property), new)))
    }
}
