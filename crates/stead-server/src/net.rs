//! Sockets. The only file of this crate that opens them; TLS, limits and timeouts are added elsewhere.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this file opens the sockets of the crate"
)]

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// Stream of bytes to a peer.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for T {}

pub(crate) struct Listener(TcpListener);

impl Listener {
    /// Listens on `HOST:PORT`; port 0 takes any free port.
    pub(crate) async fn open(address: &str) -> io::Result<Listener> {
        TcpListener::bind(address).await.map(Listener)
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub(crate) async fn accept(&self) -> io::Result<impl Stream + use<>> {
        let (stream, _) = self.0.accept().await?;
        // Responses are small and latency counts.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

pub(crate) async fn connect(host: &str, port: u16) -> io::Result<impl Stream + use<>> {
    let stream = TcpStream::connect((host, port)).await?;
    let _ = stream.set_nodelay(true);
    Ok(stream)
}
