//! Evaluation of the marks on an object and its namespace. Pure; the resolution of marks is that of `stead-guard`, which
//! runs of a stack use, too.

use serde_json::Value;
use stead_guard::{
    BadMark, LevelMarks, MarkKey, MarkReader, RawMark, RawValue, Spelling, UnknownKeys, resolve,
};
use stead_model::{Code, Level, Marked};

use super::groups::service_of_group;
use super::near_miss::probable_mark;
use super::object::Annotations;
use super::review::{Refused, Status};

/// Webhook-wide setting for deletions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreventDelete {
    #[default]
    AsMarked,
    Always,
}

/// Object that a review asks to delete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) kind: &'a str,
    pub(crate) group: &'a str,
    /// Qualified resource, such as `buckets.s3.services.k8s.aws`.
    pub(crate) resource: &'a str,
    pub(crate) name: &'a str,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) annotations: &'a Annotations,
}

/// Effect of the marks on a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Free,
    Protected(Marked<bool>),
    Unreadable(Vec<BadMark>),
}

/// Namespace of an object, with its annotations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnclosingNamespace<'a> {
    pub(crate) name: &'a str,
    pub(crate) annotations: &'a Annotations,
}

impl Subject<'_> {
    pub(crate) fn shown(&self) -> String {
        match self.namespace {
            Some(namespace) => format!("{} \"{namespace}/{}\"", self.kind, self.name),
            None => format!("{} \"{}\"", self.kind, self.name),
        }
    }

    fn level(&self) -> Level {
        Level::Resource(match self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.to_owned(),
        })
    }

    /// Evaluates the levels, nearest first: the object, its namespace, the webhook's setting.
    pub(crate) fn judge(&self, around: Option<EnclosingNamespace<'_>>, flag: PreventDelete) -> Ruling {
        let service = service_of_group(self.group);
        let own = read(self.level(), Some(service), self.annotations);
        let around = around.map(|around| read(namespace_level(around.name), None, around.annotations));
        let flag = (flag == PreventDelete::Always).then(flag_level);
        let (mut levels, mut bad) = (Vec::new(), Vec::new());
        for level in [Some(own), around, flag].into_iter().flatten() {
            match level {
                Ok(level) => levels.push(level),
                Err(problems) => bad.extend(problems),
            }
        }
        if !bad.is_empty() {
            return Ruling::Unreadable(bad);
        }
        let levels: Vec<&LevelMarks> = levels.iter().collect();
        ruling(resolve(&levels, service).prevent_delete)
    }

    /// Evaluates the marks on a container. Deleting it deletes all its contents, so a mark for any service counts.
    pub(crate) fn judge_container(&self) -> Ruling {
        let is_namespace = self.group.is_empty();
        let level = if is_namespace { namespace_level(self.name) } else { self.level() };
        let marks = match read(level, None, self.annotations) {
            Ok(marks) => marks,
            Err(bad) => return Ruling::Unreadable(bad),
        };
        let services = marks.services().map(|(service, _)| service);
        let decided = std::iter::once("").chain(services).map(|service| resolve(&[&marks], service));
        let protected = decided.filter_map(|marks| marks.prevent_delete).find(|mark| mark.value);
        ruling(protected)
    }

    /// Returns a warning for each annotation that looks like a mark but has no effect on this object.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let service = service_of_group(self.group);
        let Ok(marks) = read(self.level(), Some(service), self.annotations) else { return Vec::new() };
        let others = marks.services().filter(|(other, _)| *other != service);
        let mut warnings: Vec<String> = others
            .map(|(other, source)| {
                format!(
                    "{} is for {other}, but {} is of {service}: it has no effect",
                    source.key,
                    self.shown()
                )
            })
            .collect();
        warnings.extend(self.near_misses());
        warnings
    }

    /// Returns a warning for each annotation that resembles a mark and is none.
    pub(crate) fn near_misses(&self) -> Vec<String> {
        near_misses(&self.shown(), self.annotations)
    }

    pub(crate) fn refused(&self, ruling: &Ruling) -> Option<Refused> {
        match ruling {
            Ruling::Free => None,
            Ruling::Protected(mark) => {
                let message = format!(
                    "cannot delete {}: prevent-delete is true ({}). Nothing was changed. {}",
                    self.shown(),
                    mark.source,
                    self.next_step(mark),
                );
                Some(refused(Code::ADMISSION_REFUSED, &message))
            }
            Ruling::Unreadable(bad) => {
                let problems: Vec<&str> = bad.iter().map(|bad| bad.message.as_str()).collect();
                let message = format!(
                    "cannot delete {}: {}. An invalid mark is never ignored. Nothing was \
                     changed.",
                    self.shown(),
                    problems.join("; "),
                );
                let code = bad.first().map_or(Code::BAD_MARK, |bad| bad.code);
                Some(refused(code, &message))
            }
        }
    }

    fn next_step(&self, mark: &Marked<bool>) -> String {
        let key = &mark.source.key;
        let annotate = |what: String| {
            format!("To delete it, run `kubectl annotate {what} {key}=false --overwrite`, then try again.")
        };
        let is_lock = name_of(key).eq_ignore_ascii_case(MarkKey::PreventDeleteLock.as_str());
        match &mark.source.level {
            Level::Flag => "The webhook is set to refuse all deletions, which no mark overrules.".to_owned(),
            Level::Namespace(name) if is_lock || self.group.is_empty() => {
                annotate(format!("namespace {name}"))
            }
            _ => annotate(match self.namespace {
                Some(namespace) => format!("{} {} -n {namespace}", self.resource, self.name),
                None => format!("{} {}", self.resource, self.name),
            }),
        }
    }
}

