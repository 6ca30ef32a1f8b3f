//! Invalid requests get a well-formed refusal and do not block the webhook.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use stead_server::Event;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::hook::{Hook, Reply, message, recorded_review};

async fn sent(hook: &Hook, method: &str, path: &str, kind: Option<&str>, body: impl Into<Bytes>) -> Reply {
    let mut request = Request::builder().method(method).uri(path).header("host", "hook");
    if let Some(kind) = kind {
        request = request.header("content-type", kind);
    }
    hook.client().await.send(request.body(Full::new(body.into())).unwrap()).await
}

#[tokio::test]
async fn invalid_review_gets_a_review_as_response() {
    let hook = Hook::start().await;
    let json = Some("application/json");
    let free = recorded_review("delete-free");
    let mut said = Vec::new();
    for (method, path, kind, body) in [
        ("POST", "/validate", json, "not JSON".to_owned()),
        ("POST", "/validate", json, String::new()),
        ("POST", "/validate", json, "{}".to_owned()),
        ("POST", "/validate", json, free.replace("AdmissionReview", "AdmissionView")),
        ("POST", "/validate", json, free.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1")),
        ("POST", "/validate", json, free.replace("\"request\"", "\"question\"")),
        ("POST", "/validate", json, free.replacen("\"uid\"", "\"id\"", 1)),
        ("POST", "/validate", json, free.replace("\"DELETE\"", "\"REMOVE\"")),
        ("POST", "/validate", json, free.replace("\"resource\"", "\"thing\"")),
        ("POST", "/validate", Some("application/yaml"), free.clone()),
        ("POST", "/validate", None, free.clone()),
        ("GET", "/validate", None, String::new()),
        ("POST", "/", json, free.clone()),
        ("POST", "/validate/../etc", json, free.clone()),
        ("POST", "/healthz", json, free.clone()),
    ] {
        let reply = sent(&hook, method, path, kind, body).await;
        let response = reply.review();
        assert_eq!(response["allowed"], false, "{reply:?}");
        assert!(message(&response).ends_with("(ST0803)"), "{response}");
        said.push(format!("{method} {path}: {} {}", reply.status, message(&response)));
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn oversized_body_is_refused_and_a_large_review_is_not() {
    let hook = Hook::start().await;
    let reply = sent(&hook, "POST", "/validate", Some("application/json"), vec![b' '; 10 << 20]).await;
    assert_eq!(reply.status, 413, "{reply:?}");
    assert!(message(&reply.review()).contains("8 MiB"), "{reply:?}");
    let padding = format!("\"spec\": {{ \"padding\": \"{}\", ", "x".repeat(3 << 20));
    let big = recorded_review("delete-marked").replacen("\"spec\": {", &padding, 1);
    let reply = sent(&hook, "POST", "/validate", Some("application/json; charset=utf-8"), big).await;
    assert_eq!((reply.status, &reply.review()["status"]["code"]), (200, &403.into()), "{:.300}", reply.body);
}

#[tokio::test]
async fn health_and_readiness_are_served() {
    let hook = Hook::start().await;
    for (path, body) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let reply = sent(&hook, "GET", path, None, "").await;
        assert_eq!((reply.status, reply.body.as_str()), (200, body));
    }
}

#[tokio::test]
async fn unfinished_request_times_out() {
    let hook = Hook::start().await;
    for beginning in ["", "POST /validate HTTP/1.1\r\nhost: hook\r\nx-slow:"] {
        let mut stream = hook.stream().await;
        stream.write_all(beginning.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        let mut rest = Vec::new();
        // The connection ends without a response, with or without a TLS close.
        let _ = hook.clock.pass_until(stream.read_to_end(&mut rest)).await;
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }
}

#[tokio::test]
async fn connections_without_a_tls_handshake_time_out() {
    let hook = Hook::start().await;
    for beginning in ["", "GET /healthz HTTP/1.1\r\nhost: hook\r\n\r\n"] {
        let mut stream = TcpStream::connect(hook.address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let _ = hook.clock.pass_until(stream.read_to_end(&mut rest)).await;
        assert!(!String::from_utf8_lossy(&rest).contains("HTTP"), "{rest:?}");
    }
    assert_eq!(sent(&hook, "GET", "/healthz", None, "").await.status, 200);
}

#[tokio::test]
async fn missing_body_is_answered_with_408() {
    let hook = Hook::start().await;
    let mut stream = hook.stream().await;
    let head = "POST /validate HTTP/1.1\r\nhost: hook\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    let mut answer = Vec::new();
    let _ = hook.clock.pass_until(stream.read_to_end(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("the body did not arrive within 10 seconds"), "{answer}");
}

#[tokio::test]
async fn untrusted_text_is_logged_on_one_line() {
    let mut hook = Hook::start().await;
    let forged = recorded_review("delete-marked").replacen(
        "\"name\": \"logs\"",
        "\"name\": \"a\\nallowed DELETE\"",
        1,
    );
    let reply = sent(&hook, "POST", "/validate", Some("application/json"), forged).await;
    assert_eq!(reply.status, 200);
    let event: Event = hook.events.recv().await.unwrap();
    assert!(!event.to_string().contains('\n'), "{event}");
}
