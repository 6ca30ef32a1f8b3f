//! Judgement of an answer: correct if the service accepts it and it has exactly the desired effect.

use stead_cloud::{canonical, read, update};
use stead_model::{Map, Value};
use stead_schema::cfn::{Schema, pointer};
use stead_schema::flatten;

use crate::best_patch::perfect_patch;
use crate::rows::{End, Wanted};
use crate::strategy::{Answer, Question, Strategy};

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
