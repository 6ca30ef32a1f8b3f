//! The file `stead.ENV.toml`, read and edited: values, encrypted values, and the ring of data keys that opens them.
//!
//! Comments and order stay, and each value and each wrapped key is one line, so that branches merge by line. **Invariant:** a
//! secret is in the file only as ciphertext.

use std::path::PathBuf;

use stead_engine::ops::OpError;
use stead_eval::config::Key;
use stead_model::{
    Ciphertext, Code, Diagnostic, Hint, KeyId, Keyring, NextStep, Number, RingKey, Value, Wrap,
};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::{Project, read};
use crate::project::unusable;

/// The field of an encrypted value.
pub(super) const SECRET: &str = "secret";
/// The table of the wrapped keys.
pub(super) const RING: &str = "secrets";
/// The table of the values.
const CONFIG: &str = "config";

/// The config file of one environment, also before it exists.
pub(super) struct EnvironmentFile {
    pub(super) name: String,
    path: PathBuf,
    document: DocumentMut,
    exists: bool,
}

impl EnvironmentFile {
    pub(super) fn open(project: &Project, environment: &str) -> Result<EnvironmentFile, OpError> {
        let name = file_name(environment);
        let path = project.root.join(&name);
        if name.contains(['/', '\\']) {
            let message =
                format!("the environment {environment:?} cannot have a config file: its name has a slash");
            return Err(OpError::invalid(Diagnostic::error(Code::USAGE, message)));
        }
        let exists = matches!(project.world().files.metadata(&path), Ok(Some(_)));
        let text = if exists { read(project, &path, &name)? } else { String::new() };
        let document =
            text.parse().map_err(|error: toml_edit::TomlError| unusable(&path, error.message()))?;
        Ok(EnvironmentFile { name, path, document, exists })
    }

    /// Writes the file as one step: a reader sees the old values and keys, or the new ones.
    pub(super) fn write(&self, project: &Project) -> Result<(), OpError> {
        let (world, path) = (project.world(), &self.path);
        let mode = world.files.metadata(path).ok().flatten().map_or(0o644, |found| found.mode);
        let write = || {
            let unique = world.entropy.uuid()?;
            world.files.write_atomically(path, self.document.to_string().as_bytes(), mode, &unique)
        };
        write().map_err(|error: std::io::Error| {
            let message = format!("cannot write {}: {error}", path.display());
            OpError::refused(Diagnostic::error(Code::STORE, message).note("The file was not changed."))
        })
    }

    /// Returns the wrapped keys. Keys stand in the order of their first lines, so that the current one is the last.
    pub(super) fn ring(&self) -> Result<Keyring, OpError> {
        let mut ring = Keyring::default();
        let Some(table) = self.document.get(RING).and_then(Item::as_table_like) else { return Ok(ring) };
        for (line, data) in table.iter() {
            let (Some((id, manager)), Some(data)) = (line.split_once(' '), data.as_str()) else {
                let why = format!("`{line}` in `[{RING}]` is not `\"KEY MANAGER\" = \"TEXT\"`");
                return Err(unusable(&self.path, &why));
            };
            let wrap = Wrap { manager: manager.to_owned(), data: data.to_owned() };
            match ring.keys.iter_mut().find(|key| key.id.0 == id) {
                Some(key) => key.wraps.push(wrap),
                None => ring.keys.push(RingKey { id: KeyId(id.to_owned()), wraps: vec![wrap] }),
            }
        }
        Ok(ring)
    }

    /// Replaces the wrapped keys. Lines that stay keep their place.
    pub(super) fn set_ring(&mut self, ring: &Keyring) {
        let wraps = ring.keys.iter().flat_map(|key| key.wraps.iter().map(move |wrap| (&key.id, wrap)));
        let lines: Vec<(String, &str)> =
            wraps.map(|(id, wrap)| (format!("{} {}", id.0, wrap.manager), wrap.data.as_str())).collect();
        // Values come first in a new file.
        let _ = self.table(CONFIG);
        let Some(table) = self.table(RING) else { return };
        let stale: Vec<String> = table
            .iter()
            .map(|(line, _)| line.to_owned())
            .filter(|line| !lines.iter().any(|(known, _)| known == line))
            .collect();
        stale.iter().for_each(|line| drop(table.remove(line)));
        lines.iter().for_each(|(line, data)| put(table, line, (*data).into()));
    }

    /// Sets a value. Fails if a table is in its place, or a value in the place of one of its tables.
    pub(super) fn set(&mut self, key: &Key, value: &Value) -> Result<(), OpError> {
        let value = to_toml(value).ok_or_else(|| {
            let message = format!("config `{key}`: a file cannot have this value");
            OpError::invalid(Diagnostic::error(Code::USAGE, message))
        })?;
        self.put(key, value)
    }

    pub(super) fn set_secret(&mut self, key: &Key, sealed: &Ciphertext) -> Result<(), OpError> {
        let mut table = InlineTable::new();
        table.insert(SECRET, sealed.0.as_str().into());
        self.put(key, table.into())
    }

