//! Reads the marks of one level: keys and values as somebody wrote them become typed marks, or problems.
//!
//! Knows neither programs nor `stead.toml`: a level of a Kubernetes cluster is read in the same way. A mark that
//! cannot be understood is never taken for one that is not there.

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

/// A value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    Bool(bool),
    Text(String),
    /// Neither; how it looks.
    Other(String),
}

impl From<&Value> for Given {
    fn from(value: &Value) -> Given {
        match value {
            Value::Bool(value) => Given::Bool(*value),
            Value::String(text) => Given::Text(text.clone()),
            other => Given::Other(other.to_json()),
        }
    }
}

/// In which form a mark was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// `preventDelete`, `deletionPolicy`, `protect`, `retainOnDelete`: the general key.
    Option,
    /// `prevent-delete`, `s3/deletion-policy`, `s3.services.k8s.aws/deletion-policy`, …
    Annotation,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    pub written: Written,
    pub value: Given,
    pub place: Option<SourceRef>,
}

/// What becomes of keys that are no marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// They are mistakes: nothing but marks belongs there.
    Refused,
    /// They belong to somebody else, like most annotations in a cluster.
    Ignored,
}

/// How a level is read.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    pub foreign: Foreign,
    /// The service of the resource that the marks are on, if they are on one.
    pub service: Option<&'a str>,
}

/// The marks of one service at one level, or those for all services.
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

    /// What is recorded of a resource, as its own level.
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

    /// The services that have keys of their own here, each with one of its keys.
    pub fn services(&self) -> impl Iterator<Item = (&str, &MarkSource)> {
        self.by_service
            .iter()
            .filter_map(|(service, slots)| Some((service.as_str(), slots.sources().next()?.as_ref())))
    }

    /// What is set on a resource, as those that it encloses see it.
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

    /// The same settings, wherever in a file they stand.
    pub fn same_settings(&self, other: &LevelMarks) -> bool {
        let bare = |marks: &LevelMarks| {
            let mut marks = marks.clone();
            for source in
                marks.by_service.values_mut().chain([&mut marks.general]).flat_map(Slots::sources_mut)
            {
                *source = Arc::new(MarkSource { place: None, ..source.as_ref().clone() });
            }
            marks
        };
        bare(self) == bare(other)
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

impl Reader<'_> {
    /// Everything that is set at a level, or everything that is wrong with it.
    pub fn read(
        &self,
        level: Level,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<LevelMarks, Vec<BadMark>> {
        let mut marks = LevelMarks::none(level);
        let (mut problems, mut options) = (Vec::new(), Slots::default());
        for entry in entries {
            if let Err(problem) = self.take(&mut marks, &mut options, entry) {
                problems.push(problem);
            }
        }
        // On a resource, the option is about it alone, and so is its own service's key.
        let own = self.service.and_then(|service| marks.by_service.get(service));
        if let (Level::Resource(_), Some(own)) = (&marks.level, own) {
            problems.extend(disagreement(options.prevent_delete.as_ref(), own.prevent_delete.as_ref()));
            problems.extend(disagreement(options.deletion_policy.as_ref(), own.deletion_policy.as_ref()));
        }
        if problems.is_empty() { Ok(marks) } else { Err(problems) }
    }

    fn take(&self, marks: &mut LevelMarks, options: &mut Slots, entry: Entry) -> Result<(), BadMark> {
        let Entry { key, written, value, place } = entry;
        let parsed = match written {
            Written::Option => parse_option(&key),
            Written::Annotation => parse_annotation(&key),
        };
        let Some(Parsed { service, name }) = parsed else {
            return match self.foreign {
                Foreign::Ignored => Ok(()),
                Foreign::Refused => Err(BadMark::unknown_key(&marks.level, &key, place)),
            };
        };
        let source = Arc::new(MarkSource { level: marks.level.clone(), key, place });
        let bad = |problem| BadMark::value(&source, name, &value, problem);
        let retain_on_delete = written == Written::Option && source.key == key::RETAIN_ON_DELETE;
        let slots = marks.slot(service.as_deref());
        match name {
            MarkKey::PreventDelete => {
                let value = value::flag(&value).map_err(bad)?;
                let mark = Marked { value, source };
                if written == Written::Option {
                    options.prevent_delete = Some(mark.clone());
                }
                set(&mut slots.prevent_delete, mark)
            }
            MarkKey::DeletionPolicy => {
                let read = if retain_on_delete { value::retain_flag } else { value::policy };
                let value = read(&value).map_err(bad)?;
                let mark = Marked { value, source };
                if written == Written::Option {
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

/// The first spelling stays; a second one must say the same.
fn set<T: PartialEq + value::Shown>(slot: &mut Option<Marked<T>>, mark: Marked<T>) -> Result<(), BadMark> {
    if let Some(problem) = disagreement(slot.as_ref(), Some(&mark)) {
        return Err(problem);
    }
    slot.get_or_insert(mark);
    Ok(())
}

fn disagreement<T: PartialEq + value::Shown>(
    one: Option<&Marked<T>>,
    other: Option<&Marked<T>>,
) -> Option<BadMark> {
    let (one, other) = (one?, other?);
    (one.value != other.value).then(|| {
        BadMark::disagreement((&one.source, one.value.shown()), (&other.source, other.value.shown()))
    })
}

#[cfg(test)]
mod tests;
