//! Profiles of the shared files: keys, roles of other profiles, SSO, a command.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::assume::{Role, assume};
use super::{container, environment, imds, process, sso, web_identity};
use crate::Credentials;
use crate::auth::Options;
use crate::call::Caller;
use crate::config::{Config, Profile};
use crate::error::{Looked, Missing};

/// Longest chain of profiles that name each other.
const MAX_CHAIN: usize = 10;

pub(super) async fn look_up(caller: &Caller, options: &Options, name: &str) -> Looked<Credentials> {
    let config = Config::load(&caller.world).await.map_err(Missing::misconfigured)?;
    let named = options.profile.is_some() || caller.world.host.variables.get("AWS_PROFILE").is_some();
    if config.profile(name).is_none() {
        let reason = match config.paths.as_str() {
            "" => "there is no home folder with shared files".to_owned(),
            paths => format!("no such profile in {paths}"),
        };
        return Err(if named { Missing::misconfigured(reason) } else { Missing::absent(reason) });
    }
    let lookup = Lookup { caller, options, config: &config };
    lookup.profile(name, Vec::new()).await.map_err(|missing| if named { missing.required() } else { missing })
}

struct Lookup<'a> {
    caller: &'a Caller,
    options: &'a Options,
    config: &'a Config,
}

impl<'a> Lookup<'a> {
    /// Returns the credentials of a profile. `above` are the profiles that lead to it.
    fn profile(&'a self, name: &'a str, above: Vec<&'a str>) -> BoxFuture<'a, Looked<Credentials>> {
        async move {
            let profile = self.config.profile(name);
            let missing = || Missing::misconfigured(format!("the profile `{name}` does not exist"));
            let profile = profile.ok_or_else(missing)?;
            // A profile that is its own source has keys of its own.
            if above.last() == Some(&name) {
                return keys(profile)?.ok_or_else(|| {
                    Missing::misconfigured(format!("the profile `{name}` is its own source and has no keys"))
                });
            }
            if above.contains(&name) || above.len() > MAX_CHAIN {
                let chain = [above.as_slice(), &[name]].concat().join(" → ");
                return Err(Missing::misconfigured(format!("the profiles are each other's source: {chain}")));
            }
            if let Some(arn) = profile.get("role_arn") {
                return self.role(name, profile, arn, above).await;
            }
            if profile.get("sso_session").is_some() || profile.get("sso_start_url").is_some() {
                return sso::look_up(&self.caller.world, self.config, profile).await;
            }
            if let Some(keys) = keys(profile)? {
                return Ok(keys);
            }
            match profile.get("credential_process") {
                Some(command) => process::look_up(self.caller, command).await,
                None => Err(Missing::absent("the profile has no credentials")),
            }
        }
        .boxed()
    }

    async fn role(
        &'a self,
        name: &'a str,
        profile: &'a Profile,
        arn: &str,
        mut above: Vec<&'a str>,
    ) -> Looked<Credentials> {
        let region = self.options.region.as_deref().or_else(|| profile.get("region"));
        let role = Role {
            arn: arn.to_owned(),
            external_id: profile.get("external_id").map(str::to_owned),
            session_name: profile.get("role_session_name").map(str::to_owned),
            duration_seconds: profile.get("duration_seconds").map(str::to_owned),
            region: region.map(str::to_owned),
            endpoint: self.options.endpoint.clone(),
        };
        if let Some(path) = profile.get("web_identity_token_file") {
            return web_identity::exchange(self.caller, role, path).await;
        }
        if profile.get("mfa_serial").is_some() {
            let reason =
                format!("the role of profile `{name}` asks for an MFA code, which Stead does not prompt for");
            let hint = "get a session first, such as with `aws sso login` or a `credential_process`";
            return Err(Missing::misconfigured(reason).hint(hint));
        }
        let credentials = match (profile.get("source_profile"), profile.get("credential_source")) {
            (Some(source), None) => {
                above.push(name);
                self.profile(source, above).await.map_err(Missing::required)?
            }
            (None, Some(source)) => self.source(source).await.map_err(Missing::required)?,
            (Some(_), Some(_)) => {
                let reason =
                    format!("the profile `{name}` has both `source_profile` and `credential_source`");
                return Err(Missing::misconfigured(reason));
            }
            (None, None) => {
                let reason = format!(
                    "the profile `{name}` has `role_arn` without `source_profile` or `credential_source`"
                );
                return Err(Missing::misconfigured(reason));
            }
        };
        assume(self.caller, &role, &credentials).await
    }

    async fn source(&self, name: &str) -> Looked<Credentials> {
        let world = &self.caller.world;
        match name {
            "Environment" => environment::look_up(world),
            "EcsContainer" => container::look_up(world).await,
            "Ec2InstanceMetadata" => imds::look_up(world).await,
            _ => Err(Missing::misconfigured(format!("`credential_source` cannot be `{name}`"))),
        }
    }
}

fn keys(profile: &Profile) -> Looked<Option<Credentials>> {
    match (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key")) {
        (Some(id), Some(secret)) => {
            Ok(Some(Credentials::new(id, secret).with_token(profile.get("aws_session_token"))))
        }
        (None, None) => Ok(None),
        _ => Err(Missing::misconfigured(
            "the profile has only one of `aws_access_key_id` and `aws_secret_access_key`",
        )),
    }
}
