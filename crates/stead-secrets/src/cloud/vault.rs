//! The transit engine of Vault and OpenBao: `encrypt` and `decrypt`.
//!
//! Owner and key id are the associated data, and the context of derived keys. Servers before associated data ignore it, so the
//! digest of both is wrapped beside the key too.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use stead_world::{HttpRequest, HttpResponse, World};
use zeroize::Zeroizing;

use super::bound::{self, Opened, context_bytes};
use super::failure::{Act, Failures};
use super::link::Link;
use super::{Made, decode, encode, exchange, object};
use crate::search::tell_output_search;
use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, WrapContext};

/// Start of a key that this manager wrapped; the ciphertext of Vault follows.
const PREFIX: &str = "vt1:";

/// Address of a server on this machine, as the tools of Vault have it.
const ADDRESS: &str = "https://127.0.0.1:8200";

struct Vault {
    name: String,
    mount: String,
    key: String,
    world: World,
}

#[derive(Deserialize)]
struct Answer<T> {
    data: T,
}

#[derive(Deserialize)]
struct Encrypted {
    ciphertext: String,
}

#[derive(Deserialize)]
struct Decrypted {
    plaintext: Zeroizing<String>,
}

#[derive(Deserialize, Default)]
struct Refusal {
    #[serde(default)]
    errors: Vec<String>,
}

pub(super) fn manager(world: &World, link: &Link) -> Made {
    link.settings([])?;
    let (mount, key) = match (link.scheme.as_str(), link.path.rsplit_once('/')) {
        ("hashivault", None) => ("transit", link.path.as_str()),
        ("vault", Some((mount, key))) => (mount, key),
        _ => return Err(link.malformed("it is neither vault://MOUNT/KEY nor hashivault://KEY")),
    };
    let (name, mount, key) = (link.text.clone(), mount.to_owned(), key.to_owned());
    Ok(Arc::new(Vault { name, mount, key, world: world.clone() }))
}

impl Vault {
    fn failures(&self, act: Act) -> Failures<'_> {
        Failures { manager: &self.name, service: "Vault", act }
    }

    /// Returns a variable of Vault, or the one of OpenBao with the same meaning.
    fn variable(&self, name: &str) -> Option<&str> {
        let of = |prefix: &str| self.world.host.variables.get(&format!("{prefix}_{name}"));
        of("VAULT").filter(|value| !value.is_empty()).or_else(|| of("BAO").filter(|value| !value.is_empty()))
    }

    /// Returns the token of the environment, or the one that `vault login` left.
    async fn token(&self, failures: Failures<'_>) -> Result<Zeroizing<String>, ManagerError> {
        if let Some(token) = self.variable("TOKEN") {
            return Ok(Zeroizing::new(token.to_owned()));
        }
        let path = self.world.host.home.as_ref().map(|home| home.join(".vault-token"));
        let read = match path {
            Some(path) => {
                self.world.with_files(move |files| files.read(&path)).await.ok().map(Zeroizing::new)
            }
            None => None,
        };
        let token = read.map(|bytes| Zeroizing::new(String::from_utf8_lossy(&bytes).trim().to_owned()));
        token.filter(|token| !token.is_empty()).ok_or_else(|| {
            let reason = "there is no token: VAULT_TOKEN is not set, and ~/.vault-token does not exist";
            failures
                .error(ManagerErrorClass::NotConfigured, reason)
                .help("run `vault login`, or set VAULT_TOKEN")
        })
    }

    async fn send(
        &self,
        act: Act,
        field: &str,
        value: &str,
        context: &WrapContext,
    ) -> Result<HttpResponse, ManagerError> {
        let failures = self.failures(act);
        let token = self.token(failures).await?;
        tell_output_search(&token);
        let verb = match act {
            Act::Wrap => "encrypt",
            Act::Unwrap => "decrypt",
        };
        let address = self.variable("ADDR").unwrap_or(ADDRESS).trim_end_matches('/');
        let bound_to = encode(&context_bytes(context));
        let body = object([(field, value), ("associated_data", &*bound_to), ("context", &*bound_to)]);
        let url = format!("{address}/v1/{}/{verb}/{}", self.mount, self.key);
        let mut request = HttpRequest::post(url, body)
            .header("content-type", "application/json")
            .header("x-vault-request", "true")
            .header("x-vault-token", token.as_str());
        if let Some(namespace) = self.variable("NAMESPACE") {
            request.headers.set("x-vault-namespace", namespace);
        }
        request.authorities = self.variable("CACERT").map(PathBuf::from);
        let answer = exchange::send(&self.world, request).await.map_err(|error| failures.http(&error))?;
        if answer.status == 200 { Ok(answer) } else { Err(refused(failures, &answer)) }
    }
}

