//! What a server tells about itself. It prints nothing; whoever started it does.

use std::fmt;

use serde::Serialize;
use stead_model::Code;
use tokio::sync::mpsc;

/// Where events go.
pub type Notices = mpsc::UnboundedSender<Event>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A review was answered.
    Decided(Decision),
    /// What came was no review, or no request at all.
    Rejected { status: u16, reason: String },
    /// The certificate's files changed, and new connections get the new one.
    CertificateRenewed,
    /// The certificate's files changed, and cannot be used; the old certificate stays.
    CertificateKept { reason: String },
    /// Nothing new is accepted any more.
    Stopping,
}

/// One answer to one review. Holds nothing of the object but its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    pub uid: String,
    pub operation: String,
    /// Such as `buckets.s3.services.k8s.aws`.
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

/// One line, whatever a request had in it.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Event::Decided(decision) => decision.line(),
            Event::Rejected { status, reason } => format!("rejected with {status}: {reason}"),
            Event::CertificateRenewed => "the certificate was renewed".to_owned(),
            Event::CertificateKept { reason } => {
                format!("the new certificate cannot be used, and the old one stays: {reason}")
            }
            Event::Stopping => "stopping: what is under way is answered first".to_owned(),
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

/// Whoever wrote a name or an annotation cannot forge a line of the log, or fill it.
fn one_line(text: &str) -> String {
    const MOST: usize = 2000;
    let kept = text.chars().take(MOST).map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut line: String = kept.collect();
    if text.chars().nth(MOST).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_a_line() {
        let event = Event::Rejected { status: 400, reason: "a\nallowed DELETE\u{1b}[2J".into() };
        assert_eq!(event.to_string(), "rejected with 400: a\u{fffd}allowed DELETE\u{fffd}[2J");
        let long = Event::Rejected { status: 400, reason: "x".repeat(5000) };
        assert_eq!(long.to_string().chars().count(), 2001);
    }
}
