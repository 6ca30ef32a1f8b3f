//! Reads the marks of one level: keys and values as somebody wrote them become typed marks, or problems.
//!
//! Knows neither programs nor `stead.toml`: a level of a Kubernetes cluster is read in the same way. A mark that
//! cannot be understood is never taken for one that is not there.

mod key;
mod problem;
mod value;

use std::collections::BTreeMap;

use stead_model::{DeletionPolicy, Level, MarkSource, SourceRef};

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

/// A mark at some level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark<T> {
    pub value: T,
    pub key: String,
    pub place: Option<SourceRef>,
}

/// The marks of one service at one level, or those for all services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    pub prevent_delete: Option<Mark<bool>>,
    pub deletion_policy: Option<Mark<DeletionPolicy>>,
    pub lock: Option<Mark<bool>>,
}

const NO_SLOTS: Slots = Slots { prevent_delete: None, deletion_policy: None, lock: None };

/// All marks of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelMarks {
    level: Level,
    general: Slots,
    by_service: BTreeMap<String, Slots>,
}

impl LevelMarks {
    pub fn none(level: Level) -> LevelMarks {
        LevelMarks { level, general: NO_SLOTS, by_service: BTreeMap::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.general == NO_SLOTS && self.by_service.is_empty()
    }

    pub fn level(&self) -> &Level {
        &self.level
    }

    /// The services that have keys of their own here, each with one of its keys.
    pub fn services(&self) -> impl Iterator<Item = (&str, MarkSource)> {
        self.by_service.iter().filter_map(|(service, slots)| {
            let marks = [
                slots.prevent_delete.as_ref().map(|mark| (&mark.key, &mark.place)),
                slots.deletion_policy.as_ref().map(|mark| (&mark.key, &mark.place)),
                slots.lock.as_ref().map(|mark| (&mark.key, &mark.place)),
            ];
            let (key, place) = marks.into_iter().flatten().next()?;
            let source = MarkSource { level: self.level.clone(), key: key.clone(), place: place.clone() };
            Some((service.as_str(), source))
        })
    }

    pub(crate) fn slots<'s>(&'s self, service: &str) -> impl Iterator<Item = &'s Slots> + use<'s> {
        self.by_service.get(service).into_iter().chain([&self.general])
    }

    fn slot(&mut self, service: Option<&str>) -> &mut Slots {
        match service {
            None => &mut self.general,
            Some(service) => self.by_service.entry(service.to_owned()).or_insert(NO_SLOTS),
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
        let (mut problems, mut options) = (Vec::new(), NO_SLOTS);
        for entry in entries {
            if let Err(problem) = self.take(&mut marks, &mut options, entry) {
                problems.push(problem);
            }
        }
        // On a resource, the option is about it alone, and so is its own service's key.
        if let (Level::Resource(_), Some(own)) =
            (&marks.level, self.service.and_then(|s| marks.by_service.get(s)))
        {
            let level = &marks.level;
            problems.extend(disagreement(
                level,
                options.prevent_delete.as_ref(),
                own.prevent_delete.as_ref(),
            ));
            problems.extend(disagreement(
                level,
                options.deletion_policy.as_ref(),
                own.deletion_policy.as_ref(),
            ));
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
        let bad =
            |name: MarkKey, problem| BadMark::value(&marks.level, name, &key, &value, place.clone(), problem);
        let service = service.as_deref();
        match name {
            MarkKey::PreventDelete => {
                let value = value::flag(&value).map_err(|problem| bad(name, problem))?;
                let mark = Mark { value, key, place };
                if written == Written::Option {
                    options.prevent_delete = Some(mark.clone());
                }
                let level = marks.level.clone();
                set(&level, &mut marks.slot(service).prevent_delete, mark)
            }
            MarkKey::DeletionPolicy => {
                let value = if key == key::RETAIN_ON_DELETE && written == Written::Option {
                    value::retain_flag(&value)
                } else {
                    value::policy(&value)
                };
                let mark = Mark { value: value.map_err(|problem| bad(name, problem))?, key, place };
                if written == Written::Option {
                    options.deletion_policy = Some(mark.clone());
                }
                let level = marks.level.clone();
                set(&level, &mut marks.slot(service).deletion_policy, mark)
            }
            MarkKey::PreventDeleteLock => {
                let locks =
                    matches!(marks.level, Level::Namespace(_) | Level::Environment(_) | Level::Project(_));
                if !locks {
                    return Err(BadMark::lock_out_of_place(&marks.level, &key, place));
                }
                let value = value::flag(&value).map_err(|problem| bad(name, problem))?;
                let level = marks.level.clone();
                set(&level, &mut marks.slot(service).lock, Mark { value, key, place })
            }
        }
    }
}

/// The first spelling stays; a second one must say the same.
fn set<T: PartialEq + value::Shown>(
    level: &Level,
    slot: &mut Option<Mark<T>>,
    mark: Mark<T>,
) -> Result<(), BadMark> {
    if let Some(problem) = disagreement(level, slot.as_ref(), Some(&mark)) {
        return Err(problem);
    }
    slot.get_or_insert(mark);
    Ok(())
}

fn disagreement<T: PartialEq + value::Shown>(
    level: &Level,
    one: Option<&Mark<T>>,
    other: Option<&Mark<T>>,
) -> Option<BadMark> {
    let (one, other) = (one?, other?);
    (one.value != other.value).then(|| {
        BadMark::disagreement(
            level,
            (&one.key, one.value.shown()),
            (&other.key, other.value.shown()),
            other.place.clone().or_else(|| one.place.clone()),
        )
    })
}

#[cfg(test)]
mod tests;
