//! Each source of credentials, their order, and the errors of a tired evening.

use std::time::Duration;

use stead_aws_auth::{CredentialsError, CredentialsErrorClass, Options, Source};
use stead_world::testing::{FakeServer, Reply};

use crate::services::{agent, metadata, oidc, portal, sts, written};
use crate::{Machine, parts};

fn unusable(error: &CredentialsError) -> (&Source, CredentialsErrorClass) {
    match error {
        CredentialsError::Unusable { from, class, .. } => (from, *class),
        CredentialsError::NoneFound(_) => panic!("{error}"),
    }
}

#[tokio::test]
async fn environment_comes_first() {
    let machine = Machine::new()
        .variable("AWS_ACCESS_KEY_ID", "ENV")
        .variable("AWS_SECRET_ACCESS_KEY", "s")
        .variable("AWS_SESSION_TOKEN", "t")
        .config("[default]\naws_access_key_id = FILE\naws_secret_access_key = f\n");
    assert_eq!(parts(&machine.found().await), ("ENV", "s", Some("t")));
}

#[tokio::test]
async fn half_of_the_environment_is_an_error() {
    let error = Machine::new().variable("AWS_ACCESS_KEY_ID", "ENV").error().await;
    assert_eq!(unusable(&error), (&Source::Environment, CredentialsErrorClass::NotConfigured));
    assert!(error.to_string().contains("AWS_SECRET_ACCESS_KEY is not"), "{error}");
}

#[tokio::test]
async fn credentials_file_is_stronger_than_config_and_profiles_are_named() {
    let machine = Machine::new()
        .config("[profile work]\nregion = eu-west-3\naws_access_key_id = C\naws_secret_access_key = c\n")
        .file(".aws/credentials", "[work]\naws_access_key_id = K\naws_secret_access_key = k\n")
        .variable("AWS_PROFILE", "work");
    assert_eq!(parts(&machine.found().await), ("K", "k", None));
    assert_eq!(machine.auth().region().await.unwrap(), "eu-west-3");
    let options = Options { region: Some("us-west-2".into()), ..Options::default() };
    assert_eq!(machine.with(options).region().await.unwrap(), "us-west-2");
    let machine = machine.variable("AWS_DEFAULT_REGION", "b").variable("AWS_REGION", "a");
    assert_eq!(machine.auth().region().await.unwrap(), "a");
}

#[tokio::test]
async fn profile_of_the_options_is_stronger_than_the_environment() {
    let machine = Machine::new()
        .variable("AWS_ACCESS_KEY_ID", "ENV")
        .variable("AWS_SECRET_ACCESS_KEY", "s")
        .config("[profile work]\naws_access_key_id = W\naws_secret_access_key = w\n");
    let options = |name: &str| Options { profile: Some(name.into()), ..Options::default() };
    let found = machine.with(options("work")).credentials().await.ok().unwrap();
    assert_eq!(found.access_key_id, "W");
    let error = machine.with(options("wrok")).credentials().await.err().unwrap();
    assert_eq!(unusable(&error).0, &Source::Profile("wrok".into()));
    assert!(error.to_string().contains("no such profile in"), "{error}");
}

