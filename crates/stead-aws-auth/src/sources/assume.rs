//! Roles, assumed through STS.

use stead_world::HttpRequest;

use crate::Credentials;
use crate::call::{Call, CallError, Caller, Repeat};
use crate::endpoint;
use crate::error::{Looked, Missing};
use crate::escape::form;
use crate::moment::rfc3339;
use crate::service_error::{ServiceErrorClass, element};
use crate::sign::Scope;

/// Region of the global endpoint of STS.
const GLOBAL: &str = "us-east-1";

/// A role, and the settings of its session.
pub(super) struct Role {
    pub(super) arn: String,
    pub(super) external_id: Option<String>,
    pub(super) session_name: Option<String>,
    pub(super) duration_seconds: Option<String>,
    pub(super) region: Option<String>,
    /// URL of STS. `None`: that of the environment or of AWS.
    pub(super) endpoint: Option<String>,
}

/// Assumes a role with other credentials.
pub(super) async fn assume(caller: &Caller, role: &Role, credentials: &Credentials) -> Looked<Credentials> {
    let mut fields = Vec::new();
    if let Some(id) = &role.external_id {
        fields.push(("ExternalId", id.as_str()));
    }
    request(caller, role, "AssumeRole", fields, Some(credentials)).await
}

/// Assumes a role with a token of an identity provider. The request has no signature.
pub(super) async fn assume_with_token(caller: &Caller, role: &Role, token: &str) -> Looked<Credentials> {
    request(caller, role, "AssumeRoleWithWebIdentity", vec![("WebIdentityToken", token)], None).await
}

async fn request(
    caller: &Caller,
    role: &Role,
    action: &str,
    mut fields: Vec<(&str, &str)>,
    credentials: Option<&Credentials>,
) -> Looked<Credentials> {
    let world = &caller.world;
    let variable = |name| world.host.variables.get(name).filter(|value: &&str| !value.is_empty());
    let region =
        role.region.as_deref().or_else(|| variable("AWS_REGION")).or_else(|| variable("AWS_DEFAULT_REGION"));
    let region = region.unwrap_or(GLOBAL);
    let unnamed = format!("stead-{}", world.clock.now().0);
    let name = role.session_name.as_deref().or_else(|| variable("AWS_ROLE_SESSION_NAME")).unwrap_or(&unnamed);
    fields.extend([("RoleArn", role.arn.as_str()), ("RoleSessionName", name)]);
    if let Some(duration) = &role.duration_seconds {
        fields.push(("DurationSeconds", duration));
    }
    let fields = [vec![("Action", action), ("Version", "2011-06-15")], fields].concat();
    let given = role.endpoint.as_ref().map(|url| url.trim_end_matches('/').to_owned());
    let url = format!("{}/", given.unwrap_or_else(|| endpoint::endpoint(world, "sts", region)));
    let request = HttpRequest::post(url, form(&fields))
        .header("content-type", "application/x-www-form-urlencoded; charset=utf-8");
    // A second session does no harm.
    let call = Call { request, scope: Scope::new("sts", region), repeat: Repeat::Safe };
    let answer = caller.call(&call, credentials).await.map_err(|error| refused(role, error))?;
    read(&String::from_utf8_lossy(&answer.body))
        .ok_or_else(|| Missing::unavailable(format!("the answer of STS to {action} has no credentials")))
}

fn refused(role: &Role, error: CallError) -> Missing {
    let reason = format!("cannot assume {}: {error}", role.arn);
    match &error {
        CallError::Service(error) => match error.class() {
            ServiceErrorClass::Throttled | ServiceErrorClass::Transient => Missing::unavailable(reason),
            _ => Missing::denied(reason)
                .hint("check that the role's trust policy admits the caller, and its external id"),
        },
        CallError::Http(_) => Missing::unavailable(reason),
        CallError::Credentials(_) => Missing::misconfigured(reason),
    }
}

fn read(xml: &str) -> Option<Credentials> {
    let credentials = Credentials::new(element(xml, "AccessKeyId")?, element(xml, "SecretAccessKey")?);
    let expires = rfc3339(&element(xml, "Expiration")?)?;
    Some(credentials.with_token(element(xml, "SessionToken")).expiring(Some(expires)))
}
