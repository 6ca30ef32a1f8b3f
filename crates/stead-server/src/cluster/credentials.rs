//! Credentials for the API server. Secrets are only used in the `Authorization` header and are never printed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hyper::header::HeaderValue;
use serde::Deserialize;
use stead_world::{ShellCommand, World};

use super::access::ClusterError;
use super::kubeconfig::Exec;

/// Text that `Debug` does not print.
#[derive(Clone)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new(text: String) -> Secret {
        Secret(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

pub(super) enum Credentials {
    /// No header; a client certificate may authenticate the connection.
    None,
    Token(Secret),
    /// Read for each request, because Kubernetes renews the token every hour.
    TokenFile(PathBuf),
    Exec(ExecPlugin),
}

impl Credentials {
    /// Returns the `Authorization` header, or the reason why there is none.
    pub(super) async fn header(&self, world: &World) -> Result<Option<HeaderValue>, String> {
        let token = match self {
            Credentials::None => return Ok(None),
            Credentials::Token(token) => token.clone(),
            Credentials::TokenFile(path) => {
                let owned = path.clone();
                let read = world.with_files(move |files| files.read(&owned)).await;
                let bytes = read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                let text = String::from_utf8(bytes).map_err(|_| format!("{} is not text", path.display()))?;
                Secret(text.trim().to_owned())
            }
            Credentials::Exec(plugin) => plugin.token(world).await?,
        };
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.0))
            .map_err(|_| "the token is not valid in a header".to_owned())?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

/// Time for which a plugin's token is reused. Tokens are valid for much longer.
const KEEP: Duration = Duration::from_secs(60);

/// Program that prints an `ExecCredential`, such as `aws eks get-token`.
pub(super) struct ExecPlugin {
    exec: Exec,
    kept: Mutex<Option<(Secret, Duration)>>,
}

#[derive(Deserialize)]
struct ExecCredential {
    status: Option<ExecStatus>,
}

#[derive(Deserialize)]
struct ExecStatus {
    token: Option<String>,
}

impl ExecPlugin {
    pub(super) fn new(exec: Exec) -> Result<ExecPlugin, ClusterError> {
        let known = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
        if known.contains(&exec.api_version.as_str()) {
            return Ok(ExecPlugin { exec, kept: Mutex::new(None) });
        }
        let version = &exec.api_version;
        Err(ClusterError::Unsupported(format!(
            "an exec plugin of {version:?} is not supported: use {}",
            known[0]
        )))
    }

    async fn token(&self, world: &World) -> Result<Secret, String> {
        let now = world.clock.monotonic();
        if let Some((token, until)) = &*self.kept.lock().unwrap_or_else(PoisonError::into_inner)
            && now < *until
        {
            return Ok(token.clone());
        }
        let token = self.run(world).await?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((token.clone(), now + KEEP));
        Ok(token)
    }

    async fn run(&self, world: &World) -> Result<Secret, String> {
        let Exec { api_version, command, args, env } = &self.exec;
        let words = std::iter::once(command).chain(args.iter().flatten());
        let line = words.map(|word| ShellCommand::word(word)).collect::<Vec<_>>().join(" ");
        let info = serde_json::json!({
            "apiVersion": api_version, "kind": "ExecCredential", "spec": { "interactive": false },
        });
        let mut environment: BTreeMap<String, String> =
            env.iter().flatten().map(|variable| (variable.name.clone(), variable.value.clone())).collect();
        environment.insert("KUBERNETES_EXEC_INFO".to_owned(), info.to_string());
        let shell = ShellCommand { line, folder: PathBuf::from("."), environment };
        let done =
            world.processes.run(shell).await.map_err(|error| format!("cannot run {command}: {error}"))?;
        if done.end != stead_world::ProcessEnd::Exited(0) {
            let why = String::from_utf8_lossy(done.stderr.last());
            return Err(format!("{command} failed: {}", why.lines().last().unwrap_or("no output")));
        }
        let credential: ExecCredential = serde_json::from_slice(done.stdout.first())
            .map_err(|_| format!("{command} printed no ExecCredential"))?;
        let token = credential.status.and_then(|status| status.token).filter(|token| !token.is_empty());
        token
            .map(Secret)
            .ok_or_else(|| format!("{command} gave no token, and other credentials are not supported"))
    }
}
