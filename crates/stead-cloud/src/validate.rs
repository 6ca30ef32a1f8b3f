//! Validation of a model against the schema of its type, as the service does before it calls a handler.
//!
//! Checks kinds, required and unknown members, allowed values, sizes, ranges, patterns, dependencies, uniqueness and
//! alternatives. One alternative must match; if the alternatives only list required members, exactly one must. Messages are those of the service's validator.

use std::collections::BTreeSet;

use stead_model::{Map, Number, PropertyPath, Segment, Value};
use stead_schema::cfn::{Class, Form, FormId, Kinds, Limits, Rest, Schema, pointer};

use crate::Rejection;

/// Operation that the model is validated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Read-only values do not exist yet.
    Create,
    Update,
}

/// Returns the first violation in a model for the update handler.
pub fn validate(schema: &Schema, model: &Map) -> Result<(), Rejection> {
    validate_at(schema, &Value::Map(model.clone()), Stage::Update)
}

pub(crate) fn validate_at(schema: &Schema, model: &Value, stage: Stage) -> Result<(), Rejection> {
    let mut check = Check { schema, stage, path: Vec::new() };
    check.value(model, Schema::ROOT, &BTreeSet::new(), 0).map_err(Rejection::Model)
}

/// Depth at which recursive forms around the same value end.
const MAX_DEPTH: usize = 64;

struct Check<'a> {
    schema: &'a Schema,
    stage: Stage,
    path: Vec<Segment>,
}

impl Check<'_> {
    fn wrong<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("#{}: {what}", pointer(&PropertyPath(self.path.clone()))))
    }

    /// `outer`: members that the enclosing form declares.
    fn value(
        &mut self,
        value: &Value,
        id: FormId,
        outer: &BTreeSet<&str>,
        depth: usize,
    ) -> Result<(), String> {
        let schema = self.schema;
        let form = schema.form(id);
        if depth > MAX_DEPTH {
            return Ok(());
        }
        if !form.kinds.fits(value) {
            return self.wrong(&format!("expected type: {}, found: {}", expected(form.kinds), found(value)));
        }
        if !form.choices.is_empty() && !form.choices.contains(value) {
            return self.wrong(&format!("{} is not a valid enum value", plain(value)));
        }
        self.limits(value, &form.limits)?;
        match value {
            Value::Map(map) => self.object(map, id, form, outer)?,
            Value::List(items) => self.list(items, form)?,
            _ => {}
        }
        let mut names = outer.clone();
        names.extend(form.properties.keys().map(String::as_str));
        for part in &form.all_of {
            self.value(value, *part, &names, depth + 1)?;
        }
        for part in &form.all_of {
            names.extend(schema.form(*part).properties.keys().map(String::as_str));
        }
        self.alternatives(value, form, &names, depth)
    }

    /// Checks lengths, patterns and ranges. The service does not check the values that it sets itself.
    fn limits(&self, value: &Value, limits: &Limits) -> Result<(), String> {
        let path = || PropertyPath(self.path.clone());
        let problem = match value {
            Value::String(text) => text_problem(text, limits),
            Value::Number(number) => number_problem(*number, limits),
            Value::Map(map) => members_problem(map, limits),
            _ => None,
        };
        match problem {
            Some(problem) if !self.schema.classes.of(Class::ReadOnly).covers(&path()) => self.wrong(&problem),
            _ => Ok(()),
        }
    }

    fn object(&mut self, map: &Map, id: FormId, form: &Form, outer: &BTreeSet<&str>) -> Result<(), String> {
        for name in form.required.iter().filter(|name| !map.contains_key(*name)) {
            if self.stage == Stage::Update || !self.is_read_only(name) {
                return self.wrong(&format!("required key [{name}] not found"));
            }
        }
        for (key, inside) in map {
            let own = form.properties.get(key.as_str()).copied();
            let rest = match form.rest {
                Rest::Of(rest) => Some(rest),
                Rest::Open | Rest::Closed => None,
            };
            if let Some(member) = own.or(rest) {
                self.path.push(Segment::Key(key.to_string()));
                self.value(inside, member, &BTreeSet::new(), 0)?;
                self.path.pop();
            } else if !outer.contains(key.as_str()) && !self.allows(id, key) {
                return self.wrong(&format!("extraneous key [{key}] is not permitted"));
            }
        }
        Ok(())
    }

    /// Returns true if a form or its parts allow a member that the form itself does not name.
    fn allows(&self, id: FormId, key: &str) -> bool {
        let schema = self.schema;
        let names = |form: &Form| !form.properties.is_empty() || matches!(form.rest, Rest::Of(_));
        let open = |form: &Form| names(form) && form.rest == Rest::Open;
        let any = |ask: &dyn Fn(&Form) -> bool| {
            schema.find(id, &mut Vec::new(), &|form| ask(form).then_some(())).is_some()
        };
        schema.member(id, key).is_some() || any(&open) || !any(&names)
    }

    fn is_read_only(&self, name: &str) -> bool {
        let path = PropertyPath(self.path.clone()).key(name);
        self.schema.classes.of(Class::ReadOnly).covers(&path)
    }

    fn list(&mut self, items: &[Value], form: &Form) -> Result<(), String> {
        if items.len() < form.min_items as usize {
            return self.wrong(&format!(
                "expected minimum item count: {}, found: {}",
                form.min_items,
                items.len()
            ));
        }
        if let Some(most) = form.limits.items.most.filter(|most| items.len() as u64 > *most) {
            return self.wrong(&format!("expected maximum item count: {most}, found: {}", items.len()));
        }
        if form.unique && items.iter().collect::<BTreeSet<_>>().len() < items.len() {
            return self.wrong("array items are not unique");
        }
        let Some(element) = form.items else { return Ok(()) };
        for (index, item) in items.iter().enumerate() {
            self.path.push(Segment::Index(index));
            self.value(item, element, &BTreeSet::new(), 0)?;
            self.path.pop();
        }
        Ok(())
    }

    fn alternatives(
        &mut self,
        value: &Value,
        form: &Form,
        names: &BTreeSet<&str>,
        depth: usize,
    ) -> Result<(), String> {
        if !form.one_of.is_empty() {
            let fitting = self.fitting(value, &form.one_of, names, depth);
            let only_required = form.one_of.iter().all(|arm| only_requires(self.schema.form(*arm)));
            if fitting == 0 || (only_required && fitting > 1) {
                return self.wrong(&format!("{fitting} subschemas matched instead of one"));
            }
        }
        if !form.any_of.is_empty() && self.fitting(value, &form.any_of, names, depth) == 0 {
            let count = form.any_of.len();
            return self.wrong(&format!("no subschema matched out of the total {count} subschemas"));
        }
        Ok(())
    }

    fn fitting(&mut self, value: &Value, arms: &[FormId], names: &BTreeSet<&str>, depth: usize) -> usize {
        let at = self.path.len();
        let mut count = 0;
        for arm in arms {
            count += usize::from(self.value(value, *arm, names, depth + 1).is_ok());
            self.path.truncate(at);
        }
        count
    }
}

