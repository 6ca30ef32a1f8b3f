//! Gives a text from a flag or a variable the type of its key.

use stead_model::{Number, Value};

use super::ValueType;

/// Converts a text, or returns the form that the type needs.
pub(crate) fn typed(text: &str, ty: ValueType) -> Result<Value, &'static str> {
    match ty {
        ValueType::String => Ok(Value::from(text)),
        ValueType::Boolean => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err("write `true` or `false`"),
        },
        ValueType::Number | ValueType::Integer => number(text).ok_or("write a number, such as `3`"),
        ValueType::List => match structure(text) {
            Some(value @ Value::List(_)) => Ok(value),
            _ => Err("write a list as JSON or TOML: `[\"a\", \"b\"]`"),
        },
        ValueType::Map => match structure(text) {
            Some(value @ Value::Map(_)) => Ok(value),
            _ => Err("write a table as JSON or TOML: `{ a = 1 }`"),
        },
    }
}

/// Reads digits with an optional sign, fraction and exponent: no `NaN`, no `0x`, no white space.
fn number(text: &str) -> Option<Value> {
    let plain = text.strip_prefix(['-', '+']).unwrap_or(text);
    let usable = plain.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    if !usable || !plain.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c)) {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Value::from(whole));
    }
    text.parse().ok().and_then(Number::from_f64).map(Value::Number)
}

fn structure(text: &str) -> Option<Value> {
    let from_toml = || {
        let parsed: stead_model::Map = toml::from_str(&format!("value = {}", text.trim())).ok()?;
        parsed.get("value").cloned()
    };
    serde_json::from_str(text).ok().or_else(from_toml)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_takes_the_declared_type() {
        let json = |text, ty| typed(text, ty).map(|value| value.to_json());
        assert_eq!(json("3", ValueType::String).as_deref(), Ok("\"3\""));
        assert_eq!(json("3", ValueType::Number).as_deref(), Ok("3"));
        assert_eq!(json("-2.5e1", ValueType::Number).as_deref(), Ok("-25"));
        assert_eq!(json("true", ValueType::Boolean).as_deref(), Ok("true"));
        assert_eq!(json("[\"a\", 2]", ValueType::List).as_deref(), Ok("[\"a\",2]"));
        assert_eq!(json("{ a = 1 }", ValueType::Map).as_deref(), Ok("{\"a\":1}"));
        assert_eq!(json("{\"a\": [true]}", ValueType::Map).as_deref(), Ok("{\"a\":[true]}"));
        for text in ["", " 3", "0x10", "NaN", "inf", "three", "1_000", "-"] {
            assert!(typed(text, ValueType::Number).is_err(), "{text}");
        }
        for text in ["yes", "TRUE", "1", ""] {
            assert!(typed(text, ValueType::Boolean).is_err(), "{text}");
        }
        assert!(typed("a,b", ValueType::List).is_err() && typed("[1]", ValueType::Map).is_err());
    }
}
