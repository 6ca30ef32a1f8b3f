//! `Value`: the values of inputs, outputs and state.
//!
//! Maps are sorted, integers are exact, and equality is exact: two values that print the same are equal. An unknown is not a value;
//! see `Input`.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{List, Secret, SortedMap, Text};

/// A sorted map of property names to values.
pub type Map = SortedMap<Text, Value>;

/// A plain, fully known value. Clones share their texts, lists and maps, so a clone costs the same for every size.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(Text),
    List(List),
    Map(Map),
    Secret(Secret),
}

/// A finite number. Integers that fit 64 bits stay exact; everything else is a double.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Int(i64),
    /// Only for integers that do not fit `Int`.
    Uint(u64),
    /// Never an integer in the range of `Int`, never NaN or infinite.
    Float(f64),
}

impl Number {
    /// Converts a double, or returns `None` for NaN and the infinities.
    pub fn from_f64(value: f64) -> Option<Number> {
        if !value.is_finite() {
            return None;
        }
        let exact = 9_007_199_254_740_992.0; // 2^53: every integer up to here has its own double
        if value.fract() == 0.0 && value.abs() <= exact {
            return Some(Number::Int(value as i64));
        }
        Some(Number::Float(value))
    }

    pub fn from_u64(value: u64) -> Number {
        i64::try_from(value).map_or(Number::Uint(value), Number::Int)
    }

    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Uint(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    pub fn as_i64(self) -> Option<i64> {
        match self {
            Number::Int(value) => Some(value),
            _ => None,
        }
    }

    fn rank(self) -> u8 {
        match self {
            Number::Int(_) => 0,
            Number::Uint(_) => 1,
            Number::Float(_) => 2,
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a.cmp(b),
            (Number::Uint(a), Number::Uint(b)) => a.cmp(b),
            (Number::Float(a), Number::Float(b)) => a.total_cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl fmt::Display for Number {
    /// Prints the number as JavaScript does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => write!(f, "{value}"),
            Number::Uint(value) => write!(f, "{value}"),
            Number::Float(value) => f.write_str(&javascript_double(*value)),
        }
    }
}

/// Returns JavaScript's `String(number)` of a finite double: plain digits from 1e-6 up to 1e21, an exponent outside.
fn javascript_double(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
            _ => text,
        };
    }
    format!("{value}")
}

impl Value {
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the kind of the value with an article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
            Value::Secret(_) => "a secret",
        }
    }

    /// Returns the canonical JSON: sorted keys, no spaces, and `[secret]` for every secret.
    pub fn to_json(&self) -> String {
        // Serializing cannot fail: keys are strings, numbers are finite, and no secret is left.
        serde_json::to_string(&self.blinded()).unwrap_or_default()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Value::String(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Value::List(items.into())
    }
}

impl From<List> for Value {
    fn from(items: List) -> Self {
        Value::List(items)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Value::Map(map)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Value::List(items.into_iter().collect())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Bool(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Number(Number::Int(number))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Number(Number::Int(number)) => serializer.serialize_i64(*number),
            Value::Number(Number::Uint(number)) => serializer.serialize_u64(*number),
            Value::Number(Number::Float(number)) => serializer.serialize_f64(*number),
            Value::String(text) => serializer.serialize_str(text),
            Value::List(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Value::Map(map) => map.serialize(serializer),
            Value::Secret(secret) => secret.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(Number::Int(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(Number::from_u64(number)))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Number::from_f64(number).map(Value::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::from(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        let map = Map::from_access(access)?;
        match Secret::of_map(&map) {
            None => Ok(Value::Map(map)),
            Some(Ok(secret)) => Ok(Value::Secret(secret)),
            Some(Err(problem)) => Err(de::Error::custom(problem)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn integers_beyond_doubles_stay_exact() {
        for text in ["9007199254740993", "18446744073709551615", "-9223372036854775808"] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value.to_json(), text);
        }
    }

    #[test]
    fn number_prints_as_in_javascript() {
        let cases = [(1.0, "1"), (0.1, "0.1"), (1e21, "1e+21"), (1.5e-7, "1.5e-7"), (123456.75, "123456.75")];
        for (number, text) in cases {
            assert_eq!(Number::from_f64(number).unwrap().to_string(), text);
        }
        assert!(Number::from_f64(f64::NAN).is_none());
    }

    #[test]
    fn duplicate_key_is_refused() {
        assert!(serde_json::from_str::<Value>(r#"{"a":1,"a":2}"#).is_err());
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter_map("finite", |n| Number::from_f64(n).map(Value::Number)),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                proptest::collection::btree_map(".*", inner, 0..8)
                    .prop_map(|map| Value::Map(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn json_round_trips(value in any_value()) {
            let text = value.to_json();
            let back: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &value);
            prop_assert_eq!(back.to_json(), text);
        }
    }
}
