//! TypeScript declarations of existing resources.

use std::fmt::Write as _;

use stead_model::{Map, Name, NameParts, TypeToken, Value};
use stead_schema::TypeSchema;

/// Renders `new local.File({ … }, { id: "x" });` with every property that a program may set.
pub fn declaration(name: &Name, resource: &TypeToken, schema: Option<&TypeSchema>, inputs: &Map) -> String {
    let settable = |key: &str| {
        schema.and_then(|schema| schema.property(key)).is_none_or(stead_schema::Property::settable)
    };
    let mut out = format!("new {}({{\n", resource.as_str());
    for (key, value) in inputs.iter().filter(|(key, _)| settable(key)) {
        let _ = writeln!(out, "  {}: {},", property(key), literal(value, 1));
    }
    let option = match &**name {
        NameParts::Global { gid, .. } => Some(("gid", gid)),
        NameParts::Placed { id: Some(id), .. } => Some(("id", id)),
        NameParts::Placed { id: None, .. } => None,
    };
    match option {
        Some((key, id)) => {
            let _ = writeln!(out, "}}, {{ {key}: {} }});", Value::from(id.as_str()).to_json());
        }
        None => out.push_str("});\n"),
    }
    out
}

fn property(key: &str) -> String {
    let mut characters = key.chars();
    let plain = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || "_$".contains(first))
        && characters.all(|rest| rest.is_ascii_alphanumeric() || "_$".contains(rest));
    if plain { key.to_owned() } else { Value::from(key).to_json() }
}

fn literal(value: &Value, depth: usize) -> String {
    let (inside, end) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    match value {
        Value::List(items) if !items.is_empty() => {
            let items: Vec<String> =
                items.iter().map(|item| format!("{inside}{},\n", literal(item, depth + 1))).collect();
            format!("[\n{}{end}]", items.concat())
        }
        Value::Map(map) if !map.is_empty() => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{inside}{}: {},\n", property(key), literal(value, depth + 1)))
                .collect();
            format!("{{\n{}{end}}}", entries.concat())
        }
        Value::Secret(_) => "config.secret(\"…\")".to_owned(),
        plain => plain.to_json(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declaration_is_valid_typescript() {
        let inputs: Map = [
            ("path".to_owned(), Value::from("a \"b\".txt")),
            (
                "tags".to_owned(),
                Value::Map([("x-y".to_owned(), Value::from(vec![1.into(), true.into()]))].into()),
            ),
            ("none".to_owned(), Value::Map(Map::new())),
        ]
        .into();
        let text = declaration(
            &"dev:main:local.File#web".parse().unwrap(),
            &TypeToken("local.File".into()),
            None,
            &inputs,
        );
        insta::assert_snapshot!(text, @r#"
        new local.File({
          none: {},
          path: "a \"b\".txt",
          tags: {
            "x-y": [
              1,
              true,
            ],
          },
        }, { id: "web" });
        "#);
    }
}
