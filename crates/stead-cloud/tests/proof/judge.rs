//! Judgement of an answer: correct if the service accepts it and it has exactly the desired effect.

use stead_cloud::{canonical, read, update};
use stead_model::{Map, Value};
use stead_schema::cfn::{Class, Cursor, Schema, pointer};
use stead_schema::flatten;

use crate::rows::{End, Wanted};
use crate::strategy::{Answer, Question, Strategy, operation, step};

#[derive(Debug)]
pub(crate) enum Verdict {
    Right,
    Wrong(String),
    /// No patch can make the change; with the service's answer to the best one.
    NotPossible {
        service: String,
        /// The strategy recognised this and sent nothing.
        seen: bool,
    },
}

pub(crate) fn judge(schema: &Schema, wanted: &Wanted, strategy: &dyn Strategy) -> Verdict {
    let mut live = read(schema, &wanted.full);
    live.extend(wanted.leaked.clone());
    let settled = wanted.settled.as_ref();
    let question = Question { schema, last: &wanted.last, settled, live: &live, want: &wanted.want };
    let answer = strategy.answer(&question);
    match (&wanted.end, answer) {
        (End::Untouched, Answer::Nothing) | (End::Replaced, Answer::Replace) => Verdict::Right,
        (End::Untouched, Answer::Patch(document)) => {
            Verdict::Wrong(format!("sends {}", shortened(&document)))
        }
        (End::Replaced, Answer::Patch(document)) => {
            let outcome = update(schema, &wanted.full, &document);
            Verdict::Wrong(outcome.map_or_else(|why| why.to_string(), |_| "updated in place".to_owned()))
        }
        (End::Replaced, Answer::Impossible(why)) => {
            Verdict::Wrong(format!("says that it cannot be done: {why}"))
        }
        (End::Untouched | End::Replaced, other) => Verdict::Wrong(format!("{other:?}")),
        (End::Updated(after), answer) => {
            let seen = matches!(answer, Answer::Impossible(_) | Answer::Replace);
            let Err(why) = update_judged(schema, wanted, after, answer) else { return Verdict::Right };
            let best = || outcome(schema, wanted, after, &perfect_patch(schema, &wanted.full, after));
            match wanted.possible.get_or_init(best).clone() {
                Ok(()) => Verdict::Wrong(why),
                Err(service) => Verdict::NotPossible { service, seen },
            }
        }
    }
}

fn update_judged(schema: &Schema, wanted: &Wanted, after: &Map, answer: Answer) -> Result<(), String> {
    match answer {
        Answer::Patch(document) => outcome(schema, wanted, after, &document),
        Answer::Nothing => Err("sends nothing".to_owned()),
        Answer::Replace => Err("replaces".to_owned()),
        Answer::Impossible(why) => Err(format!("says that it cannot be done: {why}")),
    }
}

fn outcome(schema: &Schema, wanted: &Wanted, after: &Map, document: &Value) -> Result<(), String> {
    let got = update(schema, &wanted.full, document).map_err(|rejection| rejection.to_string())?;
    if got == *after {
        return Ok(());
    }
    let (got, after) = (canonical(schema, &got), canonical(schema, after));
    if got == after { Ok(()) } else { Err(difference(&got, &after)) }
}

fn difference(after: &Value, wanted: &Value) -> String {
    let (after, wanted) = (flatten(after), flatten(wanted));
    let paths = after.keys().chain(wanted.keys());
    let path = paths.filter(|path| after.get(*path) != wanted.get(*path)).min();
    let Some(path) = path else { return "differs".to_owned() };
    let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), shortened);
    format!("effect {}: {} instead of {}", pointer(path), shown(after.get(path)), shown(wanted.get(path)))
}

fn shortened(value: &Value) -> String {
    let text = value.to_json();
    if text.chars().count() > 120 { text.chars().take(120).chain("…".chars()).collect() } else { text }
}

/// Returns the best possible patch: each top-level property as it should become, with everything that may be sent.
pub(crate) fn perfect_patch(schema: &Schema, before: &Map, after: &Map) -> Value {
    let cursors = [Class::WriteOnly, Class::CreateOnly].map(|class| schema.classes.of(class).cursor());
    let (live, sent) = (read(schema, before), sendable(after, &cursors));
    let gone =
        live.keys().filter(|key| !sent.contains_key(*key)).map(|key| operation("remove", &step(key), None));
    let set = sent
        .iter()
        .filter(|(key, value)| live.get(*key) != Some(value))
        .map(|(key, value)| operation("add", &step(key), Some(value.clone())));
    Value::List(gone.chain(set).collect())
}

/// Removes values that are both write-only and create-only, which the service refuses.
fn sendable(full: &Map, cursors: &[Cursor<'_>; 2]) -> Map {
    let mut out = Map::new();
    for (key, value) in full {
        let cursors = cursors.each_ref().map(|cursor| cursor.key(key));
        out.extend(sendable_value(value, &cursors).map(|value| (key.clone(), value)));
    }
    out
}

fn sendable_value(value: &Value, cursors: &[Cursor<'_>; 2]) -> Option<Value> {
    if cursors.iter().all(Cursor::is_covered) {
        return None;
    }
    Some(match value {
        Value::Map(map) => Value::Map(sendable(map, cursors)),
        Value::List(items) => {
            let cursors = cursors.each_ref().map(Cursor::element);
            Value::List(items.iter().filter_map(|item| sendable_value(item, &cursors)).collect())
        }
        leaf => leaf.clone(),
    })
}
