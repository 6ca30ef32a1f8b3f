//! Checks inputs against a published schema: names, kinds, allowed values, limits, required and read-only members.

use stead_model::{Input, Inputs, Text, Value, nearest};

use super::position::Position;
use super::{Form, Kinds, Limits, Rest, Schema, Span};
use crate::Problem;

/// Returns all problems inside the inputs. The caller checks the names and the presence of top-level properties.
pub(crate) fn mistakes(schema: &Schema, inputs: &Inputs) -> Vec<Problem> {
    let root = Position::root(schema);
    let mut problems = Vec::new();
    for (name, input) in inputs {
        let position = root.key(name);
        if position.form.is_some() && !position.is_read_only() {
            check_value(&position, input, &mut problems);
        }
    }
    problems
}

/// Returns a problem for each deprecated property in use.
pub(crate) fn deprecations(schema: &Schema, inputs: &Inputs) -> Vec<Problem> {
    let mut problems = Vec::new();
    inputs.iter().for_each(|(name, input)| {
        collect_deprecated(&Position::root(schema).key(name), input, &mut problems)
    });
    problems
}

fn collect_deprecated(position: &Position<'_>, input: &Input, problems: &mut Vec<Problem>) {
    if position.is_deprecated() {
        let message = format!("`{}` of {} is deprecated", position.path, position.schema.type_name);
        problems.push(Problem { path: position.path.clone(), message, help: None });
        return;
    }
    for_each_child(position, input, &mut |position, input| collect_deprecated(position, input, problems));
}

/// Calls `each` for each direct child of an input.
fn for_each_child(position: &Position<'_>, input: &Input, each: &mut dyn FnMut(&Position<'_>, &Input)) {
    match input {
        Input::Deferred(_) => {}
        Input::List(items) => {
            items.iter().enumerate().for_each(|(index, item)| each(&position.index(index), item))
        }
        Input::Map(map) => map.iter().for_each(|(name, item)| each(&position.key(name), item)),
        Input::Known(Value::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                each(&position.index(index), &Input::Known(item.clone()));
            }
        }
        Input::Known(Value::Map(map)) => {
            map.iter().for_each(|(name, item)| each(&position.key(name), &Input::Known(item.clone())));
        }
        Input::Known(_) => {}
    }
}

fn check_value(position: &Position<'_>, input: &Input, problems: &mut Vec<Problem>) {
    let Some(form) = position.form else { return };
    let (kinds, got) = (position.schema.kinds(form), kind_of(input));
    if let Some((kind, got)) = got
        && !kinds.is_any()
        && !kinds.has(kind)
        && !(kind == Kinds::INTEGER && kinds.has(Kinds::NUMBER))
    {
        let message = format!("`{}` must be {}, but it is {got}", position.path, kinds.words());
        return problems.push(Problem { path: position.path.clone(), message, help: None });
    }
    choice(position, input, problems);
    limits(position, input, problems);
    names(position, input, problems);
    for_each_child(position, input, &mut |position, input| check_value(position, input, problems));
}

/// Returns the kind of an input and its name in messages, or `None` if the input is deferred or null.
fn kind_of(input: &Input) -> Option<(Kinds, &'static str)> {
    Some(match input {
        Input::Deferred(_) | Input::Known(Value::Null | Value::Secret(_)) => return None,
        Input::List(_) => (Kinds::ARRAY, "a list"),
        Input::Map(_) => (Kinds::OBJECT, "an object"),
        Input::Known(value) => {
            let kind = match value {
                Value::Null => Kinds::NULL,
                Value::Bool(_) => Kinds::BOOLEAN,
                Value::Number(number) if number.as_f64().fract() == 0.0 => Kinds::INTEGER,
                Value::Number(_) => Kinds::NUMBER,
                Value::String(_) => Kinds::STRING,
                Value::List(_) => Kinds::ARRAY,
                Value::Map(_) => Kinds::OBJECT,
                Value::Secret(_) => return None,
            };
            (kind, value.kind())
        }
    })
}

fn choice(position: &Position<'_>, input: &Input, problems: &mut Vec<Problem>) {
    let (Some(form), Input::Known(value)) = (position.form, input) else { return };
    let choices = &position.schema.form(form).choices;
    if choices.is_empty()
        || choices.contains(value)
        || matches!(value, Value::List(_) | Value::Map(_) | Value::Secret(_))
    {
        return;
    }
    let texts: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
    let help = match value.as_str().and_then(|text| nearest(text, texts.iter().copied())) {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => format!("use one of: {}", choices.iter().map(Value::to_json).collect::<Vec<_>>().join(", ")),
    };
    let message = format!("`{}` cannot be {}", position.path, value.to_json());
    problems.push(Problem { path: position.path.clone(), message, help: Some(help) });
}

