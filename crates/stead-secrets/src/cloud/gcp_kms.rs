//! Google Cloud KMS: `encrypt` and `decrypt`, with owner and key id as additional authenticated data.
//!
//! CRC32C checksums go both ways, so that a damaged answer is noticed.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use stead_world::{HttpResponse, World};
use zeroize::Zeroizing;

use super::bound::context_bytes;
use super::failure::{Act, Failures};
use super::gcp_token;
use super::link::Link;
use super::oauth::Kept;
use super::{Made, bearer, decode, encode, exchange, object};
use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, WrapContext};

/// Start of a key that this manager wrapped.
const PREFIX: &str = "gcp1:";

/// Variable with which gcloud replaces the address of the service.
const ENDPOINT: &str = "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS";

struct GcpKms {
    name: String,
    /// `projects/P/locations/L/keyRings/R/cryptoKeys/K`
    key: String,
    world: World,
    token: Kept,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Encrypted {
    ciphertext: String,
    ciphertext_crc32c: String,
    #[serde(default)]
    verified_plaintext_crc32c: bool,
    #[serde(default)]
    verified_additional_authenticated_data_crc32c: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Decrypted {
    plaintext: Zeroizing<String>,
    plaintext_crc32c: String,
}

#[derive(Deserialize)]
struct Refusal {
    error: RefusalDetail,
}

#[derive(Deserialize, Default)]
struct RefusalDetail {
    #[serde(default)]
    message: String,
    #[serde(default)]
    status: String,
}

pub(super) fn manager(world: &World, link: &Link) -> Made {
    link.settings([])?;
    let parts: Vec<&str> = link.path.split('/').collect();
    let ["projects", _, "locations", _, "keyRings", _, "cryptoKeys", _] = parts.as_slice() else {
        return Err(link.malformed("it is not gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K"));
    };
    let (name, key) = (link.text.clone(), link.path.clone());
    Ok(Arc::new(GcpKms { name, key, world: world.clone(), token: Kept::default() }))
}

impl GcpKms {
    fn failures(&self, act: Act) -> Failures<'_> {
        Failures { manager: &self.name, service: "Google Cloud KMS", act }
    }

    async fn send(&self, act: Act, body: Vec<u8>) -> Result<HttpResponse, ManagerError> {
        let failures = self.failures(act);
        let endpoint = bearer::endpoint(&self.world, failures, ENDPOINT, "https://cloudkms.googleapis.com")?;
        let renew = async || gcp_token::token(&self.world, failures).await;
        let token = self.token.get(&self.world, renew).await?;
        let verb = match act {
            Act::Wrap => "encrypt",
            Act::Unwrap => "decrypt",
        };
        let url = format!("{endpoint}/v1/{}:{verb}", self.key);
        let answer = bearer::post(&self.world, failures, url, &token, body).await?;
        if answer.status == 200 { Ok(answer) } else { Err(refused(failures, &answer)) }
    }
}

#[async_trait]
impl KeyManager for GcpKms {
    fn name(&self) -> &str {
        &self.name
    }

    fn assurance(&self) -> Assurance {
        Assurance::Authenticated
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let failures = self.failures(Act::Wrap);
        let (plaintext, bound_to) = (encode(key.expose()), context_bytes(context));
        let checksums = (crc32c(key.expose()).to_string(), crc32c(&bound_to).to_string());
        let body = object([
            ("plaintext", plaintext.as_str()),
            ("plaintextCrc32c", &checksums.0),
            ("additionalAuthenticatedData", &encode(&bound_to)),
            ("additionalAuthenticatedDataCrc32c", &checksums.1),
        ]);
        let answer = self.send(Act::Wrap, body).await?;
        let encrypted: Encrypted = exchange::json(&answer)
            .ok_or_else(|| failures.damaged("its answer has no ciphertext with a checksum"))?;
        let verified =
            encrypted.verified_plaintext_crc32c && encrypted.verified_additional_authenticated_data_crc32c;
        let bytes =
            decode(&encrypted.ciphertext).filter(|bytes| matches(bytes, &encrypted.ciphertext_crc32c));
        if bytes.is_none() || !verified {
            return Err(failures
                .damaged("a checksum does not match: the request or the answer was changed on its way"));
        }
        Ok(format!("{PREFIX}{}", encrypted.ciphertext))
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        let failures = self.failures(Act::Unwrap);
        let text = wrapped.strip_prefix(PREFIX).ok_or_else(|| failures.malformed())?;
        let (ciphertext, bound_to) =
            (decode(text).ok_or_else(|| failures.malformed())?, context_bytes(context));
        let checksums = (crc32c(&ciphertext).to_string(), crc32c(&bound_to).to_string());
        let body = object([
            ("ciphertext", text),
            ("ciphertextCrc32c", &checksums.0),
            ("additionalAuthenticatedData", &encode(&bound_to)),
            ("additionalAuthenticatedDataCrc32c", &checksums.1),
        ]);
        let answer = self.send(Act::Unwrap, body).await?;
        let decrypted: Decrypted = exchange::json(&answer)
            .ok_or_else(|| failures.damaged("its answer has no plaintext with a checksum"))?;
        let plain = decode(&decrypted.plaintext).filter(|plain| matches(plain, &decrypted.plaintext_crc32c));
        failures
            .data_key(&plain.ok_or_else(|| failures.damaged("the checksum of its answer does not match"))?)
    }
}

fn refused(failures: Failures<'_>, answer: &HttpResponse) -> ManagerError {
    let refusal = exchange::json::<Refusal>(answer).map(|refusal| refusal.error).unwrap_or_default();
    let status = answer.status;
    let RefusalDetail { status: code, message } = &refusal;
    let reason = exchange::one_line(format!("HTTP {status} {code} {message}").trim());
    match (status, code.as_str(), failures.act) {
        (400, "INVALID_ARGUMENT", Act::Unwrap) => failures.wrong_key(&reason),
        (404, ..) | (400, "FAILED_PRECONDITION", _) => failures
            .error(ManagerErrorClass::NoSuchKey, &reason)
            .help("check project, location, key ring and key, and that the key version is enabled"),
        (401, ..) => failures
            .error(ManagerErrorClass::Denied, &reason)
            .help("log in again with `gcloud auth application-default login`"),
        (403, ..) => failures
            .error(ManagerErrorClass::Denied, &reason)
            .help("grant the caller the role roles/cloudkms.cryptoKeyEncrypterDecrypter on the key"),
        (status, ..) if exchange::is_patience(status) => failures.throttled(&reason),
        _ => failures.damaged(&reason),
    }
}

fn matches(bytes: &[u8], checksum: &str) -> bool {
    checksum.parse() == Ok(crc32c(bytes))
}

/// Returns the CRC-32C (Castagnoli) of bytes.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_the_published_ones() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }
}
