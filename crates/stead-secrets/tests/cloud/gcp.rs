//! A fake of Google Cloud KMS, and the tests that only it has.

use serde_json::json;
use stead_secrets::ManagerErrorClass;
use stead_world::testing::{FakeServer, Received, Reply};

use crate::fakes::{Fake, Mood, base64, body, open, seal, unbase64};
use crate::suite::Cloud;
use crate::{context, key, manager};

pub(crate) const ENDPOINT: &str = "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS";

pub(crate) fn name(key: &str) -> String {
    format!("gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/{key}")
}

pub(crate) fn cloud() -> Cloud {
    let fake = Fake::start(normal, refusal);
    let url = fake.server.url();
    let named = |key: &str| {
        manager(&name(key), &[(ENDPOINT, &url), ("GOOGLE_OAUTH_ACCESS_TOKEN", "fake-token")], None)
    };
    Cloud { name: "gcp", manager: named("prod"), other: named("other"), fake }
}

/// CRC-32C with a table, unlike the manager's.
fn crc32c(bytes: &[u8]) -> String {
    let table: Vec<u32> = (0..256u32)
        .map(|n| (0..8).fold(n, |n, _| if n & 1 == 1 { n >> 1 ^ 0x82f6_3b78 } else { n >> 1 }))
        .collect();
    let crc =
        bytes.iter().fold(u32::MAX, |crc, b| table[((crc ^ u32::from(*b)) & 255) as usize] ^ (crc >> 8));
    (crc ^ u32::MAX).to_string()
}

pub(crate) fn normal(request: &Received) -> Reply {
    assert_eq!(request.headers.get("authorization"), Some("Bearer fake-token"));
    let body = body(request);
    let (key, verb) = request.path.strip_prefix("/v1/").unwrap().split_once(':').unwrap();
    let bound_to = &body["additionalAuthenticatedData"];
    assert_eq!(body["additionalAuthenticatedDataCrc32c"], crc32c(&unbase64(bound_to)));
    if verb == "encrypt" {
        let plain = unbase64(&body["plaintext"]);
        assert_eq!(body["plaintextCrc32c"], crc32c(&plain));
        let sealed = seal(key, bound_to, body["plaintext"].as_str().unwrap());
        let answer = json!({
            "name": format!("{key}/cryptoKeyVersions/1"),
            "ciphertext": base64(&sealed),
            "ciphertextCrc32c": crc32c(&sealed),
            "verifiedPlaintextCrc32c": true,
            "verifiedAdditionalAuthenticatedDataCrc32c": true,
        });
        return Reply::new(200, answer.to_string());
    }
    let sealed = unbase64(&body["ciphertext"]);
    assert_eq!(body["ciphertextCrc32c"], crc32c(&sealed));
    match open(&sealed, key, bound_to) {
        Ok(plain) => {
            let checksum = crc32c(&unbase64(&json!(plain)));
            Reply::new(200, json!({ "plaintext": plain, "plaintextCrc32c": checksum }).to_string())
        }
        Err(_) => error(
            400,
            "INVALID_ARGUMENT",
            "Decryption failed: verify that 'name' refers to the correct CryptoKey.",
        ),
    }
}

fn error(status: u16, code: &str, message: &str) -> Reply {
    Reply::new(status, json!({ "error": { "code": status, "message": message, "status": code } }).to_string())
}

fn refusal(mood: &Mood) -> Reply {
    match mood {
        Mood::Throttled(_) => error(429, "RESOURCE_EXHAUSTED", "Quota exceeded").header("retry-after", "1"),
        Mood::Denied => error(403, "PERMISSION_DENIED", "Permission denied"),
        Mood::NoSuchKey => error(404, "NOT_FOUND", "CryptoKey not found"),
        Mood::Disabled => error(400, "FAILED_PRECONDITION", "is not enabled, current state is: DISABLED."),
        mood => panic!("{mood:?}"),
    }
}

#[tokio::test]
async fn answer_with_a_wrong_checksum_is_damaged() {
    let server = FakeServer::start(|request| {
        let Reply::Answer { body, .. } = normal(request) else { panic!() };
        let mut body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        match body.get("plaintext").is_some() {
            true => body["plaintextCrc32c"] = json!("1"),
            false if request.path.contains("unverified") => body["verifiedPlaintextCrc32c"] = json!(false),
            false => {}
        }
        Reply::new(200, body.to_string())
    })
    .unwrap();
    let url = server.url();
    let variables = [(ENDPOINT, url.as_str()), ("GOOGLE_OAUTH_ACCESS_TOKEN", "fake-token")];
    let prod = manager(&name("prod"), &variables, None);
    let wrapped = prod.wrap(&key(), &context("a")).await.unwrap();
    let failed = prod.unwrap(&wrapped, &context("a")).await.err().unwrap();
    assert_eq!(failed.class, ManagerErrorClass::Damaged);
    let failed =
        manager(&name("unverified"), &variables, None).wrap(&key(), &context("a")).await.unwrap_err();
    assert_eq!(failed.class, ManagerErrorClass::Damaged);
}
