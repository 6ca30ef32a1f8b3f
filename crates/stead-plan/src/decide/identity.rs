//! Compares the physical names of the old and the new copy of a resource.

use std::collections::BTreeSet;

use stead_model::{Input, Inputs, NodeId, Resource, Value};
use stead_schema::{Shape, TypeSchema, identity};

use crate::decide::Planner;

/// How the physical names of an old and a new copy compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Both copies have the same name, so they cannot exist at the same time.
    Same,
    Differs,
    /// The known values do not tell.
    Unknown,
}

impl Planner<'_> {
    pub(crate) fn identity(&self, id: NodeId, old: &Resource, inputs: &Inputs) -> Identity {
        let node = &self.graph.nodes[id.index()];
        if old.ty != node.ty {
            return Identity::Differs;
        }
        let Some(schema) = self.catalog.get(&node.ty) else { return Identity::Unknown };
        if let Some(same) = self.canonically_same(id, old, schema, inputs) {
            return if same { Identity::Same } else { Identity::Differs };
        }
        let names = names(schema, old);
        // A name that the service generates is new for each copy.
        if names.is_empty() && is_published(schema) {
            return Identity::Differs;
        }
        compare(&names, old, inputs)
    }

    /// Compares the canonical identities, if the provider told both for these inputs.
    fn canonically_same(
        &self,
        id: NodeId,
        old: &Resource,
        schema: &TypeSchema,
        inputs: &Inputs,
    ) -> Option<bool> {
        let (before, now) = (self.canonical.of_record(old)?, self.canonical.of_node(id)?);
        let declared = &self.graph.nodes[id.index()].inputs;
        let is_asked = identity(schema).into_iter().all(|name| inputs.get(name) == declared.get(name));
        is_asked.then_some(before == now)
    }
}

fn is_published(schema: &TypeSchema) -> bool {
    schema.properties.iter().any(|property| matches!(property.shape, Shape::Published(_)))
}

/// Returns the properties that determine the physical name: by the schema, or because the physical id equals their value.
fn names<'s>(schema: &'s TypeSchema, old: &Resource) -> BTreeSet<&'s str> {
    let id = old.id.as_ref().map(|id| id.as_str());
    let is_id = |name: &str| id.is_some() && old.inputs.get(name).and_then(Value::as_str) == id;
    let settable = schema.properties.iter().filter(|property| property.settable());
    let by_id = settable.map(|property| property.name.as_str()).filter(|name| is_id(name));
    // A prefix alone does not determine the name.
    let by_schema = identity(schema).into_iter().filter(|name| !name.ends_with("Prefix"));
    by_schema.chain(by_id).collect()
}

/// Returns `Same` if all properties that are set are unchanged, `Differs` if one of them changes.
fn compare(names: &BTreeSet<&str>, old: &Resource, inputs: &Inputs) -> Identity {
    let mut found = Identity::Unknown;
    for name in names {
        match (old.inputs.get(*name), inputs.get(*name)) {
            (Some(old), Some(Input::Known(new))) if old == new => found = Identity::Same,
            (_, None) => {}
            (_, Some(Input::Known(_))) => return Identity::Differs,
            (_, Some(_)) => return Identity::Unknown,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use stead_model::{PhysicalId, TypeToken};
    use stead_schema::{Access, Catalog, Property};

    use super::*;

    fn schema(token: &str) -> TypeSchema {
        if token.starts_with("aws.") {
            let catalog = Catalog::default().with_published();
            return catalog.get(&TypeToken(token.into())).unwrap().clone();
        }
        let label = Property::new("label", Shape::String, Access::Optional, "");
        TypeSchema::new(token, "", vec![label])
    }

    fn compared(token: &str, id: &str, old: &[(&str, &str)], new: &[(&str, &str)]) -> Identity {
        let schema = schema(token);
        let mut resource = crate::tests::recorded("a");
        resource.id = Some(PhysicalId(id.into()));
        resource.inputs = old.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
        let new: Inputs =
            new.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value).into())).collect();
        compare(&names(&schema, &resource), &resource, &new)
    }

    #[test]
    fn unchanged_name_is_the_same_and_a_changed_one_differs() {
        let queue = |old: &[(&str, &str)], new: &[(&str, &str)]| compared("aws.sqs.Queue", "url", old, new);
        assert_eq!(queue(&[("QueueName", "a")], &[("QueueName", "a")]), Identity::Same);
        assert_eq!(queue(&[("QueueName", "a")], &[("QueueName", "b")]), Identity::Differs);
        assert_eq!(queue(&[], &[("QueueName", "b")]), Identity::Differs);
        assert_eq!(queue(&[], &[]), Identity::Unknown, "no name is set");
        assert_eq!(compared("t.T", "x", &[("label", "x")], &[("label", "x")]), Identity::Same);
        assert_eq!(compared("t.T", "y", &[("label", "x")], &[("label", "x")]), Identity::Unknown);
    }

    #[test]
    fn type_whose_service_generates_names_has_no_name_property() {
        let schema = schema("aws.ec2.Volume");
        assert!(is_published(&schema) && names(&schema, &crate::tests::recorded("a")).is_empty());
    }
}
