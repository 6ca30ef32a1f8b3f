//! Recorded reviews and their answers.

use serde_json::json;
use stead_server::Event;
use stead_server::admission::PreventDelete;

use crate::api_server::{Reply, recorded};
use crate::hook::{Hook, message, recorded_review};

const PROD: &str = "/api/v1/namespaces/prod";

#[tokio::test]
async fn unprotected_object_is_allowed_after_a_look_up_of_its_namespace() {
    let mut hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    assert_eq!(hook.asks("delete-free").await["allowed"], true);
    let asked = hook.api.was_asked();
    assert_eq!(asked.path, PROD);
    assert_eq!(asked.authorization.as_deref(), Some("Bearer canary-token"));
    assert!(asked.accept.starts_with("application/json;as=PartialObjectMetadata"), "{asked:?}");
}

#[tokio::test]
async fn mark_on_the_object_refuses_with_403_and_the_next_step() {
    let mut hook = Hook::start().await;
    let response = hook.asks("delete-marked").await;
    insta::assert_snapshot!(serde_json::to_string_pretty(&response).unwrap());
    assert!(hook.api.asked.try_recv().is_err(), "its own mark says enough");
}

#[tokio::test]
async fn recorded_namespaces_are_decided_as_by_the_guard() {
    let hook = Hook::start().await;
    let mut said = Vec::new();
    for namespace in ["bare", "marked", "locked", "bad", "whole"] {
        hook.api.on(PROD, recorded(&format!("namespace-{namespace}")));
        for review in ["delete-free", "delete-unmarked-by-itself"] {
            let response = hook.asks(review).await;
            let verdict = if response["allowed"] == json!(true) { "allowed" } else { message(&response) };
            said.push(format!("{namespace}, {review}: {verdict}"));
        }
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn prevent_delete_always_overrules_all_marks() {
    let hook = Hook::with(PreventDelete::Always).await;
    let response = hook.asks("delete-unmarked-by-itself").await;
    assert_eq!(response["status"]["code"], 403);
    assert!(message(&response).contains("refuse all deletions"), "{response}");
}

#[tokio::test]
async fn invalid_mark_is_refused_with_the_reason() {
    let hook = Hook::start().await;
    for (review, reason) in [
        ("delete-bad-mark", "invalid prevent-delete (services.k8s.aws/prevent-delete) \"yes\""),
        ("delete-bad-policy", "invalid deletion-policy (services.k8s.aws/deletion-policy) \"Retian\""),
    ] {
        let response = hook.asks(review).await;
        assert_eq!(
            (&response["allowed"], &response["status"]["code"]),
            (&json!(false), &json!(403)),
            "{response}"
        );
        assert!(message(&response).contains(reason) && message(&response).contains("ST0402"), "{response}");
    }
}

#[tokio::test]
async fn retain_allows_the_deletion_and_a_mark_without_effect_gives_a_warning() {
    let hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    let response = hook.asks("delete-retained").await;
    assert_eq!(response["allowed"], true);
    assert!(response["warnings"][0].as_str().unwrap().contains("is for rds"), "{response}");
}

#[tokio::test]
async fn deletion_of_a_collection_is_judged_object_by_object() {
    let hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    let (one, two, three) = tokio::join!(
        hook.asks("deletecollection-one"),
        hook.asks("deletecollection-two"),
        hook.asks("deletecollection-three"),
    );
    assert_eq!((&one["allowed"], &three["allowed"]), (&json!(true), &json!(true)));
    assert!(message(&two).contains("cannot delete Bucket \"prod/two\""), "{two}");
}

#[tokio::test]
async fn reviews_over_one_connection_share_a_connection_to_the_cluster() {
    let hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    let mut client = hook.client().await;
    for _ in 0..20 {
        assert_eq!(client.asks("delete-free").await["allowed"], true);
        assert_eq!(client.asks("delete-marked").await["allowed"], false);
    }
    assert_eq!(hook.api.connections(), 1);
}

#[tokio::test]
async fn a_dry_run_gets_the_same_answer_and_is_logged_as_one() {
    let mut hook = Hook::start().await;
    let response = hook.asks("delete-dry-run").await;
    assert_eq!(response["allowed"], false);
    let Some(Event::Decided(decision)) = hook.events.recv().await else { panic!("nothing was logged") };
    assert!(decision.dry_run && !decision.allowed);
    let line = Event::Decided(decision).to_string();
    insta::assert_snapshot!(line);
}

#[tokio::test]
async fn deletion_without_old_object_is_refused() {
    let hook = Hook::start().await;
    let response = hook.asks("delete-without-old-object").await;
    assert_eq!(response["status"]["code"], 503);
    insta::assert_snapshot!(message(&response));
}

#[tokio::test]
async fn operations_other_than_delete_are_allowed_without_a_look_up() {
    let mut hook = Hook::start().await;
    for review in ["create", "update", "delete-subresource"] {
        assert_eq!(hook.asks(review).await["allowed"], true, "{review}");
    }
    assert!(hook.api.asked.try_recv().is_err());
}

#[tokio::test]
async fn object_without_a_namespace_has_only_its_own_marks() {
    let mut hook = Hook::start().await;
    assert_eq!(hook.asks("delete-cluster-scoped").await["allowed"], true);
    assert!(hook.api.asked.try_recv().is_err());
}

#[tokio::test]
async fn near_miss_of_a_mark_is_never_allowed_without_a_warning() {
    let hook = Hook::start().await;
    hook.api.on(PROD, recorded("namespace-bare"));
    let marked = recorded_review("delete-marked");
    for (key, meant) in [
        ("services.k8s.aws/preventDelete", "prevent-delete"),
        ("prevent-deletion", "prevent-delete"),
        ("services.k8s.aws/prevent_delete", "prevent-delete"),
        ("no-delete", "prevent-delete"),
        ("s3.services.k8s.aws/deletion-protection", "prevent-delete"),
        ("deletionPolicy", "deletion-policy"),
    ] {
        let review = marked.replace("s3.services.k8s.aws/prevent-delete", key);
        let response = hook.client().await.posts(review).await.review();
        let warning = format!(
            "{key} on Bucket \"prod/logs\" is not a mark that stead knows and has no effect; write services.k8s.aws/{meant}"
        );
        assert_eq!((&response["allowed"], &response["warnings"]), (&json!(true), &json!([warning])));
    }
}

#[tokio::test]
async fn near_miss_on_the_namespace_gives_a_warning() {
    let hook = Hook::start().await;
    let Reply::Says(_, bare) = recorded("namespace-bare") else { panic!("it is recorded") };
    let marked = bare.replacen("\"name\"", "\"annotations\": { \"prevent_delete\": \"true\" }, \"name\"", 1);
    hook.api.on(PROD, Reply::Says(200, marked));
    let response = hook.asks("delete-free").await;
    let warning = "prevent_delete on namespace \"prod\" is not a mark that stead knows and has no effect; write services.k8s.aws/prevent-delete";
    assert_eq!(response["warnings"], json!([warning]), "{response}");
}
