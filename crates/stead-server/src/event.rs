//! Events of the server. The server prints nothing; the caller renders its events.

use std::fmt;

use serde::Serialize;
use stead_model::Code;
use tokio::sync::mpsc;

/// Receiver of events.
pub type Notices = mpsc::UnboundedSender<Event>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A review was answered.
    Decided(Decision),
    /// A request was not a valid review.
    Rejected { status: u16, reason: String },
    /// The certificate files changed; new connections get the new certificate.
    CertificateRenewed,
    /// The certificate files changed but cannot be used; the old certificate stays.
    CertificateKept { reason: String },
    /// The server accepts no new connections.
    Stopping,
}

/// Answer to one review. Contains only the name of the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    pub uid: String,
    pub operation: String,
    /// Qualified resource, such as `buckets.s3.services.k8s.aws`.
    pub resource: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    pub name: String,
    pub user: String,
    pub dry_run: bool,
    pub allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub millis: u64,
}

/// Prints one line, even if a request contained line breaks.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Event::Decided(decision) => decision.line(),
            Event::Rejected { status, reason } => format!("rejected with {status}: {reason}"),
            Event::CertificateRenewed => "the certificate was renewed".to_owned(),
            Event::CertificateKept { reason } => {
                format!("the new certificate cannot be used, and the old one stays: {reason}")
            }
            Event::Stopping => "stopping: pending requests are answered first".to_owned(),
        };
        f.write_str(&one_line(&text))
    }
}

impl Decision {
    fn line(&self) -> String {
        let verdict = if self.allowed { "allowed" } else { "refused" };
        let Decision { operation, resource, name, user, millis, uid, .. } = self;
        let name = match &self.namespace {
            Some(namespace) => format!("{namespace}/{name}"),
            None => name.clone(),
        };
        let dry = if self.dry_run { ", dry run" } else { "" };
        let why = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{verdict} {operation} {resource} {name} by {user} (uid {uid}, {millis} ms{dry}){why}")
    }
}

/// Replaces control characters and cuts long text, so that a name or an annotation cannot forge or flood the log.
fn one_line(text: &str) -> String {
    const MAX: usize = 2000;
    let kept = text.chars().take(MAX).map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut line: String = kept.collect();
    if text.chars().nth(MAX).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_a_log_line() {
        let event = Event::Rejected { status: 400, reason: "a\nallowed DELETE\u{1b}[2J".into() };
        assert_eq!(event.to_string(), "rejected with 400: a\u{fffd}allowed DELETE\u{fffd}[2J");
        let long = Event::Rejected { status: 400, reason: "x".repeat(5000) };
        assert_eq!(long.to_string().chars().count(), 2001);
    }
}
