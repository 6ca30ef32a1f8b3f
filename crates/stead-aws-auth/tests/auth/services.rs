//! Servers that give credentials: STS, IAM Identity Center, a container's agent, instance metadata.

use std::sync::atomic::{AtomicUsize, Ordering};

use stead_world::testing::{FakeServer, Reply};

/// STS that gives the role `arn:aws:iam::1:role/<name>` the key id `ROLE-<name>-<n>`, valid for an hour.
pub(crate) fn sts() -> FakeServer {
    let count = AtomicUsize::new(0);
    FakeServer::start(move |request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let role = body.split("role%2F").nth(1).and_then(|rest| rest.split('&').next()).unwrap_or_default();
        if role == "forbidden" {
            return Reply::new(403, error_xml("AccessDenied", "not authorized to perform: sts:AssumeRole"));
        }
        let count = count.fetch_add(1, Ordering::SeqCst) + 1;
        Reply::new(
            200,
            format!(
                "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ROLE-{role}-{count}</AccessKeyId>\
                 <SecretAccessKey>sts/secret</SecretAccessKey><SessionToken>sts+token==</SessionToken>\
                 <Expiration>2026-11-18T0{}:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>",
                4 + count
            ),
        )
    })
    .unwrap()
}

pub(crate) fn error_xml(code: &str, message: &str) -> String {
    format!("<ErrorResponse><Error><Code>{code}</Code><Message>{message}</Message></Error></ErrorResponse>")
}

/// Portal of IAM Identity Center that knows one token.
pub(crate) fn portal() -> FakeServer {
    FakeServer::start(|request| match request.headers.get("x-amz-sso_bearer_token") {
        Some("good-token") if request.path == "/federation/credentials?role_name=Admin&account_id=123" => Reply::new(
            200,
            r#"{"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"s","sessionToken":"t","expiration":1794978000000}}"#,
        ),
        Some("good-token") => Reply::new(403, r#"{"message":"No access"}"#),
        _ => Reply::new(401, r#"{"message":"Session token not found or invalid"}"#),
    })
    .unwrap()
}

/// Token service of IAM Identity Center that renews the token of one client, for an hour.
pub(crate) fn oidc() -> FakeServer {
    FakeServer::start(|request| {
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let known = body["clientId"] == "id"
            && body["clientSecret"] == "secret-canary"
            && body["grantType"] == "refresh_token"
            && body["refreshToken"] == "refresh-canary";
        match (request.path.as_str(), known) {
            ("/token", true) => Reply::new(
                200,
                r#"{"accessToken":"good-token","expiresIn":3600,"refreshToken":"next-refresh","tokenType":"Bearer"}"#,
            ),
            _ => Reply::new(400, r#"{"error":"invalid_grant"}"#),
        }
    })
    .unwrap()
}

/// Agent of a container that wants the authorization `agent-token`.
pub(crate) fn agent() -> FakeServer {
    FakeServer::start(|request| match request.headers.get("authorization") {
        Some("agent-token") => Reply::new(200, written("POD")),
        _ => Reply::new(401, "{}"),
    })
    .unwrap()
}

/// Instance metadata, version 2 only.
pub(crate) fn metadata() -> FakeServer {
    FakeServer::start(|request| {
        let has_token = request.headers.get("x-aws-ec2-metadata-token") == Some("imds-token");
        match (request.method.as_str(), request.path.as_str()) {
            ("PUT", "/latest/api/token") => Reply::new(200, "imds-token"),
            ("GET", "/latest/meta-data/iam/security-credentials/") if has_token => {
                Reply::new(200, "my-role\n")
            }
            ("GET", "/latest/meta-data/iam/security-credentials/my-role") if has_token => {
                Reply::new(200, written("EC2"))
            }
            _ => Reply::new(401, ""),
        }
    })
    .unwrap()
}

/// Credentials as agents and commands write them.
pub(crate) fn written(id: &str) -> String {
    format!(
        r#"{{"Version":1,"Code":"Success","AccessKeyId":"{id}","SecretAccessKey":"secret-canary","Token":"t","Expiration":"2026-11-18T05:00:00Z"}}"#
    )
}
