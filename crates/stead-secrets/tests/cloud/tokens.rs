//! Tokens of Google Cloud and Azure: each source, renewal, and refusals.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::json;
use stead_secrets::{ManagerErrorClass, cloud_manager};
use stead_world::testing::{FakeServer, FastClock, Received, Reply, world};

use crate::{NOW, azure, context, gcp, key, manager};

const PRIVATE: &str = include_str!("service-account.pem");
const PUBLIC: &[u8] = include_bytes!("service-account.pub.der");

fn token() -> Reply {
    Reply::new(200, r#"{"access_token":"fake-token","expires_in":3600,"token_type":"Bearer"}"#)
}

/// Returns true if the assertion of a service account is good.
fn is_signed(request: &Received) -> bool {
    let body = String::from_utf8_lossy(&request.body).into_owned();
    let Some(assertion) = body.split("assertion=").nth(1) else { return false };
    let (text, signature) = assertion.rsplit_once('.').unwrap();
    let claims = URL_SAFE_NO_PAD.decode(text.split_once('.').unwrap().1).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let is_good =
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, PUBLIC).verify(text.as_bytes(), &signature);
    is_good.is_ok() && claims["iss"] == "robot@p" && claims["exp"] == NOW.0 / 1000 + 3600
}

fn google() -> FakeServer {
    FakeServer::start(|request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        match request.path.as_str() {
            "/token" if body.contains("refresh_token=re%2Ffresh") || is_signed(request) => token(),
            "/token" => Reply::new(
                400,
                r#"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#,
            ),
            path if path.starts_with("/computeMetadata/") => {
                assert_eq!(request.headers.get("metadata-flavor"), Some("Google"));
                token()
            }
            _ => gcp::normal(request),
        }
    })
    .unwrap()
}

fn service_account(server: &FakeServer) -> String {
    let uri = format!("{}/token", server.url());
    json!({ "type": "service_account", "client_email": "robot@p", "private_key": PRIVATE, "token_uri": uri })
        .to_string()
}

fn user(server: &FakeServer, refresh: &str) -> String {
    let uri = format!("{}/token", server.url());
    json!({ "type": "authorized_user", "client_id": "c", "client_secret": "canary", "refresh_token": refresh, "token_uri": uri })
        .to_string()
}

async fn google_class(server: &FakeServer, home: &Path, extra: &[(&str, &str)]) -> Option<ManagerErrorClass> {
    let url = server.url();
    let variables = [&[(gcp::ENDPOINT, url.as_str())], extra].concat();
    let wrapped = manager(&gcp::name("prod"), &variables, Some(home)).wrap(&key(), &context("a")).await;
    let error = wrapped.err()?;
    assert!(!format!("{error:?}").contains("canary") && !error.help.is_empty(), "{error:?}");
    Some(error.class)
}

#[tokio::test]
async fn google_service_account_signs_for_its_token() {
    let (server, home) = (google(), tempfile::tempdir().unwrap());
    let path = home.path().join("key.json");
    std::fs::write(&path, service_account(&server)).unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(google_class(&server, home.path(), &[("GOOGLE_APPLICATION_CREDENTIALS", path)]).await, None);
}

