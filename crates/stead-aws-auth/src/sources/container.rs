//! Credentials of a container: ECS, EKS Pod Identity, Greengrass.
//!
//! **Invariant:** the token is sent only over TLS, to this machine, or to the addresses of ECS and EKS.

use std::net::IpAddr;
use std::time::Duration;

use stead_world::{HttpRequest, World};

use super::{WrittenCredentials, read_text};
use crate::Credentials;
use crate::error::{Looked, Missing};

const ECS: &str = "http://169.254.170.2";

/// Addresses of the agents of ECS and EKS.
const AGENTS: &[&str] = &["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];

const LIMIT: Duration = Duration::from_secs(5);

pub(super) async fn look_up(world: &World) -> Looked<Credentials> {
    let variable = |name: &str| world.host.variables.get(name).filter(|value| !value.is_empty());
    let relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map(|path| format!("{ECS}{path}"));
    let Some(url) = relative.or_else(|| variable("AWS_CONTAINER_CREDENTIALS_FULL_URI").map(str::to_owned))
    else {
        return Err(Missing::absent("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set"));
    };
    let mut request = HttpRequest::get(url).header("accept", "application/json");
    request.timeout = LIMIT;
    if !is_trusted(&request) {
        let reason = format!(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI names {}, which is neither https nor local",
            request.host()
        );
        return Err(Missing::misconfigured(reason));
    }
    let token = match variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(path) => Some(read_text(world, path).await?),
        None => variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(str::to_owned),
    };
    if let Some(token) = token {
        if token.contains(['\r', '\n']) {
            return Err(Missing::misconfigured("the container's authorization token has a line break"));
        }
        request.headers.set("authorization", token);
    }
    let answer = world.http.send(request).await.map_err(|error| Missing::unavailable(error.to_string()))?;
    match answer.status {
        200 => WrittenCredentials::read(&answer.body).map_err(Missing::unavailable),
        status @ (401 | 403) => Err(Missing::denied(format!("the container's agent answered HTTP {status}"))),
        status => Err(Missing::unavailable(format!("the container's agent answered HTTP {status}"))),
    }
}

fn is_trusted(request: &HttpRequest) -> bool {
    if request.url.starts_with("https://") {
        return true;
    }
    let host = request.host();
    let host =
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_local = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    request.url.starts_with("http://") && (is_local || host == "localhost" || AGENTS.contains(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_goes_only_to_trusted_places() {
        for url in [
            "https://anywhere.example.com/x",
            "http://127.0.0.1:80/x",
            "http://[::1]/x",
            "http://[fd00:ec2::23]/v1/credentials",
            "http://169.254.170.23/v1/credentials",
            "http://localhost:8080/",
        ] {
            assert!(is_trusted(&HttpRequest::get(url)), "{url}");
        }
        for url in [
            "http://example.com/",
            "http://169.254.169.254/",
            "ftp://localhost/",
            "http://localhost.evil/",
            "http://127.0.0.1@evil/",
        ] {
            assert!(!is_trusted(&HttpRequest::get(url)), "{url}");
        }
    }
}
