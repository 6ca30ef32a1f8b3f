//! The part of an existing resource that a program declares.
//!
//! A resource that was imported has many properties that no program ever set. Those that the program leaves out are no
//! concern of the plan: the import must not remove them.

use stead_model::{Input, Inputs, Map, Value};

/// Returns the properties of a found resource that are declared. Members of objects count each, lists as a whole.
pub(crate) fn declared_part(found: &Map, declared: &Inputs) -> Map {
    let mut part = Map::new();
    for (name, value) in found {
        if let Some(input) = declared.get(name) {
            part.insert(name.clone(), value_part(value, input));
        }
    }
    part
}

fn value_part(value: &Value, input: &Input) -> Value {
    match (value, input) {
        (Value::Map(found), Input::Map(declared)) => Value::Map(declared_part(found, declared)),
        (Value::Map(found), Input::Known(Value::Map(declared))) => {
            Value::Map(declared_part(found, &as_inputs(declared)))
        }
        _ => value.clone(),
    }
}

/// Returns known values as inputs.
pub(crate) fn as_inputs(values: &Map) -> Inputs {
    values.iter().map(|(name, value)| (name.clone(), Input::Known(value.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_and_members_that_are_not_declared_are_left_out() {
        let map = |json: &str| serde_json::from_str::<Map>(json).unwrap();
        let found = map(r#"{"a":1,"b":{"c":2,"d":3},"e":[{"f":4}]}"#);
        let declared = as_inputs(&map(r#"{"b":{"c":9},"e":[],"g":1}"#));
        assert_eq!(declared_part(&found, &declared), map(r#"{"b":{"c":2},"e":[{"f":4}]}"#));
    }
}
