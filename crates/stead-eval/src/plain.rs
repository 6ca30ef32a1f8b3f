//! From a JavaScript value to a plain one, where no unknown and no resource can be.

use rquickjs::{Type, Value, object::Filter};
use stead_model::{Map, Number, Value as Plain};

const MAX_DEPTH: usize = stead_model::MAX_NESTING;

/// The plain value, or why it is none. `undefined` is null.
pub(crate) fn from_js(value: &Value<'_>) -> Result<Plain, String> {
    convert(value, 0)
}

fn convert(value: &Value<'_>, depth: usize) -> Result<Plain, String> {
    if value.is_null() || value.is_undefined() {
        return Ok(Plain::Null);
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Plain::Bool(flag));
    }
    if let Some(number) = value.as_number() {
        let name = if number.is_nan() { "NaN" } else { "Infinity" };
        return Number::from_f64(number)
            .map(Plain::Number)
            .ok_or_else(|| format!("the result is {name}, which cannot be stored"));
    }
    if let Some(text) = value.as_string() {
        let text = text.to_string().map_err(|_| "the result is text with half a character in it")?;
        return Ok(Plain::String(text));
    }
    if depth >= MAX_DEPTH {
        return Err(format!("the result is nested deeper than {MAX_DEPTH} levels"));
    }
    if let Some(array) = value.as_array() {
        let items = array.iter::<Value<'_>>().map(|item| match item {
            Ok(item) => convert(&item, depth + 1),
            Err(_) => Err("an item of the result cannot be read".to_owned()),
        });
        return items.collect::<Result<Vec<_>, _>>().map(Plain::List);
    }
    match value.as_object() {
        Some(object) if !value.is_function() && value.type_of() == Type::Object => {
            let mut map = Map::new();
            for property in object.own_props::<String, Value<'_>>(Filter::new().string().enum_only()) {
                let (key, item) = property.map_err(|_| "a property of the result cannot be read")?;
                if !item.is_undefined() {
                    map.insert(key, convert(&item, depth + 1)?);
                }
            }
            Ok(Plain::Map(map))
        }
        _ => Err(format!("the result is a {}, which is not data", value.type_name())),
    }
}
