//! Resolves the marks of a resource over an ordered list of levels.
//!
//! The nearest level with a setting decides; within a level, the key of the resource's service takes precedence over the
//! general key. **Invariant:** a mark at a farther level never changes the decision of a nearer one. Exceptions are locks
//! and, for prevent-delete, the flag on the command line: both can add protection and never remove it.

use std::sync::Arc;

use serde::Serialize;
use stead_model::{DeletionPolicy, Level, MarkSource, Marked, Marks};

use super::read::{LevelMarks, MarkKey, Slots};

/// The effect of one setting on the resolved value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingEffect {
    /// The value comes from this setting.
    Decides,
    /// A nearer setting or a lock takes precedence.
    Overruled,
}

/// One setting that applies to a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row<T> {
    pub source: Arc<MarkSource>,
    pub value: T,
    #[serde(rename = "standing")]
    pub effect: SettingEffect,
}

/// A resolved mark, with all settings that were considered, in order of precedence.
///
/// For prevent-delete, locks and the flag come first; all other settings follow, nearest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResolvedMark<T> {
    pub value: T,
    pub source: Arc<MarkSource>,
    pub table: Vec<Row<T>>,
}

/// Returns the effective marks of a resource of `service`. `levels` are sorted, nearest first.
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

/// Returns the deletion policy of a resource, with all settings that apply to it.
pub fn explain_policy(levels: &[&LevelMarks], service: &str) -> ResolvedMark<DeletionPolicy> {
    let rows = settings(levels, service, &policy_of);
    choice(resolve(levels, service).deletion_policy, DeletionPolicy::Delete, MarkKey::DeletionPolicy, rows)
}

/// Returns prevent-delete of a resource, with all settings that apply to it.
pub fn explain_prevention(levels: &[&LevelMarks], service: &str) -> ResolvedMark<bool> {
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

/// Returns the settings that protect regardless of nearer levels: locks, nearest first, and the flag.
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
) -> ResolvedMark<T> {
    let source = MarkSource { level: Level::BuiltIn, key: key.as_str().to_owned(), place: None };
    let built_in = Marked { value: built_in, source: Arc::new(source) };
    let Marked { value, source: decider } = decided.unwrap_or_else(|| built_in.clone());
    let rows = rows.map(|(_, mark)| mark.clone()).chain([built_in]);
    let table = rows
        .map(|Marked { value, source }| {
            let effect = if source == decider { SettingEffect::Decides } else { SettingEffect::Overruled };
            Row { source, value, effect }
        })
        .collect();
    ResolvedMark { value, source: decider, table }
}

#[cfg(test)]
mod tests;
