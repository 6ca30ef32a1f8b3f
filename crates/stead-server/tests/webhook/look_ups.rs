//! Deletions are refused with the reason if the namespace cannot be read.

use std::net::TcpListener;

use stead_server::{Access, InCluster};

use crate::api_server::{Reply, recorded, recorded_with};
use crate::hook::{Hook, message};

const PROD: &str = "/api/v1/namespaces/prod";

#[tokio::test]
async fn invalid_responses_of_the_api_server_refuse_with_the_reason() {
    let hook = Hook::start().await;
    let mut said = Vec::new();
    for (what, reply) in [
        ("403", recorded_with(403, "status-403")),
        ("404", recorded_with(404, "status-404")),
        ("302", Reply::Says(302, String::new())),
        ("garbage", Reply::Says(200, "<html>".into())),
        ("nothing", Reply::Says(200, String::new())),
        ("another namespace", recorded("namespace-other")),
        ("another kind", Reply::Says(200, r#"{"kind":"Pod","metadata":{"name":"prod"}}"#.into())),
        (
            "annotations that are none",
            Reply::Says(200, r#"{"kind":"Namespace","metadata":{"name":"prod","annotations":7}}"#.into()),
        ),
    ] {
        hook.api.on(PROD, reply);
        let response = hook.asks("delete-free").await;
        assert_eq!(
            (response["allowed"].as_bool(), response["status"]["code"].as_u64()),
            (Some(false), Some(503))
        );
        said.push(format!("{what}: {}", message(&response)));
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn truncated_response_of_the_api_server_refuses() {
    let hook = Hook::start().await;
    hook.api.on(PROD, Reply::BreaksOff);
    let response = hook.asks("delete-free").await;
    assert_eq!(response["allowed"], false);
    assert!(message(&response).contains("the connection to the API server was cut off"), "{response}");
}

#[tokio::test]
async fn closed_pooled_connection_is_replaced() {
    let hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    for connections in 1..=5 {
        assert_eq!(hook.asks("delete-free").await["allowed"], true);
        assert_eq!(hook.api.connections(), connections);
        hook.api.hangs_up();
    }
}

#[tokio::test]
async fn broken_pooled_connection_does_not_refuse_the_next_deletion() {
    let hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    assert_eq!(hook.asks("delete-free").await["allowed"], true);
    hook.api.on(PROD, Reply::BreaksOff);
    assert_eq!(hook.asks("delete-free").await["allowed"], false);
    hook.api.on(PROD, recorded("namespace-bare"));
    assert_eq!(hook.asks("delete-free").await["allowed"], true);
}

#[tokio::test]
async fn look_up_times_out_before_the_api_server_gives_up() {
    let mut hook = Hook::start().await;
    hook.api.on(PROD, Reply::Never);
    let mut client = hook.client().await;
    let mut asking = tokio::spawn(async move { client.asks("delete-free").await });
    hook.api.is_asked_by(&mut asking).await;
    let response = hook.clock.pass_until(asking).await.unwrap();
    assert_eq!(response["allowed"], false);
    assert!(message(&response).contains("did not answer within 8 seconds"), "{response}");
}

#[tokio::test]
async fn unreachable_and_untrusted_api_servers_have_their_own_messages() {
    let hook = Hook::start().await;
    let config = hook.folder.path().join("config");
    // A port that was free a moment ago, and the authority of another webhook.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let text = std::fs::read_to_string(&config).unwrap();
    let refused = look_up(&text.replace(&hook.api.address.to_string(), &nobody.to_string()), &hook).await;
    assert!(refused.contains("cannot connect to the API server"), "{refused}");
    let other = crate::authority::Authority::new();
    std::fs::write(hook.folder.path().join("other.crt"), other.pem()).unwrap();
    let refused = look_up(&text.replace("ca.crt", "other.crt"), &hook).await;
    assert!(
        refused.contains("cannot connect to the API server") && refused.contains("certificate"),
        "{refused}"
    );
}

/// Returns the answer of a webhook with another kubeconfig to a deletion that needs a look-up.
async fn look_up(kubeconfig: &str, hook: &Hook) -> String {
    let path = hook.folder.path().join("config-2");
    std::fs::write(&path, kubeconfig).unwrap();
    let second = hook.again(&path).await;
    message(&second.asks("delete-free").await).to_owned()
}

#[tokio::test]
async fn missing_token_is_reported_and_renewed_token_is_used() {
    let mut hook = Hook::start().await;
    let token = hook.folder.path().join("token");
    hook.api.on(PROD, recorded("namespace-bare"));
    std::fs::write(&token, "renewed").unwrap();
    hook.asks("delete-free").await;
    assert_eq!(hook.api.was_asked().authorization.as_deref(), Some("Bearer renewed"));
    std::fs::remove_file(&token).unwrap();
    let response = hook.asks("delete-free").await;
    assert!(message(&response).contains("no credentials for the API server"), "{response}");
}

#[tokio::test]
async fn service_account_of_the_pod_suffices() {
    let mut hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-marked"));
    let access = Access::InCluster(InCluster {
        host: hook.api.address.ip().to_string(),
        port: hook.api.address.port().to_string(),
        folder: hook.folder.path().to_owned(),
    });
    let response = hook.again_by(&access).await.asks("delete-free").await;
    assert!(message(&response).contains("on namespace \"prod\""), "{response}");
    assert_eq!(hook.api.was_asked().authorization.as_deref(), Some("Bearer canary-token"));
}

#[cfg(unix)]
#[tokio::test]
async fn exec_plugin_gives_the_token_and_its_failure_shows_no_secret() {
    let mut hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    let text = std::fs::read_to_string(hook.folder.path().join("config")).unwrap();
    let plugin = |script: &str| {
        let exec = format!(
            "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: sh\n      args: [-c, {script:?}]\n      \
             env: [{{name: WHO, value: it's me}}]"
        );
        text.replace("tokenFile: token", &exec)
    };
    let good = r#"echo "{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"$WHO\"}}""#;
    let path = hook.folder.path().join("config-3");
    std::fs::write(&path, plugin(good)).unwrap();
    assert_eq!(hook.again(&path).await.asks("delete-free").await["allowed"], true);
    assert_eq!(hook.api.was_asked().authorization.as_deref(), Some("Bearer it's me"));
    for script in ["echo canary-token; exit 3", "echo canary-token", "echo '{}'"] {
        std::fs::write(&path, plugin(script)).unwrap();
        let response = hook.again(&path).await.asks("delete-free").await;
        assert!(message(&response).contains("no credentials for the API server"), "{response}");
        assert!(!response.to_string().contains("canary"), "{response}");
    }
}
