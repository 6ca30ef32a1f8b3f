//! Checks a value against its declaration.

use stead_model::Value;

use super::{Declaration, ValueType};

/// Whether a message may name the keys inside a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    Named,
    /// The value is secret, and its keys are part of it.
    Hidden,
}

/// Returns the reason why a value does not fit, as the end of a sentence, or `None` if it fits. The reason has no value in it.
///
/// The value has no secrets in it; those of config are revealed first.
pub(super) fn mismatch(declared: &Declaration, value: &Value, shown: Members) -> Option<String> {
    if !declared.ty.accepts(value) {
        return Some(format!("must be {}, not {}", declared.ty.described(), described(value)));
    }
    if let Some(items) = declared.items
        && let Some((which, item)) = members(value).find(|(_, item)| !items.accepts(item))
    {
        let which = if shown == Members::Named { which } else { "one".to_owned() };
        return Some(format!("must hold only {}s, and {which} is {}", name(items), described(item)));
    }
    if !declared.one_of.is_empty() && !declared.one_of.contains(value) {
        let allowed: Vec<String> = declared.one_of.iter().map(Value::to_json).collect();
        return Some(format!("must be one of {}", allowed.join(", ")));
    }
    let (size, unit) = match value {
        Value::Number(number) => (number.as_f64(), ""),
        Value::String(text) => (text.chars().count() as f64, " characters"),
        Value::List(items) => (items.len() as f64, " items"),
        Value::Map(map) => (map.len() as f64, " keys"),
        Value::Null | Value::Bool(_) | Value::Secret(_) => return None,
    };
    if let Some(min) = declared.min.filter(|min| size < *min) {
        return Some(format!("must be at least {min}{unit}"));
    }
    if let Some(max) = declared.max.filter(|max| size > *max) {
        return Some(format!("must be at most {max}{unit}"));
    }
    let pattern = declared.pattern.as_deref()?;
    let fits = regex_lite::Regex::new(pattern)
        .is_ok_and(|regex| value.as_str().is_some_and(|text| regex.is_match(text)));
    (!fits).then(|| format!("must match the pattern `{pattern}`"))
}

fn members(value: &Value) -> Box<dyn Iterator<Item = (String, &Value)> + '_> {
    match value {
        Value::List(items) => {
            Box::new(items.iter().enumerate().map(|(index, item)| (format!("item {index}"), item)))
        }
        Value::Map(map) => Box::new(map.iter().map(|(key, item)| (format!("`{key}`"), item))),
        _ => Box::new(std::iter::empty()),
    }
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if number.as_f64().fract() != 0.0 => "a fraction",
        value => ValueType::of(value).map_or("null", |ty| match ty {
            ValueType::Boolean => "a boolean",
            ty => ty.described(),
        }),
    }
}

fn name(ty: ValueType) -> &'static str {
    match ty {
        ValueType::Boolean => "boolean",
        ty => ty.described().split_once(' ').map_or("", |(_, name)| name),
    }
}
