//! Instance metadata of EC2, version 2: a token first, then the role, then its credentials.

use std::time::Duration;

use stead_world::{HttpRequest, HttpResponse, Method, World};

use super::WrittenCredentials;
use crate::Credentials;
use crate::error::{Looked, Missing};

const IPV4: &str = "http://169.254.169.254";
const IPV6: &str = "http://[fd00:ec2::254]";
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

/// Limit on each request: a machine outside of EC2 must not wait.
const LIMIT: Duration = Duration::from_secs(1);

pub(super) async fn look_up(world: &World) -> Looked<Credentials> {
    let variable = |name: &str| world.host.variables.get(name).filter(|value| !value.is_empty());
    if variable("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Err(Missing::absent("AWS_EC2_METADATA_DISABLED is set"));
    }
    let mode = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").unwrap_or_default();
    let usual = if mode.eq_ignore_ascii_case("ipv6") { IPV6 } else { IPV4 };
    let base = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or(usual).trim_end_matches('/');

    let token = HttpRequest::new(Method::Put, format!("{base}/latest/api/token"))
        .header("x-aws-ec2-metadata-token-ttl-seconds", "21600");
    let token = match send(world, token).await {
        Ok(answer) if answer.status == 200 => String::from_utf8_lossy(&answer.body).trim().to_owned(),
        Ok(answer) => return Err(Missing::absent(format!("no token: HTTP {}", answer.status))),
        // Outside of EC2 there is no such service.
        Err(reason) => return Err(Missing::absent(reason)),
    };
    let get = |path: &str| {
        send(world, HttpRequest::get(format!("{base}{path}")).header("x-aws-ec2-metadata-token", &*token))
    };
    let roles = get(ROLES).await.map_err(Missing::unavailable)?;
    if roles.status == 404 {
        return Err(Missing::absent("the instance has no role"));
    }
    let roles = good(&roles)?;
    let role = roles.lines().next().unwrap_or_default().trim();
    if role.is_empty() {
        return Err(Missing::absent("the instance has no role"));
    }
    let answer = get(&format!("{ROLES}{role}")).await.map_err(Missing::unavailable)?;
    good(&answer)?;
    WrittenCredentials::read(&answer.body).map_err(Missing::unavailable)
}

async fn send(world: &World, mut request: HttpRequest) -> Result<HttpResponse, String> {
    request.timeout = LIMIT;
    world.http.send(request).await.map_err(|error| error.to_string())
}

fn good(answer: &HttpResponse) -> Looked<String> {
    match answer.status {
        200 => Ok(String::from_utf8_lossy(&answer.body).into_owned()),
        status => Err(Missing::unavailable(format!("instance metadata answered HTTP {status}"))),
    }
}
