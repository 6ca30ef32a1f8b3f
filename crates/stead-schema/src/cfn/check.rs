//! Inputs against a published schema: names, kinds, choices, what must be there and what must not.

use std::collections::BTreeMap;

use stead_model::{Input, Value, nearest};

use super::place::Place;
use super::{Form, Kinds, Rest, Schema};
use crate::Problem;

/// Everything that is wrong inside the inputs. The names and the presence of properties are the caller's.
pub(crate) fn mistakes(schema: &Schema, inputs: &BTreeMap<String, Input>) -> Vec<Problem> {
    let root = Place::root(schema);
    let mut problems = Vec::new();
    for (name, input) in inputs {
        let place = root.key(name);
        if place.form.is_some() && !place.is_read_only() {
            look(&place, input, &mut problems);
        }
    }
    problems
}

/// Every property in use that is going away.
pub(crate) fn deprecations(schema: &Schema, inputs: &BTreeMap<String, Input>) -> Vec<Problem> {
    let mut problems = Vec::new();
    inputs.iter().for_each(|(name, input)| going_away(&Place::root(schema).key(name), input, &mut problems));
    problems
}

fn going_away(place: &Place<'_>, input: &Input, problems: &mut Vec<Problem>) {
    if place.is_deprecated() {
        let message = format!("`{}` of {} is deprecated", place.path, place.schema.type_name);
        problems.push(Problem { path: place.path.clone(), message, help: None });
        return;
    }
    inside(place, input, &mut |place, input| going_away(place, input, problems));
}

/// Calls for everything directly inside an input.
fn inside(place: &Place<'_>, input: &Input, each: &mut dyn FnMut(&Place<'_>, &Input)) {
    match input {
        Input::Deferred(_) => {}
        Input::List(items) => {
            items.iter().enumerate().for_each(|(index, item)| each(&place.index(index), item))
        }
        Input::Map(map) => map.iter().for_each(|(name, item)| each(&place.key(name), item)),
        Input::Known(Value::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                each(&place.index(index), &Input::Known(item.clone()));
            }
        }
        Input::Known(Value::Map(map)) => {
            map.iter().for_each(|(name, item)| each(&place.key(name), &Input::Known(item.clone())));
        }
        Input::Known(_) => {}
    }
}

fn look(place: &Place<'_>, input: &Input, problems: &mut Vec<Problem>) {
    let Some(form) = place.form else { return };
    let (kinds, got) = (place.schema.kinds(form), kind_of(input));
    if let Some((kind, got)) = got
        && !kinds.is_any()
        && !kinds.has(kind)
        && !(kind == Kinds::INTEGER && kinds.has(Kinds::NUMBER))
    {
        let message = format!("`{}` must be {}, and it is {got}", place.path, kinds.words());
        return problems.push(Problem { path: place.path.clone(), message, help: None });
    }
    choice(place, input, problems);
    names(place, input, problems);
    inside(place, input, &mut |place, input| look(place, input, problems));
}

/// The kind of an input, and how to call it; `None` while it is not known.
fn kind_of(input: &Input) -> Option<(Kinds, &'static str)> {
    Some(match input {
        Input::Deferred(_) | Input::Known(Value::Null) => return None,
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
            };
            (kind, value.kind())
        }
    })
}

fn choice(place: &Place<'_>, input: &Input, problems: &mut Vec<Problem>) {
    let (Some(form), Input::Known(value)) = (place.form, input) else { return };
    let choices = &place.schema.form(form).choices;
    if choices.is_empty() || choices.contains(value) || value.as_list().is_some() || value.as_map().is_some()
    {
        return;
    }
    let texts: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
    let help = match value.as_str().and_then(|text| nearest(text, texts.iter().copied())) {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => format!("use one of: {}", choices.iter().map(Value::to_json).collect::<Vec<_>>().join(", ")),
    };
    let message = format!("`{}` cannot be {}", place.path, value.to_json());
    problems.push(Problem { path: place.path.clone(), message, help: Some(help) });
}

/// Names of an object's members: none unknown, none of the service's own, none missing.
fn names(place: &Place<'_>, input: &Input, problems: &mut Vec<Problem>) {
    let given: Vec<&String> = match input {
        Input::Map(map) => map.keys().collect(),
        Input::Known(Value::Map(map)) => map.keys().collect(),
        _ => return,
    };
    let Some(form) = place.form else { return };
    for name in &given {
        let member = place.key(name);
        if member.is_read_only() {
            let message = format!("`{}` is set by the provider and cannot be given", member.path);
            problems.push(Problem { path: member.path, message, help: Some(format!("leave `{name}` out")) });
        } else if member.form.is_none() && place.schema.is_closed(form) {
            let known = place.schema.names(form);
            let help = match nearest(name, known.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("it has: {}", known.join(", ")),
            };
            let message = format!("`{}` has no `{name}`", place.path);
            problems.push(Problem { path: member.path, message, help: Some(help) });
        }
    }
    for name in place.schema.form(form).required.iter().filter(|name| !given.contains(name)) {
        let member = place.key(name);
        if !member.is_read_only() {
            let message = format!("`{}` is missing", member.path);
            let help = format!("`{}` needs it", place.path);
            problems.push(Problem { path: member.path, message, help: Some(help) });
        }
    }
}

impl Schema {
    /// The kinds that a form, or what it is made of, takes.
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

    /// The names of all members that an object may have.
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

    /// An object has no members besides those that are named.
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
