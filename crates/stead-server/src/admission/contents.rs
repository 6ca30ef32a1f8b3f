//! What goes with a namespace or with a custom resource definition. The API server asks nobody about the objects of a
//! definition that is deleted, and a namespace that is Terminating never comes back; so both are judged by what they hold.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use stead_model::Code;

use super::decide::{Blind, Guard};
use super::judge::{Around, Ruling, Subject, refused};
use super::object::{Annotations, DefinitionSpec, Object};
use super::review::Answer;
use crate::cluster::ResourceType;

/// How many types are listed at once.
const AT_ONCE: usize = 8;

/// How many protected objects a message names.
const NAMED: usize = 3;

/// A namespace goes with every guarded object in it.
pub(super) async fn of_namespace(guard: &Guard, subject: &Subject<'_>) -> Result<Answer, Blind> {
    let types = guard.cluster.resource_types(|group| guard.groups.contains(group)).await?;
    let types = types.into_iter().filter(|known| known.namespaced);
    let lists = stream::iter(types.map(|of| async move {
        let objects = guard.cluster.list(&of, Some(subject.name)).await?;
        Ok::<_, Blind>((of, objects))
    }));
    let held: Vec<(ResourceType, Vec<Object>)> = lists.buffered(AT_ONCE).try_collect().await?;
    let mut found = Found::default();
    for (of, objects) in &held {
        for object in objects {
            let around = Around { name: subject.name, annotations: subject.annotations };
            found.look(guard, of, object, Some(around));
        }
    }
    Ok(found.answer(subject))
}

/// A definition goes with every object of it, in all namespaces.
pub(super) async fn of_definition(
    guard: &Guard,
    subject: &Subject<'_>,
    spec: &DefinitionSpec,
) -> Result<Answer, Blind> {
    // An object of a version that is not served cannot be listed, but every version serves all objects.
    let Some(version) = spec.versions.iter().find(|version| version.served) else {
        return Ok(Answer::Allowed { warnings: Vec::new() });
    };
    if !guard.groups.contains(&spec.group) {
        return Ok(Answer::Allowed { warnings: Vec::new() });
    }
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
    let mut found = Found::default();
    for object in &objects {
        let around = match &object.metadata.namespace {
            None => None,
            Some(name) => match marked.get(name) {
                Some(annotations) => Some(Around { name, annotations }),
                None => return Err(Blind::Review(format!("there is no namespace {name:?} any more"))),
            },
        };
        found.look(guard, &of, object, around);
    }
    Ok(found.answer(subject))
}

/// The protected ones, or those whose marks cannot be read.
#[derive(Default)]
struct Found {
    count: usize,
    named: Vec<String>,
    code: Option<Code>,
}

impl Found {
    fn look(&mut self, guard: &Guard, of: &ResourceType, object: &Object, around: Option<Around<'_>>) {
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
            Ruling::Free => return,
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
        if self.named.len() < NAMED {
            self.named.push(format!("{} ({why})", subject.shown()));
        }
    }

    fn answer(self, container: &Subject<'_>) -> Answer {
        let Some(code) = self.code else { return Answer::Allowed { warnings: Vec::new() } };
        let more = match self.count - self.named.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let objects = if self.count == 1 { "1 object" } else { &format!("{} objects", self.count) };
        let message = format!(
            "cannot delete {}: it would take with it {objects} that may not be deleted: {}{more}. Nothing was changed. \
             Delete these first, one by one, after their marks allow it.",
            container.shown(),
            self.named.join(", "),
        );
        Answer::Refused(refused(code, &message))
    }
}
