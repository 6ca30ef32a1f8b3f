//! Placeholders: values of the schema's form that stand for what a provider would answer.
//!
//! Pure: the name of the resource and the path of the property decide the value, so that two resources never share one and a
//! rerun gives the same. **Invariant:** a placeholder has the kind, the members and one of the choices that the schema allows.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Digest, Map, Name, TypeToken, Value};
use stead_schema::cfn::{FormId, Kinds, Rest, Schema};
use stead_schema::{Property, Shape};

/// Depth at which only required members are given. Recursive forms end there.
const MAX_DEPTH: usize = 4;

/// Returns the placeholder of a property.
pub(super) fn placeholder(ty: &TypeToken, property: &Property, name: &Name) -> Value {
    let seed = Seed { ty, digest: Digest::of(name.to_string().as_bytes()) };
    seed.shape(&property.shape, &property.name)
}

struct Seed<'a> {
    ty: &'a TypeToken,
    digest: Digest,
}

impl Seed<'_> {
    fn shape(&self, shape: &Shape, label: &str) -> Value {
        match shape {
            Shape::Any | Shape::String => self.text(label),
            Shape::Choice(choices) => {
                choices.first().map_or(Value::Null, |choice| Value::from(choice.as_str()))
            }
            Shape::Number | Shape::Integer => number(label),
            Shape::Boolean => Value::Bool(true),
            Shape::List(inner) => Value::from(vec![self.shape(inner, label)]),
            Shape::Map(inner) => Value::Map([("key", self.shape(inner, label))].into()),
            Shape::Published(published) => self.form(&published.schema, published.form, label, 0),
        }
    }

    fn form(&self, schema: &Schema, id: FormId, label: &str, depth: usize) -> Value {
        let merged = Merged::of(schema, id);
        if let Some(choice) = merged.choices.first() {
            return choice.clone();
        }
        let (kinds, may) = (merged.kinds, |kind: Kinds| merged.kinds.has(kind));
        let has_members = !merged.properties.is_empty() || matches!(merged.rest, Rest::Of(_));
        if has_members && (kinds.is_any() || may(Kinds::OBJECT)) {
            return self.object(schema, &merged, label, depth);
        }
        match () {
            () if merged.items.is_some() && (kinds.is_any() || may(Kinds::ARRAY)) => {
                self.list(schema, &merged, label, depth)
            }
            () if kinds.is_any() || may(Kinds::STRING) => self.text(label),
            () if may(Kinds::INTEGER) || may(Kinds::NUMBER) => number(label),
            () if may(Kinds::BOOLEAN) => Value::Bool(true),
            () if may(Kinds::OBJECT) => Value::Map(Map::new()),
            () if may(Kinds::ARRAY) => self.list(schema, &merged, label, depth),
            () => Value::Null,
        }
    }

    fn object(&self, schema: &Schema, merged: &Merged, label: &str, depth: usize) -> Value {
        let wanted = |key: &&String| {
            merged.required.contains(*key) || (depth < MAX_DEPTH && !merged.excluded.contains(*key))
        };
        let mut map: Map = merged
            .properties
            .iter()
            .filter(|(key, _)| wanted(key) && depth < 2 * MAX_DEPTH)
            .map(|(key, form)| (key.clone(), self.form(schema, *form, key, depth + 1)))
            .collect();
        if let (Rest::Of(form), true, true) = (merged.rest, map.is_empty(), depth < MAX_DEPTH) {
            map.insert("key", self.form(schema, form, label, depth + 1));
        }
        Value::Map(map)
    }

    fn list(&self, schema: &Schema, merged: &Merged, label: &str, depth: usize) -> Value {
        let Some(element) = merged.items else { return Value::from(vec![self.text(label)]) };
        let count = if depth < MAX_DEPTH { merged.min_items.max(1) } else { merged.min_items };
        let items = (0..count).map(|index| match index {
            0 => self.form(schema, element, label, depth + 1),
            index => self.form(schema, element, &format!("{label}{index}"), depth + 1),
        });
        Value::from(items.collect::<Vec<Value>>())
    }

    /// Returns a text of the form that the name of a property suggests.
    fn text(&self, label: &str) -> Value {
        let lower = label.to_lowercase();
        let parts: Vec<&str> = self.ty.as_str().split('.').collect();
        let (service, class) = (parts.get(1).copied().unwrap_or("stead"), self.class());
        let ends = |ending: &str| lower.ends_with(ending);
        Value::from(match () {
            () if ends("arn") => {
                format!("arn:aws:{service}:eu-central-1:123456789012:{class}/{class}-{}", self.hex(label, 8))
            }
            () if ends("accountid") || ends("ownerid") => "123456789012".to_owned(),
            () if ends("id") => format!("{class}-{}", self.hex(label, 17)),
            () if ends("url") || ends("uri") => format!("https://{class}-{}.example.com", self.hex(label, 8)),
            () if ends("endpoint") || ends("domainname") || ends("dnsname") || ends("address") => {
                format!("{class}-{}.example.com", self.hex(label, 8))
            }
            () if ends("cidr") || ends("cidrblock") => "10.0.0.0/16".to_owned(),
            () if ends("region") => "eu-central-1".to_owned(),
            () if ends("zone") => "eu-central-1a".to_owned(),
            () if ends("time") || ends("date") || ends("timestamp") || ends("at") => {
                "2024-01-01T00:00:00Z".to_owned()
            }
            () if ends("port") => "443".to_owned(),
            () => format!("{}-{}", lower, self.hex(label, 8)),
        })
    }

    fn class(&self) -> String {
        self.ty.as_str().rsplit('.').next().unwrap_or_default().to_lowercase()
    }

    /// Returns digits that only this resource and property have.
    fn hex(&self, label: &str, length: usize) -> String {
        let digest = Digest::of(format!("{} {label}", self.digest.as_str()).as_bytes());
        digest.as_str().chars().filter(char::is_ascii_hexdigit).take(length).collect()
    }
}

