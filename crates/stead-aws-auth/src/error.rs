//! Why no credentials were found: each source that was tried, and the reason. No secret is in an error.

use std::fmt;

/// A source of credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Environment,
    Profile(String),
    WebIdentity,
    Container,
    InstanceMetadata,
    /// A role that the configuration names.
    Role(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Environment => f.write_str("environment"),
            Source::Profile(name) => write!(f, "profile `{name}`"),
            Source::WebIdentity => f.write_str("web identity"),
            Source::Container => f.write_str("container"),
            Source::InstanceMetadata => f.write_str("instance metadata"),
            Source::Role(arn) => write!(f, "role {arn}"),
        }
    }
}

/// A source that had no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub source: Source,
    pub reason: String,
}

/// Class of a failure to get credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialsErrorClass {
    /// This machine has no credentials, or its configuration cannot be used.
    NotConfigured,
    /// AWS refused to give credentials.
    Denied,
    /// The service that gives credentials could not be reached.
    Unavailable,
}

/// Why there are no credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    #[error("no AWS credentials were found{}", listed(.0))]
    NoneFound(Vec<Tried>),
    /// A source is configured and does not work. Later sources are not tried, because they are other identities.
    #[error("the {from} has no usable AWS credentials: {reason}{}", listed(.tried))]
    Unusable {
        from: Source,
        class: CredentialsErrorClass,
        reason: String,
        /// A command or a setting that helps.
        hint: Option<String>,
        /// Sources before this one.
        tried: Vec<Tried>,
    },
}

impl CredentialsError {
    pub fn class(&self) -> CredentialsErrorClass {
        match self {
            CredentialsError::NoneFound(_) => CredentialsErrorClass::NotConfigured,
            CredentialsError::Unusable { class, .. } => *class,
        }
    }

    /// Returns advice for a person.
    pub fn hint(&self) -> Option<&str> {
        match self {
            CredentialsError::NoneFound(_) => Some(
                "set AWS_PROFILE to a profile of ~/.aws/config, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            ),
            CredentialsError::Unusable { hint, .. } => hint.as_deref(),
        }
    }
}

fn listed(tried: &[Tried]) -> String {
    if tried.is_empty() {
        return String::new();
    }
    let all: Vec<String> = tried.iter().map(|one| format!("{}: {}", one.source, one.reason)).collect();
    format!(" ({})", all.join("; "))
}

/// Result of one source.
pub(crate) type Looked<T> = Result<T, Missing>;

/// Why one source has no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The source is not configured; the next one is tried.
    Absent(String),
    /// The source is configured and does not work.
    Unusable { class: CredentialsErrorClass, reason: String, hint: Option<String> },
}

impl Missing {
    pub(crate) fn absent(reason: impl Into<String>) -> Missing {
        Missing::Absent(reason.into())
    }

    pub(crate) fn misconfigured(reason: impl Into<String>) -> Missing {
        Missing::Unusable { class: CredentialsErrorClass::NotConfigured, reason: reason.into(), hint: None }
    }

    pub(crate) fn denied(reason: impl Into<String>) -> Missing {
        Missing::Unusable { class: CredentialsErrorClass::Denied, reason: reason.into(), hint: None }
    }

    pub(crate) fn unavailable(reason: impl Into<String>) -> Missing {
        Missing::Unusable { class: CredentialsErrorClass::Unavailable, reason: reason.into(), hint: None }
    }

    pub(crate) fn hint(mut self, text: impl Into<String>) -> Missing {
        if let Missing::Unusable { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// Returns the error that says the same about a source that must have credentials.
    pub(crate) fn required(self) -> Missing {
        match self {
            Missing::Absent(reason) => Missing::misconfigured(reason),
            unusable => unusable,
        }
    }
}
