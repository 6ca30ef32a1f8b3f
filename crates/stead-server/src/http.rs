//! HTTPS server: accepts connections, answers requests, and shuts down gracefully.
//!
//! **Invariant:** no client can exceed the limits on time, memory and connections in this file and in `routes`.

mod connections;
mod routes;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use stead_world::World;
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::admission::Guard;
use crate::deadline::{Deadline, within};
use crate::event::{Event, Notices};
use crate::net::{Listener, Stream};
use crate::tls::{CertificateError, Identity, TlsFiles};
use connections::{Connection, Connections};

/// Timeout from the first byte to the end of the first request's headers.
const FIRST_REQUEST: Duration = Duration::from_secs(10);

/// Timeout between two requests. API servers keep a connection for 90 seconds and must not find it closed.
const NEXT_REQUEST: Duration = Duration::from_secs(120);

/// Timeout of pending requests at shutdown.
const GRACE: Duration = Duration::from_secs(10);

/// Pause after a failed accept, when the system has no sockets left.
const NO_SOCKETS: Duration = Duration::from_millis(200);

/// Default for [`Settings::max_connections`].
pub const MAX_CONNECTIONS: usize = 512;
const MAX_HEADER_BYTES: usize = 64 << 10;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Address as `HOST:PORT`; port 0 takes any free port.
    pub listen: String,
    pub tls: TlsFiles,
    /// Maximum number of open connections. Another one closes the idlest.
    pub max_connections: usize,
}

#[derive(Debug, Error)]
pub enum ServerError {
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: String, source: io::Error },
}

/// Result of a run of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Connections that did not finish in time.
    pub cut: usize,
}

/// Server with an open socket and a certificate, before its first request.
pub struct Server {
    listener: Listener,
    address: SocketAddr,
    acceptor: TlsAcceptor,
    identity: Identity,
    connections: Arc<Connections>,
    shared: Arc<Shared>,
}

/// State shared by all connections.
struct Shared {
    world: World,
    guard: Guard,
    notices: Notices,
    stopping: AtomicBool,
    /// Total size of the bodies in memory.
    held: AtomicUsize,
}

impl Shared {
    fn notice(&self, event: Event) {
        // The receiver is gone when the process ends.
        let _ = self.notices.send(event);
    }
}

impl Server {
    pub async fn open(
        world: World,
        settings: Settings,
        guard: Guard,
        notices: Notices,
    ) -> Result<Server, ServerError> {
        let identity = Identity::load(&world, settings.tls.clone()).await?;
        let config = identity
            .server(world.clock.clone())
            .map_err(|source| CertificateError::Unusable { files: settings.tls, source })?;
        let failed = |source| ServerError::Listen { address: settings.listen.clone(), source };
        let listener = Listener::open(&settings.listen).await.map_err(failed)?;
        let address = listener.address().map_err(failed)?;
        let shared = Arc::new(Shared {
            world,
            guard,
            notices,
            stopping: AtomicBool::new(false),
            held: AtomicUsize::new(0),
        });
        let connections = Connections::new(shared.world.clock.clone(), settings.max_connections);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Ok(Server { listener, address, acceptor, identity, connections, shared })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests until `asked_to_end` resolves, then finishes pending requests.
    pub async fn run(self, asked_to_end: impl Future<Output = ()>) -> Stopped {
        let Server { listener, acceptor, identity, connections: open, shared, .. } = self;
        let mut renewal = std::pin::pin!(identity.watch(shared.world.clone(), shared.notices.clone()));
        let mut asked = std::pin::pin!(asked_to_end);
        let (end, ending) = watch::channel(());
        let mut connections: JoinSet<()> = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = asked.as_mut() => break,
                () = renewal.as_mut() => {}
                Some(_) = connections.join_next() => {}
                accepted = async { open.room().await; listener.accept().await } => match accepted {
                    Ok(stream) => {
                        let (acceptor, shared, ending) = (acceptor.clone(), shared.clone(), ending.clone());
                        connections.spawn(serve(stream, open.open(), acceptor, shared, ending));
                    }
                    Err(_) => shared.world.clock.sleep(NO_SOCKETS).await,
                },
            }
        }
        shared.stopping.store(true, Ordering::Relaxed);
        shared.notice(Event::Stopping);
        drop((listener, end));
        let finished = async { while connections.join_next().await.is_some() {} };
        within(shared.world.clock.as_ref(), GRACE, finished).await;
        Stopped { cut: connections.len() }
    }
}

/// Serves one connection, from the handshake to its end.
async fn serve(
    stream: impl Stream,
    place: Connection,
    acceptor: TlsAcceptor,
    shared: Arc<Shared>,
    mut ending: watch::Receiver<()>,
) {
    let clock = shared.world.clock.clone();
    let deadline = Deadline::new(clock, FIRST_REQUEST);
    let stream = tokio::select! {
        shaken = acceptor.accept(stream) => match shaken {
            Ok(stream) => stream,
            // The handshake failed, so no response can be sent.
            Err(_) => return,
        },
        () = deadline.passed() => return,
        () = place.displaced() => return,
        _ = ending.changed() => return,
    };
    let service = service_fn(|request| {
        let (shared, deadline, place) = (shared.clone(), deadline.clone(), &place);
        async move {
            // The limits in `routes` apply during the request.
            deadline.extend(NEXT_REQUEST);
            let response = routes::respond(request, &shared, place).await;
            deadline.extend(NEXT_REQUEST);
            place.answered();
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEADER_BYTES);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        () = deadline.passed() => return,
        () = place.displaced() => return,
        _ = ending.changed() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = connection.as_mut() => {}
        () = deadline.passed() => {}
    }
}
