//! YAML as JSON values, for kubeconfig files.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Number, Value};

/// Returns all documents of a file. Features that JSON lacks (tags, keys that are not text) are errors.
pub(crate) fn documents(text: &str) -> Result<Vec<Value>, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
    documents.iter().map(value).collect()
}

fn value(yaml: &Yaml<'_>) -> Result<Value, String> {
    Ok(match yaml {
        Yaml::Value(scalar) => of_scalar(scalar),
        Yaml::Sequence(items) => Value::Array(items.iter().map(value).collect::<Result<_, _>>()?),
        Yaml::Mapping(entries) => {
            let mut map = Map::new();
            for (key, item) in entries {
                let key = key.as_str().ok_or("a key is no text")?;
                map.insert(key.to_owned(), value(item)?);
            }
            Value::Object(map)
        }
        _ => return Err("tags and unresolved aliases are not supported".to_owned()),
    })
}

fn of_scalar(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => Value::Bool(*value),
        Scalar::Integer(value) => Value::from(*value),
        Scalar::FloatingPoint(value) => Number::from_f64(value.0).map_or(Value::Null, Value::Number),
        Scalar::String(text) => Value::String(text.to_string()),
    }
}
