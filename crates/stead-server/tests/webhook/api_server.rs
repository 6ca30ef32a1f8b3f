//! Fake API server: HTTPS, recorded responses, and failures.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::authority::Authority;

/// Response to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Says(u16, String),
    /// Accepts the request and never responds.
    Never,
    /// Closes the connection in the middle of the response.
    BreaksOff,
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) accept: String,
}

pub(crate) struct ApiServer {
    pub(crate) address: SocketAddr,
    pub(crate) asked: mpsc::UnboundedReceiver<Asked>,
    replies: Arc<Mutex<BTreeMap<String, Reply>>>,
    connections: Arc<AtomicUsize>,
    hang_up: watch::Sender<()>,
}

/// Returns a recorded response.
pub(crate) fn recorded(name: &str) -> Reply {
    recorded_with(200, name)
}

pub(crate) fn recorded_with(status: u16, name: &str) -> Reply {
    let path = format!("{}/tests/cluster/{name}.json", env!("CARGO_MANIFEST_DIR"));
    Reply::Says(status, std::fs::read_to_string(path).unwrap())
}

impl ApiServer {
    pub(crate) async fn start(authority: &Authority) -> ApiServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = authority.issue("127.0.0.1").acceptor();
        let replies: Arc<Mutex<BTreeMap<String, Reply>>> = Arc::default();
        let (sender, asked) = mpsc::unbounded_channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let (hang_up, hung_up) = watch::channel(());
        let (known, counted) = (replies.clone(), connections.clone());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
                let (acceptor, known, sender) = (acceptor.clone(), known.clone(), sender.clone());
                let mut hung_up = hung_up.clone();
                hung_up.mark_unchanged();
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = service_fn(move |request| answer(request, known.clone(), sender.clone()));
                    let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    tokio::select! {
                        _ = serving => {}
                        _ = hung_up.changed() => {}
                    }
                });
            }
        });
        ApiServer { address, asked, replies, connections, hang_up }
    }

    /// Closes all connections.
    pub(crate) fn hangs_up(&self) {
        self.hang_up.send_replace(());
    }

    /// Returns the next request, which must have arrived already.
    pub(crate) fn was_asked(&mut self) -> Asked {
        self.asked.try_recv().unwrap()
    }

    /// Waits for the next request, which must arrive before `work` is done.
    pub(crate) async fn is_asked_by<T>(&mut self, work: &mut JoinHandle<T>) -> Asked {
        tokio::select! {
            biased;
            asked = self.asked.recv() => asked.unwrap(),
            _ = work => panic!("the work was done without a request"),
        }
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn on(&self, path: &str, reply: Reply) {
        self.replies.lock().unwrap().insert(path.to_owned(), reply);
    }
}

type Body = BoxBody<Bytes, std::io::Error>;

async fn answer(
    request: Request<Incoming>,
    replies: Arc<Mutex<BTreeMap<String, Reply>>>,
    asked: mpsc::UnboundedSender<Asked>,
) -> Result<Response<Body>, Infallible> {
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let path = request.uri().path_and_query().unwrap().to_string();
    let accept = header("accept").unwrap_or_default();
    let _ = asked.send(Asked { path: path.clone(), authorization: header("authorization"), accept });
    let reply = replies.lock().unwrap().get(&path).cloned();
    let reply = reply.unwrap_or_else(|| Reply::Says(500, format!("unexpected request for {path}")));
    Ok(match reply {
        Reply::Says(status, text) => {
            let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed();
            let mut response = Response::new(body);
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response
        }
        Reply::Never => std::future::pending().await,
        Reply::BreaksOff => {
            let part = [Ok(Frame::data(Bytes::from("{\"kind\":"))), Err(std::io::Error::other("cut"))];
            Response::new(BoxBody::new(StreamBody::new(futures_util::stream::iter(part))))
        }
    })
}
