//! Callers: account, service and region of a request, from the header `Authorization`.
//!
//! An access key names its account: twelve digits are the account itself, and a key of the form `AKIA…` or `ASIA…` contains
//! the account as AWS encodes it. Every other key belongs to the default account. Signatures are not checked.

use stead_world::Headers;

use super::error::{ErrorKind, ServiceError};
use super::ids::Ids;
use super::place::{DEFAULT_ACCOUNT, Place};

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// Bits of the account in the first six bytes of a key; the topmost bit is set in keys that contain an account.
const ACCOUNT_SHIFT: u32 = 7;
const HAS_ACCOUNT: u64 = 1 << 47;

/// Sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) place: Place,
    /// Name of the service in the credential scope, such as `cloudcontrolapi`.
    pub(crate) service: String,
    pub(crate) access_key: String,
}

/// Returns the sender of a request.
pub(crate) fn caller(headers: &Headers) -> Result<Caller, ServiceError> {
    let Some(header) = headers.get("authorization") else {
        return Err(ServiceError::new(ErrorKind::MissingAuthenticationToken, "Missing Authentication Token"));
    };
    scope(header).ok_or_else(|| {
        let message = "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' \
                       parameter. Authorization header requires 'SignedHeaders' parameter.";
        ServiceError::new(ErrorKind::IncompleteSignature, message)
    })
}

fn scope(header: &str) -> Option<Caller> {
    let parameters = header.strip_prefix("AWS4-HMAC-SHA256")?;
    let mut pairs = parameters.split(',').filter_map(|pair| pair.trim().split_once('='));
    let (_, credential) = pairs.find(|(name, _)| *name == "Credential")?;
    let mut parts = credential.split('/');
    let (access_key, _date) = (parts.next()?, parts.next()?);
    let (region, service) = (parts.next()?, parts.next()?);
    let place = Place::new(account_of(access_key), region);
    Some(Caller { place, service: service.to_owned(), access_key: access_key.to_owned() })
}

/// Returns the account that an access key belongs to.
pub(crate) fn account_of(access_key: &str) -> String {
    if is_account(access_key) {
        return access_key.to_owned();
    }
    decoded(access_key).unwrap_or_else(|| DEFAULT_ACCOUNT.to_owned())
}

pub(crate) fn is_account(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn decoded(key: &str) -> Option<String> {
    let body =
        key.strip_prefix("AKIA").or_else(|| key.strip_prefix("ASIA")).filter(|body| body.len() == 16)?;
    let mut bits: u64 = 0;
    for byte in body.bytes().take(10) {
        bits = bits << 5 | BASE32.iter().position(|known| *known == byte)? as u64;
    }
    // Ten characters are 50 bits, of which the first 48 count.
    bits >>= 2;
    (bits & HAS_ACCOUNT != 0)
        .then(|| format!("{:012}", (bits & (HAS_ACCOUNT - 1)) >> ACCOUNT_SHIFT))
        .filter(|account| account.len() == 12)
}

/// Returns a new access key of an account: `prefix` is `AKIA` or `ASIA`.
pub(crate) fn access_key(prefix: &str, account: &str, ids: &mut Ids) -> String {
    let number: u64 = account.parse().unwrap_or_default();
    let bits = HAS_ACCOUNT | number << ACCOUNT_SHIFT | (ids.draw() & 0x7f);
    let mut wide = u128::from(bits) << 32 | u128::from(ids.draw() & 0xffff_ffff);
    let mut characters = Vec::new();
    for _ in 0..16 {
        characters.push(BASE32[(wide & 31) as usize]);
        wide >>= 5;
    }
    let body = characters.into_iter().rev().map(char::from);
    prefix.chars().chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_key_names_its_account() {
        assert_eq!(account_of("123456789012"), "123456789012");
        assert_eq!(account_of("test"), DEFAULT_ACCOUNT);
        // The key of AWS's documentation has the form that contains no account.
        assert_eq!(account_of("AKIAIOSFODNN7EXAMPLE"), DEFAULT_ACCOUNT);
        let mut ids = Ids { seed: 1, drawn: 0 };
        for account in ["000000000001", "123456789012", "999999999999"] {
            let key = access_key("ASIA", account, &mut ids);
            assert_eq!((key.len(), account_of(&key).as_str()), (20, account), "{key}");
        }
    }

    #[test]
    fn region_and_service_come_from_the_credential_scope() {
        let mut headers = Headers::default();
        assert_eq!(caller(&headers).unwrap_err().kind, ErrorKind::MissingAuthenticationToken);
        headers.set("authorization", "Bearer x");
        assert_eq!(caller(&headers).unwrap_err().kind, ErrorKind::IncompleteSignature);
        let scope =
            "AWS4-HMAC-SHA256 Credential=111122223333/20260101/eu-west-1/cloudcontrolapi/aws4_request";
        headers.set("authorization", format!("{scope}, SignedHeaders=host, Signature=0"));
        let caller = caller(&headers).unwrap();
        assert_eq!(caller.place, Place::new("111122223333", "eu-west-1"));
        assert_eq!(caller.service, "cloudcontrolapi");
    }
}
