//! A fake of Azure Key Vault, and the tests that only it has.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use stead_world::testing::{Received, Reply};

use crate::fakes::{Fake, Mood, body, open, seal};
use crate::suite::Cloud;
use crate::{context, key, manager};

pub(crate) const ENDPOINT: &str = "STEAD_AZURE_KEYVAULT_ENDPOINT";
const VERSION: &str = "0123456789abcdef0123456789abcdef";

pub(crate) fn cloud() -> Cloud {
    let fake = Fake::start(normal, refusal);
    let url = fake.server.url();
    let named = |key: &str| {
        let text = format!("azurekeyvault://shop.vault.azure.net/keys/{key}");
        manager(&text, &[(ENDPOINT, &url), ("AZURE_ACCESS_TOKEN", "fake-token")], None)
    };
    Cloud { name: "azure", manager: named("prod"), other: named("other"), fake }
}

pub(crate) fn normal(request: &Received) -> Reply {
    assert_eq!(request.headers.get("authorization"), Some("Bearer fake-token"));
    let body = body(request);
    assert_eq!(body["alg"], "RSA-OAEP-256");
    let value = body["value"].as_str().unwrap();
    let path = request.path.strip_suffix("?api-version=7.4").unwrap();
    let parts: Vec<&str> = path.trim_start_matches("/keys/").split('/').collect();
    let kid = |key: &str| format!("https://shop.vault.azure.net/keys/{key}/{VERSION}");
    let answer = match parts.as_slice() {
        [key, "wrapkey"] => {
            // RSA-OAEP-256 with 2048 bits wraps 190 bytes at most.
            assert!(URL_SAFE_NO_PAD.decode(value).unwrap().len() <= 190);
            let sealed = seal(key, &Value::Null, value);
            json!({ "kid": kid(key), "value": URL_SAFE_NO_PAD.encode(sealed) })
        }
        [key, VERSION, "unwrapkey"] => match open(&URL_SAFE_NO_PAD.decode(value).unwrap(), key, &Value::Null)
        {
            Ok(plain) => json!({ "kid": kid(key), "value": plain }),
            Err(_) => return error(400, "BadParameter", ""),
        },
        path => panic!("{path:?}"),
    };
    Reply::new(200, answer.to_string())
}

fn error(status: u16, code: &str, inner: &str) -> Reply {
    let error =
        json!({ "error": { "code": code, "message": "the message", "innererror": { "code": inner } } });
    Reply::new(status, error.to_string())
}

fn refusal(mood: &Mood) -> Reply {
    match mood {
        Mood::Throttled(_) => error(429, "Throttled", ""),
        Mood::Denied => error(403, "Forbidden", "ForbiddenByRbac"),
        Mood::NoSuchKey => error(404, "KeyNotFound", ""),
        Mood::Disabled => error(403, "Forbidden", "KeyDisabled"),
        mood => panic!("{mood:?}"),
    }
}

#[tokio::test]
async fn wrapped_key_names_the_version_that_opens_it() {
    let cloud = cloud();
    let wrapped = cloud.manager.wrap(&key(), &context("a")).await.unwrap();
    assert!(wrapped.starts_with(&format!("az1:{VERSION}:")), "{wrapped}");
    cloud.manager.unwrap(&wrapped, &context("a")).await.ok().unwrap();
    assert!(cloud.fake.server.seen()[1].path.contains(VERSION));
}