/// Reports a text, number, list or object outside of its limits, and members that need others.
fn limits(position: &Position<'_>, input: &Input, problems: &mut Vec<Problem>) {
    let Some(form) = position.form else { return };
    let mut parts = vec![form];
    parts.extend(&position.schema.form(form).all_of);
    for part in parts {
        let limits = &position.schema.form(part).limits;
        let (must, is) = match input {
            Input::Known(value) => outside(limits, value),
            Input::List(items) => count(&limits.items, items.len(), "elements"),
            Input::Map(map) => count(&limits.members, map.len(), "members"),
            Input::Deferred(_) => None,
        }
        .unwrap_or_default();
        if !must.is_empty() {
            let message = format!("`{}` must {must}, but it {is}", position.path);
            problems.push(Problem { path: position.path.clone(), message, help: None });
        }
        let given = given_names(input);
        for (name, needs) in limits.dependencies.iter().filter(|(name, _)| given.contains(&name.as_str())) {
            for needed in needs.iter().filter(|needed| !given.contains(&needed.as_str())) {
                let member = position.key(needed);
                let message = format!("`{}` is missing", member.path);
                let help = format!("`{}` needs it", position.key(name).path);
                problems.push(Problem { path: member.path, message, help: Some(help) });
            }
        }
    }
}

/// Returns the limit that a value breaks, and how, as the ends of "must …" and "it …".
fn outside(limits: &Limits, value: &Value) -> Option<(String, String)> {
    match value {
        Value::String(text) => {
            let length = count(&limits.length, text.chars().count(), "characters");
            let pattern = limits.pattern.as_ref().filter(|pattern| !pattern.allows(text));
            length.or(pattern.map(|pattern| (format!("match {}", pattern.as_str()), format!("is {text:?}"))))
        }
        Value::Number(number) if !limits.range.holds(*number) => {
            Some((format!("be {}", limits.range.words()), format!("is {number}")))
        }
        Value::List(items) => count(&limits.items, items.len(), "elements"),
        Value::Map(map) => count(&limits.members, map.len(), "members"),
        _ => None,
    }
}

fn count(span: &Span<u64>, found: usize, what: &str) -> Option<(String, String)> {
    (!span.holds(found)).then(|| (format!("have {} {what}", span.words()), format!("has {found}")))
}

fn given_names(input: &Input) -> Vec<&str> {
    match input {
        Input::Map(map) => map.keys().map(Text::as_str).collect(),
        Input::Known(Value::Map(map)) => map.keys().map(Text::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Reports members of an object that are unknown, read-only or missing.
fn names(position: &Position<'_>, input: &Input, problems: &mut Vec<Problem>) {
    if !matches!(input, Input::Map(_) | Input::Known(Value::Map(_))) {
        return;
    }
    let given = given_names(input);
    let Some(form) = position.form else { return };
    for name in &given {
        let member = position.key(name);
        if member.is_read_only() {
            let message = format!("`{}` is set by the provider and cannot be given", member.path);
            problems.push(Problem { path: member.path, message, help: Some(format!("leave `{name}` out")) });
        } else if member.form.is_none() && position.schema.is_closed(form) {
            let known = position.schema.names(form);
            let help = match nearest(name, known.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("it has: {}", known.join(", ")),
            };
            let message = format!("`{}` has no `{name}`", position.path);
            problems.push(Problem { path: member.path, message, help: Some(help) });
        }
    }
    for name in position.schema.form(form).required.iter().filter(|name| !given.contains(&name.as_str())) {
        let member = position.key(name);
        if !member.is_read_only() {
            let message = format!("`{}` is missing", member.path);
            let help = format!("`{}` needs it", position.path);
            problems.push(Problem { path: member.path, message, help: Some(help) });
        }
    }
}

impl Schema {
    /// Returns the kinds that a form or its parts accept.
    pub(crate) fn kinds(&self, form: super::FormId) -> Kinds {
        let said = |form: &Form| (!form.kinds.is_any()).then_some(form.kinds);
        let own = self.form(form);
        let alternatives = own.one_of.iter().chain(&own.any_of);
        if let Some(kinds) = said(own) {
            return kinds;
        }
        if !own.properties.is_empty() {
            return Kinds::OBJECT;
        }
        let mut union = Kinds::default();
        for part in alternatives {
            match self.find(*part, &mut Vec::new(), &said) {
                Some(kinds) => union = union.and(kinds),
                None => return Kinds::default(),
            }
        }
        own.all_of.iter().find_map(|part| self.find(*part, &mut Vec::new(), &said)).unwrap_or(union)
    }

    /// Returns the names of all members that an object may have.
    pub(crate) fn names(&self, form: super::FormId) -> Vec<String> {
        let names = std::cell::RefCell::new(Vec::new());
        self.find(form, &mut Vec::new(), &|form| {
            names.borrow_mut().extend(form.properties.keys().cloned());
            None::<()>
        });
        let mut names = names.into_inner();
        names.sort();
        names.dedup();
        names
    }

    /// Returns true if an object accepts only the members that the schema names.
    pub(crate) fn is_closed(&self, form: super::FormId) -> bool {
        let open = |form: &Form| {
            (form.rest != Rest::Closed
                && form.properties.is_empty()
                && form.required.is_empty()
                && form.one_of.is_empty()
                && form.any_of.is_empty()
                && form.all_of.is_empty())
            .then_some(())
        };
        !self.names(form).is_empty() && self.find(form, &mut Vec::new(), &open).is_none()
    }
}
