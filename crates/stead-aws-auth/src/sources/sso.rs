//! IAM Identity Center: the token that `aws sso login` left in `~/.aws/sso/cache` buys credentials of a role.

use serde::Deserialize;
use sha1::{Digest as _, Sha1};
use stead_world::{HttpRequest, Timestamp, World};

use crate::config::{Config, Profile};
use crate::error::{Looked, Missing};
use crate::escape::escaped;
use crate::moment::rfc3339;
use crate::{Credentials, endpoint};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    access_token: String,
    expires_at: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    role_credentials: RoleCredentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoleCredentials {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    /// Milliseconds since 1970.
    expiration: u64,
}

pub(super) async fn look_up(world: &World, config: &Config, profile: &Profile) -> Looked<Credentials> {
    let session = match profile.get("sso_session") {
        Some(name) => {
            let missing = || Missing::misconfigured(format!("there is no section `sso-session {name}`"));
            Some(config.session(name).ok_or_else(missing)?)
        }
        None => None,
    };
    let setting = |key: &str| {
        let found = profile.get(key).or_else(|| session.and_then(|session| session.get(key)));
        found.ok_or_else(|| Missing::misconfigured(format!("the profile has no `{key}`")))
    };
    let (account, role, region) =
        (setting("sso_account_id")?, setting("sso_role_name")?, setting("sso_region")?);
    // The token is filed under the name of the session, or under the start URL without one.
    let filed_under = match profile.get("sso_session") {
        Some(name) => name,
        None => setting("sso_start_url")?,
    };
    let token = token(world, filed_under).await?;
    let base = match endpoint::overridden(&world.host.variables, "sso") {
        Some(url) => url,
        None => format!("https://portal.sso.{region}.{}", endpoint::suffix(region)),
    };
    let url =
        format!("{base}/federation/credentials?role_name={}&account_id={}", escaped(role), escaped(account));
    let request = HttpRequest::get(url).header("x-amz-sso_bearer_token", token);
    let answer = world.http.send(request).await.map_err(|error| Missing::unavailable(error.to_string()))?;
    match answer.status {
        200 => {}
        401 => return Err(expired("IAM Identity Center does not accept the token")),
        403 => {
            return Err(Missing::denied(format!(
                "IAM Identity Center refuses the role {role} in account {account}"
            )));
        }
        404 => return Err(Missing::misconfigured(format!("there is no role {role} in account {account}"))),
        status => return Err(Missing::unavailable(format!("IAM Identity Center answered HTTP {status}"))),
    }
    let unreadable = |_| Missing::unavailable("the answer of IAM Identity Center is not credentials");
    let found = serde_json::from_slice::<Answer>(&answer.body).map_err(unreadable)?.role_credentials;
    let credentials = Credentials::new(found.access_key_id, found.secret_access_key);
    Ok(credentials.with_token(Some(found.session_token)).expiring(Some(Timestamp(found.expiration))))
}

async fn token(world: &World, filed_under: &str) -> Looked<String> {
    let Some(home) = &world.host.home else {
        return Err(Missing::misconfigured("there is no home folder with tokens of IAM Identity Center"));
    };
    let name: String = Sha1::digest(filed_under).iter().map(|byte| format!("{byte:02x}")).collect();
    let path = home.join(".aws/sso/cache").join(format!("{name}.json"));
    let read = world.with_files(move |files| files.read(&path)).await;
    let bytes = read.map_err(|_| expired("nobody is logged in to IAM Identity Center"))?;
    let unreadable = |_| expired("the token of IAM Identity Center cannot be read");
    let token: Token = serde_json::from_slice(&bytes).map_err(unreadable)?;
    match rfc3339(&token.expires_at) {
        Some(expires) if expires > world.clock.now() => Ok(token.access_token),
        _ => Err(expired("the token of IAM Identity Center is expired")),
    }
}

fn expired(reason: &str) -> Missing {
    Missing::misconfigured(format!("{reason}; run `aws sso login`"))
        .hint("run `aws sso login` with the same profile")
}
