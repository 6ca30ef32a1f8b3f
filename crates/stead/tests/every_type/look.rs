//! Comparison of declared inputs with the model in the cloud: every declared value, and no undeclared one.

use stead_model::{Map, Value};
use stead_schema::cfn::{Class, Cursor, FormId, Schema};

/// Prefix of the tags of an owner's mark.
const MARK: &str = "stead:";

/// Returns the differences between inputs and the full model of a resource. Values that the service sets are no difference.
pub(crate) fn differences(schema: &Schema, want: &Map, model: &Map) -> Vec<String> {
    let model = unmarked(schema, model);
    let mut look = Look { schema, found: Vec::new() };
    look.map(want, &model, Some(Schema::ROOT), &schema.classes.of(Class::ReadOnly).cursor(), "");
    look.found
}

struct Look<'a> {
    schema: &'a Schema,
    found: Vec<String>,
}

impl Look<'_> {
    fn map(&mut self, want: &Map, model: &Map, form: Option<FormId>, read_only: &Cursor<'_>, path: &str) {
        for (key, value) in want {
            let (path, read_only) = (format!("{path}/{key}"), read_only.key(key));
            let member = form.and_then(|form| self.schema.member(form, key));
            match model.get(key) {
                Some(found) => self.value(value, found, member, &read_only, &path),
                None => self.found.push(format!("{path} is missing")),
            }
        }
        for (key, value) in model.iter().filter(|(key, _)| !want.contains_key(*key)) {
            let member = form.and_then(|form| self.schema.member(form, key));
            let default = member.and_then(|member| self.schema.default_of(member));
            let identifies =
                path.is_empty() && self.schema.primary_identifier.iter().any(|part| part.root() == Some(key));
            let by_service = path.is_empty() && is_set_by_service(&self.schema.type_name, key);
            if !read_only.key(key).reaches() && default.is_none() && !identifies && !by_service {
                self.found.push(format!("{path}/{key} is {}, which nobody declared", value.to_json()));
            }
        }
    }

    fn value(
        &mut self,
        want: &Value,
        found: &Value,
        form: Option<FormId>,
        read_only: &Cursor<'_>,
        path: &str,
    ) {
        match (want, found) {
            (Value::Map(want), Value::Map(found)) => self.map(want, found, form, read_only, path),
            (Value::List(want), Value::List(found)) if want.len() == found.len() => {
                self.list(want, found, form, read_only, path);
            }
            (want, found) if want == found => {}
            (want, found) => {
                self.found.push(format!("{path} is {}, not {}", found.to_json(), want.to_json()))
            }
        }
    }

    fn list(
        &mut self,
        want: &[Value],
        found: &[Value],
        form: Option<FormId>,
        read_only: &Cursor<'_>,
        path: &str,
    ) {
        let element = form.and_then(|form| self.schema.element(form));
        let inside = read_only.element();
        if !form.is_some_and(|form| self.schema.is_unordered(form)) {
            let pairs = want.iter().zip(found).enumerate();
            pairs.for_each(|(at, (want, found))| {
                self.value(want, found, element, &inside, &format!("{path}/{at}"));
            });
            return;
        }
        let mut left: Vec<&Value> = found.iter().collect();
        for one in want {
            let fits = |found: &&Value| {
                let mut look = Look { schema: self.schema, found: Vec::new() };
                look.value(one, found, element, &inside, "");
                look.found.is_empty()
            };
            match left.iter().position(fits) {
                Some(at) => drop(left.remove(at)),
                None => self.found.push(format!("{path} lacks {}", one.to_json())),
            }
        }
    }
}

/// Returns true for a property in the cloud's table of values that services set.
fn is_set_by_service(type_name: &str, property: &str) -> bool {
    let mut lines = include_str!("../../../stead-cloud/data/values.txt").lines();
    let of_type = lines.by_ref().skip_while(|line| *line != type_name).skip(1);
    let mut own = of_type.take_while(|line| line.starts_with(' '));
    own.any(|line| line.split_whitespace().next() == Some(property))
}

/// Returns a model without the owner's mark.
fn unmarked(schema: &Schema, model: &Map) -> Map {
    let mut model = model.clone();
    let Some(name) = schema.tagging.property.as_ref().and_then(|path| path.root()) else { return model };
    let is_mark = |text: &str| text.starts_with(MARK);
    let kept: Value = match model.get(name) {
        Some(Value::List(tags)) => {
            let marked = |tag: &&Value| {
                tag.as_map().is_some_and(|tag| tag.values().any(|text| text.as_str().is_some_and(is_mark)))
            };
            tags.iter().filter(|tag| !marked(tag)).cloned().collect()
        }
        Some(Value::Map(tags)) => {
            let kept = tags.iter().filter(|(key, _)| !is_mark(key));
            Value::Map(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        _ => return model,
    };
    let is_empty = matches!(&kept, Value::List(tags) if tags.is_empty())
        || matches!(&kept, Value::Map(tags) if tags.is_empty());
    match is_empty {
        true => drop(model.remove(name)),
        false => drop(model.insert(name, kept)),
    }
    model
}
