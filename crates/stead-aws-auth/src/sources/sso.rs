//! IAM Identity Center: the token that `aws sso login` left in `~/.aws/sso/cache` buys credentials of a role.

use serde::Deserialize;
use stead_world::{HttpRequest, Timestamp, World};

use super::sso_token::{TokenPlace, log_in, token};
use crate::config::{Config, Profile};
use crate::error::{Looked, Missing};
use crate::escape::escaped;
use crate::{Credentials, endpoint};

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
    let place = match profile.get("sso_session") {
        Some(name) => TokenPlace { filed_under: name, session_region: Some(region) },
        None => TokenPlace { filed_under: setting("sso_start_url")?, session_region: None },
    };
    let token = token(world, &place).await?;
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
        401 => return Err(log_in("IAM Identity Center does not accept the token")),
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