#[tokio::test]
async fn machine_without_credentials_lists_every_source() {
    let error = Machine::new().error().await;
    let CredentialsError::NoneFound(tried) = &error else { panic!("{error}") };
    assert_eq!(tried.len(), 5);
    for part in
        ["environment: AWS_ACCESS_KEY_ID", "profile `default`: no such profile", "AWS_EC2_METADATA_DISABLED"]
    {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(error.hint().unwrap().contains("AWS_PROFILE"));
}

#[tokio::test]
async fn role_is_assumed_through_a_chain_of_profiles() {
    let sts = sts();
    let machine = Machine::new()
        .config(
            "[profile base]\naws_access_key_id = BASE\naws_secret_access_key = b\n\
             [profile middle]\nrole_arn = arn:aws:iam::1:role/middle\nsource_profile = base\n\
             [profile top]\nrole_arn = arn:aws:iam::1:role/top\nsource_profile = middle\nexternal_id = a b\nregion = eu-west-1\n\
             role_session_name = me\nduration_seconds = 900\n",
        )
        .variable("AWS_PROFILE", "top")
        .variable("AWS_ENDPOINT_URL_STS", sts.url());
    let found = machine.found().await;
    assert_eq!(parts(&found), ("ROLE-top-2", "sts/secret", Some("sts+token==")));
    assert!(found.expires.is_some());
    let seen = sts.seen();
    assert!(seen[0].headers.get("authorization").unwrap().contains("Credential=BASE/"));
    assert!(seen[1].headers.get("authorization").unwrap().contains("Credential=ROLE-middle-1/"));
    assert!(seen[1].headers.get("authorization").unwrap().contains("/eu-west-1/sts/"));
    let body = String::from_utf8_lossy(&seen[1].body).into_owned();
    for field in ["Action=AssumeRole&", "ExternalId=a%20b", "RoleSessionName=me", "DurationSeconds=900"] {
        assert!(body.contains(field), "{body}");
    }
}

#[tokio::test]
async fn refused_role_loops_and_half_profiles_are_told() {
    let sts = sts();
    let config = "[profile base]\naws_access_key_id = B\naws_secret_access_key = b\n\
                  [profile no]\nrole_arn = arn:aws:iam::1:role/forbidden\nsource_profile = base\n\
                  [profile a]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = r\nsource_profile = a\n\
                  [profile own]\nrole_arn = arn:aws:iam::1:role/own\nsource_profile = own\naws_access_key_id = OWN\naws_secret_access_key = o\n\
                  [profile alone]\nrole_arn = r\n[profile mfa]\nrole_arn = r\nsource_profile = base\nmfa_serial = m\n";
    let machine = |name: &str| {
        Machine::new()
            .config(config)
            .variable("AWS_PROFILE", name)
            .variable("AWS_ENDPOINT_URL_STS", sts.url())
    };
    let error = machine("no").error().await;
    assert_eq!(unusable(&error).1, CredentialsErrorClass::Denied);
    assert!(error.to_string().contains("sts:AssumeRole") && error.hint().unwrap().contains("trust policy"));
    assert!(machine("a").error().await.to_string().contains("a → b → a"));
    assert!(machine("alone").error().await.to_string().contains("without `source_profile`"));
    assert!(machine("mfa").error().await.to_string().contains("MFA"));
    assert_eq!(machine("own").found().await.access_key_id, "ROLE-own-1");
}

#[tokio::test]
async fn web_identity_token_is_exchanged_without_a_signature() {
    let sts = sts();
    let machine = Machine::new().file("token", "jwt.a.b\n");
    let path = machine.home().join("token").to_str().unwrap().to_owned();
    let machine = machine
        .variable("AWS_WEB_IDENTITY_TOKEN_FILE", path)
        .variable("AWS_ROLE_ARN", "arn:aws:iam::1:role/pod")
        .variable("AWS_ENDPOINT_URL_STS", sts.url());
    assert_eq!(machine.found().await.access_key_id, "ROLE-pod-1");
    let seen = &sts.seen()[0];
    assert!(seen.headers.get("authorization").is_none());
    let body = String::from_utf8_lossy(&seen.body).into_owned();
    assert!(
        body.contains("Action=AssumeRoleWithWebIdentity") && body.contains("WebIdentityToken=jwt.a.b&"),
        "{body}"
    );
}

const SSO: &str = "[profile new]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Admin\n\
                   [sso-session corp]\nsso_region = eu-west-1\nsso_start_url = https://corp/start\n\
                   [profile old]\nsso_start_url = https://corp/start\nsso_region = eu-west-1\nsso_account_id = 123\nsso_role_name = Other\n";

fn sso(profile: &str, token: &str, expires: &str, portal: &FakeServer) -> Machine {
    let token = format!(r#"{{"accessToken":"{token}","expiresAt":"{expires}"}}"#);

    Machine::new()
        .config(SSO)
        .file(&format!(".aws/sso/cache/{}.json", sha1("corp")), &token)
        .file(&format!(".aws/sso/cache/{}.json", sha1("https://corp/start")), &token)
        .variable("AWS_PROFILE", profile)
        .variable("AWS_ENDPOINT_URL_SSO", portal.url())
}

fn sha1(text: &str) -> &'static str {
    match text {
        "corp" => "ee0bfd2552fbd840c02cc48b6e823320543c450f",
        _ => "717f6b50ccf65f10839b090b78b6ff0786091a96",
    }
}

#[tokio::test]
async fn token_of_identity_center_buys_credentials() {
    let portal = portal();
    let found = sso("new", "good-token", "2026-11-18T05:00:00Z", &portal).found().await;
    assert_eq!(parts(&found), ("SSO", "s", Some("t")));
    let error = sso("old", "good-token", "2026-11-18T05:00:00UTC", &portal).error().await;
    assert_eq!(unusable(&error).1, CredentialsErrorClass::Denied);
}

#[tokio::test]
async fn expired_token_of_identity_center_says_how_to_log_in() {
    let portal = portal();
    let expired = sso("new", "canary-token", "2026-11-18T03:59:59Z", &portal).error().await;
    let refused = sso("new", "canary-token", "2026-11-18T05:00:00Z", &portal).error().await;
    let absent = Machine::new().config(SSO).variable("AWS_PROFILE", "new").error().await;
    for error in [expired, refused, absent] {
        assert!(error.to_string().contains("aws sso login"), "{error}");
        assert!(!error.to_string().contains("canary"), "{error}");
        assert_eq!(unusable(&error).1, CredentialsErrorClass::NotConfigured);
    }
}

/// The token of a session with all that its renewal needs, expired or about to expire.
fn renewable(expires: &str, registered_until: &str, portal: &FakeServer, oidc: &FakeServer) -> Machine {
    let token = format!(
        r#"{{"accessToken":"old-token","expiresAt":"{expires}","clientId":"id","clientSecret":"secret-canary",
            "refreshToken":"refresh-canary","registrationExpiresAt":"{registered_until}","startUrl":"https://corp/start"}}"#
    );
    let machine = sso("new", "unused", expires, portal);
    machine
        .file(&format!(".aws/sso/cache/{}.json", sha1("corp")), &token)
        .variable("AWS_ENDPOINT_URL_SSO_OIDC", oidc.url())
}

