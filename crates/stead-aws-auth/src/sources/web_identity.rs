//! A role for a token of an identity provider: Kubernetes service accounts, CI systems.

use super::assume::{Role, assume_with_token};
use super::read_text;
use crate::Credentials;
use crate::auth::Options;
use crate::call::Caller;
use crate::error::{Looked, Missing};

pub(super) async fn look_up(caller: &Caller, options: &Options) -> Looked<Credentials> {
    let variable = |name: &str| caller.world.host.variables.get(name).filter(|value| !value.is_empty());
    let Some(path) = variable("AWS_WEB_IDENTITY_TOKEN_FILE") else {
        return Err(Missing::absent("AWS_WEB_IDENTITY_TOKEN_FILE is not set"));
    };
    let Some(arn) = variable("AWS_ROLE_ARN") else {
        return Err(Missing::misconfigured("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not"));
    };
    let role = Role {
        arn: arn.to_owned(),
        external_id: None,
        session_name: None,
        duration_seconds: None,
        region: options.region.clone(),
        endpoint: options.endpoint.clone(),
    };
    exchange(caller, role, path).await
}

/// Reads the token anew each time, because Kubernetes replaces it.
pub(super) async fn exchange(caller: &Caller, role: Role, path: &str) -> Looked<Credentials> {
    let token = read_text(&caller.world, path).await?;
    assume_with_token(caller, &role, &token).await
}