    fn put(&mut self, key: &Key, value: toml_edit::Value) -> Result<(), OpError> {
        let name = self.name.clone();
        let blocked = || {
            let message =
                format!("{name}: `{key}` cannot be set, because a value or a table is in its place");
            let problem = Diagnostic::error(Code::CONFIG_VALUE, message).note("Nothing was changed.");
            OpError::refused(problem.help(Hint::text("remove it first with ").then(NextStep::RemoveConfig)))
        };
        let mut table = self.table(CONFIG).ok_or_else(blocked)?;
        let Some((last, tables)) = key.parts().split_last() else { return Err(blocked()) };
        for part in tables {
            let inner = table.entry(part).or_insert_with(|| {
                let mut inner = Table::new();
                inner.set_dotted(true);
                Item::Table(inner)
            });
            if sealed(inner).is_some() {
                return Err(blocked());
            }
            table = inner.as_table_like_mut().ok_or_else(blocked)?;
        }
        let replaced = table.get(last);
        if replaced.is_some_and(|item| {
            item.is_table_like()
                && sealed(item).is_none()
                && value.as_inline_table().is_none_or(|new| new.contains_key(SECRET))
        }) {
            return Err(blocked());
        }
        let is_new = table.get(last).is_none();
        put(table, last, value);
        if is_new && let Some(Item::Table(config)) = self.document.get_mut(CONFIG) {
            sort_in(config, key.parts());
        }
        Ok(())
    }

    /// Removes a value, and the tables that are empty after it. Returns false if the file does not have it.
    pub(super) fn remove(&mut self, key: &Key) -> bool {
        let Some(config) = self.document.get_mut(CONFIG).and_then(Item::as_table_like_mut) else {
            return false;
        };
        remove(config, key.parts())
    }

    /// Returns true if the file has a value or a table at the key, or a value in the place of one of its tables.
    pub(super) fn sets(&self, key: &Key) -> bool {
        let mut item = self.document.get(CONFIG);
        for part in key.parts() {
            item = match item {
                Some(Item::Table(_) | Item::Value(toml_edit::Value::InlineTable(_))) => {
                    item.and_then(|item| item.get(part))
                }
                Some(_) => return true,
                None => return false,
            };
        }
        item.is_some()
    }

    /// Returns every encrypted value.
    pub(super) fn secrets(&self) -> Vec<(Key, Ciphertext)> {
        let mut found = Vec::new();
        if let Some(config) = self.document.get(CONFIG).and_then(Item::as_table_like) {
            collect(config, &[], &mut found);
        }
        found
    }

    pub(super) fn exists(&self) -> bool {
        self.exists
    }

    /// Returns a table of the file, and makes it if there is none.
    fn table(&mut self, name: &str) -> Option<&mut dyn TableLike> {
        let is_first = self.document.is_empty();
        let made = self.document.entry(name).or_insert_with(|| {
            let mut table = Table::new();
            if !is_first {
                table.decor_mut().set_prefix("\n");
            }
            Item::Table(table)
        });
        made.as_table_like_mut()
    }
}

pub(super) fn file_name(environment: &str) -> String {
    format!("stead.{environment}.toml")
}

/// Returns true if a text is that of an encrypted value.
pub(super) fn is_sealed(text: &str) -> bool {
    text.starts_with("s1:")
}

/// Returns the ciphertext of an encrypted value.
fn sealed(item: &Item) -> Option<Ciphertext> {
    let table = item.as_table_like().filter(|table| table.len() == 1)?;
    let text = table.get(SECRET)?.as_str().filter(|text| is_sealed(text))?;
    Some(Ciphertext(text.to_owned()))
}

/// Sets one line. A comment behind the old value stays.
fn put(table: &mut dyn TableLike, name: &str, value: toml_edit::Value) {
    match table.get_mut(name) {
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        _ => drop(table.insert(name, Item::Value(value))),
    }
}

/// Moves a new key, which is the last one of its table, in front of the first one that is greater, so that branches which add
/// different keys seldom change the same place. `parts` leads to it from an outer table, which may be new as well.
fn sort_in(table: &mut Table, parts: &[String]) {
    let Some((first, rest)) = parts.split_first() else { return };
    let mut names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    if names.pop_if(|last| last == first).is_some() {
        let at = names.iter().position(|name| name > first).unwrap_or(names.len());
        names.insert(at, first.clone());
        let rank = |key: &toml_edit::Key| names.iter().position(|name| name == key.get());
        table.sort_values_by(|one, _, other, _| rank(one).cmp(&rank(other)));
    }
    if let Some(inner) = table.get_mut(first).and_then(Item::as_table_mut) {
        sort_in(inner, rest);
    }
}

fn remove(table: &mut dyn TableLike, parts: &[String]) -> bool {
    match parts {
        [] => false,
        [last] => table.remove(last).is_some(),
        [first, rest @ ..] => {
            let Some(inner) = table.get_mut(first).and_then(Item::as_table_like_mut) else { return false };
            let removed = remove(inner, rest);
            if removed && inner.is_empty() {
                table.remove(first);
            }
            removed
        }
    }
}

fn collect(table: &dyn TableLike, above: &[&str], found: &mut Vec<(Key, Ciphertext)>) {
    for (name, item) in table.iter() {
        let path: Vec<&str> = above.iter().copied().chain([name]).collect();
        match (sealed(item), item.as_table_like()) {
            (Some(text), _) => found.push((Key::of(path), text)),
            (None, Some(inner)) => collect(inner, &path, found),
            (None, None) => {}
        }
    }
}

/// Returns a value as TOML, which has no null.
fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number {
            Number::Int(integer) => (*integer).into(),
            other => other.as_f64().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::List(items) => {
            items.iter().map(to_toml).collect::<Option<Vec<_>>>()?.into_iter().collect::<Array>().into()
        }
        Value::Map(map) => {
            let mut table = InlineTable::new();
            for (key, value) in map {
                table.insert(key.as_str(), to_toml(value)?);
            }
            table.into()
        }
        _ => return None,
    })
}
