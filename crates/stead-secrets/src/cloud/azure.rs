//! Azure Key Vault: `wrapkey` and `unwrapkey` with RSA-OAEP-256.
//!
//! Key Vault has no additional data, so the digest of the context is wrapped beside the key. The version of the vault's key is
//! part of the wrapped key, because a newer version does not open it.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use stead_world::{HttpResponse, World};
use zeroize::Zeroizing;

use super::bound::{self, Opened};
use super::failure::{Act, Failures};
use super::link::Link;
use super::oauth::Kept;
use super::{Made, azure_token, bearer, exchange, object};
use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, WrapContext};

/// Start of a key that this manager wrapped: prefix, version, `:`, value.
const PREFIX: &str = "az1:";
const API: &str = "7.4";
const ALGORITHM: &str = "RSA-OAEP-256";

/// Variable that replaces the address of the vault, for tests.
const ENDPOINT: &str = "STEAD_AZURE_KEYVAULT_ENDPOINT";

/// Domains of vaults. A token is sent to no other server.
const DOMAINS: &[&str] = &[
    "vault.azure.net",
    "vault.azure.cn",
    "vault.usgovcloudapi.net",
    "managedhsm.azure.net",
    "managedhsm.azure.cn",
    "managedhsm.usgovcloudapi.net",
];

struct AzureKeyVault {
    name: String,
    host: String,
    domain: &'static str,
    key: String,
    version: Option<String>,
    world: World,
    token: Kept,
}

#[derive(Deserialize)]
struct Answer {
    /// `https://VAULT/keys/NAME/VERSION`
    kid: String,
    value: Zeroizing<String>,
}

#[derive(Deserialize)]
struct Refusal {
    error: RefusalDetail,
}

#[derive(Deserialize, Default)]
struct RefusalDetail {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    innererror: Option<Box<RefusalDetail>>,
}

pub(super) fn manager(world: &World, link: &Link) -> Made {
    link.settings([])?;
    let parts: Vec<&str> = link.path.split('/').collect();
    let (host, key, version) = match parts.as_slice() {
        [host, "keys", key] => (*host, *key, None),
        [host, "keys", key, version] => (*host, *key, Some((*version).to_owned())),
        _ => {
            return Err(link.malformed("it is not azurekeyvault://VAULT.vault.azure.net/keys/NAME[/VERSION]"));
        }
    };
    let is_in = |domain: &str| {
        let vault = host.strip_suffix(domain).and_then(|rest| rest.strip_suffix('.'));
        vault.is_some_and(|vault| {
            !vault.is_empty() && vault.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
    };
    let Some(domain) = DOMAINS.iter().copied().find(|domain| is_in(domain)) else {
        return Err(link.malformed(&format!("{host} is not a vault in {}", DOMAINS[..3].join(", "))));
    };
    Ok(Arc::new(AzureKeyVault {
        name: link.text.clone(),
        host: host.to_owned(),
        domain,
        key: key.to_owned(),
        version,
        world: world.clone(),
        token: Kept::default(),
    }))
}

impl AzureKeyVault {
    fn failures(&self, act: Act) -> Failures<'_> {
        Failures { manager: &self.name, service: "Azure Key Vault", act }
    }

    async fn send(&self, act: Act, version: Option<&str>, value: &str) -> Result<Answer, ManagerError> {
        let failures = self.failures(act);
        let usual = format!("https://{}", self.host);
        let endpoint = bearer::endpoint(&self.world, failures, ENDPOINT, &usual)?;
        let renew = async || azure_token::token(&self.world, failures, self.domain).await;
        let token = self.token.get(&self.world, renew).await?;
        let version = version.map(|version| format!("/{version}")).unwrap_or_default();
        let url = format!("{endpoint}/keys/{}{version}/{}key?api-version={API}", self.key, act.verb());
        let body = object([("alg", ALGORITHM), ("value", value)]);
        let answer = bearer::post(&self.world, failures, url, &token, body).await?;
        if answer.status != 200 {
            return Err(refused(failures, &answer));
        }
        exchange::json(&answer).ok_or_else(|| failures.damaged("its answer has no `kid` and `value`"))
    }
}

#[async_trait]
impl KeyManager for AzureKeyVault {
    fn name(&self) -> &str {
        &self.name
    }

    fn assurance(&self) -> Assurance {
        Assurance::Authenticated
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let failures = self.failures(Act::Wrap);
        let value = Zeroizing::new(URL_SAFE_NO_PAD.encode(bound::bind(key, context)));
        let answer = self.send(Act::Wrap, self.version.as_deref(), &value).await?;
        let version = answer.kid.rsplit('/').next().filter(|version| is_version(version));
        let version =
            version.ok_or_else(|| failures.damaged("its answer does not name the version of the key"))?;
        if URL_SAFE_NO_PAD.decode(answer.value.as_str()).is_err() {
            return Err(failures.damaged("its answer is not base64"));
        }
        Ok(format!("{PREFIX}{version}:{}", *answer.value))
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        let failures = self.failures(Act::Unwrap);
        let parts = wrapped.strip_prefix(PREFIX).and_then(|rest| rest.split_once(':'));
        let parts =
            parts.filter(|(version, value)| is_version(version) && URL_SAFE_NO_PAD.decode(value).is_ok());
        let (version, value) = parts.ok_or_else(|| failures.malformed())?;
        let answer = self.send(Act::Unwrap, Some(version), value).await?;
        let plain = URL_SAFE_NO_PAD.decode(answer.value.trim_end_matches('=')).map(Zeroizing::new);
        let plain = plain.map_err(|_| failures.damaged("its answer is not base64"))?;
        match bound::open(&plain, context) {
            Opened::Key(key) => Ok(key),
            Opened::OtherContext => Err(failures.wrong_key("the digest of its owner differs")),
            Opened::Malformed => Err(failures.damaged("its answer is not a key of Stead")),
        }
    }
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn refused(failures: Failures<'_>, answer: &HttpResponse) -> ManagerError {
    let refusal = exchange::json::<Refusal>(answer).map(|refusal| refusal.error).unwrap_or_default();
    let inner = refusal.innererror.as_ref().map(|inner| inner.code.clone()).unwrap_or_default();
    let RefusalDetail { code, message, .. } = &refusal;
    let status = answer.status;
    let reason = exchange::one_line(format!("HTTP {status} {code} {message}").trim());
    let is_disabled = inner == "KeyDisabled" || inner == "KeyNotYetValid" || message.contains("disabled");
    match (status, failures.act) {
        (404, _) => failures.error(ManagerErrorClass::NoSuchKey, &reason).help(
            "check vault, key and version; a deleted key can be recovered with `az keyvault key recover`",
        ),
        (403, _) if is_disabled => {
            failures.error(ManagerErrorClass::NoSuchKey, &reason).help("enable the key, or its version")
        }
        (401, _) => {
            failures.error(ManagerErrorClass::Denied, &reason).help("log in again, such as with `az login`")
        }
        (403, _) => failures.error(ManagerErrorClass::Denied, &reason).help(
            "grant the caller the role `Key Vault Crypto User` on the key, and check the vault's firewall",
        ),
        (400, Act::Unwrap) => failures.wrong_key(&reason),
        (status, _) if exchange::is_patience(status) => failures.throttled(&reason),
        _ => failures.damaged(&reason),
    }
}
