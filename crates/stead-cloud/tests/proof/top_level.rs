//! Strategy that compares the inputs last applied and sends whole top-level properties. Write-only properties accompany
//! every update.

use std::collections::BTreeSet;

use stead_model::{Map, Value};
use stead_schema::cfn::{Class, Cursor, FormId, Schema};

use crate::best_patch::{operation, step};
use crate::strategy::{Answer, Question, Strategy};

pub(crate) struct TopLevel;

impl Strategy for TopLevel {
    fn name(&self) -> &'static str {
        "top-level"
    }

    fn answer(&self, question: &Question<'_>) -> Answer {
        let Question { schema, last, live, want, .. } = question;
        let cursor = |class: Class, key: &str| schema.classes.of(class).cursor().key(key);
        let (mut changes, mut again) = (Vec::new(), Vec::new());
        for key in last.keys().chain(want.keys()).collect::<BTreeSet<_>>() {
            let hidden = cursor(Class::WriteOnly, key);
            match want.get(key) {
                None if live.contains_key(key) => changes.push(operation("remove", &step(key), None)),
                None => {}
                Some(value) => {
                    let agree = Agree { schema }.values(
                        live.get(key),
                        value,
                        schema.member(Schema::ROOT, key),
                        &hidden,
                    );
                    if last.get(key) != Some(value) || !agree {
                        if cursor(Class::CreateOnly, key).is_covered() {
                            return Answer::Replace;
                        }
                        changes.push(operation("add", &step(key), Some(value.clone())));
                    } else if hidden.reaches() && !cursor(Class::CreateOnly, key).is_covered() {
                        again.push(operation("add", &step(key), Some(value.clone())));
                    }
                }
            }
        }
        if changes.is_empty() {
            return Answer::Nothing;
        }
        changes.extend(again);
        Answer::Patch(Value::from(changes))
    }
}

struct Agree<'a> {
    schema: &'a Schema,
}

impl Agree<'_> {
    /// Returns true if the live value matches the desired one, as far as it is declared and shown.
    fn values(&self, live: Option<&Value>, want: &Value, form: Option<FormId>, hidden: &Cursor<'_>) -> bool {
        match (live, want) {
            _ if hidden.is_covered() => true,
            (Some(Value::Map(live)), Value::Map(want)) => self.maps(live, want, form, hidden),
            (Some(Value::List(live)), Value::List(want)) => {
                let element = form.and_then(|form| self.schema.element(form));
                let hidden = hidden.element();
                let same = |live: &Value, want: &Value| self.values(Some(live), want, element, &hidden);
                if !form.is_some_and(|form| self.schema.is_unordered(form)) {
                    return live.len() == want.len()
                        && live.iter().zip(want).all(|(live, want)| same(live, want));
                }
                let mut left: Vec<&Value> = live.iter().collect();
                let paired = want.iter().all(|want| {
                    let at = left.iter().position(|live| same(live, want));
                    at.map(|at| left.remove(at)).is_some()
                });
                paired && left.is_empty()
            }
            (live, want) => live == Some(want),
        }
    }

    fn maps(&self, live: &Map, want: &Map, form: Option<FormId>, hidden: &Cursor<'_>) -> bool {
        want.iter().all(|(key, want)| {
            let member = form.and_then(|form| self.schema.member(form, key));
            self.values(live.get(key), want, member, &hidden.key(key))
        })
    }
}
