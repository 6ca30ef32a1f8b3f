//! Reads the marks of one level: raw keys and values become typed marks, or errors.
//!
//! The source of the raw marks does not matter: a program, `stead.toml` or a Kubernetes object. **Invariant:** an invalid
//! mark is an error and is never ignored.

mod key;
mod problem;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stead_model::{DeletionPolicy, Level, MarkSource, Marked, Marks, Resource, SourceRef, Value};

pub use key::{MarkKey, service_of};
pub use problem::BadMark;

use key::{Parsed, parse_annotation, parse_option};

/// A value of a mark as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawValue {
    Bool(bool),
    Text(String),
    /// Any other value, as text for a message.
    Other(String),
}

impl From<&Value> for RawValue {
    fn from(value: &Value) -> RawValue {
        match value {
            Value::Bool(value) => RawValue::Bool(*value),
            Value::String(text) => RawValue::Text(text.to_string()),
            other => RawValue::Other(other.to_json()),
        }
    }
}

/// The spelling of a mark's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// An option of a resource: `preventDelete`, `deletionPolicy`, `protect`, `retainOnDelete`.
    Option,
    /// An annotation: `prevent-delete`, `s3/deletion-policy`, `s3.services.k8s.aws/deletion-policy`, …
    Annotation,
}

/// A mark as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawMark {
    pub key: String,
    pub spelling: Spelling,
    pub value: RawValue,
    pub place: Option<SourceRef>,
}

/// How a reader treats keys that are not marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKeys {
    /// They are errors: the level contains marks only.
    Refused,
    /// They belong to other tools, like most annotations in a cluster.
    Ignored,
}

/// A reader of the marks of one level.
#[derive(Clone, Copy, Debug)]
pub struct MarkReader<'a> {
    pub unknown_keys: UnknownKeys,
    /// The service of the resource, if the level is a resource.
    pub service: Option<&'a str>,
}

/// The marks of one level for one service, or for all services.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Slots {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prevent_delete: Option<Marked<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<Marked<DeletionPolicy>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Marked<bool>>,
}

impl Slots {
    fn sources(&self) -> impl Iterator<Item = &Arc<MarkSource>> {
        let flags = self.prevent_delete.iter().chain(&self.lock).map(|mark| &mark.source);
        flags.chain(self.deletion_policy.iter().map(|mark| &mark.source))
    }

    fn sources_mut(&mut self) -> impl Iterator<Item = &mut Arc<MarkSource>> {
        let flags = self.prevent_delete.iter_mut().chain(&mut self.lock).map(|mark| &mut mark.source);
        flags.chain(self.deletion_policy.iter_mut().map(|mark| &mut mark.source))
    }
}

/// All marks of one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelMarks {
    level: Level,
    general: Slots,
    by_service: BTreeMap<String, Slots>,
}

impl LevelMarks {
    pub fn none(level: Level) -> LevelMarks {
        LevelMarks { level, general: Slots::default(), by_service: BTreeMap::new() }
    }

    /// Returns the recorded marks of a resource as its own level.
    pub(crate) fn recorded(marks: Marks, resource: &Resource) -> LevelMarks {
        let Marks { prevent_delete, deletion_policy } = marks;
        let general = Slots { prevent_delete, deletion_policy, lock: None };
        LevelMarks { general, ..LevelMarks::none(Level::Resource(resource.name.to_string())) }
    }

    pub fn is_empty(&self) -> bool {
        self.general == Slots::default() && self.by_service.is_empty()
    }

    pub fn level(&self) -> &Level {
        &self.level
    }

    /// Returns the services with keys at this level, each with the source of one of its keys.
    pub fn services(&self) -> impl Iterator<Item = (&str, &MarkSource)> {
        self.by_service
            .iter()
            .filter_map(|(service, slots)| Some((service.as_str(), slots.sources().next()?.as_ref())))
    }

    /// Returns the level as the resources inside this one see it.
    #[must_use]
    pub fn from_inside(mut self) -> LevelMarks {
        if let Level::Resource(name) = &self.level {
            self.level = Level::Enclosing(name.clone());
        }
        for source in self.by_service.values_mut().chain([&mut self.general]).flat_map(Slots::sources_mut) {
            *source = Arc::new(MarkSource { level: self.level.clone(), ..source.as_ref().clone() });
        }
        self
    }

