//! AWS KMS: `Encrypt` and `Decrypt`, with owner and key id as the encryption context.
//!
//! The key is named at decryption too, so that a data key that a foreign KMS key wrapped is refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use stead_aws_auth::{
    AwsAuth, Call, CallError, CredentialsError, CredentialsErrorClass, Options, Repeat, Scope, ServiceError,
    ServiceErrorClass,
};
use stead_world::{HttpRequest, HttpResponse, World};
use zeroize::Zeroizing;

use super::failure::{Act, Failures};
use super::link::Link;
use super::{BODY, Made, decode, encode};
use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, WrapContext};

/// Start of a key that this manager wrapped.
const PREFIX: &str = "aws1:";
const LIMIT: Duration = Duration::from_secs(10);
const MAX_BYTES: usize = 256 << 10;

struct AwsKms {
    name: String,
    /// Key id, `alias/name` or ARN.
    key: String,
    endpoint: Option<String>,
    auth: AwsAuth,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Request<'a> {
    key_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    plaintext: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphertext_blob: Option<&'a str>,
    encryption_context: BTreeMap<&'static str, &'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Encrypted {
    ciphertext_blob: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Decrypted {
    plaintext: Zeroizing<String>,
}

pub(super) fn manager(world: &World, link: &Link) -> Made {
    let [region, endpoint, profile] = link.settings(["region", "endpoint", "profile"])?;
    // An ARN names its region: `arn:aws:kms:eu-west-1:…`.
    let of_arn = || link.path.strip_prefix("arn:")?.split(':').nth(2).filter(|part| !part.is_empty());
    let region = region.or_else(|| of_arn().map(str::to_owned));
    let auth = AwsAuth::new(world.clone(), Options { profile, region, ..Options::default() });
    Ok(Arc::new(AwsKms { name: link.text.clone(), key: link.path.clone(), endpoint, auth }))
}

impl AwsKms {
    fn failures(&self, act: Act) -> Failures<'_> {
        Failures { manager: &self.name, service: "AWS KMS", act }
    }

    async fn send(&self, act: Act, request: &Request<'_>) -> Result<HttpResponse, ManagerError> {
        let failures = self.failures(act);
        let region = self.auth.region().await.map_err(|error| no_credentials(failures, &error))?;
        let endpoint = match &self.endpoint {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => self.auth.endpoint("kms", &region).await,
        };
        let mut body = Vec::with_capacity(BODY);
        serde_json::to_writer(&mut body, request).map_err(|_| failures.malformed())?;
        let target = match act {
            Act::Wrap => "TrentService.Encrypt",
            Act::Unwrap => "TrentService.Decrypt",
        };
        let mut request = HttpRequest::post(format!("{endpoint}/"), body)
            .header("content-type", "application/x-amz-json-1.1")
            .header("x-amz-target", target);
        request.timeout = LIMIT;
        request.max_bytes = MAX_BYTES;
        // Wrapping twice does no harm: one of the results is used.
        let call = Call { request, scope: Scope::new("kms", region), repeat: Repeat::Safe };
        self.auth.send(&call).await.map_err(|error| match &error {
            CallError::Credentials(error) => no_credentials(failures, error),
            CallError::Http(error) => failures.http(error),
            CallError::Service(error) => refused(failures, error),
        })
    }
}

#[async_trait]
impl KeyManager for AwsKms {
    fn name(&self) -> &str {
        &self.name
    }

    fn assurance(&self) -> Assurance {
        Assurance::Authenticated
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let plaintext = encode(key.expose());
        let request = Request {
            key_id: &self.key,
            plaintext: Some(&plaintext),
            ciphertext_blob: None,
            encryption_context: encryption_context(context),
        };
        let answer = self.send(Act::Wrap, &request).await?;
        let encrypted: Option<Encrypted> = serde_json::from_slice(&answer.body).ok();
        let blob = encrypted.map(|answer| answer.ciphertext_blob).filter(|blob| decode(blob).is_some());
        let blob = blob.ok_or_else(|| self.failures(Act::Wrap).damaged("its answer has no ciphertext"))?;
        Ok(format!("{PREFIX}{blob}"))
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        let failures = self.failures(Act::Unwrap);
        let blob = wrapped.strip_prefix(PREFIX).filter(|blob| decode(blob).is_some());
        let request = Request {
            key_id: &self.key,
            plaintext: None,
            ciphertext_blob: Some(blob.ok_or_else(|| failures.malformed())?),
            encryption_context: encryption_context(context),
        };
        let answer = self.send(Act::Unwrap, &request).await?;
        let decrypted: Option<Decrypted> = serde_json::from_slice(&answer.body).ok();
        let plain = decrypted.and_then(|answer| decode(&answer.plaintext));
        failures.data_key(&plain.ok_or_else(|| failures.damaged("its answer has no plaintext"))?)
    }
}

fn encryption_context(context: &WrapContext) -> BTreeMap<&'static str, &str> {
    [("stead:owner", context.owner.as_str()), ("stead:key", context.key.0.as_str())].into()
}

fn no_credentials(failures: Failures<'_>, error: &CredentialsError) -> ManagerError {
    let class = match error.class() {
        CredentialsErrorClass::NotConfigured => ManagerErrorClass::NotConfigured,
        CredentialsErrorClass::Denied => ManagerErrorClass::Denied,
        CredentialsErrorClass::Unavailable => ManagerErrorClass::Unavailable,
    };
    let failed = failures.error(class, &error.to_string());
    match error.hint() {
        Some(hint) => failed.help(hint),
        None => failed,
    }
}

fn refused(failures: Failures<'_>, error: &ServiceError) -> ManagerError {
    let reason = error.to_string();
    let action = match failures.act {
        Act::Wrap => "kms:Encrypt",
        Act::Unwrap => "kms:Decrypt",
    };
    match (error.code.as_str(), error.class()) {
        ("InvalidCiphertextException" | "IncorrectKeyException", _) => failures.wrong_key(&reason),
        ("NotFoundException" | "DisabledException" | "KMSInvalidStateException" | "InvalidKeyUsageException", _) => {
            failures
                .error(ManagerErrorClass::NoSuchKey, &reason)
                .help("check key, region and account; a key that is disabled or waits for its deletion can be enabled again")
        }
        ("ValidationException" | "InvalidArnException", _) => {
            failures.error(ManagerErrorClass::NotConfigured, &reason).help("check the key in stead.toml")
        }
        (_, ServiceErrorClass::Throttled | ServiceErrorClass::Transient) => failures.throttled(&reason),
        (_, ServiceErrorClass::Signature) => failures
            .error(ManagerErrorClass::Denied, &reason)
            .help("check AWS_SECRET_ACCESS_KEY, the region, and the clock of this machine"),
        (_, ServiceErrorClass::Expired) => {
            failures.error(ManagerErrorClass::Denied, &reason).help("log in to AWS again")
        }
        (_, ServiceErrorClass::Denied) => failures
            .error(ManagerErrorClass::Denied, &reason)
            .help(format!("allow {action} on the key in the policy of the caller and of the key")),
        (_, ServiceErrorClass::Other) => failures.damaged(&reason),
    }
}
