//! Deletion of containers: namespaces and custom resource definitions.
//!
//! The API server calls no webhook for the objects of a deleted definition, and a terminating namespace cannot be
//! restored. Therefore a container is judged by its contents.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use stead_model::Code;

use super::decide::{Guard, Undecidable};
use super::judge::{EnclosingNamespace, Ruling, Subject, refused};
use super::object::{Annotations, DefinitionSpec, Object};
use super::review::Answer;
use crate::cluster::ResourceType;

/// Number of types listed concurrently.
const CONCURRENT_LISTS: usize = 8;

/// Maximum number of protected objects that a message names.
const MAX_NAMED: usize = 3;

/// Reason why a definition without a served version cannot be judged.
const NOTHING_SERVED: &str = "it serves no version, so that its objects, which would be deleted with it, cannot be listed; \
    set `served: true` on one of its versions first";

/// Maximum number of warnings about objects of a container.
const MAX_WARNINGS: usize = 10;

/// Judges a namespace by the guarded objects in it.
pub(super) async fn of_namespace(guard: &Guard, subject: &Subject<'_>) -> Result<Answer, Undecidable> {
    let types = guard.cluster.resource_types(|group| guard.groups.contains(group)).await?;
    let types = types.into_iter().filter(|known| known.namespaced);
    let lists = stream::iter(types.map(|of| async move {
        let objects = guard.cluster.list(&of, Some(subject.name)).await?;
        Ok::<_, Undecidable>((of, objects))
    }));
    let held: Vec<(ResourceType, Vec<Object>)> = lists.buffered(CONCURRENT_LISTS).try_collect().await?;
    let mut found = ProtectedObjects::default();
    for (of, objects) in &held {
        for object in objects {
            let around = EnclosingNamespace { name: subject.name, annotations: subject.annotations };
            found.check(guard, of, object, Some(around));
        }
    }
    Ok(found.answer(subject))
}

/// Judges a definition by its objects in all namespaces.
pub(super) async fn of_definition(
    guard: &Guard,
    subject: &Subject<'_>,
    spec: &DefinitionSpec,
) -> Result<Answer, Undecidable> {
    if !guard.groups.contains(&spec.group) {
        return Ok(Answer::Allowed { warnings: subject.near_misses() });
    }
    // Any served version lists all objects of the definition.
    let Some(version) = spec.versions.iter().find(|version| version.served) else {
        return Err(Undecidable::Review(NOTHING_SERVED.to_owned()));
    };
    let of = ResourceType {
        group: spec.group.clone(),
        version: version.name.clone(),
        plural: spec.names.plural.clone(),
        kind: spec.names.kind.clone(),
        namespaced: false,
    };
    let objects = guard.cluster.list(&of, None).await?;
    let namespaces = if objects.iter().any(|object| object.metadata.namespace.is_some()) {
        guard.cluster.namespaces().await?
    } else {
        Vec::new()
    };
    let marked: BTreeMap<String, Annotations> =
        namespaces.into_iter().map(|found| (found.metadata.name.clone(), found.annotations())).collect();
    let mut found = ProtectedObjects::default();
    for object in &objects {
        let around = match &object.metadata.namespace {
            None => None,
            Some(name) => match marked.get(name) {
                Some(annotations) => Some(EnclosingNamespace { name, annotations }),
                None => return Err(Undecidable::Review(format!("the namespace {name:?} does not exist"))),
            },
        };
        found.check(guard, &of, object, around);
    }
    Ok(found.answer(subject))
}

/// Objects that are protected or have unreadable marks.
#[derive(Default)]
struct ProtectedObjects {
    count: usize,
    named: Vec<String>,
    code: Option<Code>,
    /// Warnings about the objects that are free.
    warnings: Vec<String>,
}

impl ProtectedObjects {
    fn check(
        &mut self,
        guard: &Guard,
        of: &ResourceType,
        object: &Object,
        around: Option<EnclosingNamespace<'_>>,
    ) {
        let annotations = object.annotations();
        let resource = of.qualified();
        let subject = Subject {
            kind: &of.kind,
            group: &of.group,
            resource: &resource,
            name: &object.metadata.name,
            namespace: object.metadata.namespace.as_deref(),
            annotations: &annotations,
        };
        let (why, code) = match subject.judge(around, guard.prevent_delete) {
            Ruling::Free => {
                let room = MAX_WARNINGS.saturating_sub(self.warnings.len());
                self.warnings.extend(subject.near_misses().into_iter().take(room));
                return;
            }
            Ruling::Protected(mark) => (mark.source.to_string(), Code::ADMISSION_REFUSED),
            Ruling::Unreadable(bad) => {
                let first = bad.first();
                (
                    first.map(|bad| bad.message.clone()).unwrap_or_default(),
                    first.map_or(Code::BAD_MARK, |bad| bad.code),
                )
            }
        };
        self.count += 1;
        self.code.get_or_insert(code);
        if self.named.len() < MAX_NAMED {
            self.named.push(format!("{} ({why})", subject.shown()));
        }
    }

    fn answer(self, container: &Subject<'_>) -> Answer {
        let Some(code) = self.code else {
            let warnings = container.near_misses().into_iter().chain(self.warnings).collect();
            return Answer::Allowed { warnings };
        };
        let more = match self.count - self.named.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let objects = if self.count == 1 { "1 object" } else { &format!("{} objects", self.count) };
        let message = format!(
            "cannot delete {}: it contains {objects} that may not be deleted: {}{more}. Nothing was changed. \
             Delete these first, one by one, after their marks allow it.",
            container.shown(),
            self.named.join(", "),
        );
        Answer::Refused(refused(code, &message))
    }
}
