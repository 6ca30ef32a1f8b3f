//! Sockets to servers: the only file of this crate that opens them. An error here means that nothing was sent.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::proxy::Proxy;
use super::target::Target;

/// Limit on name look-up, connection, tunnel and TLS together. A request with a shorter limit ends earlier.
const CONNECT: Duration = Duration::from_secs(10);

/// Maximum size of a proxy's answer to `CONNECT`.
const MAX_ANSWER: usize = 16 << 10;

/// Stream of bytes to a server.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// Opens a connection to a server, through a proxy and with TLS as asked.
pub(super) async fn open(
    target: &Target,
    proxy: Option<&Result<Proxy, String>>,
    tls: Option<Arc<ClientConfig>>,
) -> Result<Box<dyn Stream>, String> {
    let opened = tokio::time::timeout(CONNECT, async {
        let stream = match proxy {
            None => connect(&target.host, target.port).await?,
            Some(proxy) => tunnel(proxy.as_ref().map_err(String::clone)?, target).await?,
        };
        match tls {
            None => Ok(Box::new(stream) as Box<dyn Stream>),
            Some(client) => secure(stream, &target.host, client).await,
        }
    });
    opened.await.unwrap_or_else(|_| Err(format!("no connection after {} s", CONNECT.as_secs())))
}

async fn connect(host: &str, port: u16) -> Result<TcpStream, String> {
    let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
    // Requests are small and latency counts.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

async fn secure(stream: TcpStream, host: &str, client: Arc<ClientConfig>) -> Result<Box<dyn Stream>, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
    let secured = TlsConnector::from(client).connect(name, stream).await;
    Ok(Box::new(secured.map_err(|error| format!("no TLS: {error}"))?))
}

/// Asks the proxy for a tunnel to the server.
async fn tunnel(proxy: &Proxy, target: &Target) -> Result<TcpStream, String> {
    let Proxy { host, port, credentials } = proxy;
    let mut stream = connect(host, *port).await.map_err(|reason| format!("proxy {host}:{port}: {reason}"))?;
    let server = match target.host.contains(':') {
        true => format!("[{}]:{}", target.host, target.port),
        false => format!("{}:{}", target.host, target.port),
    };
    let mut request = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n");
    if let Some(credentials) = credentials {
        request.push_str(&format!("Proxy-Authorization: {credentials}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| format!("proxy {host}:{port}: {error}"))?;
    let answer = answer(&mut stream).await.map_err(|reason| format!("proxy {host}:{port}: {reason}"))?;
    let status = answer.split(' ').nth(1).unwrap_or_default();
    if status.starts_with('2') {
        return Ok(stream);
    }
    let line = answer.lines().next().unwrap_or_default();
    Err(format!("proxy {host}:{port} refused a tunnel: {line}"))
}

/// Reads the head of the proxy's answer, and not a byte more: the next bytes belong to the server.
async fn answer(stream: &mut TcpStream) -> Result<String, String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_ANSWER {
            return Err("its answer is too long".to_owned());
        }
        head.push(stream.read_u8().await.map_err(|error| error.to_string())?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
