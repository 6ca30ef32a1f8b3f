//! HTTP/1.1 over sockets of this machine, with connections that are kept for the next request.
//!
//! A request is sent a second time only if hyper returns it unsent, because a kept connection was closed meanwhile.

mod proxy;
mod roots;
mod sockets;
mod target;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use zeroize::Zeroizing;

use crate::{Headers, Http, HttpError, HttpRequest, HttpResponse, Variables};
use proxy::Proxies;
use roots::Roots;
use target::Target;

/// Maximum number of kept connections to one server.
const MAX_IDLE: usize = 8;

/// Age at which a kept connection is dropped. Servers close theirs after a minute or more.
const MAX_IDLE_AGE: Duration = Duration::from_secs(20);

type Connection = SendRequest<Full<Bytes>>;

/// A server, and the certificate authorities that vouch for it. Requests that agree on both share connections.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Peer {
    tls: bool,
    host: String,
    port: u16,
    authorities: Option<PathBuf>,
}

/// HTTP of this machine.
pub struct RealHttp {
    proxies: Proxies,
    roots: Roots,
    idle: Mutex<HashMap<Peer, Vec<(Instant, Connection)>>>,
}

impl RealHttp {
    /// Returns a client that obeys `HTTPS_PROXY`, `NO_PROXY` and `SSL_CERT_FILE`.
    pub fn new(variables: &Variables) -> RealHttp {
        RealHttp {
            proxies: Proxies::new(variables),
            roots: Roots::new(variables),
            idle: Mutex::new(HashMap::new()),
        }
    }

    async fn exchange(
        &self,
        target: &Target,
        peer: &Peer,
        mut message: Request<Full<Bytes>>,
        handed_over: &AtomicBool,
    ) -> Result<(Response<Incoming>, Connection), HttpError> {
        loop {
            let kept = self.kept(peer);
            let was_kept = kept.is_some();
            let mut connection = match kept {
                Some(connection) => connection,
                None => self.connect(target, peer).await?,
            };
            handed_over.store(true, Ordering::Relaxed);
            let mut failed = match connection.try_send_request(message).await {
                Ok(response) => return Ok((response, connection)),
                Err(failed) => failed,
            };
            let reason = chain(failed.error());
            match failed.take_message() {
                Some(unsent) if was_kept => message = unsent,
                Some(_) => return Err(HttpError::NotSent { host: target.shown(), reason }),
                None => return Err(HttpError::NoAnswer { host: target.shown(), reason }),
            }
            handed_over.store(false, Ordering::Relaxed);
        }
    }

    async fn connect(&self, target: &Target, peer: &Peer) -> Result<Connection, HttpError> {
        let tls = match peer.tls {
            true => Some(self.roots.client(peer.authorities.as_deref())?),
            false => None,
        };
        let not_sent = |reason: String| HttpError::NotSent { host: target.shown(), reason };
        let stream = sockets::open(target, self.proxies.for_target(target), tls).await.map_err(not_sent)?;
        let shaken = handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| not_sent(chain(&error)))?;
        // Ends when the sender is dropped or the server closes; errors reach the request.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(sender)
    }

    /// Takes a kept connection that is still open and young enough.
    fn kept(&self, peer: &Peer) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let all = idle.get_mut(peer)?;
        all.retain(|(since, connection)| since.elapsed() < MAX_IDLE_AGE && !connection.is_closed());
        all.pop().map(|(_, connection)| connection)
    }

    fn keep(&self, peer: Peer, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let all = idle.entry(peer).or_default();
        if !connection.is_closed() && all.len() < MAX_IDLE {
            all.push((Instant::now(), connection));
        }
    }

    async fn answer(
        &self,
        target: &Target,
        request: HttpRequest,
        handed_over: &AtomicBool,
    ) -> Result<HttpResponse, HttpError> {
        let limit = request.max_bytes;
        let peer = Peer {
            tls: target.tls,
            host: target.host.clone(),
            port: target.port,
            authorities: request.authorities.clone(),
        };
        let message = message(target, request)?;
        let (response, connection) = self.exchange(target, &peer, message, handed_over).await?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, limit).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                return HttpError::TooLarge { host: target.shown(), limit };
            }
            HttpError::NoAnswer { host: target.shown(), reason: chain(error.as_ref()) }
        })?;
        self.keep(peer, connection);
        let mut headers = Headers::default();
        for (name, value) in &head.headers {
            headers.add(name.as_str(), String::from_utf8_lossy(value.as_bytes()));
        }
        Ok(HttpResponse {
            status: head.status.as_u16(),
            headers,
            body: Zeroizing::new(body.to_bytes().into()),
        })
    }
}

#[async_trait]
impl Http for RealHttp {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let target = Target::parse(&request)?;
        let limit = request.timeout;
        let handed_over = AtomicBool::new(false);
        let answered = tokio::time::timeout(limit, self.answer(&target, request, &handed_over)).await;
        answered.unwrap_or_else(|_| {
            let (host, reason) = (target.shown(), format!("no answer after {} s", limit.as_secs_f32()));
            Err(match handed_over.load(Ordering::Relaxed) {
                true => HttpError::NoAnswer { host, reason },
                false => HttpError::NotSent { host, reason },
            })
        })
    }
}

/// Returns hyper's form of a request. Hyper drops the body, and with that overwrites it.
fn message(target: &Target, request: HttpRequest) -> Result<Request<Full<Bytes>>, HttpError> {
    let mut message = Request::builder().method(request.method.as_str()).uri(target.path.as_str());
    if request.headers.get("host").is_none() {
        message = message.header("host", target.authority.as_str());
    }
    if request.headers.get("user-agent").is_none() {
        message = message.header("user-agent", concat!("stead/", env!("CARGO_PKG_VERSION")));
    }
    for (name, value) in request.headers.iter() {
        message = message.header(name, value);
    }
    let body = Full::new(Bytes::from_owner(request.body));
    message.body(body).map_err(|error| HttpError::Invalid { host: target.shown(), reason: error.to_string() })
}

/// Returns an error with its causes, because hyper's own text is only the first part.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
