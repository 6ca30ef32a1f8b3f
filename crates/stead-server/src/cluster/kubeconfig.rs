//! kubeconfig files: the cluster and the user of a context. Unsupported settings are errors.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::access::ClusterError;
use super::yaml::documents;
use crate::json_error;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, expecting = "a map of contexts, clusters and users")]
pub(super) struct Kubeconfig {
    current_context: Option<String>,
    clusters: Option<Vec<NamedCluster>>,
    users: Option<Vec<NamedUser>>,
    contexts: Option<Vec<NamedContext>>,
}

#[derive(Clone, Debug, Deserialize)]
struct NamedCluster {
    name: String,
    cluster: Cluster,
}

#[derive(Clone, Debug, Deserialize)]
struct NamedUser {
    name: String,
    #[serde(default)]
    user: Option<User>,
}

#[derive(Clone, Debug, Deserialize)]
struct NamedContext {
    name: String,
    context: Context,
}

#[derive(Clone, Debug, Deserialize)]
struct Context {
    cluster: String,
    #[serde(default)]
    user: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Cluster {
    pub(super) server: String,
    pub(super) certificate_authority: Option<PathBuf>,
    pub(super) certificate_authority_data: Option<String>,
    pub(super) tls_server_name: Option<String>,
    insecure_skip_tls_verify: Option<bool>,
    proxy_url: Option<String>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct User {
    pub(super) client_certificate: Option<PathBuf>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key: Option<PathBuf>,
    pub(super) client_key_data: Option<String>,
    pub(super) token: Option<String>,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Option<PathBuf>,
    pub(super) exec: Option<Exec>,
    username: Option<String>,
    auth_provider: Option<serde_json::Value>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exec {
    pub(super) api_version: String,
    pub(super) command: String,
    #[serde(default)]
    pub(super) args: Option<Vec<String>>,
    #[serde(default)]
    pub(super) env: Option<Vec<Variable>>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
}

/// Prints nothing, because the fields hold secrets.
impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("User")
    }
}

impl Kubeconfig {
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Kubeconfig, ClusterError> {
        let bad = |reason: String| ClusterError::NotKubeconfig { path: path.to_owned(), reason };
        let text = std::str::from_utf8(bytes).map_err(|error| bad(error.to_string()))?;
        let Some(first) = documents(text).map_err(bad)?.into_iter().next() else {
            return Ok(Kubeconfig::default());
        };
        let mut config: Kubeconfig =
            serde_json::from_value(first).map_err(|error| bad(json_error::describe(&error)))?;
        config.resolve_paths(path.parent().unwrap_or(Path::new(".")));
        Ok(config)
    }

    /// Resolves paths relative to the file's folder.
    fn resolve_paths(&mut self, folder: &Path) {
        let clusters = self.clusters.iter_mut().flatten().map(|named| &mut named.cluster);
        let users = self.users.iter_mut().flatten().filter_map(|named| named.user.as_mut());
        let of_clusters = clusters.filter_map(|cluster| cluster.certificate_authority.as_mut());
        let of_users = users.flat_map(|user| {
            [&mut user.client_certificate, &mut user.client_key, &mut user.token_file].into_iter().flatten()
        });
        for path in of_clusters.chain(of_users) {
            *path = folder.join(&*path);
        }
    }

    /// Merges two files. Values of the earlier file win.
    pub(super) fn merge(self, later: Kubeconfig) -> Kubeconfig {
        fn both<T>(one: Option<Vec<T>>, other: Option<Vec<T>>) -> Option<Vec<T>> {
            Some(one.into_iter().flatten().chain(other.into_iter().flatten()).collect())
        }
        let given = |context: Option<String>| context.filter(|context| !context.is_empty());
        Kubeconfig {
            current_context: given(self.current_context).or(given(later.current_context)),
            clusters: both(self.clusters, later.clusters),
            users: both(self.users, later.users),
            contexts: both(self.contexts, later.contexts),
        }
    }

    /// Returns the cluster and the user of a context, or of the current context.
    pub(super) fn choose(self, context: Option<&str>) -> Result<(Cluster, User), ClusterError> {
        let current = self.current_context.filter(|context| !context.is_empty());
        let wanted = context.map(str::to_owned).or(current).ok_or_else(|| {
            ClusterError::Missing(
                "the kubeconfig has no current-context, and no context was given".to_owned(),
            )
        })?;
        let lacks =
            |what: &str, name: &str| ClusterError::Missing(format!("the kubeconfig has no {what} {name:?}"));
        let mut contexts = self.contexts.into_iter().flatten();
        let found = contexts.find(|named| named.name == wanted);
        let context = found.ok_or_else(|| lacks("context", &wanted))?.context;
        let mut clusters = self.clusters.into_iter().flatten();
        let found = clusters.find(|named| named.name == context.cluster);
        let cluster = found.ok_or_else(|| lacks("cluster", &context.cluster))?.cluster;
        let mut users = self.users.into_iter().flatten();
        let user = match users.find(|named| named.name == context.user) {
            Some(named) => named.user.unwrap_or_default(),
            None if context.user.is_empty() => User::default(),
            None => return Err(lacks("user", &context.user)),
        };
        cluster.check()?;
        user.check()?;
        Ok((cluster, user))
    }
}

fn refuse<T>(given: Option<T>, what: &str, instead: &str) -> Result<(), ClusterError> {
    match given {
        Some(_) => Err(ClusterError::Unsupported(format!("{what} is not supported: {instead}"))),
        None => Ok(()),
    }
}

impl Cluster {
    fn check(&self) -> Result<(), ClusterError> {
        let skips = self.insecure_skip_tls_verify.filter(|skips| *skips);
        refuse(skips, "insecure-skip-tls-verify", "give the cluster's certificate-authority")?;
        refuse(self.proxy_url.as_ref(), "proxy-url", "the API server must be reachable directly")
    }
}

impl User {
    fn check(&self) -> Result<(), ClusterError> {
        let instead = "use a token, a tokenFile, a client certificate or an exec plugin";
        refuse(self.username.as_ref(), "a user name with a password", instead)?;
        refuse(self.auth_provider.as_ref(), "auth-provider", instead)
    }
}
