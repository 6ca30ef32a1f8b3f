//! Access to inputs by name and type, before and after all of them are known.

use std::collections::BTreeMap;

use stead_model::{Inputs, Map, PropertyPath, Value};
use stead_provider::Refusal;
use stead_schema::Problem;

/// Inputs for checks, which see only known values.
#[derive(Clone, Copy)]
pub(crate) enum InputView<'a> {
    Declared(&'a Inputs),
    Resolved(&'a Map),
}

impl<'a> InputView<'a> {
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        match self {
            InputView::Declared(inputs) => inputs.get(name)?.as_known(),
            InputView::Resolved(inputs) => inputs.get(name),
        }
    }

    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }
}

pub(crate) fn problem(property: &str, message: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem { path: PropertyPath::of(property), message: message.into(), help: Some(help.into()) }
}

/// Returns a problem if the property is a number outside `from..=to`.
pub(crate) fn range_problem(inputs: InputView<'_>, property: &str, from: i64, to: i64) -> Option<Problem> {
    let Value::Number(number) = inputs.get(property)? else { return None };
    let fits = number.as_i64().is_some_and(|number| (from..=to).contains(&number));
    let message = format!("`{property}` cannot be {number}");
    (!fits).then(|| problem(property, message, format!("use a whole number from {from} to {to}")))
}

/// Returns a problem if the property contains a NUL, which the system accepts in no path, command line or
/// variable.
pub(crate) fn nul_problem(inputs: InputView<'_>, property: &str) -> Option<Problem> {
    let found = inputs.text(property)?.contains('\0');
    found.then(|| {
        problem(property, format!("`{property}` contains a NUL character"), "remove the character `\\0`")
    })
}

pub(crate) fn text<'a>(inputs: &'a Map, name: &str) -> Result<&'a str, Refusal> {
    optional_text(inputs, name)?.ok_or_else(|| missing(name))
}

pub(crate) fn optional_text<'a>(inputs: &'a Map, name: &str) -> Result<Option<&'a str>, Refusal> {
    match inputs.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(name, "a string", other)),
    }
}

/// Returns the boolean; false if it was left out.
pub(crate) fn flag(inputs: &Map, name: &str) -> Result<bool, Refusal> {
    match inputs.get(name) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(wrong(name, "true or false", other)),
    }
}

/// Returns a count, whose range `check` has already checked.
pub(crate) fn count(inputs: &Map, name: &str) -> Result<usize, Refusal> {
    let value = inputs.get(name).ok_or_else(|| missing(name))?;
    let number = value.as_i64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| wrong(name, "a whole number", value))
}

/// Returns the strings of an object; empty if it was left out.
pub(crate) fn texts(inputs: &Map, name: &str) -> Result<BTreeMap<String, String>, Refusal> {
    let map = match inputs.get(name) {
        None => return Ok(BTreeMap::new()),
        Some(Value::Map(map)) => map,
        Some(other) => return Err(wrong(name, "an object", other)),
    };
    map.iter()
        .map(|(key, value)| match value {
            Value::String(text) => Ok((key.to_string(), text.to_string())),
            other => Err(wrong(&format!("{name}.{key}"), "a string", other)),
        })
        .collect()
}

fn missing(name: &str) -> Refusal {
    Refusal::new(format!("`{name}` is missing")).at(name).help(format!("give `{name}` a value"))
}

/// Refuses a deferred value of the wrong shape, which `check` could not see.
fn wrong(name: &str, want: &str, got: &Value) -> Refusal {
    Refusal::new(format!("`{name}` must be {want}, but is {}", got.kind()))
        .at(name.split('.').next().unwrap_or(name))
        .help(format!("check where the value of `{name}` comes from"))
}
