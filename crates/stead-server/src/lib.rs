//! What stead serves to others over TLS: the admission webhook.
//!
//! **Invariants:** sockets are opened in `net.rs` alone; files, time and processes come from a `World`. A deletion
//! that cannot be judged, for whatever reason, is refused with that reason. Nothing in a cluster is ever changed.

pub mod admission;
mod cluster;
mod event;
mod form;
mod http;
mod net;
mod patience;
mod tls;

pub use admission::manifests::{BadManifest, Manifests, Part, manifests};
pub use cluster::{Access, ApiServer, ClusterError, InCluster};
pub use event::{Decision, Event, Notices};
pub use http::{Server, ServerError, Settings, Stopped};
pub use tls::{CertificateError, TlsFiles};
