//! The spellings of a mark's key.

use stead_model::TypeToken;

/// The kinds of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKey {
    PreventDelete,
    DeletionPolicy,
    PreventDeleteLock,
}

impl MarkKey {
    pub const ALL: [MarkKey; 3] =
        [MarkKey::DeletionPolicy, MarkKey::PreventDelete, MarkKey::PreventDeleteLock];

    pub fn as_str(self) -> &'static str {
        match self {
            MarkKey::PreventDelete => "prevent-delete",
            MarkKey::DeletionPolicy => "deletion-policy",
            MarkKey::PreventDeleteLock => "prevent-delete-lock",
        }
    }
}

/// The prefix of the AWS controllers for Kubernetes.
const ACK: &str = "services.k8s.aws";

pub(super) const RETAIN_ON_DELETE: &str = "retainOnDelete";

/// A valid key.
pub(super) struct Parsed {
    pub(super) service: Option<String>,
    pub(super) name: MarkKey,
}

pub(super) fn parse_option(key: &str) -> Option<Parsed> {
    let name = match key {
        "preventDelete" | "protect" => MarkKey::PreventDelete,
        "deletionPolicy" | RETAIN_ON_DELETE => MarkKey::DeletionPolicy,
        _ => return None,
    };
    Some(Parsed { service: None, name })
}

pub(super) fn parse_annotation(key: &str) -> Option<Parsed> {
    let key = key.trim().to_ascii_lowercase();
    let (prefix, name) = match key.split_once('/') {
        None => (None, key.as_str()),
        Some((prefix, name)) => (Some(prefix), name),
    };
    let name = MarkKey::ALL.into_iter().find(|known| known.as_str() == name)?;
    let service = match prefix {
        None => None,
        Some(ACK) => None,
        Some(prefix) => Some(prefix.strip_suffix(ACK).and_then(|s| s.strip_suffix('.')).unwrap_or(prefix)),
    };
    let is_service = |service: &str| {
        !service.is_empty() && service.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match service {
        Some(service) if !is_service(service) => None,
        service => Some(Parsed { service: service.map(str::to_owned), name }),
    }
}

/// Returns the service of a type: `s3` for `aws.s3.Bucket` and `AWS::S3::Bucket`; for other providers, the provider.
pub fn service_of(token: &TypeToken) -> String {
    let text = token.0.to_ascii_lowercase();
    let mut parts = text.split("::").flat_map(|part| part.split('.'));
    let provider = parts.next().unwrap_or_default();
    match (provider, parts.next(), parts.next()) {
        ("aws", Some(service), Some(_)) => service.to_owned(),
        _ => provider.to_owned(),
    }
}
