//! Plain HTTP server on a loopback address, for services that run on this machine only.
//!
//! **Invariant:** it never listens on another address. A request without an answer closes its connection.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use stead_world::{Http, HttpRequest, HttpResponse, Method as Verb, World};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::deadline::within;
use crate::net::{Listener, Stream};

/// Maximum size of a request's body.
const MAX_BYTES: usize = 64 << 20;
/// Timeout of pending requests at shutdown.
const GRACE: Duration = Duration::from_secs(5);
/// Pause after a failed accept, when the system has no sockets left.
const NO_SOCKETS: Duration = Duration::from_millis(200);

/// Server with an open socket, before its first request.
pub struct LoopbackServer {
    listener: Listener,
    address: SocketAddr,
    world: World,
}

impl LoopbackServer {
    /// Listens on a port of 127.0.0.1; port 0 takes any free port.
    pub async fn open(world: World, port: u16) -> io::Result<LoopbackServer> {
        let listener = Listener::open(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).to_string()).await?;
        let address = listener.address()?;
        Ok(LoopbackServer { listener, address, world })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Passes requests to a service until `asked_to_end` resolves, then finishes pending requests.
    pub async fn run(self, service: Arc<dyn Http>, asked_to_end: impl Future<Output = ()>) {
        let LoopbackServer { listener, address, world } = self;
        let mut asked = std::pin::pin!(asked_to_end);
        let (end, ending) = watch::channel(());
        let mut connections: JoinSet<()> = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = asked.as_mut() => break,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok(stream) => drop(connections.spawn(serve(stream, address, service.clone(), ending.clone()))),
                    Err(_) => world.clock.sleep(NO_SOCKETS).await,
                },
            }
        }
        drop((listener, end));
        let finished = async { while connections.join_next().await.is_some() {} };
        within(world.clock.as_ref(), GRACE, finished).await;
    }
}

/// Error that closes a connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("no answer")]
struct NoAnswer;

async fn serve(
    stream: impl Stream,
    address: SocketAddr,
    service: Arc<dyn Http>,
    mut ending: watch::Receiver<()>,
) {
    let respond = service_fn(|request| {
        let service = service.clone();
        async move { answer(request, address, &*service).await }
    });
    let mut connection =
        std::pin::pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), respond));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ending.changed() => connection.as_mut().graceful_shutdown(),
    }
    // The peer may be gone; the end of the connection is all that matters.
    let _ = connection.await;
}

async fn answer(
    request: Request<Incoming>,
    address: SocketAddr,
    service: &dyn Http,
) -> Result<Response<Full<Bytes>>, NoAnswer> {
    let (head, body) = request.into_parts();
    let Some(method) = verb(&head.method) else { return Ok(status(405)) };
    let Ok(body) = Limited::new(body, MAX_BYTES).collect().await else { return Ok(status(413)) };
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut passed = HttpRequest::new(method, format!("http://{address}{path}"));
    for (name, value) in &head.headers {
        passed.headers.add(name.as_str(), String::from_utf8_lossy(value.as_bytes()));
    }
    passed.body.extend_from_slice(&body.to_bytes());
    service.send(passed).await.map(response).map_err(|_| NoAnswer)
}

fn verb(method: &Method) -> Option<Verb> {
    Some(match *method {
        Method::GET => Verb::Get,
        Method::HEAD => Verb::Head,
        Method::POST => Verb::Post,
        Method::PUT => Verb::Put,
        Method::PATCH => Verb::Patch,
        Method::DELETE => Verb::Delete,
        _ => return None,
    })
}

fn response(answer: HttpResponse) -> Response<Full<Bytes>> {
    let mut builder = Response::builder().status(answer.status);
    for (name, value) in answer.headers.iter() {
        builder = builder.header(name, value);
    }
    builder.body(Full::new(Bytes::from(answer.body.to_vec()))).unwrap_or_else(|_| status(500))
}

fn status(code: u16) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() =
        hyper::StatusCode::from_u16(code).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    response
}
