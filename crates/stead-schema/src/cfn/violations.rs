//! Violations of a schema by a whole model, as the service finds them before it calls a handler.
//!
//! One alternative of `oneOf` and `anyOf` must match. If the alternatives of `oneOf` only list required members, exactly
//! one must; services are less strict about others.

use std::collections::BTreeSet;

use stead_model::{Map, PropertyPath, Value};

use super::{Form, FormId, Rest, Schema};

/// One violation, at the value or object that has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Violation {
    pub(crate) path: PropertyPath,
    pub(crate) rule: Rule,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rule {
    /// The value itself is wrong; holds the limit in words.
    Value(String),
    Required(String),
    Unknown(String),
    /// The first member is there without the second, which it needs.
    Depends(String, String),
    /// None of these alternatives matches, or several do where one may.
    Alternatives(FormId),
}

impl Rule {
    /// Returns the violation for a message: the value "must be …".
    pub(crate) fn words(&self) -> String {
        match self {
            Rule::Value(limit) => format!("it must {limit}"),
            Rule::Required(name) => format!("it must have `{name}`"),
            Rule::Unknown(name) => format!("it has no `{name}`"),
            Rule::Depends(name, needs) => format!("`{name}` needs `{needs}`"),
            Rule::Alternatives(_) => "its members do not go together".to_owned(),
        }
    }
}

/// Returns all violations in a model, in order of their paths.
pub(crate) fn violations(schema: &Schema, model: &Map) -> Vec<Violation> {
    let mut search = Search { schema, path: PropertyPath::default(), found: Vec::new() };
    search.position(&Value::Map(model.clone()), Schema::ROOT);
    search.found
}

/// Returns true if a value satisfies one of the alternatives of a form as the service demands.
pub(crate) fn has_alternative(schema: &Schema, value: &Value, form: FormId) -> bool {
    let search = Search { schema, path: PropertyPath::default(), found: Vec::new() };
    search.has_alternative(value, schema.form(form), 0)
}

/// Depth at which recursive forms around the same value end.
const MAX_DEPTH: usize = 64;

struct Search<'a> {
    schema: &'a Schema,
    path: PropertyPath,
    found: Vec<Violation>,
}

