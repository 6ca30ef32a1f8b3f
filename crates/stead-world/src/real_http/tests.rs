//! The client against a server on a loopback port: kept connections, limits, lost connections, TLS and proxies.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::*;
use crate::testing::{FakeServer, Reply};
use crate::{Effect, Method};

fn client() -> RealHttp {
    RealHttp::new(&Variables::default())
}

fn quick(url: String) -> HttpRequest {
    HttpRequest { timeout: Duration::from_millis(300), ..HttpRequest::get(url) }
}

#[tokio::test]
async fn request_arrives_as_it_was_given_and_the_answer_returns() {
    let server = FakeServer::start(|request| {
        Reply::new(418, request.body.clone()).header("Date", "today").header("X-Path", &*request.path)
    })
    .unwrap();
    let mut request = HttpRequest::post(format!("{}/a%2Fb/?q=%20", server.url()), "body");
    request.method = Method::Put;
    let answer = client().send(request.header("X-Own", "1")).await.unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (418, &b"body"[..]));
    assert_eq!(answer.headers.get("date"), Some("today"));
    assert_eq!(answer.headers.get("x-path"), Some("/a%2Fb/?q=%20"));
    let seen = &server.seen()[0];
    assert_eq!((&*seen.method, seen.headers.get("x-own")), ("PUT", Some("1")));
    assert_eq!(seen.headers.get("host"), Some(server.address().to_string().as_str()));
}

#[tokio::test]
async fn connection_serves_several_requests() {
    let server = FakeServer::start(|_| Reply::new(200, "x")).unwrap();
    let client = client();
    for _ in 0..5 {
        client.send(HttpRequest::get(server.url())).await.unwrap();
    }
    assert!(server.seen().iter().all(|request| request.connection == 0));
}

#[tokio::test]
async fn connection_that_the_server_closed_is_replaced_by_a_new_one() {
    let server = FakeServer::start(|_| Reply::AnswerAndClose(200)).unwrap();
    let client = client();
    for _ in 0..3 {
        client.send(HttpRequest::get(server.url())).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn refused_connection_and_unknown_name_have_no_effect() {
    let server = FakeServer::start(|_| Reply::Close).unwrap();
    let url = server.url();
    server.stop();
    for url in [url, "http://no-such-host.invalid/".to_owned()] {
        let error = client().send(HttpRequest::get(&url)).await.unwrap_err();
        assert!(matches!(error, HttpError::NotSent { .. }), "{url}: {error}");
        assert_eq!(error.effect(), Effect::None);
    }
}

#[tokio::test]
async fn silence_and_lost_connections_have_an_unknown_effect() {
    for reply in [Reply::Silence, Reply::Close, Reply::Break] {
        let server = FakeServer::start(move |_| reply.clone()).unwrap();
        let error = client().send(quick(server.url())).await.unwrap_err();
        assert!(matches!(error, HttpError::NoAnswer { .. }), "{error}");
        assert_eq!(error.effect(), Effect::Unknown);
        assert_eq!(server.seen().len(), 1, "a request that may have arrived is not repeated");
    }
}

#[tokio::test]
async fn long_answer_is_refused() {
    let server = FakeServer::start(|_| Reply::new(200, vec![b'x'; 2000])).unwrap();
    let request = HttpRequest { max_bytes: 1999, ..HttpRequest::get(server.url()) };
    let error = client().send(request).await.unwrap_err();
    assert_eq!(error, HttpError::TooLarge { host: server.address().to_string(), limit: 1999 });
    let request = HttpRequest { max_bytes: 2000, ..HttpRequest::get(server.url()) };
    assert_eq!(client().send(request).await.unwrap().body.len(), 2000);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = FakeServer::start(|_| Reply::new(302, "").header("location", "/other")).unwrap();
    assert_eq!(client().send(HttpRequest::get(server.url())).await.unwrap().status, 302);
    assert_eq!(server.seen().len(), 1);
}

/// A TLS server with a certificate of its own for `localhost`. Returns its port and the certificate as PEM.
async fn tls_server() -> (u16, String) {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let pem = own.cert.pem();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut seen = [0; 1024];
            let _ = stream.read(&mut seen).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
            let _ = stream.flush().await;
        }
    });
    (port, pem)
}

#[tokio::test]
async fn unknown_certificate_has_no_effect_and_a_bundle_of_the_request_is_trusted() {
    let (port, pem) = tls_server().await;
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("ca.pem");
    std::fs::write(&bundle, pem).unwrap();
    let request = HttpRequest::get(format!("https://localhost:{port}/"));
    let error = client().send(request.clone()).await.unwrap_err();
    assert!(matches!(error, HttpError::NotSent { .. }), "{error}");
    let trusting = HttpRequest { authorities: Some(bundle.clone()), ..request.clone() };
    assert_eq!(client().send(trusting).await.unwrap().body.as_slice(), b"ok");
    let variables = [("SSL_CERT_FILE".to_owned(), bundle.to_str().unwrap().to_owned())].into_iter().collect();
    assert_eq!(RealHttp::new(&variables).send(request).await.unwrap().body.as_slice(), b"ok");
}

/// A proxy that notes the head of each request and connects every tunnel to one port.
async fn proxy(to: u16, status: &'static str) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 4096];
            let length = stream.read(&mut head).await.unwrap();
            notes.lock().unwrap().push(String::from_utf8_lossy(&head[..length]).into_owned());
            stream.write_all(format!("HTTP/1.1 {status}\r\n\r\n").as_bytes()).await.unwrap();
            if status.starts_with('2') {
                let mut server = tokio::net::TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
            }
        }
    });
    (port, seen)
}

#[tokio::test]
async fn proxy_opens_a_tunnel_in_which_tls_runs() {
    let (server, pem) = tls_server().await;
    let (port, seen) = proxy(server, "200 Fine").await;
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("ca.pem");
    std::fs::write(&bundle, pem).unwrap();
    let variables =
        [("HTTPS_PROXY".to_owned(), format!("http://me:pw@127.0.0.1:{port}"))].into_iter().collect();
    let request = HttpRequest { authorities: Some(bundle), ..HttpRequest::get("https://service.invalid/x") };
    let error = RealHttp::new(&variables).send(request).await.unwrap_err();
    // The tunnel leads to a server with another name, so TLS refuses: the proxy saw the name and no more.
    assert!(error.to_string().contains("no TLS"), "{error}");
    let seen = seen.lock().unwrap().clone();
    assert!(seen[0].starts_with("CONNECT service.invalid:443 HTTP/1.1\r\n"), "{}", seen[0]);
    assert!(seen[0].contains("Proxy-Authorization: Basic bWU6cHc=\r\n"));
}

#[tokio::test]
async fn proxy_that_refuses_is_named_without_its_password() {
    let (port, _) = proxy(1, "407 Proxy Authentication Required").await;
    let variables =
        [("HTTPS_PROXY".to_owned(), format!("http://me:canary@127.0.0.1:{port}"))].into_iter().collect();
    let error =
        RealHttp::new(&variables).send(HttpRequest::get("https://service.invalid/")).await.unwrap_err();
    assert_eq!(error.effect(), Effect::None);
    let text = error.to_string();
    assert!(text.contains(&format!("proxy 127.0.0.1:{port}")) && text.contains("407"), "{text}");
    assert!(!text.contains("canary"));
}
