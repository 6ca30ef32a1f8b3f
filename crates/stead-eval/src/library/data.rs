//! Texts of data: YAML, TOML, JSON.

use stead_model::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use super::text::position;
use super::yaml::{self, YamlError};
use super::{Tree, integer_at, text_at};

fn placed(error: YamlError) -> String {
    format!("{} (line {}, column {})", error.message, error.line, error.column)
}

pub(super) fn parse_yaml(arguments: &[Value]) -> Result<Tree, String> {
    yaml::read(text_at(arguments, 0, "the text")?).map_err(placed)
}

pub(super) fn parse_all_yaml(arguments: &[Value]) -> Result<Tree, String> {
    yaml::read_all(text_at(arguments, 0, "the text")?).map(Tree::List).map_err(placed)
}

pub(super) fn parse_toml(arguments: &[Value]) -> Result<Tree, String> {
    read_toml(text_at(arguments, 0, "the text")?).map_err(placed)
}

/// Reads a TOML file. A date is its text.
pub(crate) fn read_toml(text: &str) -> Result<Tree, YamlError> {
    let parsed = DeTable::parse(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        YamlError { message: error.message().to_owned(), line, column }
    })?;
    Ok(table(parsed.get_ref()))
}

fn table(table: &DeTable<'_>) -> Tree {
    // The parser sorts keys; a program sees them in the order of the file.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    Tree::Map(
        entries
            .into_iter()
            .map(|(key, value)| (key.get_ref().to_string(), value_of(value.get_ref())))
            .collect(),
    )
}

fn value_of(value: &DeValue<'_>) -> Tree {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(flag) => Value::Bool(*flag).into(),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            // A program holds doubles; a deferred call gives the same number.
            Ok(number) => Tree::Value(Number::from_f64(number as f64).map_or(Value::Null, Value::Number)),
            Err(_) => integer.to_string().into(),
        },
        DeValue::Float(float) => match float.as_str().parse().ok().and_then(Number::from_f64) {
            Some(number) => Tree::Value(Value::Number(number)),
            None => float.as_str().into(),
        },
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Array(items) => Tree::List(items.iter().map(|item| value_of(item.get_ref())).collect()),
        DeValue::Table(inner) => table(inner),
    }
}

/// Returns JSON with sorted keys.
pub(super) fn canonical_json(arguments: &[Value]) -> Result<Tree, String> {
    let value = arguments.first().ok_or("a value is needed")?;
    let spaces = match arguments.get(1) {
        None | Some(Value::Null) => 0,
        Some(_) => integer_at(arguments, 1, "the indent")?,
    };
    if !(0..=10).contains(&spaces) {
        return Err("the indent must be from 0 to 10 spaces".to_owned());
    }
    let mut out = String::new();
    write_json(value, spaces as usize, 0, &mut out);
    Ok(out.into())
}

fn write_json(value: &Value, spaces: usize, depth: usize, out: &mut String) {
    let line = |out: &mut String, depth: usize| {
        if spaces > 0 {
            out.push('\n');
            out.push_str(&" ".repeat(spaces * depth));
        }
    };
    match value {
        Value::List(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                line(out, depth + 1);
                write_json(item, spaces, depth + 1, out);
            }
            line(out, depth);
            out.push(']');
        }
        Value::Map(map) if !map.is_empty() => {
            write_object(map, spaces, depth, out, &line);
        }
        scalar => out.push_str(&scalar.to_json()),
    }
}

fn write_object(map: &Map, spaces: usize, depth: usize, out: &mut String, line: &dyn Fn(&mut String, usize)) {
    out.push('{');
    for (index, (key, item)) in map.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        line(out, depth + 1);
        out.push_str(&Value::from(key.as_str()).to_json());
        out.push_str(if spaces > 0 { ": " } else { ":" });
        write_json(item, spaces, depth + 1, out);
    }
    line(out, depth);
    out.push('}');
}
