//! GET requests to the API server over TLS. Follows no redirects, and retries only if a pooled connection was stale.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, AUTHORIZATION, HOST, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use stead_world::World;
use thiserror::Error;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::credentials::Credentials;
use crate::net;

/// Maximum size of a response.
const MAX_BYTES: usize = 32 << 20;

/// Maximum number of pooled connections.
const MAX_IDLE: usize = 8;

/// Address of the API server.
pub(super) struct Endpoint {
    pub(super) host: String,
    pub(super) port: u16,
    /// Path before `/api`, without a trailing slash.
    pub(super) prefix: String,
    /// Name that its certificate must have.
    pub(super) name: ServerName<'static>,
}

/// API server of the cluster.
pub struct ApiServer {
    world: World,
    endpoint: Endpoint,
    tls: TlsConnector,
    credentials: Credentials,
    idle: Mutex<Vec<Connection>>,
}

type Connection = SendRequest<Empty<Bytes>>;

/// Failure of a request.
#[derive(Debug, Error)]
pub(crate) enum LookUpError {
    #[error("no credentials for the API server: {0}")]
    Credentials(String),
    #[error("cannot connect to the API server at {host}:{port}: {source}")]
    Connect { host: String, port: u16, source: io::Error },
    #[error("the connection to the API server was cut off: {0}")]
    Exchange(String),
    #[error("the API server answered {path} with {status}: {message}")]
    Status { path: String, status: u16, message: String },
    #[error("the API server's response to {path} is malformed: {reason}")]
    Malformed { path: String, reason: String },
}

#[derive(Deserialize)]
struct StatusBody {
    message: Option<String>,
}

impl ApiServer {
    pub(super) fn new(
        world: World,
        endpoint: Endpoint,
        tls: ClientConfig,
        credentials: Credentials,
    ) -> ApiServer {
        let tls = TlsConnector::from(Arc::new(tls));
        ApiServer { world, endpoint, tls, credentials, idle: Mutex::new(Vec::new()) }
    }

    pub(super) async fn get(&self, path: &str, accept: &str) -> Result<Bytes, LookUpError> {
        let (status, body) = self.exchange(path, accept).await?;
        if status == StatusCode::OK {
            return Ok(body);
        }
        let message = serde_json::from_slice(&body).ok().and_then(|body: StatusBody| body.message);
        let message = message.unwrap_or_else(|| "no message".to_owned());
        Err(LookUpError::Status { path: path.to_owned(), status: status.as_u16(), message })
    }

    async fn exchange(&self, path: &str, accept: &str) -> Result<(StatusCode, Bytes), LookUpError> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(connection) = kept {
            let asked = self.ask(connection, path, accept).await;
            // A pooled connection that was closed while idle says nothing about the server.
            if !matches!(asked, Err(LookUpError::Exchange(_))) {
                return asked;
            }
        }
        let connection = self.connect().await?;
        self.ask(connection, path, accept).await
    }

    async fn connect(&self) -> Result<Connection, LookUpError> {
        let Endpoint { host, port, name, .. } = &self.endpoint;
        let failed = |source| LookUpError::Connect { host: host.clone(), port: *port, source };
        let stream = net::connect(host, *port).await.map_err(failed)?;
        let stream = self.tls.connect(name.clone(), stream).await.map_err(failed)?;
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| LookUpError::Exchange(chain(&error)))?;
        // Ends when the sender is dropped or the server closes; errors reach the requests.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(sender)
    }

    async fn ask(
        &self,
        mut connection: Connection,
        path: &str,
        accept: &str,
    ) -> Result<(StatusCode, Bytes), LookUpError> {
        let broke = |error: hyper::Error| LookUpError::Exchange(chain(&error));
        connection.ready().await.map_err(broke)?;
        let request = self.request(path, accept).await?;
        let response = connection.send_request(request).await.map_err(broke)?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
        let body = body.map_err(|error| LookUpError::Exchange(chain(error.as_ref())))?.to_bytes();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if !connection.is_closed() && idle.len() < MAX_IDLE {
            idle.push(connection);
        }
        Ok((status, body))
    }

    async fn request(&self, path: &str, accept: &str) -> Result<Request<Empty<Bytes>>, LookUpError> {
        let Endpoint { host, port, prefix, .. } = &self.endpoint;
        let host = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let mut request = Request::get(format!("{prefix}{path}"))
            .header(HOST, host)
            .header(ACCEPT, accept)
            .header(USER_AGENT, concat!("stead/", env!("CARGO_PKG_VERSION")));
        if let Some(header) = self.credentials.header(&self.world).await.map_err(LookUpError::Credentials)? {
            request = request.header(AUTHORIZATION, header);
        }
        request
            .body(Empty::new())
            .map_err(|error| LookUpError::Malformed { path: path.to_owned(), reason: error.to_string() })
    }
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
