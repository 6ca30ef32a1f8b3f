//! Managers that keep their key in a cloud: AWS KMS, Google Cloud KMS, Azure Key Vault, Vault and OpenBao.
//!
//! Each sends thin JSON requests; no SDK is needed. **Invariants:** a wrapped key opens only for the owner and key id that it
//! was wrapped for; no key and no credential is in a message; a bearer token goes only to servers that the environment or the
//! cloud names, never to one that a project file names.

#![cfg_attr(
    not(all(feature = "aws-kms", feature = "gcp-kms", feature = "azure-keyvault", feature = "vault")),
    allow(dead_code, reason = "a build without some of the managers leaves shared parts unused")
)]

#[cfg(feature = "aws-kms")]
mod aws_kms;
#[cfg(feature = "azure-keyvault")]
mod azure;
#[cfg(feature = "azure-keyvault")]
mod azure_token;
#[cfg(any(feature = "gcp-kms", feature = "azure-keyvault"))]
mod bearer;
#[cfg(any(feature = "gcp-kms", feature = "azure-keyvault", feature = "vault"))]
mod bound;
#[cfg(any(feature = "gcp-kms", feature = "azure-keyvault", feature = "vault"))]
mod exchange;
mod failure;
#[cfg(feature = "gcp-kms")]
mod gcp_kms;
#[cfg(feature = "gcp-kms")]
mod gcp_token;
mod link;
#[cfg(any(feature = "gcp-kms", feature = "azure-keyvault"))]
mod oauth;
mod searched;
#[cfg(feature = "vault")]
mod vault;

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stead_world::World;
use zeroize::Zeroizing;

use crate::{KeyManager, ManagerError};
use link::Link;
use searched::Searched;

/// Size of a request's body that is never exceeded, so that a key is not copied while the body grows.
const BODY: usize = 32 << 10;

type Made = Result<Arc<dyn KeyManager>, ManagerError>;

/// Returns the manager that a text names, or `None` if its scheme is not that of a cloud.
///
/// | text | manager |
/// |---|---|
/// | `awskms://<key id, alias/name or ARN>?region=…&endpoint=…&profile=…` | AWS KMS |
/// | `gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K` | Google Cloud KMS |
/// | `azurekeyvault://VAULT.vault.azure.net/keys/NAME[/VERSION]` | Azure Key Vault |
/// | `vault://<mount>/<key>`, `hashivault://<key>` | transit engine of Vault or OpenBao |
///
/// No request is sent before the first key is wrapped or unwrapped.
pub fn cloud_manager(world: &World, text: &str) -> Option<Made> {
    let (scheme, rest) = text.split_once("://")?;
    let made: fn(&World, &Link) -> Made = match scheme {
        "awskms" => AWS,
        "gcpkms" => GCP,
        "azurekeyvault" => AZURE,
        "vault" | "hashivault" => VAULT,
        _ => return None,
    };
    let manager = Link::parse(text, scheme, rest).and_then(|link| made(world, &link));
    Some(manager.map(|manager| Arc::new(Searched(manager)) as Arc<dyn KeyManager>))
}

#[cfg(feature = "aws-kms")]
const AWS: fn(&World, &Link) -> Made = aws_kms::manager;
#[cfg(not(feature = "aws-kms"))]
const AWS: fn(&World, &Link) -> Made = left_out;
#[cfg(feature = "gcp-kms")]
const GCP: fn(&World, &Link) -> Made = gcp_kms::manager;
#[cfg(not(feature = "gcp-kms"))]
const GCP: fn(&World, &Link) -> Made = left_out;
#[cfg(feature = "azure-keyvault")]
const AZURE: fn(&World, &Link) -> Made = azure::manager;
#[cfg(not(feature = "azure-keyvault"))]
const AZURE: fn(&World, &Link) -> Made = left_out;
#[cfg(feature = "vault")]
const VAULT: fn(&World, &Link) -> Made = vault::manager;
#[cfg(not(feature = "vault"))]
const VAULT: fn(&World, &Link) -> Made = left_out;

/// Refuses a manager whose feature is not part of this build.
#[cfg(not(all(feature = "aws-kms", feature = "gcp-kms", feature = "azure-keyvault", feature = "vault")))]
fn left_out(_: &World, link: &Link) -> Made {
    Err(left_out_manager(&link.scheme))
}

/// Returns the refusal of a manager that this build leaves out.
#[cfg(not(all(
    feature = "age",
    feature = "aws-kms",
    feature = "gcp-kms",
    feature = "azure-keyvault",
    feature = "vault"
)))]
pub(crate) fn left_out_manager(kind: &str) -> ManagerError {
    let message = format!("this build of stead has no `{kind}` managers");
    ManagerError::new(crate::ManagerErrorClass::NotConfigured, message)
        .help("build stead with its default features")
}

/// Returns an object of texts as JSON, without copies of the texts that stay in memory.
fn object<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let fields: BTreeMap<&str, &str> = fields.into_iter().collect();
    let mut body = Vec::with_capacity(BODY);
    // Writing texts to memory does not fail.
    let _ = serde_json::to_writer(&mut body, &fields);
    body
}

fn encode(bytes: &[u8]) -> Zeroizing<String> {
    Zeroizing::new(STANDARD.encode(bytes))
}

fn decode(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    STANDARD.decode(text).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManagerErrorClass;

    fn class(text: &str) -> Option<ManagerErrorClass> {
        cloud_manager(&World::in_memory([]), text)?.err().map(|error| error.class)
    }

    #[test]
    fn texts_of_other_managers_are_left_to_them() {
        for text in ["passphrase", "age:age1xyz", "command://x", "", "awskms:alias/x"] {
            assert!(cloud_manager(&World::in_memory([]), text).is_none(), "{text}");
        }
    }

    #[test]
    fn malformed_texts_are_refused_before_any_request() {
        for text in [
            "awskms://",
            "awskms://alias/x?regoin=eu",
            "gcpkms://projects/p/locations/l",
            "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k/../x",
            "azurekeyvault://vault.example.com/keys/k",
            "azurekeyvault://v.vault.azure.net/secrets/k",
            "azurekeyvault://vault.azure.net/keys/k",
            "vault://",
            "vault://mount",
            "vault://mount/key?x=1",
            "hashivault://a/b",
            "vault://mount/k y",
        ] {
            assert_eq!(class(text), Some(ManagerErrorClass::NotConfigured), "{text}");
        }
    }

    #[test]
    fn manager_has_the_name_that_the_project_wrote() {
        for text in [
            "awskms://alias/prod?region=eu-west-1",
            "awskms:///arn:aws:kms:eu-west-1:1:key/abc",
            "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k",
            "azurekeyvault://v.vault.azure.net/keys/k/0123",
            "vault://transit/prod",
            "hashivault://prod",
        ] {
            let manager = cloud_manager(&World::in_memory([]), text).unwrap().ok().unwrap();
            assert_eq!(manager.name(), text);
        }
    }
}