#[async_trait]
impl KeyManager for Vault {
    fn name(&self) -> &str {
        &self.name
    }

    fn assurance(&self) -> Assurance {
        Assurance::Authenticated
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let plaintext = encode(&bound::bind(key, context));
        let answer = self.send(Act::Wrap, "plaintext", &plaintext, context).await?;
        let encrypted: Option<Answer<Encrypted>> = exchange::json(&answer);
        let ciphertext = encrypted.map(|answer| answer.data.ciphertext).filter(|text| is_ciphertext(text));
        let ciphertext =
            ciphertext.ok_or_else(|| self.failures(Act::Wrap).damaged("its answer has no ciphertext"))?;
        Ok(format!("{PREFIX}{ciphertext}"))
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        let failures = self.failures(Act::Unwrap);
        let ciphertext = wrapped.strip_prefix(PREFIX).filter(|text| is_ciphertext(text));
        let ciphertext = ciphertext.ok_or_else(|| failures.malformed())?;
        let answer = self.send(Act::Unwrap, "ciphertext", ciphertext, context).await?;
        let decrypted: Option<Answer<Decrypted>> = exchange::json(&answer);
        let plain = decrypted.and_then(|answer| decode(&answer.data.plaintext));
        match bound::open(&plain.ok_or_else(|| failures.damaged("its answer has no plaintext"))?, context) {
            Opened::Key(key) => Ok(key),
            Opened::OtherContext => Err(failures.wrong_key("the digest of its owner differs")),
            Opened::Malformed => Err(failures.damaged("its answer is not a key of Stead")),
        }
    }
}

/// Returns true for `vault:v1:…`.
fn is_ciphertext(text: &str) -> bool {
    text.starts_with("vault:v") && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn refused(failures: Failures<'_>, answer: &HttpResponse) -> ManagerError {
    let refusal: Refusal = exchange::json(answer).unwrap_or_default();
    let status = answer.status;
    let text = refusal.errors.join("; ");
    let reason = exchange::one_line(format!("HTTP {status} {text}").trim());
    let says = |part: &str| text.contains(part);
    let is_closed = says("not found") || says("disallowed by policy") || says("no handler for route");
    let is_sealed = matches!(status, 472 | 473 | 503) && says("sealed");
    match (status, failures.act) {
        _ if is_sealed => failures
            .error(ManagerErrorClass::Unavailable, &reason)
            .help("unseal Vault, or set VAULT_ADDR to a server that is unsealed"),
        (status, _) if exchange::is_patience(status) && status != 500 => failures.throttled(&reason),
        (403, _) => failures
            .error(ManagerErrorClass::Denied, &reason)
            .help("log in again, and allow `update` on the paths encrypt/ and decrypt/ of the key in the token's policy"),
        (404, _) => no_such_key(failures, &reason),
        (400 | 500, _) if is_closed => no_such_key(failures, &reason),
        (400 | 500, Act::Unwrap) => failures.wrong_key(&reason),
        (400, Act::Wrap) if says("ssociated data") => failures
            .error(ManagerErrorClass::NoSuchKey, &reason)
            .help("create a key of the type aes256-gcm96: the type of this key cannot bind a data key to its stack"),
        (301..=308, _) => failures
            .error(ManagerErrorClass::Unavailable, &reason)
            .help("set VAULT_ADDR to the active server: this one redirects"),
        _ => failures.damaged(&reason),
    }
}

fn no_such_key(failures: Failures<'_>, reason: &str) -> ManagerError {
    failures
        .error(ManagerErrorClass::NoSuchKey, reason)
        .help("check mount and key; create it with `vault write -f <mount>/keys/<key>`")
}
