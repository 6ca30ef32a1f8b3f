//! Equivalence of values: a service often returns a value in another form than it was given.

use stead_model::{Map, Value};

use super::position::Position;
use super::transform::{Transformed, transformed};

/// Returns true if a live leaf is equivalent to the desired one.
pub(crate) fn equivalent(position: &Position<'_>, want: &Value, live: &Value) -> bool {
    want == live
        || equal_as_text(want, live)
        || equal_documents(want, live)
        || equal_after_transform(position, want, live)
}

/// Returns true if the desired value changed, but the live one may still be the old one: after the service's
/// transformation both look alike.
pub(crate) fn is_ambiguous(
    position: &Position<'_>,
    last: Option<&Value>,
    live: &Value,
    want: &Value,
) -> bool {
    let plainly = want == live || equal_as_text(want, live) || equal_documents(want, live);
    // Values with the same transformation are equivalent.
    let differs =
        |last: &Value| transforms(position).any(|one| transformed(one, last) != transformed(one, want));
    !plainly && last.is_some_and(|last| last != want && differs(last) && equivalent(position, last, live))
}

fn transforms<'a>(position: &'a Position<'_>) -> impl Iterator<Item = &'a str> {
    let all = position.schema.transforms.iter();
    all.filter(|(pattern, _)| {
        pattern.parts().len() == position.path.0.len() && pattern.covers(&position.path)
    })
    .map(|(_, expression)| expression.as_str())
}

/// Services return numbers and booleans as text.
fn equal_as_text(want: &Value, live: &Value) -> bool {
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

fn equal_after_transform(position: &Position<'_>, want: &Value, live: &Value) -> bool {
    let fits = |expression: &str| match transformed(expression, want) {
        Transformed::OneOf(all) => all.iter().any(|one| one.fits(live)),
        Transformed::Unsupported => false,
    };
    transforms(position).any(fits) || (position.name().contains("Cidr") && equal_networks(want, live))
}

/// Compares networks in CIDR notation: `10.0.1.7/16` is equivalent to `10.0.0.0/16`.
fn equal_networks(want: &Value, live: &Value) -> bool {
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

/// Compares JSON documents, each given as text or as an object. Policies are compared in normal form.
fn equal_documents(want: &Value, live: &Value) -> bool {
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

/// Returns the normal form of a policy: single values become lists, and lists are sorted.
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
    Value::from(all)
}

fn members(value: &Value, each: &dyn Fn(&Value) -> Value) -> Value {
    match value {
        Value::Map(map) => Value::Map(map.iter().map(|(key, one)| (key.clone(), each(one))).collect()),
        other => other.clone(),
    }
}

/// Converts scalars in conditions to text, where `true` and `"true"` are equivalent.
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
    fn policies_with_the_same_meaning_are_equivalent() {
        let written = json(
            r#"{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":["s3:Get*","s3:List*"],
                "Resource":"*","Condition":{"Bool":{"aws:SecureTransport":true}}}}"#,
        );
        let shown = Value::from(
            r#"{"Statement":[{"Action":["s3:List*","s3:Get*"],"Effect":"Allow","Resource":["*"],
                "Condition":{"Bool":{"aws:SecureTransport":["true"]}},"Principal":{"AWS":"*"}}],"Version":"2012-10-17"}"#,
        );
        assert!(equal_documents(&written, &shown));
        let other = Value::from(shown.as_str().unwrap().replace("s3:List*", "s3:Put*"));
        assert!(!equal_documents(&written, &other));
        assert!(!equal_documents(&Value::from("{not json"), &Value::from("{not json either")));
    }

    #[test]
    fn networks_with_the_same_addresses_are_equivalent() {
        let same = |a: &str, b: &str| equal_networks(&Value::from(a), &Value::from(b));
        assert!(same("10.0.1.7/16", "10.0.0.0/16") && same("2001:DB8::/32", "2001:db8:0:0::/32"));
        assert!(!same("10.0.0.0/16", "10.0.0.0/17") && !same("10.1.0.0/16", "10.0.0.0/16"));
        assert!(same("0.0.0.0/0", "1.2.3.4/0") && !same("10.0.0.0/33", "10.0.0.0/33"));
    }
}
