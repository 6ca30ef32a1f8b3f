//! The admission webhook, served over TLS.
//!
//! **Invariants:** only `net.rs` opens sockets; files, time and processes come from a `World`. A deletion that cannot be
//! judged is refused with the reason. The webhook never changes the cluster.

pub mod admission;
mod cluster;
mod deadline;
mod event;
mod http;
mod json_error;
mod loopback;
mod net;
mod tls;

pub use admission::manifests::{BadManifest, Manifests, Part, manifests};
pub use cluster::{Access, ApiServer, ClusterError, InCluster};
pub use event::{Decision, Event, Notices};
pub use http::{MAX_CONNECTIONS, Server, ServerError, Settings, Stopped};
pub use loopback::LoopbackServer;
pub use tls::{CertificateError, TlsFiles};
