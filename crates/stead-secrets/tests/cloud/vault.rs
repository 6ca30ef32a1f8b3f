//! A fake of Vault's transit engine, and the tests that only it has.

use serde_json::json;
use stead_secrets::ManagerErrorClass;
use stead_world::testing::{FakeServer, Received, Reply};

use crate::fakes::{Fake, Mood, base64, body, open, seal};
use crate::suite::Cloud;
use crate::{context, key, manager};

pub(crate) fn cloud() -> Cloud {
    let fake = Fake::start(normal, refusal);
    let url = fake.server.url();
    let named = |text: &str| manager(text, &[("VAULT_ADDR", &url), ("VAULT_TOKEN", "fake-token")], None);
    Cloud {
        name: "vault",
        manager: named("vault://team/transit/prod"),
        other: named("vault://team/transit/other"),
        fake,
    }
}

fn normal(request: &Received) -> Reply {
    assert_eq!(request.headers.get("x-vault-token"), Some("fake-token"));
    let body = body(request);
    assert_eq!(body["context"], body["associated_data"]);
    let bound_to = &body["associated_data"];
    let (_, rest) = request.path.split_once("/transit/").unwrap();
    if let Some(key) = rest.strip_prefix("encrypt/") {
        let sealed = base64(&seal(key, bound_to, body["plaintext"].as_str().unwrap()));
        return Reply::new(
            200,
            json!({ "data": { "ciphertext": format!("vault:v1:{sealed}") } }).to_string(),
        );
    }
    let key = rest.strip_prefix("decrypt/").unwrap();
    let text = body["ciphertext"].as_str().unwrap().strip_prefix("vault:v1:").unwrap();
    match open(&crate::fakes::unbase64(&json!(text)), key, bound_to) {
        Ok(plain) => Reply::new(200, json!({ "data": { "plaintext": plain } }).to_string()),
        Err(_) => error(400, "cipher: message authentication failed"),
    }
}

/// A server that ignores associated data, as old ones do.
fn without_associated_data(request: &Received) -> Reply {
    let mut request = request.clone();
    let mut body = body(&request);
    body["context"] = json!("");
    body["associated_data"] = json!("");
    request.body = body.to_string().into();
    normal(&request)
}

fn error(status: u16, message: &str) -> Reply {
    Reply::new(status, json!({ "errors": [message] }).to_string())
}

fn refusal(mood: &Mood) -> Reply {
    match mood {
        Mood::Throttled(_) => error(429, "request path is rate limited"),
        Mood::Denied => error(403, "permission denied"),
        Mood::NoSuchKey => error(400, "encryption key not found"),
        Mood::Disabled => error(400, "ciphertext or signature version is disallowed by policy (too old)"),
        mood => panic!("{mood:?}"),
    }
}

#[tokio::test]
async fn old_server_without_associated_data_binds_the_key_too() {
    let fake = Fake::start(without_associated_data, refusal);
    let url = fake.server.url();
    let manager = manager("hashivault://prod", &[("BAO_ADDR", &url), ("BAO_TOKEN", "fake-token")], None);
    let wrapped = manager.wrap(&key(), &context("stack:a")).await.unwrap();
    assert!(manager.unwrap(&wrapped, &context("stack:a")).await.is_ok());
    let error = manager.unwrap(&wrapped, &context("stack:b")).await.err().unwrap();
    assert_eq!(error.class, ManagerErrorClass::WrongKey);
}

#[tokio::test]
async fn token_file_and_namespace_are_used() {
    let fake = Fake::start(normal, refusal);
    let (url, home) = (fake.server.url(), tempfile::tempdir().unwrap());
    let variables = [("VAULT_ADDR", url.as_str()), ("VAULT_NAMESPACE", "team/a")];
    let manager = manager("vault://transit/prod", &variables, Some(home.path()));
    let failed = manager.wrap(&key(), &context("a")).await.unwrap_err();
    assert_eq!(failed.class, ManagerErrorClass::NotConfigured);
    std::fs::write(home.path().join(".vault-token"), "fake-token\n").unwrap();
    manager.wrap(&key(), &context("a")).await.unwrap();
    let seen = &fake.server.seen()[0];
    assert_eq!(
        (&*seen.path, seen.headers.get("x-vault-namespace")),
        ("/v1/transit/encrypt/prod", Some("team/a"))
    );
}

#[tokio::test]
async fn sealed_server_and_key_without_binding_are_explained() {
    for (status, message, class) in [
        (503, "Vault is sealed", ManagerErrorClass::Unavailable),
        (
            400,
            "associated data provided for a key type that does not support it",
            ManagerErrorClass::NoSuchKey,
        ),
        (404, "no handler for route \"transit/encrypt/x\"", ManagerErrorClass::NoSuchKey),
        (307, "", ManagerErrorClass::Unavailable),
    ] {
        let server = FakeServer::start(move |_| error(status, message)).unwrap();
        let url = server.url();
        let manager = manager("vault://transit/x", &[("VAULT_ADDR", &url), ("VAULT_TOKEN", "t")], None);
        let failed = manager.wrap(&key(), &context("a")).await.unwrap_err();
        assert_eq!(failed.class, class, "{failed}");
        assert!(!failed.help.is_empty());
    }
}
