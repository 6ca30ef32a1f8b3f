//! Environment variables as settings: `STEAD_CONFIG_DB_SIZE` sets `db.size`, `db_size`, `db-size` or `dbSize`.
//!
//! The variable belongs to the one known key that it can stand for. A name that can stand for several keys is refused. Between
//! tables `__` may be written, which is never part of another key.

use super::{Config, Key, PREFIX, Schema};

/// Keys that a variable can stand for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Claim {
    pub(super) name: String,
    pub(super) text: String,
    /// None: the variable matches no declared key. Several: it is ambiguous.
    pub(super) keys: Vec<Key>,
}

/// Finds the key of each variable. Without a schema, a variable that matches no key that a file sets makes a key of its own.
pub(super) fn claim(config: &Config, schema: Option<&Schema>) -> Vec<Claim> {
    let set = config.project.iter().chain(&config.call).map(|setting| &setting.key);
    let mut known: Vec<&Key> = match schema {
        Some(schema) => schema.keys().collect(),
        None => set.collect(),
    };
    known.sort();
    known.dedup();
    let claim = |variable: &super::Variable| {
        let wanted = variable.name.strip_prefix(PREFIX).unwrap_or(&variable.name);
        let mut keys: Vec<Key> = known
            .iter()
            .filter(|key| spellings(key).iter().any(|name| name == wanted))
            .map(|key| (*key).clone())
            .collect();
        // Inside a declared table of any keys, the rest of the name is the key.
        if keys.is_empty() {
            keys.extend(schema.and_then(|schema| in_table(schema, wanted)));
        }
        if keys.is_empty() && schema.is_none() {
            keys.push(own_key(wanted));
        }
        Claim { name: variable.name.clone(), text: variable.text.clone(), keys }
    };
    config.variables.iter().map(claim).collect()
}

/// Returns the names that a key can have after the prefix: words and tables joined by `_`, or tables joined by `__`.
fn spellings(key: &Key) -> Vec<String> {
    let joined = |word: fn(&str) -> String, between: &str| {
        key.parts().iter().map(|part| word(part)).collect::<Vec<_>>().join(between)
    };
    let words: [fn(&str) -> String; 2] = [in_words, as_one_word];
    words.into_iter().flat_map(|word| [joined(word, "_"), joined(word, "__")]).collect()
}

/// Returns the preferred name of the variable for a key.
pub(super) fn name_of(key: &Key) -> String {
    let parts: Vec<String> = key.parts().iter().map(|part| in_words(part)).collect();
    format!("{PREFIX}{}", parts.join("__"))
}

/// Returns `DB_SIZE` for `dbSize`, `db-size` and `db_size`.
fn in_words(part: &str) -> String {
    let mut out = String::new();
    let mut before = '_';
    for letter in part.chars() {
        if letter.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
            out.push('_');
        }
        out.push(if letter.is_alphanumeric() { letter } else { '_' });
        before = letter;
    }
    out.to_uppercase()
}

/// Returns `DBSIZE` for `dbSize`.
fn as_one_word(part: &str) -> String {
    part.chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { '_' })
        .collect::<String>()
        .to_uppercase()
}

fn own_key(name: &str) -> Key {
    let lower = name.to_lowercase();
    let parts: Vec<&str> = lower.split("__").filter(|part| !part.is_empty()).collect();
    Key::of(parts)
}

fn in_table(schema: &Schema, name: &str) -> Option<Key> {
    let (table, rest) = name.split_once("__")?;
    let found = schema.tables().find(|key| spellings(key).iter().any(|spelling| spelling == table))?;
    (!rest.is_empty()).then(|| found.child(&rest.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_spelt_in_words_or_as_one_word() {
        let names = |text: &str| {
            let mut names = spellings(&Key::parse(text).unwrap_or_else(|| Key::of([])));
            names.sort();
            names.dedup();
            names
        };
        assert_eq!(names("size"), ["SIZE"]);
        assert_eq!(names("dbSize"), ["DBSIZE", "DB_SIZE"]);
        assert_eq!(names("db.size"), ["DB_SIZE", "DB__SIZE"]);
        assert_eq!(names("db-size"), ["DB_SIZE"]);
        assert_eq!(name_of(&Key::of(["db", "maxSize"])), "STEAD_CONFIG_DB__MAX_SIZE");
    }
}
