//! The server: accepts, shakes hands, answers, and ends without cutting anybody off.
//!
//! **Invariants:** nobody can make it wait longer, hold more or keep more connections than the limits here say.

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
use crate::event::{Event, Notices};
use crate::net::{Listener, Stream};
use crate::patience::{Patience, within};
use crate::tls::{CertificateError, Identity, TlsFiles};

/// From the first byte to the end of the first request's headers.
const FIRST_REQUEST: Duration = Duration::from_secs(10);

/// Between two requests. API servers keep a connection for 90 seconds, and must not find it closed under them.
const NEXT_REQUEST: Duration = Duration::from_secs(120);

/// How long answers that are under way may still take when the server ends.
const GRACE: Duration = Duration::from_secs(10);

/// When the system has no sockets left, there is no use in trying at once.
const NO_SOCKETS: Duration = Duration::from_millis(200);

const MOST_CONNECTIONS: usize = 512;
const MOST_HEADER_BYTES: usize = 64 << 10;

#[derive(Clone, Debug)]
pub struct Settings {
    /// `HOST:PORT`; port 0 takes any that is free.
    pub listen: String,
    pub tls: TlsFiles,
}

#[derive(Debug, Error)]
pub enum ServerError {
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: String, source: io::Error },
}

/// How the server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Connections that did not finish in time.
    pub cut: usize,
}

/// A server that has its socket and its certificate, and has not answered anybody yet.
pub struct Server {
    listener: Listener,
    address: SocketAddr,
    acceptor: TlsAcceptor,
    identity: Identity,
    shared: Arc<Shared>,
}

/// What every connection needs.
struct Shared {
    world: World,
    guard: Guard,
    notices: Notices,
    stopping: AtomicBool,
    /// Bytes of all bodies that are being read or judged.
    held: AtomicUsize,
}

impl Shared {
    fn notice(&self, event: Event) {
        // Nobody listens while the process ends.
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
        Ok(Server { listener, address, acceptor: TlsAcceptor::from(Arc::new(config)), identity, shared })
    }

    /// Where it can be reached.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until it is asked to end; then what is under way is finished.
    pub async fn run(self, asked_to_end: impl Future<Output = ()>) -> Stopped {
        let Server { listener, acceptor, identity, shared, .. } = self;
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
                accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => match accepted {
                    Ok(stream) => {
                        let (acceptor, shared, ending) = (acceptor.clone(), shared.clone(), ending.clone());
                        connections.spawn(serve(stream, acceptor, shared, ending));
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

/// One connection, from the handshake to its end.
async fn serve(
    stream: impl Stream,
    acceptor: TlsAcceptor,
    shared: Arc<Shared>,
    mut ending: watch::Receiver<()>,
) {
    let clock = shared.world.clock.clone();
    let patience = Patience::new(clock, FIRST_REQUEST);
    let stream = tokio::select! {
        shaken = acceptor.accept(stream) => match shaken {
            Ok(stream) => stream,
            // Not our kind of client: there is nobody to tell.
            Err(_) => return,
        },
        () = patience.exhausted() => return,
        _ = ending.changed() => return,
    };
    let service = service_fn(|request| {
        let (shared, patience) = (shared.clone(), patience.clone());
        async move {
            // The request's own limits hold from here; see `routes`.
            patience.renew(NEXT_REQUEST);
            let response = routes::respond(request, &shared).await;
            patience.renew(NEXT_REQUEST);
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MOST_HEADER_BYTES);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        () = patience.exhausted() => return,
        _ = ending.changed() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = connection.as_mut() => {}
        () = patience.exhausted() => {}
    }
}
