//! Read-only client of the Kubernetes API server.
//!
//! Stead has its own client for a few GET requests: no watch, no cache, no writes.

mod access;
mod client;
mod credentials;
mod kubeconfig;
mod queries;
pub(crate) mod yaml;

pub use access::{Access, ClusterError, InCluster};
pub use client::ApiServer;
pub(crate) use client::LookUpError;
pub(crate) use queries::ResourceType;
