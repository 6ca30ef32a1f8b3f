//! Strategy that compares live and desired values: flatten both, keep read-only and create-only values, unflatten,
//! compare. Written from its decision record and the known behaviour of its code.
//!
//! Paths are joined with `/` and compared with the schema's pointers as text. Lists are leaves when flattened and are
//! compared index by index. Empty objects are lost.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Map, PatternPart, Value};
use stead_schema::cfn::{Class, Schema};

use crate::best_patch::{operation, step};
use crate::strategy::{Answer, Question, Strategy};

pub(crate) enum TwoWay {
    /// As decided: removes live values that are not desired, unless the user cannot set them.
    Removing,
    /// As changed later: keeps live values that are not desired.
    Keeping,
}

impl Strategy for TwoWay {
    fn name(&self) -> &'static str {
        match self {
            TwoWay::Removing => "two-way",
            TwoWay::Keeping => "two-way, never removing",
        }
    }

    fn answer(&self, question: &Question<'_>) -> Answer {
        let pointers = |class: Class| pointers(question.schema, class);
        let kept: BTreeSet<String> = [Class::ReadOnly, Class::CreateOnly, Class::ConditionalCreateOnly]
            .map(pointers)
            .into_iter()
            .flatten()
            .collect();
        let mut wanted = flat(question.want);
        for (key, value) in flat(question.live) {
            if matches!(self, TwoWay::Keeping) || kept.contains(&key) {
                wanted.entry(key).or_insert(value);
            }
        }
        let mut operations = Vec::new();
        members(question.live, &unflat(wanted), "", &mut operations);
        if operations.is_empty() { Answer::Nothing } else { Answer::Patch(Value::from(operations)) }
    }
}

fn pointers(schema: &Schema, class: Class) -> BTreeSet<String> {
    let text = |part: &PatternPart| match part {
        PatternPart::Any => "*".to_owned(),
        PatternPart::Key(key) => key.clone(),
        PatternPart::Index(index) => index.to_string(),
    };
    let patterns = schema.classes.of(class).patterns().iter();
    patterns.map(|pattern| pattern.parts().iter().map(text).collect::<Vec<_>>().join("/")).collect()
}

fn flat(map: &Map) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for (key, value) in map {
        match value {
            Value::Map(inside) => {
                out.extend(flat(inside).into_iter().map(|(below, value)| (format!("{key}/{below}"), value)));
            }
            leaf => drop(out.insert(key.to_string(), leaf.clone())),
        }
    }
    out
}

fn unflat(leaves: BTreeMap<String, Value>) -> Map {
    let mut out = Map::new();
    for (key, value) in leaves {
        let steps: Vec<&str> = key.split('/').collect();
        put(&mut out, &steps, value);
    }
    out
}

fn put(map: &mut Map, steps: &[&str], value: Value) {
    match steps {
        [] => {}
        [last] => drop(map.insert((*last).to_owned(), value)),
        [first, rest @ ..] => {
            if let Value::Map(inside) =
                map.entry((*first).to_owned()).or_insert_with(|| Value::Map(Map::new()))
            {
                put(inside, rest, value);
            }
        }
    }
}

fn members(before: &Map, after: &Map, path: &str, operations: &mut Vec<Value>) {
    for (key, old) in before {
        let path = format!("{path}{}", step(key));
        match after.get(key) {
            Some(new) => differences(old, new, &path, operations),
            None => operations.push(operation("remove", &path, None)),
        }
    }
    for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        operations.push(operation("add", &format!("{path}{}", step(key)), Some(new.clone())));
    }
}

fn differences(old: &Value, new: &Value, path: &str, operations: &mut Vec<Value>) {
    match (old, new) {
        (Value::Map(old), Value::Map(new)) => members(old, new, path, operations),
        (Value::List(old), Value::List(new)) => {
            let common = old.len().min(new.len());
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                differences(old, new, &format!("{path}/{index}"), operations);
            }
            for _ in common..old.len() {
                operations.push(operation("remove", &format!("{path}/{common}"), None));
            }
            for new in &new[common..] {
                operations.push(operation("add", &format!("{path}/-"), Some(new.clone())));
            }
        }
        (old, new) if old == new => {}
        (_, new) => operations.push(operation("replace", path, Some(new.clone()))),
    }
}
