//! A TOML file as tables in which every key has its place.

use stead_engine::ops::OpError;
use stead_eval::config::{Given, Key, Origin, Setting};
use stead_model::{Ciphertext, Map, Number, Secret, SourceRef, Stored, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{SECRET, is_sealed};
use crate::project::{malformed_file, position};

/// Tables of one file.
#[derive(Clone)]
pub(super) struct Table {
    file: String,
    text: String,
    root: Node,
}

/// A value with the position of its key.
#[derive(Clone)]
struct Node {
    at: usize,
    value: Content,
}

#[derive(Clone)]
enum Content {
    Table(Vec<(String, Node)>),
    Value(Value),
}

impl Table {
    pub(super) fn read(file: &str, text: &str) -> Result<Table, OpError> {
        let parsed = DeTable::parse(text).map_err(|error| malformed_file(file, text, &error))?;
        let root = Node { at: 0, value: table(parsed.get_ref()) };
        Ok(Table { file: file.to_owned(), text: text.to_owned(), root })
    }

    /// Returns the keys of the file itself with their places.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, SourceRef)> {
        let entries = match &self.root.value {
            Content::Table(entries) => entries.as_slice(),
            Content::Value(_) => &[],
        };
        entries.iter().map(|(key, node)| (key.as_str(), self.place_at(node.at)))
    }

    /// Adds every value in a table, and in the tables inside it, as a setting.
    pub(super) fn settings(&self, table: &[&str], out: &mut Vec<Setting>) {
        if let Some(Node { value: Content::Table(entries), .. }) = self.find(table) {
            entries.iter().for_each(|(name, node)| self.leaves(&Key::of([name.as_str()]), node, out));
        }
    }

    /// Adds the values in a table like `settings`; a table `{ secret = "s1:…" }` is an encrypted value.
    pub(super) fn settings_with_secrets(&self, table: &[&str], out: &mut Vec<Setting>) {
        let mut found = Vec::new();
        self.settings(table, &mut found);
        for setting in found {
            let Setting { key, given: Given::Value(Value::String(text)), origin } = &setting else {
                out.push(setting);
                continue;
            };
            let Some((last, outer)) = key.parts().split_last() else { continue };
            let outer = Some(outer)
                .filter(|outer| !outer.is_empty())
                .map(|outer| Key::of(outer.iter().map(String::as_str)));
            match outer.filter(|_| last == SECRET && is_sealed(text)) {
                Some(key) => {
                    let secret = Secret::stored(Stored::Sealed(Ciphertext(text.to_string())));
                    let given = Given::Value(Value::Secret(secret));
                    out.push(Setting { key, given, origin: origin.clone() });
                }
                None => out.push(setting),
            }
        }
    }

    fn leaves(&self, key: &Key, node: &Node, out: &mut Vec<Setting>) {
        let value = match &node.value {
            Content::Table(entries) if !entries.is_empty() => {
                return entries.iter().for_each(|(name, node)| self.leaves(&key.child(name), node, out));
            }
            Content::Table(_) => Value::Map(Map::new()),
            Content::Value(value) => value.clone(),
        };
        let origin = Origin::File(self.place_at(node.at));
        out.push(Setting { key: key.clone(), given: Given::Value(value), origin });
    }

    /// Returns a table as plain data; `None` if there is none or the value is no table.
    pub(super) fn map(&self, path: &[&str]) -> Option<Map> {
        match plain(self.find(path)?) {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the place of a key; parts that a quoted key joins with dots are found too.
    pub(super) fn place(&self, path: &[&str]) -> Option<SourceRef> {
        self.find(path).map(|node| self.place_at(node.at))
    }

    fn place_at(&self, at: usize) -> SourceRef {
        let (line, column, _) = position(&self.text, at..at);
        SourceRef { file: self.file.clone(), line, column }
    }

    fn find(&self, path: &[&str]) -> Option<&Node> {
        find(&self.root, path)
    }
}

fn find<'a>(node: &'a Node, path: &[&str]) -> Option<&'a Node> {
    let Content::Table(entries) = &node.value else { return Some(node).filter(|_| path.is_empty()) };
    if path.is_empty() {
        return Some(node);
    }
    (1..=path.len()).find_map(|length| {
        let name = path[..length].join(".");
        let (_, inner) = entries.iter().find(|(key, _)| *key == name)?;
        find(inner, &path[length..])
    })
}

fn plain(node: &Node) -> Value {
    match &node.value {
        Content::Value(value) => value.clone(),
        Content::Table(entries) => {
            let mut map = Map::new();
            entries.iter().for_each(|(key, node)| drop(map.insert(key.as_str(), plain(node))));
            Value::Map(map)
        }
    }
}

fn table(table: &DeTable<'_>) -> Content {
    let entries = table.iter().map(|(key, value)| {
        let node = Node { at: key.span().start, value: content(value) };
        (key.get_ref().to_string(), node)
    });
    Content::Table(entries.collect())
}

fn content(value: &Spanned<DeValue<'_>>) -> Content {
    match value.get_ref() {
        DeValue::Table(inner) => table(inner),
        other => Content::Value(data(other)),
    }
}

fn data(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_or_else(|_| Value::from(integer.to_string()), Value::from),
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            number.map_or_else(|| Value::from(float.as_str()), Value::Number)
        }
        // A program gets a date as the text of the file.
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| data(item.get_ref())).collect(),
        DeValue::Table(inner) => {
            let mut map = Map::new();
            inner
                .iter()
                .for_each(|(key, value)| drop(map.insert(key.get_ref().as_ref(), data(value.get_ref()))));
            Value::Map(map)
        }
    }
}