fn text_problem(text: &str, limits: &Limits) -> Option<String> {
    let length = text.chars().count() as u64;
    if let Some(least) = limits.length.least.filter(|least| length < *least) {
        return Some(format!("expected minLength: {least}, actual: {length}"));
    }
    if let Some(most) = limits.length.most.filter(|most| length > *most) {
        return Some(format!("expected maxLength: {most}, actual: {length}"));
    }
    let pattern = limits.pattern.as_ref().filter(|pattern| !pattern.allows(text))?;
    Some(format!("string [{text}] does not match pattern {}", pattern.as_str()))
}

fn number_problem(number: Number, limits: &Limits) -> Option<String> {
    let (least, most) = (limits.range.least, limits.range.most);
    if let Some(least) = least.filter(|least| number.as_f64() < least.as_f64()) {
        return Some(format!("{number} is not greater or equal to {least}"));
    }
    let most = most.filter(|most| number.as_f64() > most.as_f64())?;
    Some(format!("{number} is not less or equal to {most}"))
}

fn members_problem(map: &Map, limits: &Limits) -> Option<String> {
    let count = map.len() as u64;
    if let Some(least) = limits.members.least.filter(|least| count < *least) {
        return Some(format!("minimum size: [{least}], found: [{count}]"));
    }
    if let Some(most) = limits.members.most.filter(|most| count > *most) {
        return Some(format!("maximum size: [{most}], found: [{count}]"));
    }
    let mut needed = limits.dependencies.iter().filter(|(name, _)| map.contains_key(*name));
    let missing = needed.find_map(|(_, needs)| needs.iter().find(|name| !map.contains_key(*name)));
    missing.map(|name| format!("property [{name}] is required"))
}

/// Returns true for an alternative that only lists required members.
fn only_requires(form: &Form) -> bool {
    !form.required.is_empty()
        && form.properties.is_empty()
        && form.items.is_none()
        && form.choices.is_empty()
        && form.parts().next().is_none()
}

fn expected(kinds: Kinds) -> &'static str {
    [
        (Kinds::STRING, "String"),
        (Kinds::INTEGER, "Integer"),
        (Kinds::NUMBER, "Number"),
        (Kinds::BOOLEAN, "Boolean"),
        (Kinds::ARRAY, "JSONArray"),
        (Kinds::OBJECT, "JSONObject"),
    ]
    .into_iter()
    .find(|(kind, _)| kinds.has(*kind))
    .map_or("Null", |(_, name)| name)
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "Null",
        Value::Bool(_) => "Boolean",
        Value::Number(number) if number.as_i64().is_some() => "Integer",
        Value::Number(_) => "Double",
        Value::String(_) => "String",
        Value::List(_) => "JSONArray",
        Value::Map(_) => "JSONObject",
        // A provider sends plain values only.
        Value::Secret(_) => "Secret",
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}