#[tokio::test]
async fn google_user_of_gcloud_is_found_and_a_revoked_login_is_told() {
    let (server, home) = (google(), tempfile::tempdir().unwrap());
    let folder = home.path().join(".config/gcloud");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("application_default_credentials.json");
    std::fs::write(&path, user(&server, "re/fresh")).unwrap();
    assert_eq!(google_class(&server, home.path(), &[]).await, None);
    std::fs::write(&path, user(&server, "canary")).unwrap();
    assert_eq!(google_class(&server, home.path(), &[]).await, Some(ManagerErrorClass::Denied));
    std::fs::write(&path, r#"{"type":"external_account"}"#).unwrap();
    assert_eq!(google_class(&server, home.path(), &[]).await, Some(ManagerErrorClass::NotConfigured));
}

#[tokio::test]
async fn google_metadata_server_is_the_last_source() {
    let (server, home) = (google(), tempfile::tempdir().unwrap());
    let host = server.address().to_string();
    assert_eq!(google_class(&server, home.path(), &[("GCE_METADATA_HOST", &host)]).await, None);
    let nowhere = [("GCE_METADATA_HOST", "127.0.0.1:1")];
    assert_eq!(google_class(&server, home.path(), &nowhere).await, Some(ManagerErrorClass::NotConfigured));
}

#[tokio::test]
async fn token_is_kept_until_shortly_before_it_expires() {
    let asked = std::sync::Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let server = FakeServer::start(move |request| match request.path.starts_with("/computeMetadata/") {
        true => {
            count.fetch_add(1, Ordering::SeqCst);
            token()
        }
        false => gcp::normal(request),
    })
    .unwrap();
    let (url, host, clock) = (server.url(), server.address().to_string(), FastClock::at(NOW));
    let world = world(&clock, &[(gcp::ENDPOINT, &url), ("GCE_METADATA_HOST", &host)], None);
    let manager = cloud_manager(&world, &gcp::name("prod")).unwrap().ok().unwrap();
    for minutes in [0, 30, 27] {
        clock.advance(Duration::from_secs(60 * minutes));
        manager.wrap(&key(), &context("a")).await.unwrap();
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    clock.advance(Duration::from_secs(120));
    manager.wrap(&key(), &context("a")).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

fn entra() -> FakeServer {
    FakeServer::start(|request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let scope = body.contains("scope=https%3A%2F%2Fvault.azure.net%2F.default");
        match request.path.as_str() {
            "/tenant/oauth2/v2.0/token" if scope && body.contains("client_secret=s%20ecret") => token(),
            "/tenant/oauth2/v2.0/token" if scope && body.contains("client_assertion=jwt.x.y") => token(),
            "/tenant/oauth2/v2.0/token" => Reply::new(
                401,
                r#"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret"}"#,
            ),
            path if path.starts_with("/metadata/identity/oauth2/token?") => {
                assert_eq!(request.headers.get("metadata"), Some("true"));
                assert!(path.contains("resource=https%3A%2F%2Fvault.azure.net"));
                Reply::new(200, r#"{"access_token":"fake-token","expires_in":"86000"}"#)
            }
            _ => azure::normal(request),
        }
    })
    .unwrap()
}

async fn azure_class(server: &FakeServer, extra: &[(&str, &str)]) -> Option<ManagerErrorClass> {
    let url = server.url();
    let common = [(azure::ENDPOINT, url.as_str()), ("AZURE_AUTHORITY_HOST", url.as_str())];
    let variables = [&common, extra].concat();
    let manager = manager("azurekeyvault://shop.vault.azure.net/keys/prod", &variables, None);
    let error = manager.wrap(&key(), &context("a")).await.err()?;
    assert!(!format!("{error:?}").contains("canary") && !error.help.is_empty(), "{error:?}");
    Some(error.class)
}

#[tokio::test]
async fn azure_client_proves_itself_by_secret_or_federated_token() {
    let (server, home) = (entra(), tempfile::tempdir().unwrap());
    let client = [("AZURE_TENANT_ID", "tenant"), ("AZURE_CLIENT_ID", "client")];
    let with = |name: &'static str, value: &'static str| [client.as_slice(), &[(name, value)]].concat();
    assert_eq!(azure_class(&server, &with("AZURE_CLIENT_SECRET", "s ecret")).await, None);
    assert_eq!(
        azure_class(&server, &with("AZURE_CLIENT_SECRET", "canary")).await,
        Some(ManagerErrorClass::Denied)
    );
    let path = home.path().join("token");
    std::fs::write(&path, "jwt.x.y\n").unwrap();
    let federated = [client.as_slice(), &[("AZURE_FEDERATED_TOKEN_FILE", path.to_str().unwrap())]].concat();
    assert_eq!(azure_class(&server, &federated).await, None);
}

#[tokio::test]
async fn azure_managed_identity_is_the_last_source() {
    let server = entra();
    let url = server.url();
    assert_eq!(azure_class(&server, &[("AZURE_POD_IDENTITY_AUTHORITY_HOST", &url)]).await, None);
    let nowhere = [("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1")];
    assert_eq!(azure_class(&server, &nowhere).await, Some(ManagerErrorClass::NotConfigured));
}

#[tokio::test]
async fn tokens_are_not_sent_in_the_clear_to_other_machines() {
    let variables = [(gcp::ENDPOINT, "http://kms.example.com"), ("GOOGLE_OAUTH_ACCESS_TOKEN", "canary")];
    let failed = manager(&gcp::name("prod"), &variables, None).wrap(&key(), &context("a")).await.unwrap_err();
    assert_eq!(failed.class, ManagerErrorClass::NotConfigured);
    let variables = [(azure::ENDPOINT, "http://vault.example.com"), ("AZURE_ACCESS_TOKEN", "canary")];
    let text = "azurekeyvault://shop.vault.azure.net/keys/prod";
    let failed = manager(text, &variables, None).wrap(&key(), &context("a")).await.unwrap_err();
    assert_eq!(failed.class, ManagerErrorClass::NotConfigured);
}
