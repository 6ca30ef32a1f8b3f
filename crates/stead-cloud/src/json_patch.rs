//! JSON Patch (RFC 6902) as Cloud Control applies it: all six operations, in order, all or nothing.
//!
//! The service puts a `/` before every path in its messages: `/Code` is printed as `//Code`.

use stead_model::{Map, Value};

use crate::Rejection;

/// Returns the model after all operations of the document, or the failure of the first that fails.
pub fn apply(model: &Map, document: &Value) -> Result<Map, Rejection> {
    let operations =
        document.as_list().ok_or_else(|| Rejection::Patch("PatchDocument is not a JSON array".to_owned()))?;
    let mut value = Value::Map(model.clone());
    for operation in operations {
        one(&mut value, operation)?;
    }
    match value {
        Value::Map(map) => Ok(map),
        _ => Err(Rejection::Patch("the patched model is not a JSON object".to_owned())),
    }
}

fn one(model: &mut Value, operation: &Value) -> Result<(), Rejection> {
    let text = |key: &'static str| {
        let found = operation.as_map().and_then(|map| map.get(key)).and_then(Value::as_str);
        found.ok_or_else(|| Rejection::Patch(format!("Invalid JSON Patch payload (missing '{key}' field)")))
    };
    let value = || {
        let found = operation.as_map().and_then(|map| map.get("value")).cloned();
        found.ok_or_else(|| Rejection::Patch("Invalid JSON Patch payload (missing 'value' field)".to_owned()))
    };
    let path = text("path")?;
    match text("op")? {
        "add" => add(model, &Location::of("ADD", path)?, value()?),
        "remove" => remove(model, &Location::of("REMOVE", path)?).map(drop),
        "replace" => {
            let location = Location::of("REPLACE", path)?;
            *at_mut(model, &location)? = value()?;
            Ok(())
        }
        "move" => {
            let from = text("from")?;
            // RFC 6902 §4.4: a value cannot be moved into itself.
            if path.starts_with(&format!("{from}/")) {
                return Err(Location::of("MOVE", path)?.missing());
            }
            let moved = remove(model, &Location::of("MOVE", from)?)?;
            add(model, &Location::of("MOVE", path)?, moved)
        }
        "copy" => {
            let copied = at_mut(model, &Location::of("COPY", text("from")?)?)?.clone();
            add(model, &Location::of("COPY", path)?, copied)
        }
        "test" => {
            let location = Location::of("TEST", path)?;
            let (found, expected) = (at_mut(model, &location)?, value()?);
            if *found == expected {
                return Ok(());
            }
            Err(location.fails(&format!(
                "Expected value {} but found value {}",
                expected.to_json(),
                found.to_json()
            )))
        }
        other => Err(Rejection::Patch(format!("Invalid JSON Patch payload (unknown operation {other})"))),
    }
}

/// Path of one operation.
struct Location<'a> {
    verb: &'static str,
    text: &'a str,
    steps: Vec<String>,
}

impl<'a> Location<'a> {
    /// Parses a path. The service's documentation also shows paths without the first `/`.
    fn of(verb: &'static str, text: &'a str) -> Result<Location<'a>, Rejection> {
        let path = text.strip_prefix('/').unwrap_or(text);
        let steps = path.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        let location = Location { verb, text, steps };
        if text.is_empty() { Err(location.missing()) } else { Ok(location) }
    }

    fn fails(&self, why: &str) -> Rejection {
        Rejection::Patch(format!("[{} Operation] {why}", self.verb))
    }

    fn missing(&self) -> Rejection {
        self.fails(&format!("noSuchPath in source, path provided : /{}", self.text))
    }

    /// Returns the container and the last step.
    fn split<'m>(&self, model: &'m mut Value) -> Result<(&'m mut Value, &str), Rejection> {
        let (last, before) = self.steps.split_last().ok_or_else(|| self.missing())?;
        let mut at = model;
        for step in before {
            at = member(at, step).ok_or_else(|| self.missing())?;
        }
        Ok((at, last))
    }
}

fn member<'m>(at: &'m mut Value, step: &str) -> Option<&'m mut Value> {
    match at {
        Value::Map(map) => map.get_mut(step),
        Value::List(items) => items.get_mut(index(step)?),
        _ => None,
    }
}

/// Parses an array index: digits without a leading zero. `-` is not the index of an existing element.
fn index(step: &str) -> Option<usize> {
    let plain = step == "0" || !step.starts_with('0');
    (plain && step.bytes().all(|byte| byte.is_ascii_digit())).then(|| step.parse().ok())?
}

fn at_mut<'m>(model: &'m mut Value, location: &Location<'_>) -> Result<&'m mut Value, Rejection> {
    let (container, last) = location.split(model)?;
    member(container, last).ok_or_else(|| location.missing())
}

