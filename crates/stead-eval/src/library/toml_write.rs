//! Writes TOML: the values of a table first, then its tables, each under its header.
//!
//! **Invariant:** every TOML reader gives back the same data. Data without a spelling in TOML, such as null, is an error.

use stead_model::{Map, Number, Value};

use super::Tree;

/// Implements `toml.stringify`.
pub(super) fn stringify(arguments: &[Value]) -> Result<Tree, String> {
    let table = match arguments.first() {
        Some(Value::Map(table)) => table,
        other => {
            let found = other.map_or("missing", Value::kind);
            return Err(format!("the value must be an object; it is {found}"));
        }
    };
    let mut out = String::new();
    write_table(table, &mut Vec::new(), &mut out)?;
    Ok(out.into())
}

/// Writes the entries of a table. `path` has the keys of its header.
fn write_table(table: &Map, path: &mut Vec<String>, out: &mut String) -> Result<(), String> {
    let is_block = |value: &&Value| matches!(value, Value::Map(_)) || tables_of(value).is_some();
    for (name, value) in table.iter().filter(|(_, value)| !is_block(value)) {
        path.push(key(name));
        out.push_str(&format!("{} = {}\n", key(name), inline(value, path)?));
        path.pop();
    }
    for (name, value) in table.iter().filter(|(_, value)| is_block(value)) {
        path.push(key(name));
        match value {
            Value::Map(inner) => {
                header("[", path, "]", out);
                write_table(inner, path, out)?;
            }
            list => {
                for item in tables_of(list).into_iter().flatten() {
                    header("[[", path, "]]", out);
                    write_table(item, path, out)?;
                }
            }
        }
        path.pop();
    }
    Ok(())
}

fn header(open: &str, path: &[String], close: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("{open}{}{close}\n", path.join(".")));
}

/// Returns the tables of a list that has nothing else.
fn tables_of(value: &Value) -> Option<Vec<&Map>> {
    let items = value.as_list().filter(|items| !items.is_empty())?;
    items.iter().map(Value::as_map).collect()
}

/// Returns a value on one line.
fn inline(value: &Value, path: &mut Vec<String>) -> Result<String, String> {
    Ok(match value {
        Value::Null => {
            return Err(format!("`{}` is null, which TOML does not have; leave it out", path.join(".")));
        }
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number_text(*number),
        Value::String(text) => quoted(text.as_str()),
        Value::Secret(_) => {
            return Err(format!("`{}` is a secret, which is known only after apply", path.join(".")));
        }
        Value::List(items) => {
            let mut all = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                path.push(index.to_string());
                all.push(inline(item, path)?);
                path.pop();
            }
            format!("[{}]", all.join(", "))
        }
        Value::Map(table) if table.is_empty() => "{}".to_owned(),
        Value::Map(table) => {
            let mut all = Vec::with_capacity(table.len());
            for (name, item) in table.iter() {
                path.push(key(name));
                all.push(format!("{} = {}", key(name), inline(item, path)?));
                path.pop();
            }
            format!("{{ {} }}", all.join(", "))
        }
    })
}

/// Returns a number; one beyond 64 bits is a float, because the integers of TOML end there.
fn number_text(number: Number) -> String {
    let text = Value::Number(number).to_json();
    let is_integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_integer && text.parse::<i64>().is_err() { format!("{text}.0") } else { text }
}

/// Returns a key, in quotes if it has other characters than letters, digits, `_` and `-`.
fn key(name: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_ascii_control() => out.push_str(&format!("\\u{:04X}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::data::read_toml;

    fn written(json: &str) -> Result<String, String> {
        let value: Value = serde_json::from_str(json).unwrap();
        let text = stringify(std::slice::from_ref(&value))?.into_value();
        let text = text.as_str().unwrap().to_owned();
        let Ok(read) = read_toml(&text) else { panic!("{text}") };
        assert_eq!(read.into_value(), value, "{text}");
        Ok(text)
    }

    #[test]
    fn values_come_before_tables_and_read_the_same() {
        let json = r#"{"t":{"u":{"a":1},"l":[1,[2.5,"x"]]},"z":true,"list":[{"b":"c"},{"d":{"e":[]}}],"mixed":[{"k":1},2],"o":{}}"#;
        insta::assert_snapshot!(written(json).unwrap(), @r#"
        mixed = [{ k = 1 }, 2]
        z = true

        [[list]]
        b = "c"

        [[list]]

        [list.d]
        e = []

        [o]

        [t]
        l = [1, [2.5, "x"]]

        [t.u]
        a = 1
        "#);
    }

    #[test]
    fn keys_and_texts_are_escaped() {
        for text in ["", "a b", "a.b", "\"\\", "one\ntwo\r\n\t", "\u{0}\u{1f}\u{7f}\u{80}", "ä😀\u{2028}"]
        {
            let mut table = Map::new();
            table.insert(text, Value::from(text));
            written(&Value::Map(table).to_json()).unwrap();
        }
    }

    #[test]
    fn numbers_keep_their_value() {
        let text = written(r#"{"a":-9007199254740991,"b":1e+21,"c":0.1,"d":1e-7}"#).unwrap();
        assert!(text.contains("a = -9007199254740991\n"), "{text}");
        assert_eq!(number_text(Number::Uint(u64::MAX)), "18446744073709551615.0");
    }

    #[test]
    fn data_without_a_spelling_is_refused_by_its_path() {
        let refused = |json: &str| written(json).unwrap_err();
        assert_eq!(
            refused(r#"{"a":{"b":[1,null]}}"#),
            "`a.b.1` is null, which TOML does not have; leave it out"
        );
        assert_eq!(refused("[1]"), "the value must be an object; it is a list");
    }
}
