//! Worlds and an HTTP server for tests.
//!
//! The server listens on a loopback port, answers with a function, and stops when it is dropped. It speaks HTTP by hand on
//! plain threads, so that it shares no code with the client that it tests.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;

use crate::{Clock, Headers, Host, RealHttp, Timestamp, Variables, World};

/// Waits of this length and longer are limits; on a [`FastClock`] they never end.
const LIMIT: Duration = Duration::from_secs(60);

/// A clock that moves only when a task sleeps, and does not wait. Its clones are the same clock.
#[derive(Clone)]
pub struct FastClock(Arc<AtomicU64>);

impl FastClock {
    pub fn at(time: Timestamp) -> FastClock {
        FastClock(Arc::new(AtomicU64::new(time.0)))
    }

    pub fn advance(&self, duration: Duration) {
        self.0.fetch_add(duration.as_millis() as u64, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        if duration >= LIMIT {
            return std::future::pending().await;
        }
        self.advance(duration);
        tokio::task::yield_now().await;
    }
}

/// Returns the world of this machine with another clock, environment and home folder.
pub fn world(clock: &FastClock, variables: &[(&str, &str)], home: Option<&Path>) -> World {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let variables: Variables = variables.collect();
    let http = Arc::new(RealHttp::new(&variables));
    let host = Host { home: home.map(Path::to_owned), variables, ..Host::this() };
    World { clock: Arc::new(clock.clone()), http, host: Arc::new(host), ..World::real() }
}

/// A request as the server received it.
#[derive(Clone)]
pub struct Received {
    pub method: String,
    /// Path and query.
    pub path: String,
    pub headers: Headers,
    pub body: Vec<u8>,
    /// Number of the connection, in order of arrival.
    pub connection: usize,
}

/// The server's reaction to a request.
#[derive(Clone)]
pub enum Reply {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    /// Answers, and closes the connection without saying so.
    AnswerAndClose(u16),
    /// Closes the connection without an answer.
    Close,
    /// Sends the head of an answer and a part of its body, and closes the connection.
    Break,
    /// Sends nothing, and keeps the connection open.
    Silence,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Reply {
        Reply::Answer { status, headers: Vec::new(), body: body.into() }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Reply {
        if let Reply::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.into()));
        }
        self
    }
}

type Handler = dyn Fn(&Received) -> Reply + Send + Sync;

/// A server on a loopback port.
pub struct FakeServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Received>>>,
    stopped: Arc<AtomicBool>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl FakeServer {
    /// Starts a server that answers each request with the function.
    pub fn start(handler: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> io::Result<FakeServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stopped = Arc::new(AtomicBool::new(false));
        let (all, stop, handler) =
            (seen.clone(), stopped.clone(), Arc::<Handler>::from(Box::new(handler) as Box<Handler>));
        let accepting = std::thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (handler, all, stop) = (handler.clone(), all.clone(), stop.clone());
                let Ok(stream) = stream else { continue };
                std::thread::spawn(move || serve(&stream, connection, &*handler, &all, &stop));
            }
        });
        Ok(FakeServer { address, seen, stopped, accepting: Mutex::new(Some(accepting)) })
    }

    /// Returns the URL of the server, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns all requests so far.
    pub fn seen(&self) -> Vec<Received> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops the server: connections are closed at their next request, and new ones are refused.
    pub fn stop(&self) {
        if !self.stopped.swap(true, Ordering::SeqCst) {
            // Wakes the thread that accepts, which then closes the port.
            let _ = TcpStream::connect(self.address);
            let accepting = self.accepting.lock().unwrap_or_else(PoisonError::into_inner).take();
            let _ = accepting.map(JoinHandle::join);
        }
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(
    stream: &TcpStream,
    connection: usize,
    handler: &Handler,
    seen: &Mutex<Vec<Received>>,
    stopped: &AtomicBool,
) {
    let _ = stream.set_nodelay(true);
    let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
    let mut reader = BufReader::new(stream);
    while let Ok(Some(request)) = receive(&mut reader, connection) {
        if stopped.load(Ordering::SeqCst) {
            return;
        }
        let reply = handler(&request);
        let head_only = request.method == "HEAD";
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let kept = match reply {
            Reply::Answer { status, headers, body } => {
                send(stream, status, &headers, if head_only { &[] } else { &body }, body.len()).is_ok()
            }
            Reply::AnswerAndClose(status) => {
                let _ = send(stream, status, &[], b"", 0);
                false
            }
            Reply::Break => {
                let _ = send(stream, 200, &[], b"{\"hal", 1000);
                false
            }
            Reply::Close => false,
            Reply::Silence => {
                std::thread::sleep(Duration::from_secs(30));
                false
            }
        };
        if !kept {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

fn receive(reader: &mut BufReader<&TcpStream>, connection: usize) -> io::Result<Option<Received>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (method, path) = (method.to_owned(), path.to_owned());
    let mut headers = Headers::default();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.add(name.trim(), value.trim());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Received { method, path, headers, body, connection }))
}

fn send(
    mut stream: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
    length: usize,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Status\r\ncontent-length: {length}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), body].concat())
}
