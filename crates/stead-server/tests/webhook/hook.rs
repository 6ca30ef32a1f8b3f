//! A running webhook, and a client for it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use stead_server::admission::{Groups, Guard, PreventDelete};
use stead_server::{
    Access, ApiServer as Cluster, Event, MAX_CONNECTIONS, Server, Settings, Stopped, TlsFiles,
};
use stead_world::World;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_rustls::client::TlsStream;

use crate::api_server::ApiServer;
use crate::authority::Authority;
use crate::clock::HandClock;

pub(crate) struct Hook {
    pub(crate) authority: Arc<Authority>,
    pub(crate) api: ApiServer,
    pub(crate) clock: HandClock,
    pub(crate) events: mpsc::UnboundedReceiver<Event>,
    pub(crate) address: SocketAddr,
    pub(crate) folder: tempfile::TempDir,
    end: Option<oneshot::Sender<()>>,
    running: JoinHandle<Stopped>,
}

/// Response of the webhook.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Reply {
    /// Returns the response inside a well-formed review.
    pub(crate) fn review(&self) -> Value {
        let review: Value = serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"));
        assert_eq!(
            (&review["kind"], &review["apiVersion"]),
            (&"AdmissionReview".into(), &"admission.k8s.io/v1".into())
        );
        review["response"].clone()
    }
}

pub(crate) fn recorded_review(name: &str) -> String {
    let path = format!("{}/tests/reviews/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

pub(crate) fn message(response: &Value) -> &str {
    response["status"]["message"].as_str().unwrap_or_default()
}

impl Hook {
    pub(crate) async fn start() -> Hook {
        Hook::with(PreventDelete::AsMarked).await
    }

    pub(crate) async fn with(prevent_delete: PreventDelete) -> Hook {
        Hook::made(prevent_delete, MAX_CONNECTIONS).await
    }

    /// Starts a webhook with at most this many connections.
    pub(crate) async fn limited_to(max_connections: usize) -> Hook {
        Hook::made(PreventDelete::AsMarked, max_connections).await
    }

    async fn made(prevent_delete: PreventDelete, max_connections: usize) -> Hook {
        let authority = Arc::new(Authority::new());
        let api = ApiServer::start(&authority).await;
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let issued = authority.issue("127.0.0.1");
        write("tls.crt", &issued.certificate);
        write("tls.key", &issued.key);
        write("ca.crt", &authority.pem());
        write("token", "canary-token\n");
        write("config", &kubeconfig(api.address));
        let access = Access::Kubeconfig { files: vec![folder.path().join("config")], context: None };
        Hook::run(authority, api, folder, &access, (prevent_delete, max_connections)).await
    }

    /// Starts another webhook with the same certificate and another kubeconfig.
    pub(crate) async fn again(&self, kubeconfig: &Path) -> Hook {
        self.again_by(&Access::Kubeconfig { files: vec![kubeconfig.to_owned()], context: None }).await
    }

    /// Starts another webhook with the same certificate and another access to the API server.
    pub(crate) async fn again_by(&self, access: &Access) -> Hook {
        let folder = tempfile::tempdir().unwrap();
        for file in ["tls.crt", "tls.key"] {
            std::fs::copy(self.folder.path().join(file), folder.path().join(file)).unwrap();
        }
        let authority = self.authority.clone();
        let unused = ApiServer::start(&authority).await;
        Hook::run(authority, unused, folder, access, (PreventDelete::AsMarked, MAX_CONNECTIONS)).await
    }

    async fn run(
        authority: Arc<Authority>,
        api: ApiServer,
        folder: tempfile::TempDir,
        access: &Access,
        (prevent_delete, max_connections): (PreventDelete, usize),
    ) -> Hook {
        let clock = HandClock::new();
        let world = World { clock: Arc::new(clock.clone()), ..World::real() };
        let guard = Guard {
            groups: Groups::default(),
            prevent_delete,
            cluster: Cluster::open(&world, access).await.unwrap(),
            clock: world.clock.clone(),
        };
        let tls = TlsFiles { certificate: folder.path().join("tls.crt"), key: folder.path().join("tls.key") };
        let settings = Settings { listen: "127.0.0.1:0".to_owned(), tls, max_connections };
        let (notices, events) = mpsc::unbounded_channel();
        let server = Server::open(world, settings, guard, notices).await.unwrap();
        let address = server.address();
        let (end, ending) = oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async move {
            let _ = ending.await;
        }));
        Hook { authority, api, clock, events, address, folder, end: Some(end), running }
    }

    pub(crate) async fn stream(&self) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = "127.0.0.1".try_into().unwrap();
        self.authority.connector().connect(name, stream).await.unwrap()
    }

    pub(crate) async fn client(&self) -> Client {
        let (sender, connection) = handshake(TokioIo::new(self.stream().await)).await.unwrap();
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Client(sender)
    }

    /// Sends a recorded review over a new connection and returns the response inside the answer.
    pub(crate) async fn asks(&self, name: &str) -> Value {
        self.client().await.asks(name).await
    }

    pub(crate) fn asks_to_end(&mut self) {
        self.end.take().unwrap().send(()).unwrap();
    }

    pub(crate) async fn ended(self) -> Stopped {
        self.running.await.unwrap()
    }
}

fn kubeconfig(api: SocketAddr) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         clusters:\n- name: here\n  cluster:\n    server: https://{api}\n    certificate-authority: ca.crt\n\
         users:\n- name: stead\n  user:\n    tokenFile: token\n\
         contexts:\n- name: here\n  context:\n    cluster: here\n    user: stead\n"
    )
}

/// One connection to the webhook.
pub(crate) struct Client(SendRequest<Full<Bytes>>);

impl Client {
    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> Reply {
        self.0.ready().await.unwrap();
        let response = self.0.send_request(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Reply { status, body: String::from_utf8(body.to_vec()).unwrap() }
    }

    pub(crate) async fn posts(&mut self, body: impl Into<Bytes>) -> Reply {
        let request = Request::post("/validate?timeout=10s")
            .header("host", "stead-admission.stead-system.svc")
            .header("content-type", "application/json");
        self.send(request.body(Full::new(body.into())).unwrap()).await
    }

    pub(crate) async fn asks(&mut self, name: &str) -> Value {
        let reply = self.posts(recorded_review(name)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let asked: Value = serde_json::from_str(&recorded_review(name)).unwrap();
        let response = reply.review();
        assert_eq!(response["uid"], asked["request"]["uid"]);
        response
    }
}
