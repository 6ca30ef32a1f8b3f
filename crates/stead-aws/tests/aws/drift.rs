//! Refreshes of resources that changed outside, and the plans and updates after them.

use stead_model::{Map, Resource};

use crate::bench::{Bench, map};

const VPC: &str = "AWS::EC2::VPC";

/// Returns the record after a refresh.
async fn refreshed(bench: &Bench, resource: Resource) -> Resource {
    let live = bench.read(&resource).await.unwrap();
    Resource { inputs: live.inputs, outputs: live.outputs, ..resource }
}

fn model(bench: &Bench, type_name: &str, resource: &Resource) -> Map {
    let id = resource.id.clone().unwrap();
    bench.cloud.model(&bench.name(type_name, id.as_str())).unwrap().unwrap()
}

#[tokio::test]
async fn drift_that_needs_a_replacement_is_planned_after_each_refresh() {
    let bench = Bench::new();
    let declared = r#"{"CidrBlock":"10.0.0.0/16","EnableDnsSupport":true}"#;
    let vpc = bench.created("aws.ec2.VPC", declared).await;
    let patch = r#"[{"op":"replace","path":"/CidrBlock","value":"10.9.0.0/16"},
        {"op":"replace","path":"/EnableDnsSupport","value":false}]"#;
    bench.drift(VPC, vpc.id.clone().unwrap().as_str(), patch);
    let mut vpc = vpc;
    for _ in 0..2 {
        vpc = refreshed(&bench, vpc).await;
        assert_eq!(bench.changes(&vpc, declared).await, ["CidrBlock!", "EnableDnsSupport"]);
    }
    // A key pair has no updates at all.
    let declared = r#"{"KeyName":"k","Tags":[{"Key":"a","Value":"b"}]}"#;
    let key = bench.created("aws.ec2.KeyPair", declared).await;
    let patch = r#"[{"op":"replace","path":"/Tags","value":[{"Key":"a","Value":"c"}]}]"#;
    bench.drift("AWS::EC2::KeyPair", key.id.clone().unwrap().as_str(), patch);
    let key = refreshed(&bench, key).await;
    assert_eq!(bench.changes(&key, declared).await, ["Tags!"]);
}

#[tokio::test]
async fn tags_of_others_stay_after_a_refresh_and_an_update() {
    let bench = Bench::new();
    let declared = r#"{"CidrBlock":"10.0.0.0/16","Tags":[{"Key":"name","Value":"a"}]}"#;
    let vpc = bench.created("aws.ec2.VPC", declared).await;
    let theirs = r#"{"Key":"kubernetes.io/x","Value":"shared"}"#;
    let mut tags = model(&bench, VPC, &vpc)["Tags"].to_json().replace(r#""Value":"a""#, r#""Value":"b""#);
    tags.truncate(tags.len() - 1);
    let patch = format!(r#"[{{"op":"replace","path":"/Tags","value":{tags},{theirs}]}}]"#);
    bench.drift(VPC, vpc.id.clone().unwrap().as_str(), &patch);
    let vpc = refreshed(&bench, vpc).await;
    assert_eq!(vpc.inputs, map(&declared.replace(r#""Value":"a""#, r#""Value":"b""#)));
    let vpc = bench.updated(&vpc, declared).await;
    let tags = model(&bench, VPC, &vpc)["Tags"].to_json();
    assert!(tags.contains(theirs) && tags.contains(r#"{"Key":"name","Value":"a"}"#), "{tags}");
}

#[tokio::test]
async fn arm_of_a_union_that_replaced_the_declared_one_goes_after_a_refresh() {
    let bench = Bench::new();
    let declared = r#"{"Name":"a","Scope":"REGIONAL","DefaultAction":{"Block":{}},"VisibilityConfig":
        {"SampledRequestsEnabled":true,"CloudWatchMetricsEnabled":true,"MetricName":"m"}}"#;
    let acl = bench.created("aws.wafv2.WebACL", declared).await;
    let patch = r#"[{"op":"replace","path":"/DefaultAction","value":{"Allow":{}}}]"#;
    bench.drift("AWS::WAFv2::WebACL", acl.id.clone().unwrap().as_str(), patch);
    let acl = refreshed(&bench, acl).await;
    assert_eq!(acl.inputs["DefaultAction"].to_json(), r#"{"Allow":{}}"#);
    let acl = bench.updated(&acl, declared).await;
    let found = model(&bench, "AWS::WAFv2::WebACL", &acl);
    assert_eq!(found["DefaultAction"].to_json(), r#"{"Block":{}}"#);
}