fn add(model: &mut Value, location: &Location<'_>, value: Value) -> Result<(), Rejection> {
    match location.split(model)? {
        (Value::Map(map), last) => drop(map.insert(last.to_owned(), value)),
        (Value::List(items), "-") => items.push(value),
        (Value::List(items), last) => {
            let at = index(last).ok_or_else(|| location.missing())?;
            if at > items.len() {
                return Err(location.fails(&format!("Array index {at} out of bounds")));
            }
            items.insert(at, value);
        }
        _ => {
            return Err(location
                .fails(&format!("parent is not a container in source, path provided : /{}", location.text)));
        }
    }
    Ok(())
}

fn remove(model: &mut Value, location: &Location<'_>) -> Result<Value, Rejection> {
    match location.split(model)? {
        (Value::Map(map), last) => map.remove(last),
        (Value::List(items), last) => index(last).filter(|at| *at < items.len()).map(|at| items.remove(at)),
        _ => None,
    }
    .ok_or_else(|| location.missing())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn patched(model: &str, document: &str) -> Result<String, String> {
        let Value::Map(model) = json(model) else { panic!("{model}") };
        let after = apply(&model, &json(document));
        after.map(|map| Value::Map(map).to_json()).map_err(|rejection| rejection.to_string())
    }

    #[test]
    fn the_six_operations_follow_the_standard() {
        let model = r#"{"A":1,"L":[1,2],"M":{"x/y":{"~":1}}}"#;
        for (document, after) in [
            (r#"[{"op":"add","path":"/B","value":2}]"#, r#"{"A":1,"B":2,"L":[1,2],"M":{"x/y":{"~":1}}}"#),
            (r#"[{"op":"add","path":"B","value":2}]"#, r#"{"A":1,"B":2,"L":[1,2],"M":{"x/y":{"~":1}}}"#),
            (r#"[{"op":"add","path":"/L/0","value":0}]"#, r#"{"A":1,"L":[0,1,2],"M":{"x/y":{"~":1}}}"#),
            (r#"[{"op":"add","path":"/L/2","value":3}]"#, r#"{"A":1,"L":[1,2,3],"M":{"x/y":{"~":1}}}"#),
            (r#"[{"op":"add","path":"/L/-","value":3}]"#, r#"{"A":1,"L":[1,2,3],"M":{"x/y":{"~":1}}}"#),
            (r#"[{"op":"remove","path":"/M/x~1y/~0"}]"#, r#"{"A":1,"L":[1,2],"M":{"x/y":{}}}"#),
            (r#"[{"op":"replace","path":"/L/1","value":9}]"#, r#"{"A":1,"L":[1,9],"M":{"x/y":{"~":1}}}"#),
            (r#"[{"op":"move","from":"/A","path":"/L/1"}]"#, r#"{"L":[1,1,2],"M":{"x/y":{"~":1}}}"#),
            (r#"[{"op":"copy","from":"/L","path":"/A"}]"#, r#"{"A":[1,2],"L":[1,2],"M":{"x/y":{"~":1}}}"#),
            (r#"[{"op":"test","path":"/L","value":[1,2]}]"#, r#"{"A":1,"L":[1,2],"M":{"x/y":{"~":1}}}"#),
        ] {
            assert_eq!(patched(model, document).as_deref(), Ok(after), "{document}");
        }
    }

    #[test]
    fn failures_have_the_messages_of_the_service() {
        let model = r#"{"A":1,"L":[1]}"#;
        for (document, why) in [
            (
                r#"[{"op":"replace","path":"/Code","value":1}]"#,
                "[REPLACE Operation] noSuchPath in source, path provided : //Code",
            ),
            (
                r#"[{"op":"remove","path":"/L/1"}]"#,
                "[REMOVE Operation] noSuchPath in source, path provided : //L/1",
            ),
            (
                r#"[{"op":"add","path":"/X/Y","value":1}]"#,
                "[ADD Operation] noSuchPath in source, path provided : //X/Y",
            ),
            (
                r#"[{"op":"add","path":"/A/Y","value":1}]"#,
                "[ADD Operation] parent is not a container in source, path provided : //A/Y",
            ),
            (r#"[{"op":"add","path":"/L/2","value":1}]"#, "[ADD Operation] Array index 2 out of bounds"),
            (
                r#"[{"op":"add","path":"/L/00","value":1}]"#,
                "[ADD Operation] noSuchPath in source, path provided : //L/00",
            ),
            (
                r#"[{"op":"replace","path":"/L/-","value":1}]"#,
                "[REPLACE Operation] noSuchPath in source, path provided : //L/-",
            ),
            (
                r#"[{"op":"test","path":"/A","value":2}]"#,
                "[TEST Operation] Expected value 2 but found value 1",
            ),
            (
                r#"[{"op":"move","from":"/L","path":"/L/0"}]"#,
                "[MOVE Operation] noSuchPath in source, path provided : //L/0",
            ),
            (r#"[{"op":"add","path":"/B"}]"#, "Invalid JSON Patch payload (missing 'value' field)"),
        ] {
            assert_eq!(patched(model, document), Err(format!("ValidationException: {why}")), "{document}");
        }
    }
}