    /// Returns true if both levels have the same settings, regardless of their positions in a file.
    pub fn same_settings(&self, other: &LevelMarks) -> bool {
        let without_places = |marks: &LevelMarks| {
            let mut marks = marks.clone();
            for source in
                marks.by_service.values_mut().chain([&mut marks.general]).flat_map(Slots::sources_mut)
            {
                *source = Arc::new(MarkSource { place: None, ..source.as_ref().clone() });
            }
            marks
        };
        without_places(self) == without_places(other)
    }

    pub(crate) fn slots<'s>(&'s self, service: &str) -> impl Iterator<Item = &'s Slots> + use<'s> {
        self.by_service.get(service).into_iter().chain([&self.general])
    }

    fn slot(&mut self, service: Option<&str>) -> &mut Slots {
        match service {
            None => &mut self.general,
            Some(service) => self.by_service.entry(service.to_owned()).or_default(),
        }
    }
}

impl MarkReader<'_> {
    /// Reads all marks of a level, or fails with all invalid ones.
    pub fn read(
        &self,
        level: Level,
        entries: impl IntoIterator<Item = RawMark>,
    ) -> Result<LevelMarks, Vec<BadMark>> {
        let mut marks = LevelMarks::none(level);
        let (mut problems, mut options) = (Vec::new(), Slots::default());
        for entry in entries {
            if let Err(problem) = self.read_mark(&mut marks, &mut options, entry) {
                problems.push(problem);
            }
        }
        // On a resource, an option and the key of its own service mean the same.
        let own = self.service.and_then(|service| marks.by_service.get(service));
        if let (Level::Resource(_), Some(own)) = (&marks.level, own) {
            problems.extend(disagreement(options.prevent_delete.as_ref(), own.prevent_delete.as_ref()));
            problems.extend(disagreement(options.deletion_policy.as_ref(), own.deletion_policy.as_ref()));
        }
        if problems.is_empty() { Ok(marks) } else { Err(problems) }
    }

    fn read_mark(&self, marks: &mut LevelMarks, options: &mut Slots, raw: RawMark) -> Result<(), BadMark> {
        let RawMark { key, spelling, value, place } = raw;
        let parsed = match spelling {
            Spelling::Option => parse_option(&key),
            Spelling::Annotation => parse_annotation(&key),
        };
        let Some(Parsed { service, name }) = parsed else {
            return match self.unknown_keys {
                UnknownKeys::Ignored => Ok(()),
                UnknownKeys::Refused => Err(BadMark::unknown_key(&marks.level, &key, place)),
            };
        };
        let source = Arc::new(MarkSource { level: marks.level.clone(), key, place });
        let bad = |problem| BadMark::value(&source, name, &value, problem);
        let retain_on_delete = spelling == Spelling::Option && source.key == key::RETAIN_ON_DELETE;
        let slots = marks.slot(service.as_deref());
        match name {
            MarkKey::PreventDelete => {
                let value = value::flag(&value).map_err(bad)?;
                let mark = Marked { value, source };
                if spelling == Spelling::Option {
                    options.prevent_delete = Some(mark.clone());
                }
                set(&mut slots.prevent_delete, mark)
            }
            MarkKey::DeletionPolicy => {
                let read = if retain_on_delete { value::retain_flag } else { value::policy };
                let value = read(&value).map_err(bad)?;
                let mark = Marked { value, source };
                if spelling == Spelling::Option {
                    options.deletion_policy = Some(mark.clone());
                }
                set(&mut slots.deletion_policy, mark)
            }
            MarkKey::PreventDeleteLock => {
                if !matches!(source.level, Level::Namespace(_) | Level::Environment(_) | Level::Project(_)) {
                    return Err(BadMark::lock_out_of_place(&source));
                }
                let value = value::flag(&value).map_err(bad)?;
                set(&mut slots.lock, Marked { value, source })
            }
        }
    }
}

/// Sets a mark. A second spelling of the same mark must have the same value.
fn set<T: PartialEq + value::Displayed>(
    slot: &mut Option<Marked<T>>,
    mark: Marked<T>,
) -> Result<(), BadMark> {
    if let Some(problem) = disagreement(slot.as_ref(), Some(&mark)) {
        return Err(problem);
    }
    slot.get_or_insert(mark);
    Ok(())
}

fn disagreement<T: PartialEq + value::Displayed>(
    one: Option<&Marked<T>>,
    other: Option<&Marked<T>>,
) -> Option<BadMark> {
    let (one, other) = (one?, other?);
    (one.value != other.value).then(|| {
        BadMark::disagreement((&one.source, one.value.display()), (&other.source, other.value.display()))
    })
}

#[cfg(test)]
mod tests;
