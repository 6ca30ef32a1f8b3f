//! `AdmissionReview` of `admission.k8s.io/v1`: strict parsing of requests, and responses. Pure.

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use stead_model::Code;
use thiserror::Error;

use super::object::Object;
use crate::json_error;

const VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// Operation under review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Delete,
    /// Deletes nothing, like the two below.
    Create,
    Update,
    Connect,
}

/// Request of a review.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) uid: String,
    pub(crate) operation: Operation,
    pub(crate) kind: String,
    pub(crate) group: String,
    /// Plural name, such as `buckets`.
    pub(crate) resource: String,
    pub(crate) subresource: String,
    /// Name of the object; empty when a collection is deleted, then `old_object` has it.
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) user: String,
    pub(crate) dry_run: bool,
    /// Object to delete, as JSON.
    pub(crate) old_object: Option<Box<RawValue>>,
}

impl Request {
    /// Returns the resource with its group, such as `buckets.s3.services.k8s.aws`.
    pub(crate) fn qualified_resource(&self) -> String {
        match self.group.as_str() {
            "" => self.resource.clone(),
            group => format!("{}.{group}", self.resource),
        }
    }

    /// Returns the name, taken from the object if the request has none, as when a collection is deleted.
    pub(crate) fn shown_name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let object =
            self.old_object.as_ref().and_then(|object| serde_json::from_str::<Object>(object.get()).ok());
        object.map_or_else(|| "?".to_owned(), |object| object.metadata.name)
    }

    pub(crate) fn operation_name(&self) -> &'static str {
        match self.operation {
            Operation::Delete => "DELETE",
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Connect => "CONNECT",
        }
    }
}

/// Reason why a body is not a valid review. It has the `uid` if the sender can match the response to its request.
#[derive(Debug, Error)]
#[error("{reason}")]
pub(crate) struct BadReview {
    pub(crate) uid: Option<String>,
    pub(crate) reason: String,
}

/// Response to a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Allowed { warnings: Vec<String> },
    Refused(Refused),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: Code,
    pub(crate) status: Status,
    pub(crate) message: String,
}

/// HTTP status that the API server returns to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Forbidden,
    BadRequest,
    Unavailable,
}

