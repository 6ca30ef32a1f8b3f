//! Decision on a review. A deletion is refused if the marks that decide it cannot be read.

use std::sync::Arc;
use std::time::Duration;

use stead_model::Code;
use stead_world::Clock;

use super::contents;
use super::groups::Groups;
use super::judge::{EnclosingNamespace, PreventDelete, Subject, near_misses};
use super::object::{Annotations, Definition, Object};
use super::review::{Answer, Operation, Refused, Request, Status};
use crate::cluster::{ApiServer, LookUpError};
use crate::deadline::within;
use crate::json_error;

/// Limit of all look-ups. The API server gives up on a webhook after ten seconds and must get the reason before that.
const LOOK_UP_LIMIT: Duration = Duration::from_secs(8);

/// Settings and clients that a decision needs.
pub struct Guard {
    pub groups: Groups,
    pub prevent_delete: PreventDelete,
    pub cluster: ApiServer,
    pub clock: Arc<dyn Clock>,
}

/// Reason why a deletion cannot be judged.
pub(super) enum Undecidable {
    LookUp(LookUpError),
    Review(String),
}

impl From<LookUpError> for Undecidable {
    fn from(error: LookUpError) -> Undecidable {
        Undecidable::LookUp(error)
    }
}

impl Guard {
    pub(crate) async fn decide(&self, request: &Request) -> Answer {
        let free = Answer::Allowed { warnings: Vec::new() };
        // A subresource is a part of an object or an action on it.
        if request.operation != Operation::Delete || !request.subresource.is_empty() {
            return free;
        }
        let limit = LOOK_UP_LIMIT.as_secs();
        match within(self.clock.as_ref(), LOOK_UP_LIMIT, self.judge(request)).await {
            Some(Ok(answer)) => answer,
            Some(Err(Undecidable::LookUp(error))) => undecidable(request, &error.to_string()),
            Some(Err(Undecidable::Review(reason))) => undecidable(request, &reason),
            None => undecidable(request, &format!("the API server did not answer within {limit} seconds")),
        }
    }

    async fn judge(&self, request: &Request) -> Result<Answer, Undecidable> {
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

    async fn judge_one(&self, subject: &Subject<'_>) -> Result<Answer, Undecidable> {
        // The object's own marks can refuse without reading the namespace. To allow, its lock must be read.
        if let Some(refused) = subject.refused(&subject.judge(None, self.prevent_delete)) {
            return Ok(Answer::Refused(refused));
        }
        let mut warnings = subject.warnings();
        if let Some(namespace) = subject.namespace {
            let annotations: Annotations = self.cluster.namespace(namespace).await?.annotations();
            let around = EnclosingNamespace { name: namespace, annotations: &annotations };
            if let Some(refused) = subject.refused(&subject.judge(Some(around), self.prevent_delete)) {
                return Ok(Answer::Refused(refused));
            }
            warnings.extend(near_misses(&format!("namespace \"{namespace}\""), &annotations));
        }
        Ok(Answer::Allowed { warnings })
    }
}

fn old_object<T: serde::de::DeserializeOwned>(request: &Request) -> Result<T, Undecidable> {
    let Some(object) = &request.old_object else {
        return Err(Undecidable::Review(
            "the review has no `oldObject`, so its marks cannot be read".to_owned(),
        ));
    };
    serde_json::from_str(object.get()).map_err(|error| {
        Undecidable::Review(format!(
            "the review's `oldObject` cannot be read: {}",
            json_error::describe(&error)
        ))
    })
}

fn undecidable(request: &Request, reason: &str) -> Answer {
    let code = Code::ADMISSION_BLIND;
    let name = request.shown_name();
    let message = format!(
        "cannot tell whether {} \"{name}\" may be deleted: {reason}. Deletions that cannot be judged are refused; nothing was \
         changed. Fix the cause and try again. ({code})",
        request.kind,
    );
    Answer::Refused(Refused { code, status: Status::Unavailable, message })
}
