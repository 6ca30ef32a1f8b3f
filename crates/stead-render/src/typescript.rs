//! TypeScript declarations of existing resources.

use std::fmt::Write as _;

use stead_model::{Map, Name, NameParts, Text, TypeToken, Value};
use stead_schema::TypeSchema;

/// Expression that stands for a string: the constant of another resource, its property, and that property's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    pub variable: &'a str,
    pub property: &'a str,
    pub value: &'a str,
}

/// Finds the link for a string, by the name of the property that has it.
pub type FindLink<'a> = dyn Fn(&str, &str) -> Option<Link<'a>> + 'a;

/// Renders `new local.File({ … }, { id: "x" });` with every property that a program may set.
pub fn declaration(name: &Name, resource: &TypeToken, schema: Option<&TypeSchema>, inputs: &Map) -> String {
    let settable = |key: &str| {
        schema.and_then(|schema| schema.property(key)).is_none_or(stead_schema::Property::settable)
    };
    let inputs = inputs.iter().filter(|(key, _)| settable(key));
    written(name, resource, inputs, &|_, _| None)
}

/// Renders `const x = new local.File({ … }, { id: "x" });`. Strings that have a link are written as expressions.
pub fn linked_declaration(
    variable: &str,
    name: &Name,
    resource: &TypeToken,
    inputs: &Map,
    link: &FindLink<'_>,
) -> String {
    format!("const {variable} = {}", written(name, resource, inputs.iter(), link))
}

fn written<'a>(
    name: &Name,
    resource: &TypeToken,
    inputs: impl Iterator<Item = (&'a Text, &'a Value)>,
    link: &FindLink<'_>,
) -> String {
    let mut out = format!("new {}({{\n", resource.as_str());
    for (key, value) in inputs {
        let _ = writeln!(out, "  {}: {},", property(key), literal(key, value, 1, link));
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

fn literal(key: &str, value: &Value, depth: usize, link: &FindLink<'_>) -> String {
    let (inside, end) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    match value {
        Value::List(items) if !items.is_empty() => {
            let item = |item| format!("{inside}{},\n", literal(key, item, depth + 1, link));
            let items: Vec<String> = items.iter().map(item).collect();
            format!("[\n{}{end}]", items.concat())
        }
        Value::Map(map) if !map.is_empty() => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| {
                    format!("{inside}{}: {},\n", property(key), literal(key, value, depth + 1, link))
                })
                .collect();
            format!("{{\n{}{end}}}", entries.concat())
        }
        Value::Secret(_) => "config.secret(\"…\")".to_owned(),
        Value::String(text) => match link(key, text) {
            Some(link) => expression(text, &link),
            None => value.to_json(),
        },
        plain => plain.to_json(),
    }
}

/// Renders a string that is the value of a link, or contains it.
fn expression(text: &str, Link { variable, property: name, value }: &Link<'_>) -> String {
    let access = match property(name) {
        plain if plain == *name => format!("{variable}.{plain}"),
        quoted => format!("{variable}[{quoted}]"),
    };
    if text == *value {
        return access;
    }
    let Some((before, after)) = text.split_once(*value) else { return Value::from(text).to_json() };
    let part = |text: &str| {
        // In a template, a backtick and `${` have a meaning besides those that JSON escapes.
        let json = Value::from(text).to_json();
        let inside = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default();
        inside.replace("\\\"", "\"").replace('`', "\\`").replace("${", "\\${")
    };
    format!("`{}${{{access}}}{}`", part(before), part(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_lead_to_other_resources_are_expressions() {
        let json = r#"{"Bucket":"uploads","Policy":{"Resource":["arn:aws:s3:::uploads/a`${b}*","other"]}}"#;
        let inputs: Map = serde_json::from_str(json).unwrap();
        let link = |key: &str, text: &str| {
            let arn = Link { variable: "uploads", property: "Arn", value: "arn:aws:s3:::uploads" };
            let name = Link { variable: "uploads", property: "BucketName", value: "uploads" };
            if key == "Bucket" { Some(name) } else { text.starts_with("arn:").then_some(arn) }
        };
        let (name, ty) =
            ("dev:imported:aws.s3.BucketPolicy#p".parse().unwrap(), TypeToken("aws.s3.BucketPolicy".into()));
        insta::assert_snapshot!(linked_declaration("policy", &name, &ty, &inputs, &link), @r#"
        const policy = new aws.s3.BucketPolicy({
          Bucket: uploads.BucketName,
          Policy: {
            Resource: [
              `${uploads.Arn}/a\`\${b}*`,
              "other",
            ],
          },
        }, { id: "p" });
        "#);
    }

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
