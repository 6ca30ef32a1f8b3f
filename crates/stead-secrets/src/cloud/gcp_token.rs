//! Tokens of Google Cloud: of the environment, a credentials file, or the metadata server.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Deserialize;
use serde_json::json;
use stead_world::{HttpRequest, World};
use zeroize::Zeroizing;

use super::failure::Failures;
use super::oauth::{self, Token, form, is_safe};
use crate::{ManagerError, ManagerErrorClass};

const SCOPE: &str = "https://www.googleapis.com/auth/cloudkms";
const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

/// Lifetime of an assertion, in seconds.
const LIFETIME: u64 = 3600;

/// Limit on a request to the metadata server: a machine outside of Google Cloud must not wait.
const METADATA_LIMIT: Duration = Duration::from_secs(2);

/// Credentials in a file.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Written {
    ServiceAccount {
        client_email: String,
        private_key: Zeroizing<String>,
        private_key_id: Option<String>,
        token_uri: Option<String>,
    },
    AuthorizedUser {
        client_id: String,
        client_secret: Zeroizing<String>,
        refresh_token: Zeroizing<String>,
        token_uri: Option<String>,
    },
    #[serde(other)]
    Other,
}

/// Finds a token: `GOOGLE_OAUTH_ACCESS_TOKEN`, `GOOGLE_APPLICATION_CREDENTIALS`, gcloud's file, the metadata server.
pub(super) async fn token(world: &World, failures: Failures<'_>) -> Result<Token, ManagerError> {
    let variable = |name: &str| world.host.variables.get(name).filter(|value| !value.is_empty());
    let given = variable("GOOGLE_OAUTH_ACCESS_TOKEN").or_else(|| variable("CLOUDSDK_AUTH_ACCESS_TOKEN"));
    if let Some(token) = given {
        return Ok(Token::given(token));
    }
    if let Some(path) = variable("GOOGLE_APPLICATION_CREDENTIALS") {
        let text = read(world, PathBuf::from(path)).await.map_err(|error| {
            let reason = format!("GOOGLE_APPLICATION_CREDENTIALS names {path}: {error}");
            failures.error(ManagerErrorClass::NotConfigured, &reason)
        })?;
        return of_file(world, failures, &text, path).await;
    }
    let folder = variable("CLOUDSDK_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| Some(world.host.home.as_ref()?.join(".config/gcloud")));
    if let Some(path) = folder.map(|folder| folder.join("application_default_credentials.json"))
        && let Ok(text) = read(world, path.clone()).await
    {
        return of_file(world, failures, &text, &path.display().to_string()).await;
    }
    of_metadata(world, failures).await
}

async fn read(world: &World, path: PathBuf) -> std::io::Result<Zeroizing<Vec<u8>>> {
    world.with_files(move |files| files.read(&path)).await.map(Zeroizing::new)
}

async fn of_file(
    world: &World,
    failures: Failures<'_>,
    text: &[u8],
    path: &str,
) -> Result<Token, ManagerError> {
    let unusable =
        |reason: &str| failures.error(ManagerErrorClass::NotConfigured, &format!("{path}: {reason}"));
    let written: Written =
        serde_json::from_slice(text).map_err(|_| unusable("not a credentials file of Google Cloud"))?;
    let (uri, fields) = match &written {
        Written::ServiceAccount { client_email, private_key, private_key_id, token_uri } => {
            let uri = token_uri.as_deref().unwrap_or(TOKEN_URI);
            let now = world.clock.now().0 / 1000;
            let claims =
                json!({ "iss": client_email, "scope": SCOPE, "aud": uri, "iat": now, "exp": now + LIFETIME });
            let header = json!({ "alg": "RS256", "typ": "JWT", "kid": private_key_id });
            let assertion = assertion(&header.to_string(), &claims.to_string(), private_key)
                .map_err(|reason| unusable(&reason))?;
            (
                uri,
                form(&[
                    ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                    ("assertion", &assertion),
                ]),
            )
        }
        Written::AuthorizedUser { client_id, client_secret, refresh_token, token_uri } => {
            let fields = [
                ("grant_type", "refresh_token"),
                ("client_id", client_id.as_str()),
                ("client_secret", client_secret.as_str()),
                ("refresh_token", refresh_token.as_str()),
            ];
            (token_uri.as_deref().unwrap_or(TOKEN_URI), form(&fields))
        }
        Written::Other => {
            let kind = kind(text).map(|kind| format!("credentials of type {kind} cannot be used; "));
            let supported =
                "supported are the types service_account and authorized_user, and the metadata server";
            return Err(unusable(&format!("{}{supported}", kind.unwrap_or_default()))
                .help("set GOOGLE_OAUTH_ACCESS_TOKEN to the output of `gcloud auth print-access-token`"));
        }
    };
    if !is_safe(uri) {
        return Err(unusable("its `token_uri` is not https"));
    }
    let request = HttpRequest::post(uri, fields).header("content-type", "application/x-www-form-urlencoded");
    oauth::request(world, failures, request, path).await.map_err(|error| {
        error.help("log in again with `gcloud auth application-default login`, or renew the key file")
    })
}

/// Returns the type of a credentials file, such as `external_account`.
fn kind(text: &[u8]) -> Option<String> {
    let document: serde_json::Value = serde_json::from_slice(text).ok()?;
    let kind = document.get("type")?.as_str()?;
    let is_word = kind.len() <= 60 && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_word.then(|| kind.to_owned())
}

/// Returns a token that the private key signed: a JWT with RS256.
fn assertion(header: &str, claims: &str, pem: &str) -> Result<String, String> {
    let der: String = pem.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect();
    let der = Zeroizing::new(STANDARD.decode(der).map_err(|_| "its private key is not PEM")?);
    let key =
        RsaKeyPair::from_pkcs8(&der).map_err(|error| format!("its private key cannot be used: {error}"))?;
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let mut signature = vec![0; key.public().modulus_len()];
    // PKCS #1 v1.5 signatures are deterministic; ring uses the randomness only to blind the computation.
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
        .map_err(|_| "its private key cannot sign")?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

async fn of_metadata(world: &World, failures: Failures<'_>) -> Result<Token, ManagerError> {
    let host = world.host.variables.get("GCE_METADATA_HOST").filter(|host| !host.is_empty());
    let host = host.unwrap_or("metadata.google.internal");
    let url =
        format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token?scopes={SCOPE}");
    let mut request = HttpRequest::get(url).header("metadata-flavor", "Google");
    request.timeout = METADATA_LIMIT;
    let none = |reason: &str| {
        let reason =
            format!("no credentials of Google Cloud were found: there is no file of gcloud, and {reason}");
        failures
            .error(ManagerErrorClass::NotConfigured, &reason)
            .help("run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file")
    };
    match world.http.send(request).await {
        Ok(answer) if answer.status == 200 => oauth::read(world, failures, &answer, "the metadata server"),
        Ok(answer) => Err(none(&format!("the metadata server answered HTTP {}", answer.status))),
        Err(error) => Err(none(&format!("the metadata server cannot be reached: {error}"))),
    }
}