pub(crate) fn refused(code: Code, message: &str) -> Refused {
    Refused { code, status: Status::Forbidden, message: format!("{message} ({code})") }
}

fn ruling(mark: Option<Marked<bool>>) -> Ruling {
    match mark {
        Some(mark) if mark.value => Ruling::Protected(mark),
        _ => Ruling::Free,
    }
}

fn namespace_level(name: &str) -> Level {
    Level::Namespace(name.to_owned())
}

fn read(level: Level, service: Option<&str>, annotations: &Annotations) -> Result<LevelMarks, Vec<BadMark>> {
    let entries = annotations.iter().map(|(key, value)| RawMark {
        key: key.clone(),
        spelling: Spelling::Annotation,
        value: match value {
            Value::String(text) => RawValue::Text(text.clone()),
            other => RawValue::Other(other.to_string()),
        },
        place: None,
    });
    MarkReader { unknown_keys: UnknownKeys::Ignored, service }.read(level, entries)
}

fn flag_level() -> Result<LevelMarks, Vec<BadMark>> {
    let key = MarkKey::PreventDelete.as_str().to_owned();
    let entry = RawMark { key, spelling: Spelling::Annotation, value: RawValue::Bool(true), place: None };
    MarkReader { unknown_keys: UnknownKeys::Refused, service: None }.read(Level::Flag, [entry])
}

fn name_of(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// Returns a warning for each annotation of `owner` that resembles a mark and is none.
pub(crate) fn near_misses(owner: &str, annotations: &Annotations) -> Vec<String> {
    let unread = annotations.keys().filter(|key| !is_read(key));
    let near = unread.filter_map(|key| Some((key, probable_mark(key)?)));
    near.map(|(key, meant)| {
        let meant = meant.as_str();
        format!("{key} on {owner} is not a mark that stead knows and has no effect; write services.k8s.aws/{meant}")
    })
    .collect()
}

/// Returns true if the reader recognises the key as a mark.
fn is_read(key: &str) -> bool {
    let entry = RawMark {
        key: key.to_owned(),
        spelling: Spelling::Annotation,
        value: RawValue::Text("true".to_owned()),
        place: None,
    };
    let read =
        MarkReader { unknown_keys: UnknownKeys::Ignored, service: None }.read(namespace_level(""), [entry]);
    !read.is_ok_and(|marks| marks.is_empty())
}

#[cfg(test)]
mod tests;
