//! Whether two values mean the same: what a service gives back is not always what it was given.

use stead_model::{Map, Value};

use super::place::Place;
use super::transform::{Transformed, transformed};

/// Whether a leaf that is live is the one that is wanted.
pub(crate) fn same_leaf(place: &Place<'_>, want: &Value, live: &Value) -> bool {
    want == live
        || same_text(want, live)
        || same_document(want, live)
        || same_after_transform(place, want, live)
}

/// Whether the service changes values here in a way that this code cannot follow.
pub(crate) fn is_opaque(place: &Place<'_>, want: &Value) -> bool {
    transforms(place).any(|expression| transformed(expression, want) == Transformed::NotUnderstood)
}

/// The wish changed, and by what the service makes of values, what is live may still be the old one.
pub(crate) fn is_ambiguous(place: &Place<'_>, last: Option<&Value>, live: &Value, want: &Value) -> bool {
    let plainly = want == live || same_text(want, live) || same_document(want, live);
    // What becomes the same is the same.
    let differs =
        |last: &Value| transforms(place).any(|one| transformed(one, last) != transformed(one, want));
    !plainly && last.is_some_and(|last| last != want && differs(last) && same_leaf(place, last, live))
}

fn transforms<'a>(place: &'a Place<'_>) -> impl Iterator<Item = &'a str> {
    let all = place.schema.transforms.iter();
    all.filter(|(pattern, _)| pattern.parts().len() == place.path.0.len() && pattern.covers(&place.path))
        .map(|(_, expression)| expression.as_str())
}

/// Services give numbers and flags back as text.
fn same_text(want: &Value, live: &Value) -> bool {
    match (want, live) {
        (Value::Number(number), Value::String(text)) | (Value::String(text), Value::Number(number)) => {
            number.to_string() == *text
        }
        (Value::Bool(flag), Value::String(text)) | (Value::String(text), Value::Bool(flag)) => {
            flag.to_string() == *text
        }
        _ => false,
    }
}

fn same_after_transform(place: &Place<'_>, want: &Value, live: &Value) -> bool {
    let fits = |expression: &str| match transformed(expression, want) {
        Transformed::OneOf(all) => all.iter().any(|one| one.fits(live)),
        Transformed::NotUnderstood => false,
    };
    transforms(place).any(fits) || (place.name().contains("Cidr") && same_network(want, live))
}

/// `10.0.1.7/16` is the network `10.0.0.0/16`.
fn same_network(want: &Value, live: &Value) -> bool {
    let network = |value: &Value| {
        let (address, length) = value.as_str()?.split_once('/')?;
        let (address, length): (std::net::IpAddr, u32) = (address.parse().ok()?, length.parse().ok()?);
        Some(match address {
            std::net::IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32u32.checked_sub(length)?).unwrap_or(0);
                (u128::from(u32::from(address) & mask), length, 4)
            }
            std::net::IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128u32.checked_sub(length)?).unwrap_or(0);
                (u128::from(address) & mask, length, 6)
            }
        })
    };
    network(want).is_some_and(|want| network(live) == Some(want))
}

/// A JSON document, written as text on one side or on both. Policies say the same in many ways.
fn same_document(want: &Value, live: &Value) -> bool {
    let is_policy = |value: &Value| value.as_map().is_none_or(|map| map.contains_key("Statement"));
    if !is_policy(want) && !is_policy(live) {
        return false;
    }
    match (document(want), document(live)) {
        (Some(want), Some(live)) => want == live || policy(&want) == policy(&live),
        _ => false,
    }
}

fn document(value: &Value) -> Option<Value> {
    match value {
        Value::Map(_) => Some(value.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// A policy in one form: what may stand alone or in a list stands in a sorted list.
fn policy(document: &Value) -> Value {
    let Value::Map(map) = document else { return document.clone() };
    let mut out = Map::new();
    for (key, value) in map {
        let value = match key.as_str() {
            "Statement" => sorted(value, policy),
            "Action" | "NotAction" | "Resource" | "NotResource" => sorted(value, Value::clone),
            "Principal" | "NotPrincipal" if value.as_str() == Some("*") => {
                Value::Map(Map::from([("AWS".to_owned(), sorted(value, Value::clone))]))
            }
            "Principal" | "NotPrincipal" => members(value, &|one| sorted(one, Value::clone)),
            "Condition" => members(value, &|tests| members(tests, &|one| sorted(one, plain_text))),
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Value::Map(out)
}

fn sorted(value: &Value, each: impl Fn(&Value) -> Value) -> Value {
    let mut all: Vec<Value> = match value {
        Value::List(items) => items.iter().map(each).collect(),
        one => vec![each(one)],
    };
    all.sort();
    all.dedup();
    Value::List(all)
}

fn members(value: &Value, each: &dyn Fn(&Value) -> Value) -> Value {
    match value {
        Value::Map(map) => Value::Map(map.iter().map(|(key, one)| (key.clone(), each(one))).collect()),
        other => other.clone(),
    }
}

/// In conditions, `true` and `"true"` are the same.
fn plain_text(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => Value::from(flag.to_string()),
        Value::Number(number) => Value::from(number.to_string()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn policies_are_compared_by_meaning() {
        let written = json(
            r#"{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":["s3:Get*","s3:List*"],
                "Resource":"*","Condition":{"Bool":{"aws:SecureTransport":true}}}}"#,
        );
        let shown = Value::from(
            r#"{"Statement":[{"Action":["s3:List*","s3:Get*"],"Effect":"Allow","Resource":["*"],
                "Condition":{"Bool":{"aws:SecureTransport":["true"]}},"Principal":{"AWS":"*"}}],"Version":"2012-10-17"}"#,
        );
        assert!(same_document(&written, &shown));
        let other = Value::from(shown.as_str().unwrap().replace("s3:List*", "s3:Put*"));
        assert!(!same_document(&written, &other));
        assert!(!same_document(&Value::from("{not json"), &Value::from("{not json either")));
    }

    #[test]
    fn networks_are_compared_by_what_they_hold() {
        let same = |a: &str, b: &str| same_network(&Value::from(a), &Value::from(b));
        assert!(same("10.0.1.7/16", "10.0.0.0/16") && same("2001:DB8::/32", "2001:db8:0:0::/32"));
        assert!(!same("10.0.0.0/16", "10.0.0.0/17") && !same("10.1.0.0/16", "10.0.0.0/16"));
        assert!(same("0.0.0.0/0", "1.2.3.4/0") && !same("10.0.0.0/33", "10.0.0.0/33"));
    }
}
