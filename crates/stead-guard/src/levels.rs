//! Which mark holds for a resource: the level decides first, and inside a level a service's key beats the general one.
//!
//! Pure, over an ordered list of levels. **Invariants:** a mark at a farther level never changes what a nearer one
//! decided, but for locks and the flag, which can only protect; for prevent-delete the flag has no say of its own.

use std::sync::Arc;

use serde::Serialize;
use stead_model::{DeletionPolicy, Level, MarkSource, Marked, Marks};

use crate::marks::{LevelMarks, MarkKey, Slots};

/// What came of one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is why the value is what it is.
    Decides,
    /// Something nearer, or a lock, was stronger.
    Overruled,
}

/// One setting that is in reach of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row<T> {
    pub source: Arc<MarkSource>,
    pub value: T,
    pub standing: Standing,
}

/// What holds, and everything that was considered, in the order in which it counts: locks and the flag for
/// prevent-delete first, since they can overrule what is nearer; then nearest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice<T> {
    pub value: T,
    pub source: Arc<MarkSource>,
    pub table: Vec<Row<T>>,
}

/// What holds for a resource of a service, under levels that are given nearest first.
pub fn resolve(levels: &[&LevelMarks], service: &str) -> Marks {
    let policy = settings(levels, service, &policy_of).next();
    let prevented =
        settings(levels, service, &prevention_of).find(|(level, _)| *level.level() != Level::Flag);
    let prevented = match prevented {
        Some((_, Marked { value: true, .. })) => prevented,
        overruled => additions(levels, service).next().or(overruled),
    };
    Marks {
        prevent_delete: prevented.map(|(_, mark)| mark.clone()),
        deletion_policy: policy.map(|(_, mark)| mark.clone()),
    }
}

/// The deletion policy of a resource, with every level that says something about it.
pub fn explain_policy(levels: &[&LevelMarks], service: &str) -> Choice<DeletionPolicy> {
    let rows = settings(levels, service, &policy_of);
    choice(resolve(levels, service).deletion_policy, DeletionPolicy::Delete, MarkKey::DeletionPolicy, rows)
}

/// Whether a resource may not be deleted, with every level that says something about it.
pub fn explain_prevention(levels: &[&LevelMarks], service: &str) -> Choice<bool> {
    let values = settings(levels, service, &prevention_of).filter(|(level, _)| *level.level() != Level::Flag);
    let rows = additions(levels, service).chain(values);
    choice(resolve(levels, service).prevent_delete, false, MarkKey::PreventDelete, rows)
}

type Setting<'l, T> = (&'l LevelMarks, &'l Marked<T>);

fn settings<'l, T: 'l>(
    levels: &'l [&'l LevelMarks],
    service: &'l str,
    of: &'l impl Fn(&'l Slots) -> Option<&'l Marked<T>>,
) -> impl Iterator<Item = Setting<'l, T>> {
    levels.iter().flat_map(move |level| level.slots(service).filter_map(of).map(|mark| (*level, mark)))
}

fn policy_of(slots: &Slots) -> Option<&Marked<DeletionPolicy>> {
    slots.deletion_policy.as_ref()
}

fn prevention_of(slots: &Slots) -> Option<&Marked<bool>> {
    slots.prevent_delete.as_ref()
}

/// What protects whatever nearer levels say: locks, nearest first, and the flag.
fn additions<'l>(levels: &'l [&'l LevelMarks], service: &'l str) -> impl Iterator<Item = Setting<'l, bool>> {
    levels.iter().flat_map(move |level| {
        let flag = *level.level() == Level::Flag;
        let mark = move |slots: &'l Slots| match flag {
            true => slots.prevent_delete.as_ref(),
            false => slots.lock.as_ref(),
        };
        level.slots(service).filter_map(mark).filter(|mark| mark.value).map(|mark| (*level, mark))
    })
}

fn choice<'l, T: Clone + 'l>(
    decided: Option<Marked<T>>,
    built_in: T,
    key: MarkKey,
    rows: impl Iterator<Item = Setting<'l, T>>,
) -> Choice<T> {
    let source = MarkSource { level: Level::BuiltIn, key: key.as_str().to_owned(), place: None };
    let built_in = Marked { value: built_in, source: Arc::new(source) };
    let Marked { value, source: decider } = decided.unwrap_or_else(|| built_in.clone());
    let rows = rows.map(|(_, mark)| mark.clone()).chain([built_in]);
    let table = rows
        .map(|Marked { value, source }| {
            let standing = if source == decider { Standing::Decides } else { Standing::Overruled };
            Row { source, value, standing }
        })
        .collect();
    Choice { value, source: decider, table }
}

#[cfg(test)]
mod tests;
