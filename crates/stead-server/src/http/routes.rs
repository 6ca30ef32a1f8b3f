//! Routes of the webhook. Every request gets a well-formed response.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::Shared;
use super::connections::Connection;
use crate::admission::{Answer, BadReview, Request as Review, answer, bad_review};
use crate::deadline::within;
use crate::event::{Decision, Event};
use crate::json_error;

/// Maximum size of a review. API servers send an object and its old version, each of a few megabytes.
const MAX_BYTES: usize = 8 << 20;

/// Maximum size of a body that is read and discarded, so that the sender gets the reason.
const MAX_IGNORED: usize = 64 << 20;

/// Maximum total size of the bodies of all connections in memory.
const MAX_HELD: usize = 64 << 20;

/// Timeout for a body.
const BODY: Duration = Duration::from_secs(10);

/// Bytes that count against `MAX_HELD` until this value is dropped.
struct Held<'a> {
    all: &'a AtomicUsize,
    mine: usize,
}

impl Held<'_> {
    /// Adds bytes and returns true if the total is within the limit.
    fn take(&mut self, bytes: usize) -> bool {
        self.mine += bytes;
        self.all.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_HELD
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.mine, Ordering::Relaxed);
    }
}

type Page = Response<Full<Bytes>>;

pub(super) async fn respond(request: Request<Incoming>, shared: &Shared, place: &Connection) -> Page {
    match (request.method(), request.uri().path()) {
        (&Method::POST, "/validate") => validate(request, shared, place).await,
        (&Method::GET | &Method::HEAD, "/healthz") => text(StatusCode::OK, "ok\n"),
        (&Method::GET | &Method::HEAD, "/readyz") if shared.stopping.load(Ordering::Relaxed) => {
            text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
        }
        (&Method::GET | &Method::HEAD, "/readyz") => text(StatusCode::OK, "ready\n"),
        (method, "/validate") => {
            let reason = format!("reviews are sent with POST, not {method}");
            with_allow(reject(shared, StatusCode::METHOD_NOT_ALLOWED, &reason), "POST")
        }
        (method, "/healthz" | "/readyz") => {
            let reason = format!("health is read with GET, not {method}");
            with_allow(reject(shared, StatusCode::METHOD_NOT_ALLOWED, &reason), "GET, HEAD")
        }
        (_, path) => {
            let reason =
                format!("unknown path {:?}; reviews are sent to /validate", json_error::shortened(path));
            reject(shared, StatusCode::NOT_FOUND, &reason)
        }
    }
}

async fn validate(request: Request<Incoming>, shared: &Shared, place: &Connection) -> Page {
    let started = shared.world.clock.monotonic();
    let mut held = Held { all: &shared.held, mine: 0 };
    let body = match review_body(request, shared, &mut held).await {
        Ok(body) => body,
        Err((status, reason)) => return reject(shared, status, &reason),
    };
    // From here on, no other connection takes the place of this one.
    let _deciding = place.decide();
    let review = match Review::parse(&body) {
        Ok(review) => review,
        Err(bad) => {
            // A sender that can match the response to its request gets it with status 200.
            let status = if bad.uid.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
            shared.notice(Event::Rejected { status: 400, reason: bad.reason.clone() });
            return json(status, bad_review(&bad));
        }
    };
    let answered = shared.guard.decide(&review).await;
    let spent = shared.world.clock.monotonic().saturating_sub(started);
    shared.notice(Event::Decided(decision(&review, &answered, spent)));
    json(StatusCode::OK, answer(&review.uid, &answered))
}

fn decision(review: &Review, answered: &Answer, spent: Duration) -> Decision {
    let refused = match answered {
        Answer::Allowed { .. } => None,
        Answer::Refused(refused) => Some(refused),
    };
    Decision {
        uid: review.uid.clone(),
        operation: review.operation_name().to_owned(),
        resource: review.qualified_resource(),
        namespace: review.namespace.clone(),
        name: review.shown_name(),
        user: review.user.clone(),
        dry_run: review.dry_run,
        allowed: refused.is_none(),
        code: refused.map(|refused| refused.code),
        reason: refused.map(|refused| refused.message.clone()),
        millis: u64::try_from(spent.as_millis()).unwrap_or(u64::MAX),
    }
}

/// Returns the body of a review, or the status and reason of a refusal.
async fn review_body(
    request: Request<Incoming>,
    shared: &Shared,
    held: &mut Held<'_>,
) -> Result<Bytes, (StatusCode, String)> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let problem = (!essence.eq_ignore_ascii_case("application/json")).then(|| {
        (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("a review is application/json, not {:?}", json_error::shortened(kind)),
        )
    });
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let announced: u64 = length.unwrap_or_default();
    if announced > MAX_IGNORED as u64 {
        return Err(too_large());
    }
    let Some(read) = within(shared.world.clock.as_ref(), BODY, read(request.into_body(), held)).await else {
        let reason = format!("the body did not arrive within {} seconds", BODY.as_secs());
        return Err((StatusCode::REQUEST_TIMEOUT, reason));
    };
    let body = read?;
    problem.map_or(Ok(body), Err)
}

async fn read(mut body: Incoming, held: &mut Held<'_>) -> Result<Bytes, (StatusCode, String)> {
    let (mut kept, mut seen) = (BytesMut::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| (StatusCode::BAD_REQUEST, "the body was cut off".to_owned()))?;
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len();
        if seen > MAX_IGNORED {
            break;
        }
        if seen <= MAX_BYTES {
            if !held.take(data.len()) {
                let reason = "too many reviews at the same time";
                return Err((StatusCode::SERVICE_UNAVAILABLE, reason.to_owned()));
            }
            kept.extend_from_slice(&data);
        } else {
            kept = BytesMut::new();
        }
    }
    if seen > MAX_BYTES { Err(too_large()) } else { Ok(kept.freeze()) }
}

fn too_large() -> (StatusCode, String) {
    (StatusCode::PAYLOAD_TOO_LARGE, format!("a review must not be larger than {} MiB", MAX_BYTES >> 20))
}

fn reject(shared: &Shared, status: StatusCode, reason: &str) -> Page {
    shared.notice(Event::Rejected { status: status.as_u16(), reason: reason.to_owned() });
    json(status, bad_review(&BadReview { uid: None, reason: reason.to_owned() }))
}

fn json(status: StatusCode, body: String) -> Page {
    page(status, "application/json", body)
}

fn text(status: StatusCode, body: &str) -> Page {
    page(status, "text/plain; charset=utf-8", body.to_owned())
}

fn page(status: StatusCode, kind: &'static str, body: String) -> Page {
    let mut page = Response::new(Full::new(Bytes::from(body)));
    *page.status_mut() = status;
    page.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    page
}

fn with_allow(mut page: Page, methods: &'static str) -> Page {
    page.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_size_of_bodies_is_bounded_and_released() {
        let all = AtomicUsize::new(0);
        let mut first = Held { all: &all, mine: 0 };
        assert!(first.take(MAX_HELD - 1));
        let mut second = Held { all: &all, mine: 0 };
        assert!(second.take(1));
        assert!(!second.take(1));
        drop((first, second));
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
