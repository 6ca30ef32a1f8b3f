//! Recorded values of live resources that changed outside.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use insta::assert_snapshot;
use stead_model::Map;
use stead_schema::cfn::{
    DigestKey, LastApplied, Schema, Settled, UpdateInputs, bundle, differences, drift, pointer,
};

fn map(text: &str) -> Map {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn published(name: &str) -> Schema {
    bundle::shipped().schema(name).unwrap()
}

/// Returns the result of a comparison of the recorded inputs with a resource that was `settled` and is `live`.
fn compared<T>(
    schema: &Schema,
    [recorded, settled, live]: [&str; 3],
    compare: impl FnOnce(&Schema, &UpdateInputs<'_>) -> T,
) -> T {
    let key = DigestKey::new([7; 32]);
    let (recorded, live) = (map(recorded), map(live));
    let settled = (!settled.is_empty()).then(|| Settled::of(schema, &key, &recorded, &map(settled)));
    let last = LastApplied::of(schema, &key, &recorded);
    let inputs =
        UpdateInputs { last: &last, settled: settled.as_ref(), live: &live, want: &recorded, key: &key };
    compare(schema, &inputs)
}

/// Returns the drift, a line for each path.
fn shown(schema: &Schema, sides: [&str; 3]) -> String {
    let lines = compared(schema, sides, drift).into_iter().map(|one| {
        let live = one.live.map_or_else(|| "gone".to_owned(), |live| live.to_json());
        format!("{} {live}", pointer(&one.path))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn drift_is_found_whatever_update_it_needs() {
    let vpc = published("AWS::EC2::VPC");
    let recorded = r#"{"CidrBlock":"10.0.0.0/16","EnableDnsSupport":true}"#;
    let live = r#"{"CidrBlock":"10.9.0.0/16","EnableDnsSupport":false,"VpcId":"vpc-1"}"#;
    assert_snapshot!(shown(&vpc, [recorded, recorded, live]), @r#"
    /CidrBlock "10.9.0.0/16"
    /EnableDnsSupport false
    "#);
    assert_eq!(shown(&vpc, [recorded, recorded, recorded]), "");
    // A type without updates.
    let key = published("AWS::EC2::KeyPair");
    assert!(key.handlers.update.is_none());
    let recorded = r#"{"KeyName":"k","Tags":[{"Key":"a","Value":"b"}]}"#;
    let live = r#"{"KeyName":"k","Tags":[{"Key":"a","Value":"c"}]}"#;
    assert_snapshot!(shown(&key, [recorded, recorded, live]), @r#"/Tags [{"Key":"a","Value":"c"}]"#);
    // A type whose updates the service cannot carry out.
    let environment = published("AWS::DataZone::Environment");
    let recorded = r#"{"Name":"e","Description":"a","DomainIdentifier":"d","ProjectIdentifier":"p"}"#;
    let live = r#"{"Name":"e","Description":"b","DomainId":"d","ProjectId":"p"}"#;
    assert_snapshot!(shown(&environment, [recorded, &live.replace("\"b\"", "\"a\""), live]), @r#"/Description "b""#);
    let found = compared(&environment, [recorded, "", live], differences);
    assert_eq!(found.into_iter().map(|path| path.to_string()).collect::<Vec<_>>(), ["Description"]);
}

#[test]
fn arm_of_a_union_that_replaced_the_desired_one_is_drift() {
    let acl = published("AWS::WAFv2::WebACL");
    let (block, allow) = (r#"{"DefaultAction":{"Block":{}}}"#, r#"{"DefaultAction":{"Allow":{}}}"#);
    assert_snapshot!(shown(&acl, [block, block, allow]), @"
    /DefaultAction/Allow {}
    /DefaultAction/Block gone
    ");
    let rule = |action: &str| {
        format!(
            r#"{{"Rules":[{{"Name":"r","Priority":1,"Action":{{"{action}":{{}}}},"Statement":{{"GeoMatchStatement":{{"CountryCodes":["CH"]}}}}}}]}}"#
        )
    };
    let (block, allow) = (rule("Block"), rule("Allow"));
    assert_snapshot!(shown(&acl, [&block, &block, &allow]), @r#"/Rules [{"Action":{"Allow":{}},"Name":"r","Priority":1,"Statement":{"GeoMatchStatement":{"CountryCodes":["CH"]}}}]"#);
}

#[test]
fn elements_of_others_are_no_part_of_a_drifted_list() {
    let subnet = published("AWS::EC2::Subnet");
    let tags = r#"{"Tags":[{"Key":"name","Value":"a"},{"Key":"team","Value":"t"}]}"#;
    let live = r#"{"Tags":[{"Key":"aws:x","Value":"y"},{"Key":"kubernetes.io/x","Value":"shared"},{"Key":"name","Value":"b"}]}"#;
    assert_snapshot!(shown(&subnet, [tags, tags, live]), @r#"/Tags [{"Key":"name","Value":"b"}]"#);
    let balancer = published("AWS::ElasticLoadBalancingV2::LoadBalancer");
    let recorded = r#"{"LoadBalancerAttributes":[{"Key":"idle_timeout.timeout_seconds","Value":"60"}]}"#;
    let settled = r#"{"LoadBalancerAttributes":[{"Key":"a","Value":"x"},{"Key":"idle_timeout.timeout_seconds","Value":"60"}]}"#;
    let live = settled.replace("60", "90");
    assert_snapshot!(shown(&balancer, [recorded, settled, &live]), @r#"/LoadBalancerAttributes [{"Key":"idle_timeout.timeout_seconds","Value":"90"}]"#);
}

#[test]
fn elements_that_the_service_added_are_no_part_of_a_drifted_list() {
    let group = published("AWS::EC2::SecurityGroup");
    let rule = |port: u16, more: &str| {
        format!(r#"{{"IpProtocol":"tcp","FromPort":{port},"ToPort":{port},"CidrIp":"10.0.0.0/8"{more}}}"#)
    };
    let list = |rules: &[String]| format!(r#"{{"SecurityGroupIngress":[{}]}}"#, rules.join(","));
    let (a, b) = (rule(80, ""), rule(443, ""));
    let (described, added) = (rule(80, r#","Description":"x""#), rule(1, ""));
    let recorded = list(&[a.clone(), b.clone()]);
    let settled = list(&[added.clone(), described.clone(), b]);
    // One element is gone, one is new, and one is as the service had completed it.
    let live = list(&[added, rule(22, ""), described]);
    let of = |live: &str| shown(&group, [&recorded, &settled, live]);
    assert_eq!(of(&settled), "");
    assert_snapshot!(of(&live), @r#"/SecurityGroupIngress [{"CidrIp":"10.0.0.0/8","FromPort":80,"IpProtocol":"tcp","ToPort":80},{"CidrIp":"10.0.0.0/8","FromPort":22,"IpProtocol":"tcp","ToPort":22}]"#);
}

#[test]
fn elements_keep_the_desired_members_and_the_live_order() {
    let pipeline = published("AWS::CodePipeline::Pipeline");
    let stage = |name: &str, more: &str| format!(r#"{{"Name":"{name}","Actions":[]{more}}}"#);
    let stages = |first: String, second: String| format!(r#"{{"Stages":[{first},{second}]}}"#);
    let recorded = stages(stage("one", ""), stage("two", ""));
    let filled = r#","Blockers":[{"Name":"b","Type":"Schedule"}]"#;
    let live = stages(stage("two", filled), stage("one", ""));
    assert_snapshot!(shown(&pipeline, [&recorded, &recorded, &live]), @r#"/Stages [{"Actions":[],"Name":"two"},{"Actions":[],"Name":"one"}]"#);
}

#[test]
fn difference_without_a_settled_side_counts_unless_it_is_fixed() {
    let bucket = published("AWS::S3::Bucket");
    let sent = r#"{"BucketName":"b","VersioningConfiguration":{"Status":"Enabled"}}"#;
    assert_snapshot!(shown(&bucket, [sent, "", r#"{"BucketName":"b"}"#]), @"/VersioningConfiguration gone");
    assert_eq!(
        shown(
            &published("AWS::EC2::VPC"),
            [r#"{"CidrBlock":"10.0.0.0/16"}"#, "", r#"{"CidrBlock":"10.9.0.0/16"}"#]
        ),
        ""
    );
}
