//! Table of values that services set, for the commonest types (`data/values.txt`).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use stead_model::{Map, PropertyPath, Segment, Value};
use stead_schema::cfn::Schema;

use super::template::{Context, path};
use crate::service::identity::at;

static TABLE: &str = include_str!("../../../data/values.txt");

struct Row {
    path: PropertyPath,
    /// Property that must exist for the value to be set.
    condition: Option<PropertyPath>,
    /// Template of the value. `None`: the service sets no value.
    template: Option<&'static str>,
}

fn rows(type_name: &str) -> &'static [Row] {
    static ROWS: OnceLock<BTreeMap<&'static str, Vec<Row>>> = OnceLock::new();
    let all = ROWS.get_or_init(|| {
        let mut all: BTreeMap<&'static str, Vec<Row>> = BTreeMap::new();
        let mut current = "";
        for line in TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            match line.strip_prefix("  ").and_then(row) {
                Some(row) => all.entry(current).or_default().push(row),
                None => current = line.trim(),
            }
        }
        all
    });
    all.get(type_name).map_or(&[], Vec::as_slice)
}

fn row(line: &'static str) -> Option<Row> {
    let (name, rest) = line.trim().split_once(' ')?;
    let (condition, template) = match rest.trim().strip_prefix('?') {
        Some(rest) => {
            let (condition, template) = rest.split_once(' ')?;
            (Some(path(condition)), template.trim())
        }
        None => (None, rest.trim()),
    };
    Some(Row { path: path(name), condition, template: (template != "-").then_some(template) })
}

/// Returns true if the table has a value for a top-level property.
pub(super) fn has(type_name: &str, key: &str) -> bool {
    rows(type_name).iter().any(|row| row.path == PropertyPath::of(key))
}

/// Sets the values of the table that the inputs leave out.
pub(super) fn fill(schema: &Schema, model: &mut Map, context: &mut Context<'_>) {
    for row in rows(&schema.type_name) {
        let holds = row.condition.as_ref().is_none_or(|condition| at(model, condition).is_some());
        let Some(template) = row.template.filter(|_| holds && at(model, &row.path).is_none()) else {
            continue;
        };
        if let Some(value) = context.value(template, model) {
            set(model, &row.path.0, value);
        }
    }
}

/// Removes values that the service does not set for this resource.
pub(super) fn omit(schema: &Schema, model: &mut Map, known: &Map) {
    for row in rows(&schema.type_name) {
        if at(known, &row.path).is_none() {
            remove(model, &row.path.0);
        }
    }
}

fn set(map: &mut Map, path: &[Segment], value: Value) {
    match path {
        [Segment::Key(key)] => drop(map.insert(key.clone(), value)),
        [Segment::Key(key), rest @ ..] => {
            let mut inside = match map.remove(key.as_str()) {
                Some(Value::Map(inside)) => inside,
                _ => Map::new(),
            };
            set(&mut inside, rest, value);
            map.insert(key.clone(), Value::Map(inside));
        }
        _ => {}
    }
}

fn remove(map: &mut Map, path: &[Segment]) {
    match path {
        [Segment::Key(key)] => drop(map.remove(key.as_str())),
        [Segment::Key(key), rest @ ..] => {
            if let Some(Value::Map(inside)) = map.get_mut(key.as_str()) {
                remove(inside, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use stead_schema::cfn::{Class, bundle};

    use super::*;

    #[test]
    fn every_row_names_a_property_of_a_published_type() {
        let types: Vec<&str> =
            TABLE.lines().filter(|line| line.starts_with("AWS::")).map(str::trim).collect();
        assert!(types.len() >= 60, "{}", types.len());
        for type_name in types {
            let schema = bundle::shipped().schema(type_name).unwrap_or_else(|| panic!("{type_name}"));
            assert!(!rows(type_name).is_empty(), "{type_name}");
            for row in rows(type_name) {
                let mut form = Some(Schema::ROOT);
                for segment in &row.path.0 {
                    let Segment::Key(key) = segment else { panic!("{segment:?}") };
                    form = form.and_then(|form| schema.member(form, key));
                }
                assert!(form.is_some(), "{type_name}: {:?}", row.path);
            }
        }
    }

    #[test]
    fn the_identifier_of_every_type_in_the_table_is_in_the_table_or_given() {
        for type_name in TABLE.lines().filter(|line| line.starts_with("AWS::")).map(str::trim) {
            let schema = bundle::shipped().schema(type_name).unwrap();
            let read_only = schema.classes.of(Class::ReadOnly);
            for path in schema.primary_identifier.iter().filter(|path| read_only.covers(path)) {
                let known = rows(type_name).iter().any(|row| row.path == *path && row.template.is_some());
                assert!(known, "{type_name}: {path:?}");
            }
        }
    }
}
