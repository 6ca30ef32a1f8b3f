//! Test resource of each type that can be read and updated: its desired inputs and its full model.

use stead_cloud::{Sampler, create, update, validate};
use stead_model::{Map, PropertyPath, Segment, Value};
use stead_schema::cfn::{Class, FormId, Schema};

use crate::best_patch::perfect_patch;

/// Number of optional properties in the desired inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Richness {
    /// Required and up to five optional properties; lists of scalars have one element. With this size the two-way strategy
    /// gives its known results.
    Modest,
    /// Required and all optional properties but one; every list has two elements.
    Rich,
}

impl Richness {
    pub(crate) const ALL: [Richness; 2] = [Richness::Modest, Richness::Rich];
}

pub(crate) struct Subject<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) desired: Map,
    /// Full model in the cloud.
    pub(crate) full: Map,
    /// Property that the inputs leave out and the service has set.
    pub(crate) given: Option<(String, Value)>,
    /// The service's answer to the best update that changes nothing. If it refuses that one, the type cannot be updated.
    pub(crate) refusal: Option<String>,
}

/// Returns the test resource of a type. Of several alternatives in the schema, takes the first that can be updated.
pub(crate) fn subject(schema: &Schema, richness: Richness) -> Subject<'_> {
    let (mut fallback, mut problem) = (None, String::new());
    for arm in 0..ALTERNATIVES {
        match attempt(schema, richness, arm) {
            Ok(subject) if subject.refusal.is_none() => return subject,
            Ok(subject) => drop(fallback.get_or_insert(subject)),
            Err(why) => problem = why,
        }
    }
    fallback.unwrap_or_else(|| panic!("no inputs for {}: {problem}", schema.type_name))
}

const ALTERNATIVES: usize = 8;

fn attempt(schema: &Schema, richness: Richness, arm: usize) -> Result<Subject<'_>, String> {
    let mut sampler = Sampler::new(schema);
    sampler.arm = arm;
    match richness {
        Richness::Modest => (sampler.optional, sampler.plain_elements) = (5, 1),
        Richness::Rich => sampler.omit = left_open(schema),
    }
    let desired = sampler.desired();
    let mut subject = Subject { schema, desired, full: Map::new(), given: None, refusal: None };
    let plain = subject.live(&subject.desired)?;
    // The model that the read handler returns must be valid.
    validate(schema, &plain).map_err(|rejection| rejection.to_string())?;
    subject.given = given(schema, &subject.desired, &plain);
    subject.full = subject.live(&subject.desired)?;
    let again = update(schema, &subject.full, &perfect_patch(schema, &subject.full, &subject.full));
    subject.refusal = again.err().map(|rejection| rejection.to_string());
    Ok(subject)
}

/// Returns the property that rich inputs leave to the service: a scalar, if there are enough optional properties.
fn left_open(schema: &Schema) -> Option<String> {
    let reaches = |class: Class, name: &str| schema.classes.of(class).cursor().key(name).reaches();
    let required = &schema.form(Schema::ROOT).required;
    let optional = schema.properties().filter(|(name, _)| {
        let fixed = [Class::ReadOnly, Class::WriteOnly, Class::CreateOnly];
        !required.contains(*name) && !fixed.iter().any(|class| reaches(*class, name))
    });
    let optional: Vec<(&str, FormId)> = optional.collect();
    let is_plain =
        |form: FormId| !matches!(Sampler::new(schema).output(form, &[]), Value::Map(_) | Value::List(_));
    let first = optional.iter().find(|(_, form)| is_plain(*form)).filter(|_| optional.len() > 2);
    first.map(|(name, _)| (*name).to_owned())
}

/// Returns a value that the service sets by itself: the first scalar that keeps the model valid.
fn given(schema: &Schema, desired: &Map, full: &Map) -> Option<(String, Value)> {
    let reaches = |class: Class, name: &str| schema.classes.of(class).cursor().key(name).reaches();
    let open = schema.properties().filter(|(name, _)| {
        !desired.contains_key(*name) && !reaches(Class::ReadOnly, name) && !reaches(Class::WriteOnly, name)
    });
    let mut values = open.map(|(name, form)| {
        (name.to_owned(), Sampler::new(schema).output(form, &[Segment::Key(name.to_owned())]))
    });
    values.find(|(name, value)| {
        let is_plain = !matches!(value, Value::Map(_) | Value::List(_));
        is_plain && validate(schema, &with(full, name, value)).is_ok()
    })
}

fn with(model: &Map, name: &str, value: &Value) -> Map {
    let mut model = model.clone();
    model.insert(name.to_owned(), value.clone());
    model
}

impl Subject<'_> {
    /// Returns the desired value at a path.
    pub(crate) fn at(&self, path: &PropertyPath) -> Option<&Value> {
        let (Segment::Key(first), rest) = path.0.split_first()? else { return None };
        rest.iter().try_fold(self.desired.get(first)?, |at, segment| match segment {
            Segment::Key(key) => at.as_map()?.get(key),
            Segment::Index(index) => at.as_list()?.get(*index),
        })
    }

    /// Returns the full model for these inputs.
    pub(crate) fn live(&self, desired: &Map) -> Result<Map, String> {
        let mut full = create(self.schema, desired).map_err(|rejection| rejection.to_string())?;
        if let Some((name, value)) = &self.given {
            full.entry(name.clone()).or_insert_with(|| value.clone());
        }
        for (key, value) in &mut full {
            reverse(self.schema, value, self.schema.member(Schema::ROOT, key));
        }
        Ok(full)
    }
}

/// Reverses unordered lists, as services may return them in any order.
fn reverse(schema: &Schema, value: &mut Value, form: Option<FormId>) {
    match value {
        Value::Map(map) => {
            for (key, value) in map {
                reverse(schema, value, form.and_then(|form| schema.member(form, key)));
            }
        }
        Value::List(items) => {
            let element = form.and_then(|form| schema.element(form));
            items.iter_mut().for_each(|item| reverse(schema, item, element));
            if form.is_some_and(|form| schema.is_unordered(form)) {
                items.reverse();
            }
        }
        _ => {}
    }
}