fn cached(machine: &Machine) -> (serde_json::Value, u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = machine.home().join(format!(".aws/sso/cache/{}.json", sha1("corp")));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    (serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(), mode)
}

#[tokio::test]
async fn expired_token_of_a_session_is_renewed_and_written_back() {
    let (portal, oidc) = (portal(), oidc());
    let machine = renewable("2026-11-18T03:59:59Z", "2026-12-01T00:00:00Z", &portal, &oidc);
    assert_eq!(machine.found().await.access_key_id, "SSO");
    let (written, mode) = cached(&machine);
    assert_eq!(mode, 0o600);
    assert_eq!(written["accessToken"], "good-token");
    assert_eq!(written["refreshToken"], "next-refresh");
    assert_eq!(written["expiresAt"], "2026-11-18T05:00:00Z");
    assert_eq!((&written["clientId"], &written["startUrl"]), (&"id".into(), &"https://corp/start".into()));
}

#[tokio::test]
async fn renewal_that_fails_says_how_to_log_in_and_keeps_the_file() {
    let (portal, refusing) =
        (portal(), FakeServer::start(|_| Reply::new(400, r#"{"error":"invalid_grant"}"#)).unwrap());
    let over = "2026-11-18T03:59:59Z";
    let refused = renewable(over, "2026-12-01T00:00:00Z", &portal, &refusing);
    let unregistered = renewable(over, over, &portal, &oidc());
    for machine in [refused, unregistered] {
        let before = cached(&machine).0;
        let error = machine.error().await;
        assert!(
            error.to_string().contains("aws sso login") && !error.to_string().contains("canary"),
            "{error}"
        );
        assert_eq!(unusable(&error).1, CredentialsErrorClass::NotConfigured);
        assert_eq!(cached(&machine).0, before);
    }
    // A service that does not answer is not the fault of the login.
    let broken = FakeServer::start(|_| Reply::new(500, "{}")).unwrap();
    let error = renewable(over, "2026-12-01T00:00:00Z", &portal, &broken).error().await;
    assert_eq!(unusable(&error).1, CredentialsErrorClass::Unavailable);
}

#[tokio::test]
async fn token_that_expires_soon_is_renewed_or_used_once_more() {
    let (portal, refusing) = (portal(), FakeServer::start(|_| Reply::new(400, "{}")).unwrap());
    let soon = "2026-11-18T04:01:00Z";
    let renewing = oidc();
    let machine = renewable(soon, "2026-12-01T00:00:00Z", &portal, &renewing);
    assert_eq!(machine.found().await.access_key_id, "SSO");
    assert_eq!(cached(&machine).0["accessToken"], "good-token");
    // The portal knows only the renewed token, so that it refuses the old one: it was used.
    let error = renewable(soon, "2026-12-01T00:00:00Z", &portal, &refusing).error().await;
    assert!(error.to_string().contains("does not accept the token"), "{error}");
}

#[tokio::test]
async fn command_gives_credentials_and_its_failure_hides_its_arguments() {
    let config =
        |command: &str| Machine::new().config(&format!("[default]\ncredential_process = {command}\n"));
    let machine = Machine::new()
        .file("answer.json", &written("CMD"))
        .config("[default]\ncredential_process = cat answer.json\n");
    assert_eq!(parts(&machine.found().await), ("CMD", "secret-canary", Some("t")));
    let error = config("sh -c 'echo canary >&2; exit 3' canary").error().await;
    assert!(error.to_string().contains("exit code 3") && !error.to_string().contains("canary"), "{error}");
    let error = config("echo '{\"AccessKeyId\": \"canary'").error().await;
    assert!(
        error.to_string().contains("not credentials") && !error.to_string().contains("canary"),
        "{error}"
    );
}

#[tokio::test]
async fn container_gives_credentials_for_its_token() {
    let agent = agent();
    let machine = Machine::new().file("token", "agent-token");
    let path = machine.home().join("token").to_str().unwrap().to_owned();
    let machine = machine
        .variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{}/v1", agent.url()))
        .variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", path);
    assert_eq!(machine.found().await.access_key_id, "POD");
    let machine = Machine::new().variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.url());
    assert_eq!(unusable(&machine.error().await).1, CredentialsErrorClass::Denied);
    let machine = Machine::new().variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/");
    assert!(machine.error().await.to_string().contains("neither https nor local"));
}

#[tokio::test]
async fn instance_metadata_gives_credentials_of_the_role() {
    let metadata = metadata();
    let machine = Machine::new()
        .variable("AWS_EC2_METADATA_DISABLED", "false")
        .variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.url());
    assert_eq!(parts(&machine.found().await), ("EC2", "secret-canary", Some("t")));
    let silent = FakeServer::start(|_| Reply::Silence).unwrap();
    let machine = machine.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", silent.url());
    assert!(matches!(machine.error().await, CredentialsError::NoneFound(_)));
}

#[tokio::test]
async fn credentials_are_kept_until_shortly_before_they_expire() {
    let sts = sts();
    let machine = Machine::new()
        .config("[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = default\naws_access_key_id = B\naws_secret_access_key = b\n")
        .variable("AWS_ENDPOINT_URL_STS", sts.url());
    let auth = machine.auth();
    let id = async || auth.credentials().await.ok().unwrap().access_key_id;
    assert_eq!(id().await, "ROLE-r-1");
    machine.clock.advance(Duration::from_secs(54 * 60));
    assert_eq!(id().await, "ROLE-r-1");
    machine.clock.advance(Duration::from_secs(2 * 60));
    assert_eq!(id().await, "ROLE-r-2");
    // The service is gone: the old credentials are used to their end.
    sts.stop();
    machine.clock.advance(Duration::from_secs(60 * 60));
    assert_eq!(id().await, "ROLE-r-2");
    machine.clock.advance(Duration::from_secs(4 * 60));
    let error = auth.credentials().await.err().unwrap();
    assert_eq!(error.class(), CredentialsErrorClass::Unavailable);
}

#[tokio::test]
async fn callers_at_the_same_time_share_one_look_up() {
    let sts = sts();
    let machine = Machine::new()
        .config("[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = default\naws_access_key_id = B\naws_secret_access_key = b\n")
        .variable("AWS_ENDPOINT_URL_STS", sts.url());
    let auth = machine.auth();
    let all = futures_util::future::join_all((0..8).map(|_| auth.credentials())).await;
    assert!(all.iter().all(|found| found.as_ref().ok().unwrap().access_key_id == "ROLE-r-1"));
    assert_eq!(sts.seen().len(), 1);
}