impl Status {
    fn code_and_reason(self) -> (u16, &'static str) {
        match self {
            Status::Forbidden => (403, "Forbidden"),
            Status::BadRequest => (400, "BadRequest"),
            Status::Unavailable => (503, "ServiceUnavailable"),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct Envelope {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<RawRequest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRequest {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    kind: GroupKind,
    #[serde(default)]
    resource: GroupResource,
    #[serde(default)]
    sub_resource: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    user_info: UserInfo,
    #[serde(default)]
    dry_run: Option<bool>,
    #[serde(default)]
    old_object: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
struct GroupKind {
    #[serde(default)]
    kind: String,
}

#[derive(Default, Deserialize)]
struct GroupResource {
    #[serde(default)]
    group: String,
    #[serde(default)]
    resource: String,
}

#[derive(Default, Deserialize)]
struct UserInfo {
    #[serde(default)]
    username: Option<String>,
}

impl Request {
    pub(crate) fn parse(body: &[u8]) -> Result<Request, BadReview> {
        let unknown = |reason: String| BadReview { uid: None, reason };
        let Envelope { api_version, kind, request } = serde_json::from_slice(body).map_err(|error| {
            unknown(format!("the body is not an AdmissionReview: {}", json_error::describe(&error)))
        })?;
        if kind != KIND || api_version != VERSION {
            let found =
                format!("{:?} {:?}", json_error::shortened(&api_version), json_error::shortened(&kind));
            return Err(unknown(format!("this webhook answers {VERSION} {KIND}, but got {found}")));
        }
        let request = request.ok_or_else(|| unknown("the review has no `request`".to_owned()))?;
        if request.uid.is_empty() || request.uid.len() > 256 {
            return Err(unknown("the review's `request.uid` is missing or too long".to_owned()));
        }
        request.checked()
    }
}

impl RawRequest {
    fn checked(self) -> Result<Request, BadReview> {
        let uid = self.uid;
        let bad = |reason: String| BadReview { uid: Some(uid.clone()), reason };
        let operation = match self.operation.as_str() {
            "DELETE" => Operation::Delete,
            "CREATE" => Operation::Create,
            "UPDATE" => Operation::Update,
            "CONNECT" => Operation::Connect,
            other => return Err(bad(format!("unknown operation {:?}", json_error::shortened(other)))),
        };
        if self.resource.resource.is_empty() || self.kind.kind.is_empty() {
            return Err(bad("the review lacks `resource` or `kind`".to_owned()));
        }
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        Ok(Request {
            operation,
            kind: self.kind.kind,
            group: self.resource.group,
            resource: self.resource.resource,
            subresource: self.sub_resource.unwrap_or_default(),
            name: self.name.unwrap_or_default(),
            namespace: given(self.namespace),
            user: given(self.user_info.username).unwrap_or_else(|| "an unknown user".to_owned()),
            dry_run: self.dry_run.unwrap_or_default(),
            // `null` is already parsed as `None`.
            old_object: self.old_object,
            uid,
        })
    }
}

/// Returns the review with a response.
pub(crate) fn answer(uid: &str, answer: &Answer) -> String {
    match answer {
        Answer::Allowed { warnings } if warnings.is_empty() => {
            review(&json!({ "uid": uid, "allowed": true }))
        }
        Answer::Allowed { warnings } => review(&json!({ "uid": uid, "allowed": true, "warnings": warnings })),
        Answer::Refused(Refused { code, status, message }) => {
            let (http, reason) = status.code_and_reason();
            let status = json!({ "status": "Failure", "code": http, "reason": reason, "message": message });
            let audit = json!({ "code": code.as_str() });
            review(&json!({ "uid": uid, "allowed": false, "status": status, "auditAnnotations": audit }))
        }
    }
}

/// Returns a refusal of an invalid review. It is well formed even if it has no `uid`.
pub(crate) fn bad_review(bad: &BadReview) -> String {
    let message = format!("{} ({})", bad.reason, Code::BAD_REVIEW);
    let refused = Refused { code: Code::BAD_REVIEW, status: Status::BadRequest, message };
    answer(bad.uid.as_deref().unwrap_or_default(), &Answer::Refused(refused))
}

fn review(response: &impl Serialize) -> String {
    json!({ "apiVersion": VERSION, "kind": KIND, "response": response }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(body: &str) -> (Option<String>, String) {
        let bad = Request::parse(body.as_bytes()).unwrap_err();
        (bad.uid, bad.reason)
    }

    #[test]
    fn invalid_reviews_are_refused_with_the_reason() {
        let deep = "[".repeat(100_000);
        let bodies = [
            "",
            "[]",
            "null",
            "{",
            &deep,
            r#"{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"u"}}"#,
            r#"{"apiVersion":"v1","kind":"Pod"}"#,
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#,
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}"#,
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":7}}"#,
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}}"#,
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"DELETE"}}"#,
        ];
        let reasons: Vec<String> = bodies
            .iter()
            .map(|body| {
                let (uid, reason) = reason(body);
                format!("{}: {reason}", uid.unwrap_or_else(|| "-".into()))
            })
            .collect();
        insta::assert_snapshot!(reasons.join("\n"));
    }

    #[test]
    fn truncated_reviews_are_refused() {
        let whole = include_str!("../../tests/reviews/delete-marked.json").trim_end();
        assert_eq!(Request::parse(whole.as_bytes()).unwrap().shown_name(), "logs");
        for end in 0..whole.len() {
            assert!(Request::parse(&whole.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn answer_has_the_uid_of_the_request_and_a_complete_status() {
        let allowed = Answer::Allowed { warnings: vec![] };
        assert_eq!(
            answer("u-1", &allowed),
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"allowed":true,"uid":"u-1"}}"#
        );
        let refused =
            Refused { code: Code::ADMISSION_REFUSED, status: Status::Forbidden, message: "no".into() };
        insta::assert_snapshot!(answer("u-2", &Answer::Refused(refused)), @r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"allowed":false,"auditAnnotations":{"code":"ST0801"},"status":{"code":403,"message":"no","reason":"Forbidden","status":"Failure"},"uid":"u-2"}}"#);
    }
}
