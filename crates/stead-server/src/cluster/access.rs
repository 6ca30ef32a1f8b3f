//! Address and credentials of the API server, from a kubeconfig or from the pod's service account.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use stead_world::World;
use thiserror::Error;

use super::client::{ApiServer, Endpoint};
use super::credentials::{Credentials, ExecPlugin, Secret};
use super::kubeconfig::{Cluster, Kubeconfig, User};
use crate::tls::{self, ClientIdentity};

/// Source of the API server's address and credentials.
#[derive(Clone, Debug)]
pub enum Access {
    /// The first file with a value wins.
    Kubeconfig {
        files: Vec<PathBuf>,
        context: Option<String>,
    },
    InCluster(InCluster),
}

/// Service account of a pod.
#[derive(Clone, Debug)]
pub struct InCluster {
    /// Value of `KUBERNETES_SERVICE_HOST`.
    pub host: String,
    /// Value of `KUBERNETES_SERVICE_PORT`.
    pub port: String,
    /// Folder with `token` and `ca.crt`.
    pub folder: PathBuf,
}

impl InCluster {
    /// Folder in which Kubernetes mounts the service account.
    pub const FOLDER: &'static str = "/var/run/secrets/kubernetes.io/serviceaccount";
}

#[derive(Debug, Error)]
pub enum ClusterError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not a kubeconfig: {reason}", path.display())]
    NotKubeconfig { path: PathBuf, reason: String },
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Unsupported(String),
    #[error("the API server's address {server:?} cannot be used: {reason}")]
    BadServer { server: String, reason: String },
    #[error("TLS with the API server cannot be set up: {0}")]
    Tls(String),
}

impl ApiServer {
    /// Reads the configuration. Sends no request yet.
    pub async fn open(world: &World, access: &Access) -> Result<ApiServer, ClusterError> {
        match access {
            Access::Kubeconfig { files, context } => {
                let mut merged = Kubeconfig::default();
                for path in files {
                    merged = merged.merge(Kubeconfig::parse(path, &read(world, path).await?)?);
                }
                let (cluster, user) = merged.choose(context.as_deref())?;
                from_kubeconfig(world, cluster, user).await
            }
            Access::InCluster(InCluster { host, port, folder }) => {
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                let endpoint = endpoint(&format!("https://{host}:{port}"), None)?;
                let ca = read(world, &folder.join("ca.crt")).await?;
                let token = folder.join("token");
                read(world, &token).await?;
                let tls = tls::client(world.clock.clone(), &ca, None).map_err(ClusterError::Tls)?;
                Ok(ApiServer::new(world.clone(), endpoint, tls, Credentials::TokenFile(token)))
            }
        }
    }
}

async fn from_kubeconfig(world: &World, cluster: Cluster, user: User) -> Result<ApiServer, ClusterError> {
    let endpoint = endpoint(&cluster.server, cluster.tls_server_name.as_deref())?;
    let given = (cluster.certificate_authority_data, cluster.certificate_authority);
    let ca = data_or_file(world, "certificate-authority", given).await?.ok_or_else(|| {
        ClusterError::Missing("the cluster has no certificate-authority in the kubeconfig".to_owned())
    })?;
    let given = (user.client_certificate_data, user.client_certificate);
    let certificate = data_or_file(world, "client-certificate", given).await?;
    let key = data_or_file(world, "client-key", (user.client_key_data, user.client_key)).await?;
    let own = match (certificate, key) {
        (Some(certificate), Some(key)) => Some(ClientIdentity { certificate, key }),
        (None, None) => None,
        _ => {
            return Err(ClusterError::Missing(
                "the user has a client certificate without its key, or a key without its certificate"
                    .to_owned(),
            ));
        }
    };
    let credentials = match (user.token_file, user.token, user.exec) {
        (Some(file), _, _) => Credentials::TokenFile(file),
        (None, Some(token), _) => Credentials::Token(Secret::new(token)),
        (None, None, Some(exec)) => Credentials::Exec(ExecPlugin::new(exec)?),
        (None, None, None) => Credentials::None,
    };
    let tls = tls::client(world.clock.clone(), &ca, own).map_err(ClusterError::Tls)?;
    Ok(ApiServer::new(world.clone(), endpoint, tls, credentials))
}

fn endpoint(server: &str, tls_name: Option<&str>) -> Result<Endpoint, ClusterError> {
    let bad = |reason: &str| ClusterError::BadServer { server: server.to_owned(), reason: reason.to_owned() };
    let uri: Uri = server.parse().map_err(|_| bad("it is not a URL"))?;
    if uri.scheme_str() != Some("https") {
        return Err(bad("it must begin with https://, because other answers could be forged"));
    }
    let host = uri.host().ok_or_else(|| bad("it has no host"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = tls_name.filter(|name| !name.is_empty()).unwrap_or(&host).to_owned();
    let name = name.try_into().map_err(|_| bad("its host is not a valid name in a certificate"))?;
    let prefix = uri.path().trim_end_matches('/').to_owned();
    Ok(Endpoint { host, port: uri.port_u16().unwrap_or(443), prefix, name })
}

/// Returns inline data, else the content of the file; inline data takes precedence, as in kubectl.
async fn data_or_file(
    world: &World,
    what: &str,
    (data, file): (Option<String>, Option<PathBuf>),
) -> Result<Option<Vec<u8>>, ClusterError> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let decoded = STANDARD.decode(data.trim().as_bytes());
        return decoded
            .map(Some)
            .map_err(|_| ClusterError::Missing(format!("{what}-data in the kubeconfig is not base64")));
    }
    match file {
        Some(path) => read(world, &path).await.map(Some),
        None => Ok(None),
    }
}

async fn read(world: &World, path: &Path) -> Result<Vec<u8>, ClusterError> {
    let owned = path.to_owned();
    let read = world.with_files(move |files| files.read(&owned)).await;
    read.map_err(|source| ClusterError::Unreadable { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