fn number(label: &str) -> Value {
    Value::from(if label.to_lowercase().ends_with("port") { 443 } else { 1 })
}

/// A form with all its parts, and the first of its alternatives.
#[derive(Default)]
struct Merged {
    kinds: Kinds,
    properties: BTreeMap<String, FormId>,
    rest: Rest,
    required: BTreeSet<String>,
    /// Members that only other alternatives require.
    excluded: BTreeSet<String>,
    items: Option<FormId>,
    min_items: u32,
    choices: Vec<Value>,
}

impl Merged {
    fn of(schema: &Schema, id: FormId) -> Merged {
        let mut merged = Merged::default();
        merged.gather(schema, id, &mut Vec::new());
        merged.excluded.retain(|name| !merged.required.contains(name));
        merged
    }

    fn gather(&mut self, schema: &Schema, id: FormId, seen: &mut Vec<FormId>) {
        if seen.contains(&id) {
            return;
        }
        seen.push(id);
        let form = schema.form(id);
        if self.kinds.is_any() {
            self.kinds = form.kinds;
        }
        for (key, member) in &form.properties {
            self.properties.entry(key.clone()).or_insert(*member);
        }
        if matches!(form.rest, Rest::Of(_)) {
            self.rest = form.rest;
        }
        self.required.extend(form.required.iter().cloned());
        self.items = self.items.or(form.items);
        self.min_items = self.min_items.max(form.min_items);
        if self.choices.is_empty() {
            self.choices.clone_from(&form.choices);
        }
        form.all_of.iter().for_each(|part| self.gather(schema, *part, seen));
        for arms in [&form.one_of, &form.any_of] {
            let Some((first, others)) = arms.split_first() else { continue };
            let others = others.iter().flat_map(|arm| schema.form(*arm).required.iter().cloned());
            self.excluded.extend(others);
            self.gather(schema, *first, seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use stead_schema::cfn::{Class, bundle};
    use stead_schema::{Access, Catalog, check_value, token_of};

    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn placeholders_of_all_published_types_conform_to_their_schemas() {
        let catalog = Catalog::default().with_published();
        let (mut types, mut values) = (0, 0);
        for type_name in bundle::shipped().names() {
            let (Some(token), Some(schema)) = (token_of(type_name), bundle::shipped().schema(type_name))
            else {
                continue;
            };
            let Some(described) = catalog.get(&token) else { continue };
            let Ok(mut model) = stead_cloud::create(&schema, &stead_cloud::Sampler::new(&schema).desired())
            else {
                continue;
            };
            if stead_cloud::validate(&schema, &model).is_err() {
                continue;
            }
            let name = name(&format!("dev:main:{token}"));
            let read_only =
                described.properties.iter().filter(|property| property.access == Access::ReadOnly);
            for property in read_only {
                assert!(
                    schema.classes.of(Class::ReadOnly).covers(&stead_model::PropertyPath::of(&property.name))
                );
                model.insert(property.name.clone(), placeholder(&token, property, &name));
                values += 1;
            }
            assert_eq!(
                stead_cloud::validate(&schema, &model),
                Ok(()),
                "{type_name}: {}",
                Value::Map(model).to_json()
            );
            types += 1;
        }
        assert!(types > 1000 && values > 2000, "{values} values of {types} types");
    }

    #[test]
    fn placeholders_of_local_types_conform_to_their_schemas() {
        let world = stead_world::World::in_memory([]);
        let catalog = crate::local_catalog(&world, std::path::Path::new("/"));
        for schema in catalog.of_provider("local") {
            for property in schema.properties.iter().filter(|property| property.provisioned()) {
                let value =
                    placeholder(&schema.token, property, &name(&format!("dev:main:{}", schema.token)));
                assert_eq!(check_value(property, &value), [], "{} {}", schema.token, property.name);
            }
        }
    }

    #[test]
    fn placeholders_look_like_the_real_values_and_differ_between_resources() {
        let catalog = Catalog::default().with_published();
        let bucket = TypeToken("aws.s3.Bucket".to_owned());
        let arn = catalog
            .get(&bucket)
            .and_then(|schema| schema.property("Arn"))
            .cloned()
            .unwrap_or_else(|| panic!());
        let of = |text: &str| placeholder(&bucket, &arn, &name(text));
        let first = of("dev:main:aws.s3.Bucket");
        assert_eq!(first, of("dev:main:aws.s3.Bucket"));
        assert_ne!(first, of("dev:main:aws.s3.Bucket#b"));
        let text = first.as_str().unwrap_or_default().to_owned();
        assert!(text.starts_with("arn:aws:s3:eu-central-1:123456789012:bucket/bucket-"), "{text}");
    }
}
