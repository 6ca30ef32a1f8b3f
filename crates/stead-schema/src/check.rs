//! Checks inputs against a type's schema, before any request to a provider.

use stead_model::{Input, Inputs, Number, PropertyPath, Value, nearest};

use crate::cfn;
use crate::{Access, Property, Shape, TypeSchema};

/// Problem with one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: PropertyPath,
    pub message: String,
    pub help: Option<String>,
}

/// Returns all problems of the inputs. Deferred values are assumed to be valid.
pub fn check(schema: &TypeSchema, inputs: &Inputs) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, input) in inputs {
        let path = PropertyPath::of(name);
        match schema.property(name) {
            None => problems.push(unknown(schema, name)),
            Some(property) if property.access == Access::ReadOnly => problems.push(Problem {
                path,
                message: format!("`{name}` is set by the provider and cannot be given"),
                help: Some(format!("leave `{name}` out")),
            }),
            Some(property) => shape(&property.shape, input, &path, &mut problems),
        }
    }
    problems.extend(published(schema, inputs, cfn::mistakes));
    for property in schema.properties.iter().filter(|property| property.access == Access::Required) {
        if !inputs.contains_key(&property.name) {
            problems.push(Problem {
                path: PropertyPath::of(&property.name),
                message: format!("`{}` is missing", property.name),
                help: Some(match property.doc.as_str() {
                    "" => format!("{} needs it", schema.token),
                    doc => format!("{} needs `{}`: {doc}", schema.token, property.name),
                }),
            });
        }
    }
    problems
}

/// Returns all problems of a value for a property, whichever party sets the property.
pub fn check_value(property: &Property, value: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    known(&property.shape, value, &PropertyPath::of(&property.name), &mut problems);
    problems
}

/// Returns a warning for each deprecated property in use.
pub fn warnings(schema: &TypeSchema, inputs: &Inputs) -> Vec<Problem> {
    published(schema, inputs, cfn::deprecations)
}

/// Applies a check of published schemas, if the type is a published one.
fn published(
    schema: &TypeSchema,
    inputs: &Inputs,
    run: fn(&cfn::Schema, &Inputs) -> Vec<Problem>,
) -> Vec<Problem> {
    let shape = schema.properties.first().map(|property| &property.shape);
    match shape {
        Some(Shape::Published(published)) => run(&published.schema, inputs),
        _ => Vec::new(),
    }
}

fn unknown(schema: &TypeSchema, name: &str) -> Problem {
    let settable = || schema.properties.iter().filter(|p| p.settable()).map(|p| p.name.as_str());
    let help = match nearest(name, settable()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it has: {}", settable().collect::<Vec<_>>().join(", ")),
    };
    Problem {
        path: PropertyPath::of(name),
        message: format!("{} has no property `{name}`", schema.token),
        help: Some(help),
    }
}

fn shape(want: &Shape, input: &Input, path: &PropertyPath, problems: &mut Vec<Problem>) {
    match (want, input) {
        // A published schema checks the inputs as a whole.
        (Shape::Published(_), _) | (_, Input::Deferred(_)) => {}
        (_, Input::Known(value)) => known(want, value, path, problems),
        (Shape::Any, _) => {}
        (Shape::List(inner), Input::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                shape(inner, item, &path.index(index), problems);
            }
        }
        (Shape::Map(inner), Input::Map(map)) => {
            for (key, item) in map {
                shape(inner, item, &path.key(key), problems);
            }
        }
        (want, Input::List(_)) => problems.push(wrong(want, "a list", path)),
        (want, Input::Map(_)) => problems.push(wrong(want, "an object", path)),
    }
}

fn known(want: &Shape, value: &Value, path: &PropertyPath, problems: &mut Vec<Problem>) {
    match (want, value) {
        // The value of a secret is checked where it is revealed, by the provider.
        (_, Value::Secret(_))
        | (Shape::Any | Shape::Published(_), _)
        | (Shape::String, Value::String(_))
        | (Shape::Number, Value::Number(_))
        | (Shape::Integer, Value::Number(Number::Int(_) | Number::Uint(_)))
        | (Shape::Boolean, Value::Bool(_)) => {}
        (Shape::Choice(choices), Value::String(text)) if choices.iter().any(|choice| text == choice) => {}
        (Shape::Choice(choices), Value::String(text)) => problems.push(Problem {
            path: path.clone(),
            message: format!("`{path}` cannot be {text:?}"),
            help: Some(format!("use one of: {}", choices.join(", "))),
        }),
        (Shape::List(inner), Value::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                known(inner, item, &path.index(index), problems);
            }
        }
        (Shape::Map(inner), Value::Map(map)) => {
            for (key, item) in map {
                known(inner, item, &path.key(key), problems);
            }
        }
        (want, value) => problems.push(wrong(want, value.kind(), path)),
    }
}

fn wrong(want: &Shape, got: &str, path: &PropertyPath) -> Problem {
    Problem {
        path: path.clone(),
        message: format!("`{path}` must be {}, but it is {got}", describe(want)),
        help: None,
    }
}

fn describe(shape: &Shape) -> &'static str {
    match shape {
        Shape::Any | Shape::Published(_) => "a value",
        Shape::String | Shape::Choice(_) => "a string",
        Shape::Number => "a number",
        Shape::Integer => "a whole number",
        Shape::Boolean => "true or false",
        Shape::List(_) => "a list",
        Shape::Map(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use stead_model::ExprId;

    use super::*;

    fn schema() -> TypeSchema {
        TypeSchema::new(
            "t.File",
            "",
            vec![
                Property::new("path", Shape::String, Access::Required, "where"),
                Property::new("mode", Shape::Choice(vec!["ro".into(), "rw".into()]), Access::Filled, ""),
                Property::new("lines", Shape::List(Box::new(Shape::Integer)), Access::Optional, ""),
                Property::new("size", Shape::Integer, Access::ReadOnly, ""),
            ],
        )
    }

    fn messages(inputs: &[(&str, Input)]) -> Vec<String> {
        let inputs = inputs.iter().map(|(key, input)| ((*key).to_owned(), input.clone())).collect();
        let text = |p: Problem| format!("{} / {}", p.message, p.help.unwrap_or_default());
        check(&schema(), &inputs).into_iter().map(text).collect()
    }

    #[test]
    fn check_reports_each_kind_of_problem() {
        let found = messages(&[
            ("pat", Value::from("x").into()),
            ("mode", Value::from("rx").into()),
            ("lines", Value::from(vec![Value::from(1), Value::from("two")]).into()),
            ("size", Value::from(1).into()),
        ]);
        insta::assert_snapshot!(found.join("\n"), @r#"
        `lines[1]` must be a whole number, but it is a string / 
        `mode` cannot be "rx" / use one of: ro, rw
        t.File has no property `pat` / did you mean `path`?
        `size` is set by the provider and cannot be given / leave `size` out
        `path` is missing / t.File needs `path`: where
        "#);
    }

    #[test]
    fn deferred_values_are_assumed_valid() {
        assert!(messages(&[("path", Input::Deferred(ExprId(0)))]).is_empty());
        assert_eq!(messages(&[("path", Input::List(vec![Input::Deferred(ExprId(0))]))]).len(), 1);
    }
}
