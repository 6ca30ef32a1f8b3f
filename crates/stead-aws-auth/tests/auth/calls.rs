//! Signed calls: repeated by the class of a failure, with the clock of the service, and with renewed credentials.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use stead_aws_auth::{Call, CallError, Repeat, Scope, ServiceErrorClass};
use stead_world::testing::{FakeServer, Received, Reply};
use stead_world::{Clock as _, Effect, HttpError, HttpRequest};

use crate::Machine;
use crate::services::written;

fn machine() -> Machine {
    Machine::new().variable("AWS_ACCESS_KEY_ID", "ENV").variable("AWS_SECRET_ACCESS_KEY", "s")
}

fn call(url: String, repeat: Repeat) -> Call {
    let mut request = HttpRequest::post(url, "{}");
    request.timeout = Duration::from_millis(500);
    Call { request, scope: Scope::new("kms", "eu-west-1"), repeat }
}

/// A server that answers the n-th request, counted from 0, with the function.
fn server(answer: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static) -> FakeServer {
    let count = AtomicUsize::new(0);
    FakeServer::start(move |request| answer(count.fetch_add(1, Ordering::SeqCst), request)).unwrap()
}

fn error(code: &str) -> Reply {
    Reply::new(400, format!(r#"{{"__type":"{code}","message":"m"}}"#))
}

fn service_class(error: &CallError) -> ServiceErrorClass {
    match error {
        CallError::Service(error) => error.class(),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn throttled_call_is_repeated_with_growing_waits() {
    let server =
        server(|count, _| if count < 2 { error("ThrottlingException") } else { Reply::new(200, "ok") });
    let machine = machine();
    let before = machine.clock.now();
    let answer = machine.auth().send(&call(server.url(), Repeat::OnlyIfUnsent)).await.unwrap();
    assert_eq!((answer.body.as_slice(), server.seen().len()), (&b"ok"[..], 3));
    let waited = machine.clock.now().0 - before.0;
    assert!((600..=1200).contains(&waited), "{waited}");
}

#[tokio::test]
async fn call_that_is_throttled_for_ever_ends() {
    let server = server(|_, _| error("ThrottlingException"));
    let failed = machine().auth().send(&call(server.url(), Repeat::Safe)).await.unwrap_err();
    assert_eq!(service_class(&failed), ServiceErrorClass::Throttled);
    assert_eq!((failed.effect(), server.seen().len()), (Effect::None, 4));
}

#[tokio::test]
async fn call_that_may_have_had_an_effect_is_repeated_only_if_that_is_safe() {
    for first in [Reply::Close, Reply::new(500, ""), Reply::Silence] {
        let reply = first.clone();
        let flaky = server(move |count, _| if count == 0 { reply.clone() } else { Reply::new(200, "ok") });
        machine().auth().send(&call(flaky.url(), Repeat::Safe)).await.unwrap();
        let broken = server(move |_, _| first.clone());
        let failed = machine().auth().send(&call(broken.url(), Repeat::OnlyIfUnsent)).await.unwrap_err();
        assert_eq!((failed.effect(), broken.seen().len()), (Effect::Unknown, 1));
    }
}

#[tokio::test]
async fn server_that_is_gone_is_tried_a_few_times_without_an_effect() {
    let server = server(|_, _| Reply::Close);
    let url = server.url();
    server.stop();
    let failed = machine().auth().send(&call(url, Repeat::OnlyIfUnsent)).await.unwrap_err();
    assert!(matches!(&failed, CallError::Http(HttpError::NotSent { .. })), "{failed}");
    assert_eq!(failed.effect(), Effect::None);
}

#[tokio::test]
async fn refusal_and_long_answer_are_not_repeated() {
    let refusing = server(|_, _| error("AccessDeniedException"));
    let failed = machine().auth().send(&call(refusing.url(), Repeat::Safe)).await.unwrap_err();
    assert_eq!((service_class(&failed), refusing.seen().len()), (ServiceErrorClass::Denied, 1));
    let long = server(|_, _| Reply::new(200, vec![b' '; 100_000]));
    let mut call = call(long.url(), Repeat::Safe);
    call.request.max_bytes = 1000;
    let failed = machine().auth().send(&call).await.unwrap_err();
    assert!(matches!(failed, CallError::Http(HttpError::TooLarge { .. })), "{failed}");
}

/// A service whose clock shows 06:00 and that refuses signatures which are five minutes off.
fn skewed(code: &'static str) -> FakeServer {
    server(move |_, request| {
        let now = "Wed, 18 Nov 2026 06:00:00 GMT";
        if request.headers.get("x-amz-date").unwrap().starts_with("20261118T06") {
            return Reply::new(200, "ok").header("date", now);
        }
        Reply::new(403, format!(r#"{{"__type":"{code}","message":"Signature expired"}}"#)).header("date", now)
    })
}

#[tokio::test]
async fn clock_of_the_service_is_taken_over_when_ours_is_wrong() {
    for code in ["InvalidSignatureException", "RequestTimeTooSkewed", "SignatureDoesNotMatch"] {
        let server = skewed(code);
        let auth = machine().auth();
        auth.send(&call(server.url(), Repeat::OnlyIfUnsent)).await.unwrap();
        assert_eq!(server.seen().len(), 2);
        auth.send(&call(server.url(), Repeat::OnlyIfUnsent)).await.unwrap();
        assert_eq!(server.seen().len(), 3, "the correction is kept");
    }
}

#[tokio::test]
async fn wrong_signature_with_a_right_clock_is_refused_at_once() {
    let server =
        server(|_, _| error("SignatureDoesNotMatch").header("date", "Wed, 18 Nov 2026 04:01:00 GMT"));
    let failed = machine().auth().send(&call(server.url(), Repeat::Safe)).await.unwrap_err();
    assert_eq!((service_class(&failed), server.seen().len()), (ServiceErrorClass::Signature, 1));
}

#[tokio::test]
async fn clock_that_stays_wrong_is_corrected_once() {
    let server = server(|count, _| {
        error("RequestTimeTooSkewed").header("date", format!("Wed, 18 Nov 2026 {:02}:00:00 GMT", 6 + count))
    });
    machine().auth().send(&call(server.url(), Repeat::Safe)).await.unwrap_err();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn expired_credentials_are_looked_up_again_once() {
    let metadata_count = AtomicUsize::new(0);
    let agent = FakeServer::start(move |_| {
        Reply::new(200, written(&format!("POD-{}", metadata_count.fetch_add(1, Ordering::SeqCst))))
    })
    .unwrap();
    let server =
        server(|_, request| match request.headers.get("authorization").unwrap().contains("POD-0/") {
            true => error("ExpiredTokenException"),
            false => Reply::new(200, "ok"),
        });
    let machine = Machine::new().variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.url());
    machine.auth().send(&call(server.url(), Repeat::OnlyIfUnsent)).await.unwrap();
    assert_eq!((server.seen().len(), agent.seen().len()), (2, 2));
}

#[tokio::test]
async fn no_error_and_no_debug_output_contains_a_secret() {
    let server = server(|_, _| error("AccessDeniedException"));
    let machine = Machine::new()
        .variable("AWS_ACCESS_KEY_ID", "ENV")
        .variable("AWS_SECRET_ACCESS_KEY", "secret-canary")
        .variable("AWS_SESSION_TOKEN", "token-canary");
    let call = call(server.url(), Repeat::Safe);
    let failed = machine.auth().send(&call).await.unwrap_err();
    let shown = format!("{failed} {failed:?} {call:?}");
    assert!(!shown.contains("canary"), "{shown}");
    assert_eq!(server.seen()[0].headers.get("x-amz-security-token"), Some("token-canary"));
}
