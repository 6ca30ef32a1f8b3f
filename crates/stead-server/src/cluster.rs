//! The API server that is asked about namespaces: where it is, who we are to it, and what it is asked.
//!
//! A client of its own, for a handful of GETs: no watch, no cache, nothing that writes.

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
