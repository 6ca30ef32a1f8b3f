//! Sockets. The one file of this crate that opens them; TLS, limits and time-outs are laid on top elsewhere.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// A stream of bytes to somebody else.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for T {}

pub(crate) struct Listener(TcpListener);

impl Listener {
    /// `HOST:PORT`; port 0 takes any that is free.
    pub(crate) async fn open(address: &str) -> io::Result<Listener> {
        TcpListener::bind(address).await.map(Listener)
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub(crate) async fn accept(&self) -> io::Result<impl Stream + use<>> {
        let (stream, _) = self.0.accept().await?;
        // An answer is small and somebody waits for it.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

pub(crate) async fn connect(host: &str, port: u16) -> io::Result<impl Stream + use<>> {
    let stream = TcpStream::connect((host, port)).await?;
    let _ = stream.set_nodelay(true);
    Ok(stream)
}