impl Search<'_> {
    fn add(&mut self, rule: Rule) {
        let violation = Violation { path: self.path.clone(), rule };
        if !self.found.contains(&violation) {
            self.found.push(violation);
        }
    }

    /// Checks the value at a path of its own.
    fn position(&mut self, value: &Value, id: FormId) {
        let schema = self.schema;
        if let Value::Map(map) = value {
            let unknown: Vec<String> = map
                .keys()
                .filter(|key| schema.member(id, key).is_none() && schema.is_closed(id))
                .map(ToString::to_string)
                .collect();
            unknown.into_iter().for_each(|name| self.add(Rule::Unknown(name)));
        }
        self.value(value, id, 0);
    }

    fn value(&mut self, value: &Value, id: FormId, depth: usize) {
        let schema = self.schema;
        let form = schema.form(id);
        if depth > MAX_DEPTH || matches!(value, Value::Secret(_)) {
            return;
        }
        if let Some(limit) = form.broken_limit(value) {
            return self.add(Rule::Value(limit));
        }
        match value {
            Value::Map(map) => self.object(map, form),
            Value::List(items) => {
                if let Some(element) = form.items {
                    for (index, item) in items.iter().enumerate() {
                        self.inside(|path| path.index(index), item, element);
                    }
                }
            }
            _ => {}
        }
        form.all_of.iter().for_each(|part| self.value(value, *part, depth + 1));
        if !self.has_alternative(value, form, depth) {
            self.add(Rule::Alternatives(id));
        }
    }

    fn object(&mut self, map: &Map, form: &Form) {
        for name in form.required.iter().filter(|name| !map.contains_key(*name)) {
            self.add(Rule::Required(name.clone()));
        }
        for (name, needs) in form.limits.dependencies.iter().filter(|(name, _)| map.contains_key(*name)) {
            for needed in needs.iter().filter(|needed| !map.contains_key(*needed)) {
                self.add(Rule::Depends(name.clone(), needed.clone()));
            }
        }
        for (key, inside) in map {
            let rest = match form.rest {
                Rest::Of(rest) => Some(rest),
                Rest::Open | Rest::Closed => None,
            };
            if let Some(member) = form.properties.get(key.as_str()).copied().or(rest) {
                self.inside(|path| path.key(key), inside, member);
            }
        }
    }

    fn inside(&mut self, step: impl Fn(&PropertyPath) -> PropertyPath, value: &Value, form: FormId) {
        let inside = step(&self.path);
        let outside = std::mem::replace(&mut self.path, inside);
        self.position(value, form);
        self.path = outside;
    }

    fn has_alternative(&self, value: &Value, form: &Form, depth: usize) -> bool {
        let one = || {
            let fitting = self.fitting(value, form, &form.one_of, depth);
            let only_required = form.one_of.iter().all(|arm| only_requires(self.schema.form(*arm)));
            fitting == 1 || (fitting > 1 && !only_required)
        };
        (form.one_of.is_empty() || one())
            && (form.any_of.is_empty() || self.fitting(value, form, &form.any_of, depth) > 0)
    }

    /// Counts the alternatives of a form that a value satisfies.
    fn fitting(&self, value: &Value, form: &Form, arms: &[FormId], depth: usize) -> usize {
        let fits = |arm: &&FormId| {
            let mut search = Search { schema: self.schema, path: self.path.clone(), found: Vec::new() };
            search.value(value, **arm, depth + 1);
            search.found.is_empty() && self.names_all(value, form, **arm)
        };
        arms.iter().filter(fits).count()
    }

    /// Returns false if an alternative names its members, and a member is neither among them nor among the form's own.
    fn names_all(&self, value: &Value, form: &Form, arm: FormId) -> bool {
        let alternative = self.schema.form(arm);
        let Value::Map(map) = value else { return true };
        let common = |key: &str| {
            form.properties.contains_key(key)
                || form.all_of.iter().any(|part| self.schema.member(*part, key).is_some())
        };
        alternative.properties.is_empty()
            || alternative.rest != Rest::Closed
            || map.keys().all(|key| common(key) || self.schema.member(arm, key).is_some())
    }
}

/// Returns true for an alternative that only lists required members.
fn only_requires(form: &Form) -> bool {
    !form.required.is_empty()
        && form.properties.is_empty()
        && form.items.is_none()
        && form.choices.is_empty()
        && form.parts().next().is_none()
}

impl Form {
    /// Returns the limit of the form itself that a value breaks, in words that follow "must", or `None`.
    pub(crate) fn broken_limit(&self, value: &Value) -> Option<String> {
        let limits = &self.limits;
        if !self.kinds.fits(value) {
            return Some(format!("be {}", self.kinds.words()));
        }
        if !self.choices.is_empty() && !self.choices.contains(value) {
            let choices: Vec<String> = self.choices.iter().map(Value::to_json).collect();
            return Some(format!("be one of: {}", choices.join(", ")));
        }
        match value {
            Value::String(text) => {
                if !limits.length.holds(text.chars().count()) {
                    return Some(format!("have {} characters", limits.length.words()));
                }
                let pattern = limits.pattern.as_ref().filter(|pattern| !pattern.allows(text))?;
                Some(format!("match {}", pattern.as_str()))
            }
            Value::Number(number) if !limits.range.holds(*number) => {
                Some(format!("be {}", limits.range.words()))
            }
            Value::List(items) if !limits.items.holds(items.len()) => {
                Some(format!("have {} elements", limits.items.words()))
            }
            Value::List(items) => {
                let repeats = self.unique && items.iter().collect::<BTreeSet<_>>().len() < items.len();
                repeats.then(|| "have no element twice".to_owned())
            }
            Value::Map(map) if !limits.members.holds(map.len()) => {
                Some(format!("have {} members", limits.members.words()))
            }
            _ => None,
        }
    }
}
