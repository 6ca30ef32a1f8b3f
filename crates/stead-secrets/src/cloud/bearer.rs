//! Calls of key services that take a JSON body and a bearer token: Google Cloud KMS and Azure Key Vault.

use stead_world::{HttpRequest, HttpResponse, World};

use super::exchange;
use super::failure::Failures;
use super::oauth::is_safe;
use crate::{ManagerError, ManagerErrorClass};

/// Returns the address of a service: of a variable, which tests and private networks set, or the usual one.
pub(super) fn endpoint(
    world: &World,
    failures: Failures<'_>,
    variable: &str,
    usual: &str,
) -> Result<String, ManagerError> {
    let given = world.host.variables.get(variable).filter(|url| !url.is_empty());
    let endpoint = given.unwrap_or(usual).trim_end_matches('/');
    if !is_safe(endpoint) {
        let reason = format!("{variable} is neither https nor on this machine");
        return Err(failures.error(ManagerErrorClass::NotConfigured, &reason));
    }
    Ok(endpoint.to_owned())
}

/// Sends a body with a token. An answer other than 200 is not an error here.
pub(super) async fn post(
    world: &World,
    failures: Failures<'_>,
    url: String,
    token: &str,
    body: Vec<u8>,
) -> Result<HttpResponse, ManagerError> {
    let request = HttpRequest::post(url, body)
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"));
    exchange::send(world, request).await.map_err(|error| failures.http(&error))
}
