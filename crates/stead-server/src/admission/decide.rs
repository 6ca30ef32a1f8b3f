//! From a review to an answer: what must be looked up is looked up, and what cannot be seen is refused.

use std::sync::Arc;
use std::time::Duration;

use stead_model::Code;
use stead_world::Clock;

use super::contents;
use super::groups::Groups;
use super::judge::{Around, PreventDelete, Subject};
use super::object::{Annotations, Definition, Object};
use super::review::{Answer, Operation, Refused, Request, Status};
use crate::cluster::{ApiServer, LookUpError};
use crate::form;
use crate::patience::within;

/// The API server gives up on a webhook after ten seconds; it is to hear our reason before that.
const LOOK_UP_LIMIT: Duration = Duration::from_secs(8);

/// Everything that a decision needs.
pub struct Guard {
    pub groups: Groups,
    pub prevent_delete: PreventDelete,
    pub cluster: ApiServer,
    pub clock: Arc<dyn Clock>,
}

/// Why something cannot be judged.
pub(super) enum Blind {
    LookUp(LookUpError),
    Review(String),
}

impl From<LookUpError> for Blind {
    fn from(error: LookUpError) -> Blind {
        Blind::LookUp(error)
    }
}

impl Guard {
    pub(crate) async fn decide(&self, request: &Request) -> Answer {
        let free = Answer::Allowed { warnings: Vec::new() };
        // A subresource is a part of an object, or an action on it.
        if request.operation != Operation::Delete || !request.subresource.is_empty() {
            return free;
        }
        let limit = LOOK_UP_LIMIT.as_secs();
        match within(self.clock.as_ref(), LOOK_UP_LIMIT, self.judge(request)).await {
            Some(Ok(answer)) => answer,
            Some(Err(Blind::LookUp(error))) => blind(request, &error.to_string()),
            Some(Err(Blind::Review(reason))) => blind(request, &reason),
            None => blind(request, &format!("the API server did not answer within {limit} seconds")),
        }
    }

    async fn judge(&self, request: &Request) -> Result<Answer, Blind> {
        let object: Object = old_object(request)?;
        let annotations = object.annotations();
        let resource = request.qualified_resource();
        let subject = Subject {
            kind: &request.kind,
            group: &request.group,
            resource: &resource,
            name: &object.metadata.name,
            namespace: request.namespace.as_deref().or(object.metadata.namespace.as_deref()),
            annotations: &annotations,
        };
        match (request.group.as_str(), request.resource.as_str()) {
            ("", "namespaces") => {
                let subject = Subject { namespace: None, ..subject };
                if let Some(refused) = subject.refused(&subject.judge_container()) {
                    return Ok(Answer::Refused(refused));
                }
                contents::of_namespace(self, &subject).await
            }
            ("apiextensions.k8s.io", "customresourcedefinitions") => {
                let definition: Definition = old_object(request)?;
                if let Some(refused) = subject.refused(&subject.judge_container()) {
                    return Ok(Answer::Refused(refused));
                }
                contents::of_definition(self, &subject, &definition.spec).await
            }
            _ => self.judge_one(&subject).await,
        }
    }

    async fn judge_one(&self, subject: &Subject<'_>) -> Result<Answer, Blind> {
        // What its own marks forbid needs no look at the namespace; what they allow does, for its lock.
        if let Some(refused) = subject.refused(&subject.judge(None, self.prevent_delete)) {
            return Ok(Answer::Refused(refused));
        }
        if let Some(namespace) = subject.namespace {
            let annotations: Annotations = self.cluster.namespace(namespace).await?.annotations();
            let around = Around { name: namespace, annotations: &annotations };
            if let Some(refused) = subject.refused(&subject.judge(Some(around), self.prevent_delete)) {
                return Ok(Answer::Refused(refused));
            }
        }
        Ok(Answer::Allowed { warnings: subject.warnings() })
    }
}

fn old_object<T: serde::de::DeserializeOwned>(request: &Request) -> Result<T, Blind> {
    let Some(object) = &request.old_object else {
        return Err(Blind::Review("the review holds no `oldObject`, so its marks cannot be seen".to_owned()));
    };
    serde_json::from_str(object.get()).map_err(|error| {
        Blind::Review(format!("the review's `oldObject` cannot be read: {}", form::problem(&error)))
    })
}

fn blind(request: &Request, reason: &str) -> Answer {
    let code = Code::ADMISSION_BLIND;
    let name = request.shown_name();
    let message = format!(
        "cannot tell whether {} \"{name}\" may be deleted: {reason}. What cannot be judged is not deleted; nothing was \
         changed. Mend the cause and try again. ({code})",
        request.kind,
    );
    Answer::Refused(Refused { code, status: Status::Unavailable, message })
}
