//! Tokens of Azure: of the environment, a client secret, a workload identity, or a managed identity.

use std::path::PathBuf;
use std::time::Duration;

use stead_world::{HttpRequest, World};
use zeroize::Zeroizing;

use super::failure::Failures;
use super::oauth::{self, Token, escaped, form, is_safe};
use crate::{ManagerError, ManagerErrorClass};

const AUTHORITY: &str = "https://login.microsoftonline.com";
const METADATA: &str = "http://169.254.169.254";
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Limit on a request to the metadata server: a machine outside of Azure must not wait.
const METADATA_LIMIT: Duration = Duration::from_secs(2);

/// Finds a token for the vaults of a domain.
pub(super) async fn token(
    world: &World,
    failures: Failures<'_>,
    domain: &str,
) -> Result<Token, ManagerError> {
    let variable = |name: &str| world.host.variables.get(name).filter(|value| !value.is_empty());
    if let Some(token) = variable("AZURE_ACCESS_TOKEN") {
        return Ok(Token::given(token));
    }
    let resource = format!("https://{domain}");
    if let (Some(tenant), Some(client)) = (variable("AZURE_TENANT_ID"), variable("AZURE_CLIENT_ID")) {
        if let Some(secret) = variable("AZURE_CLIENT_SECRET") {
            let proof = [("client_secret", secret)];
            return of_tenant(world, failures, tenant, client, &resource, &proof).await;
        }
        if let Some(path) = variable("AZURE_FEDERATED_TOKEN_FILE") {
            let assertion = read(world, path).await.map_err(|error| {
                let reason = format!("AZURE_FEDERATED_TOKEN_FILE names {path}: {error}");
                failures.error(ManagerErrorClass::NotConfigured, &reason)
            })?;
            let proof = [("client_assertion_type", ASSERTION), ("client_assertion", assertion.trim())];
            return of_tenant(world, failures, tenant, client, &resource, &proof).await;
        }
    }
    of_managed_identity(world, failures, &resource).await
}

async fn read(world: &World, path: &str) -> std::io::Result<Zeroizing<String>> {
    let path = PathBuf::from(path);
    let bytes = world.with_files(move |files| files.read(&path)).await?;
    Ok(Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Gets a token for a client of a tenant, which proves itself by a secret or by a token of another issuer.
async fn of_tenant(
    world: &World,
    failures: Failures<'_>,
    tenant: &str,
    client: &str,
    resource: &str,
    proof: &[(&str, &str)],
) -> Result<Token, ManagerError> {
    let authority = world.host.variables.get("AZURE_AUTHORITY_HOST").filter(|url| !url.is_empty());
    let authority = authority.unwrap_or(AUTHORITY).trim_end_matches('/');
    if !is_safe(authority) {
        return Err(failures.error(ManagerErrorClass::NotConfigured, "AZURE_AUTHORITY_HOST is not https"));
    }
    let scope = format!("{resource}/.default");
    let fields =
        [&[("grant_type", "client_credentials"), ("client_id", client), ("scope", &scope)], proof].concat();
    let url = format!("{authority}/{}/oauth2/v2.0/token", escaped(tenant));
    let request =
        HttpRequest::post(url, form(&fields)).header("content-type", "application/x-www-form-urlencoded");
    oauth::request(world, failures, request, "Microsoft Entra").await.map_err(|error| {
        error.help("check AZURE_TENANT_ID, AZURE_CLIENT_ID and the secret or the federated credential")
    })
}

async fn of_managed_identity(
    world: &World,
    failures: Failures<'_>,
    resource: &str,
) -> Result<Token, ManagerError> {
    let variable = |name: &str| world.host.variables.get(name).filter(|value| !value.is_empty());
    let client =
        variable("AZURE_CLIENT_ID").map(|id| format!("&client_id={}", escaped(id))).unwrap_or_default();
    let resource = escaped(resource);
    let mut request = match (variable("IDENTITY_ENDPOINT"), variable("IDENTITY_HEADER")) {
        // App Service, Functions and Container Apps.
        (Some(url), Some(header)) => {
            HttpRequest::get(format!("{url}?api-version=2019-08-01&resource={resource}{client}"))
                .header("x-identity-header", header)
        }
        _ => {
            let base =
                variable("AZURE_POD_IDENTITY_AUTHORITY_HOST").unwrap_or(METADATA).trim_end_matches('/');
            let path = "metadata/identity/oauth2/token?api-version=2018-02-01";
            HttpRequest::get(format!("{base}/{path}&resource={resource}{client}"))
        }
    };
    request.headers.set("metadata", "true");
    request.timeout = METADATA_LIMIT;
    let none = |reason: &str| {
        let reason =
            format!("no credentials of Azure were found: no client is in the environment, and {reason}");
        failures.error(ManagerErrorClass::NotConfigured, &reason).help(
            "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or AZURE_ACCESS_TOKEN to a token of \
             `az account get-access-token --resource https://vault.azure.net`",
        )
    };
    match world.http.send(request).await {
        Ok(answer) if answer.status == 200 => oauth::read(world, failures, &answer, "the managed identity"),
        Ok(answer) => Err(none(&format!("the managed identity answered HTTP {}", answer.status))),
        Err(error) => Err(none(&format!("a managed identity cannot be reached: {error}"))),
    }
}
