//! Deletion of namespaces and definitions, judged by their contents.

use crate::api_server::{Reply, recorded, recorded_with};
use crate::hook::{Hook, message, recorded_review};

const BUCKETS: &str = "/apis/s3.services.k8s.aws/v1alpha1/namespaces/prod/buckets?limit=250";
const BUCKETS_2: &str =
    "/apis/s3.services.k8s.aws/v1alpha1/namespaces/prod/buckets?limit=250&continue=next%20page%2F%3D%3D";
const DATABASES: &str = "/apis/rds.services.k8s.aws/v1alpha1/namespaces/prod/dbinstances?limit=250";

#[tokio::test]
async fn marked_namespace_is_refused_without_listing_its_contents() {
    let mut hook = Hook::start().await;
    let response = hook.asks("delete-namespace-marked").await;
    insta::assert_snapshot!(message(&response));
    assert!(hook.api.asked.try_recv().is_err());
}

#[tokio::test]
async fn namespace_with_a_protected_object_is_refused_and_the_object_named() {
    let mut hook = Hook::start().await;
    hook.api.on("/apis", recorded("discovery"));
    hook.api.on(BUCKETS, recorded("buckets-page-1"));
    hook.api.on(BUCKETS_2, recorded("buckets-page-2"));
    hook.api.on(DATABASES, recorded("empty"));
    let response = hook.asks("delete-namespace").await;
    assert_eq!(response["status"]["code"], 403);
    insta::assert_snapshot!(message(&response));
    let mut paths = Vec::new();
    while let Ok(asked) = hook.api.asked.try_recv() {
        paths.push(asked.path);
    }
    paths.sort();
    assert_eq!(paths, ["/apis", DATABASES, BUCKETS, BUCKETS_2], "nothing but guarded, namespaced types");
}

#[tokio::test]
async fn empty_namespace_is_allowed() {
    let hook = Hook::start().await;
    hook.api.on("/apis", recorded("discovery"));
    hook.api.on(BUCKETS, recorded("empty"));
    hook.api.on(DATABASES, recorded("empty"));
    assert_eq!(hook.asks("delete-namespace").await["allowed"], true);
}

#[tokio::test]
async fn namespace_that_cannot_be_listed_is_refused() {
    let hook = Hook::start().await;
    hook.api.on("/apis", recorded("discovery"));
    hook.api.on(BUCKETS, recorded_with(403, "status-403"));
    hook.api.on(DATABASES, recorded("empty"));
    let response = hook.asks("delete-namespace").await;
    assert_eq!(response["status"]["code"], 503);
    assert!(
        message(&response).contains("answered /apis/s3.services.k8s.aws/v1alpha1/namespaces/prod/buckets"),
        "{response}"
    );
    hook.api.on("/apis", recorded("namespaces"));
    let response = hook.asks("delete-namespace").await;
    assert_eq!(response["status"]["code"], 503, "{response}");
    let Reply::Says(_, discovery) = recorded("discovery") else { panic!("it is recorded") };
    hook.api.on("/apis", Reply::Says(200, discovery.replacen("Current", "Stale", 2)));
    let response = hook.asks("delete-namespace").await;
    assert!(message(&response).contains("does not know all types of s3.services.k8s.aws"), "{response}");
}

#[tokio::test]
async fn definition_with_protected_objects_is_refused() {
    let hook = Hook::start().await;
    let everywhere = "/apis/s3.services.k8s.aws/v1alpha1/buckets?limit=250";
    hook.api.on(everywhere, recorded("buckets-everywhere"));
    hook.api.on("/api/v1/namespaces?limit=250", recorded("namespaces"));
    let response = hook.asks("delete-definition").await;
    insta::assert_snapshot!(message(&response));
    hook.api.on(everywhere, recorded("empty"));
    assert_eq!(hook.asks("delete-definition").await["allowed"], true);
}

#[tokio::test]
async fn definition_without_a_served_version_is_refused_with_the_reason() {
    let hook = Hook::start().await;
    let review = recorded_review("delete-definition").replace("\"served\": true", "\"served\": false");
    let response = hook.client().await.posts(review).await.review();
    assert_eq!((&response["allowed"], &response["status"]["code"]), (&false.into(), &503.into()));
    insta::assert_snapshot!(message(&response), @r#"cannot tell whether CustomResourceDefinition "buckets.s3.services.k8s.aws" may be deleted: it serves no version, so that its objects, which would be deleted with it, cannot be listed; set `served: true` on one of its versions first. Deletions that cannot be judged are refused; nothing was changed. Fix the cause and try again. (ST0802)"#);
}

#[tokio::test]
async fn near_misses_on_a_container_and_on_its_objects_give_warnings() {
    let hook = Hook::start().await;
    let Reply::Says(_, page) = recorded("buckets-page-2") else { panic!("it is recorded") };
    hook.api.on("/apis", recorded("discovery"));
    hook.api.on(BUCKETS, Reply::Says(200, page.replace("prevent-delete", "prevent-deletion")));
    hook.api.on(DATABASES, recorded("empty"));
    let review = recorded_review("delete-namespace").replacen(
        "\"annotations\": {}",
        "\"annotations\": { \"no-delete\": \"true\" }",
        1,
    );
    let response = hook.client().await.posts(review).await.review();
    assert_eq!(response["allowed"], true, "{response}");
    insta::assert_snapshot!(serde_json::to_string_pretty(&response["warnings"]).unwrap(), @r#"
    [
      "no-delete on Namespace \"prod\" is not a mark that stead knows and has no effect; write services.k8s.aws/prevent-delete",
      "s3.services.k8s.aws/prevent-deletion on Bucket \"prod/two\" is not a mark that stead knows and has no effect; write services.k8s.aws/prevent-delete"
    ]
    "#);
}
