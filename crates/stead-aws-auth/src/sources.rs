//! The sources of credentials, in the order of the AWS tools. A source that is configured and does not work ends the search.

mod assume;
mod container;
mod environment;
mod imds;
mod process;
mod profile;
mod sso;
mod sso_token;
mod web_identity;

use serde::Deserialize;
use stead_world::World;

use crate::auth::Options;
use crate::call::Caller;
use crate::config::Config;
use crate::error::{CredentialsError, Looked, Missing, Source, Tried};
use crate::moment::rfc3339;
use crate::{Credentials, error};

/// Looks credentials up, and assumes the role that the options name.
pub(crate) async fn look_up(
    caller: &Caller,
    options: &Options,
    given: Option<&Credentials>,
) -> Result<Credentials, CredentialsError> {
    let found = match given {
        Some(given) => given.clone(),
        None => ask_all(caller, options).await?,
    };
    let Some(role) = &options.role else { return Ok(found) };
    let source = match &options.profile {
        Some(profile) => Source::Profile(profile.clone()),
        None => Source::Role(role.arn.clone()),
    };
    let role = assume::Role {
        arn: role.arn.clone(),
        external_id: role.external_id.clone(),
        session_name: role.session_name.clone(),
        duration_seconds: None,
        region: region(&caller.world, options).await.ok().flatten(),
        endpoint: options.endpoint.clone(),
    };
    let assumed = assume::assume(caller, &role, &found).await.map_err(Missing::required);
    settle(source, assumed, &mut Vec::new())
}

/// Asks one source after the other.
async fn ask_all(caller: &Caller, options: &Options) -> Result<Credentials, CredentialsError> {
    let mut tried = Vec::new();
    let world = &caller.world;
    if let Some(name) = &options.profile {
        let looked = profile::look_up(caller, options, name).await;
        return settle(Source::Profile(name.clone()), looked.map_err(Missing::required), &mut tried);
    }
    let name = profile_name(world, options).to_owned();
    let steps: [Source; 5] = [
        Source::Environment,
        Source::Profile(name.clone()),
        Source::WebIdentity,
        Source::Container,
        Source::InstanceMetadata,
    ];
    for source in steps {
        let looked = match &source {
            Source::Environment => environment::look_up(world),
            Source::Profile(name) => profile::look_up(caller, options, name).await,
            Source::WebIdentity => web_identity::look_up(caller, options).await,
            Source::Container => container::look_up(world).await,
            Source::InstanceMetadata | Source::Role(_) => imds::look_up(world).await,
        };
        match settle(source, looked, &mut tried) {
            Err(CredentialsError::NoneFound(_)) => {}
            settled => return settled,
        }
    }
    Err(CredentialsError::NoneFound(tried))
}

/// Turns the result of a source into that of the chain. `NoneFound` means that the next source is tried.
fn settle(
    source: Source,
    looked: Looked<Credentials>,
    tried: &mut Vec<Tried>,
) -> Result<Credentials, CredentialsError> {
    match looked {
        Ok(credentials) => Ok(credentials),
        Err(Missing::Absent(reason)) => {
            tried.push(Tried { source, reason });
            Err(CredentialsError::NoneFound(Vec::new()))
        }
        Err(Missing::Unusable { class, reason, hint }) => Err(CredentialsError::Unusable {
            from: source,
            class,
            reason,
            hint,
            tried: std::mem::take(tried),
        }),
    }
}

/// Returns the name of the profile: of the options, `AWS_PROFILE`, or `default`.
pub(crate) fn profile_name<'a>(world: &'a World, options: &'a Options) -> &'a str {
    let variables = &world.host.variables;
    let named =
        options.profile.as_deref().or_else(|| variables.get("AWS_PROFILE").filter(|name| !name.is_empty()));
    named.unwrap_or("default")
}

/// Returns the region: of the options, the environment, or the profile.
pub(crate) async fn region(world: &World, options: &Options) -> Result<Option<String>, String> {
    let variable =
        |name| world.host.variables.get(name).filter(|region| !region.is_empty()).map(str::to_owned);
    let given =
        options.region.clone().or_else(|| variable("AWS_REGION")).or_else(|| variable("AWS_DEFAULT_REGION"));
    if given.is_some() {
        return Ok(given);
    }
    let config = Config::load(world).await?;
    let profile = config.profile(profile_name(world, options));
    Ok(profile.and_then(|profile| profile.get("region")).map(str::to_owned))
}

/// Credentials as containers, instance metadata and credential processes write them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct WrittenCredentials {
    access_key_id: String,
    secret_access_key: String,
    #[serde(alias = "SessionToken")]
    token: Option<String>,
    expiration: Option<String>,
}

impl WrittenCredentials {
    /// Reads credentials. The reason of a failure contains nothing of the text, which may have secrets.
    fn read(bytes: &[u8]) -> Result<Credentials, String> {
        let written: WrittenCredentials = serde_json::from_slice(bytes)
            .map_err(|error| format!("its answer is not credentials in JSON (line {})", error.line()))?;
        let expires = match written.expiration.as_deref().filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => Some(rfc3339(text).ok_or("its answer has an expiration that is not a time")?),
        };
        let credentials = Credentials::new(written.access_key_id, written.secret_access_key);
        Ok(credentials.with_token(written.token).expiring(expires))
    }
}

/// Reads a small text file, such as a token.
async fn read_text(world: &World, path: &str) -> error::Looked<String> {
    let owned = std::path::PathBuf::from(path);
    let read = world.with_files(move |files| files.read(&owned)).await;
    let bytes = read.map_err(|error| Missing::misconfigured(format!("cannot read {path}: {error}")))?;
    let text = String::from_utf8(bytes);
    Ok(text.map_err(|_| Missing::misconfigured(format!("{path} is not text")))?.trim().to_owned())
}
