//! Values that were in the clear before an answer stay in the clear.
//!
//! A secret of less than eight bytes, such as a number, may be equal to values that are no secrets.

use stead_model::{Input, Inputs, Map, Text, Value};

use super::marks::reveal;

/// Takes the mark from values that `before` has in the clear at the same path.
pub(super) fn unchanged_stays_plain(values: Map, before: &Map) -> Map {
    all(values, before, |_| true)
}

/// Takes the mark from values of less than eight bytes that `before` has in the clear at the same path.
///
/// A longer value contains a secret that became one since, and keeps its mark.
pub(super) fn short_stays_plain(values: Map, before: &Map) -> Map {
    all(values, before, |value| match value {
        Value::String(text) => text.len() < 8,
        Value::Number(number) => number.to_string().len() < 8,
        _ => false,
    })
}

/// Takes the mark from inputs that were given in the clear at the same path.
pub(super) fn given_stays_plain(inputs: Inputs, given: &Inputs) -> Inputs {
    if !inputs.iter().any(|(_, input)| input.has_secrets()) {
        return inputs;
    }
    let unmarked = |(key, input): (Text, Input)| match given.get(&key) {
        Some(given) => (key, unmarked_input(input, given)),
        None => (key, input),
    };
    inputs.into_iter().map(unmarked).collect()
}

fn all(values: Map, before: &Map, counts: impl Fn(&Value) -> bool + Copy) -> Map {
    if !values.iter().any(|(_, value)| value.has_secrets()) {
        return values;
    }
    let unmarked = |(key, value): (Text, Value)| match before.get(&key) {
        Some(before) => (key, unmarked(value, before, counts)),
        None => (key, value),
    };
    values.into_iter().map(unmarked).collect()
}

fn unmarked(value: Value, before: &Value, counts: impl Fn(&Value) -> bool + Copy) -> Value {
    match (value, before) {
        (value, _) if !value.has_secrets() => value,
        (value @ Value::Secret(_), before) => {
            let is_unchanged =
                !before.has_secrets() && counts(before) && reveal(&value).as_ref() == Some(before);
            if is_unchanged { before.clone() } else { value }
        }
        (Value::Map(map), Value::Map(before)) => Value::Map(all(map, before, counts)),
        (Value::List(items), Value::List(before)) => {
            let mut before = before.iter();
            let item = |item| match before.next() {
                Some(before) => unmarked(item, before, counts),
                None => item,
            };
            items.into_iter().map(item).collect()
        }
        (value, _) => value,
    }
}

fn unmarked_input(input: Input, given: &Input) -> Input {
    match (input, given) {
        (Input::Known(value), Input::Known(given)) => Input::Known(unmarked(value, given, |_| true)),
        (Input::Map(map), Input::Map(given)) => {
            let member = |(key, item): (Text, Input)| match given.get(&key) {
                Some(given) => (key, unmarked_input(item, given)),
                None => (key, item),
            };
            Input::map(map.into_iter().map(member).collect())
        }
        (Input::List(items), Input::List(given)) => {
            let mut given = given.iter();
            let item = |item| match given.next() {
                Some(given) => unmarked_input(item, given),
                None => item,
            };
            Input::list(items.into_iter().map(item).collect())
        }
        (input, _) => input,
    }
}
