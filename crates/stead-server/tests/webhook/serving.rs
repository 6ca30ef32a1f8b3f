//! Renewal of certificates, and graceful shutdown.

use stead_server::{Event, MAX_CONNECTIONS, Stopped};
use tokio::net::TcpStream;

use crate::api_server::{Reply, recorded};
use crate::hook::Hook;

const PROD: &str = "/api/v1/namespaces/prod";

#[tokio::test]
async fn new_certificate_is_used_without_a_restart_and_a_broken_one_is_not() {
    let mut hook = Hook::start().await;
    let shown = |stream: &tokio_rustls::client::TlsStream<TcpStream>| {
        stream.get_ref().1.peer_certificates().unwrap()[0].clone()
    };
    let first = shown(&hook.stream().await);
    let issued = hook.authority.issue("127.0.0.1");
    let write = |name: &str, text: &str| std::fs::write(hook.folder.path().join(name), text).unwrap();
    write("tls.crt", &issued.certificate);
    let event = hook.clock.pass_until(hook.events.recv()).await.unwrap();
    assert!(matches!(event, Event::CertificateKept { .. }), "the key is still the old one: {event}");
    assert_eq!(shown(&hook.stream().await), first);
    std::fs::write(hook.folder.path().join("tls.key"), &issued.key).unwrap();
    loop {
        let event = hook.clock.pass_until(hook.events.recv()).await.unwrap();
        if event == Event::CertificateRenewed {
            break;
        }
    }
    assert_ne!(shown(&hook.stream().await), first);
}

#[tokio::test]
async fn pending_request_is_answered_before_shutdown() {
    let mut hook = Hook::start().await;
    hook.api.on(PROD, Reply::Never);
    let (mut client, idle) = (hook.client().await, hook.client().await);
    let mut asking = tokio::spawn(async move { client.asks("delete-free").await });
    hook.api.is_asked_by(&mut asking).await;
    hook.asks_to_end();
    assert_eq!(hook.events.recv().await, Some(Event::Stopping));
    assert!(TcpStream::connect(hook.address).await.is_err(), "nothing new is accepted");
    let clock = hook.clock.clone();
    let response = clock.pass_until(asking).await.unwrap();
    assert_eq!(response["allowed"], false);
    assert_eq!(clock.pass_until(hook.ended()).await, Stopped { cut: 0 });
    drop(idle);
}

#[tokio::test]
async fn idle_connections_do_not_delay_shutdown() {
    let mut hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    let mut client = hook.client().await;
    assert_eq!(client.asks("delete-free").await["allowed"], true);
    let (_fresh, _silent) = (hook.stream().await, TcpStream::connect(hook.address).await.unwrap());
    hook.asks_to_end();
    // The clock does not advance: no timeout ends the connections.
    assert_eq!(hook.ended().await, Stopped { cut: 0 });
}

#[tokio::test]
async fn idle_connections_cannot_keep_a_review_out() {
    let hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    let mut kept = hook.client().await;
    assert_eq!(kept.asks("delete-free").await["allowed"], true);
    let mut idle = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        idle.push(TcpStream::connect(hook.address).await.unwrap());
    }
    // The clock does not advance: no timeout ends the idle connections.
    let asked = async {
        assert_eq!(hook.asks("delete-free").await["allowed"], true);
        assert_eq!(
            kept.asks("delete-free").await["allowed"],
            true,
            "an idle API server keeps its connection"
        );
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), asked).await.expect("the review is answered");
}

#[tokio::test]
async fn unfinished_requests_cannot_keep_a_review_out() {
    use tokio::io::AsyncWriteExt as _;
    let hook = Hook::limited_to(4).await;
    hook.api.on(PROD, recorded("namespace-bare"));
    let mut slow = Vec::new();
    for _ in 0..8 {
        let mut stream = hook.stream().await;
        let head = b"POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
        stream.write_all(head).await.unwrap();
        slow.push(stream);
    }
    let asked = hook.asks("delete-free");
    let response = tokio::time::timeout(std::time::Duration::from_secs(60), asked).await;
    assert_eq!(response.expect("the review is answered")["allowed"], true);
}
