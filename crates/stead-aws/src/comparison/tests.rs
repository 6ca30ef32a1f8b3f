//! Tests of the recorded inputs after refreshes, failures and recoveries, and of the updates that follow.

use super::*;

fn map(json: &str) -> Map {
    serde_json::from_str(json).unwrap()
}

fn published(name: &str) -> Schema {
    cfn::bundle::shipped().schema(name).unwrap()
}

/// Returns the inputs that a refresh records, and the update that makes the resource as declared again.
fn refreshed(schema: &Schema, [declared, settled, live]: [&str; 3]) -> (Map, Update) {
    let (declared, settled, live) = (map(declared), map(settled), map(live));
    let recorded = inputs_of_live(schema, &declared, &settled, &live);
    let sides = Sides { last: &recorded, settled: &live, live: &live, want: &declared };
    let update = update(schema, &sides);
    (recorded, update)
}

fn patch(update: &Update) -> String {
    match update {
        Update::Patch { operations, .. } => cfn::patch_document(operations).to_json(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn create_only_drift_and_the_drift_beside_it_are_recorded() {
    let vpc = published("AWS::EC2::VPC");
    let declared = r#"{"CidrBlock":"10.0.0.0/16","EnableDnsSupport":true}"#;
    let live = r#"{"CidrBlock":"10.9.0.0/16","EnableDnsSupport":false}"#;
    let (recorded, update) = refreshed(&vpc, [declared, declared, live]);
    assert_eq!(recorded, map(live));
    assert!(matches!(update, Update::Replace { .. }), "{update:?}");
}

#[test]
fn refreshed_union_is_patched_to_the_declared_arm_alone() {
    let acl = published("AWS::WAFv2::WebACL");
    let (block, allow) = (r#"{"DefaultAction":{"Block":{}}}"#, r#"{"DefaultAction":{"Allow":{}}}"#);
    let (recorded, update) = refreshed(&acl, [block, block, allow]);
    assert_eq!(recorded, map(allow));
    let expected = r#"[{"op":"remove","path":"/DefaultAction/Allow"},{"op":"add","path":"/DefaultAction/Block","value":{}}]"#;
    assert_eq!(patch(&update), expected);
}

#[test]
fn refreshed_list_is_patched_without_a_loss_for_others() {
    let subnet = published("AWS::EC2::Subnet");
    let declared = r#"{"Tags":[{"Key":"name","Value":"a"}]}"#;
    let live = r#"{"Tags":[{"Key":"kubernetes.io/x","Value":"shared"},{"Key":"name","Value":"b"}]}"#;
    let (recorded, update) = refreshed(&subnet, [declared, declared, live]);
    assert_eq!(recorded, map(r#"{"Tags":[{"Key":"name","Value":"b"}]}"#));
    let expected = r#"[{"op":"add","path":"/Tags","value":[{"Key":"name","Value":"a"},{"Key":"kubernetes.io/x","Value":"shared"}]}]"#;
    assert_eq!(patch(&update), expected);

    let group = published("AWS::EC2::SecurityGroup");
    let rule = |port: u16| format!(r#"{{"FromPort":{port},"IpProtocol":"tcp","ToPort":{port}}}"#);
    let list =
        |ports: [u16; 2]| format!(r#"{{"SecurityGroupEgress":[{},{}]}}"#, rule(ports[0]), rule(ports[1]));
    let declared = format!(r#"{{"SecurityGroupEgress":[{}]}}"#, rule(80));
    let (recorded, update) = refreshed(&group, [&declared, &list([1, 80]), &list([1, 81])]);
    assert_eq!(recorded, map(&declared.replace("80", "81")));
    let expected =
        format!(r#"[{{"op":"add","path":"/SecurityGroupEgress","value":[{},{}]}}]"#, rule(80), rule(1));
    assert_eq!(patch(&update), expected);
}

#[test]
fn elements_that_a_failed_update_added_are_recorded() {
    let subnet = published("AWS::EC2::Subnet");
    let tags = |value: &str, more: &str| {
        format!(
            r#"{{"Tags":[{{"Key":"name","Value":"{value}"}}{more}],"MapPublicIpOnLaunch":{}}}"#,
            value == "b"
        )
    };
    let (old, sent) = (map(&tags("a", "")), map(&tags("b", r#",{"Key":"new","Value":"n"}"#)));
    let mut live = sent.clone();
    live.insert("MapPublicIpOnLaunch", Value::Bool(false));
    // The tags were changed, and the other property was not.
    let recorded = inputs_after_failure(&subnet, (&old, &sent), &old, &live);
    assert_eq!(recorded, live);
    assert_eq!(inputs_after_failure(&subnet, (&old, &sent), &old, &old), old);
}

#[test]
fn elements_that_the_service_added_before_an_update_was_recovered_are_not_recorded() {
    let group = published("AWS::EC2::SecurityGroup");
    let list = |ports: &[u16]| {
        let rule = |port: &u16| format!(r#"{{"FromPort":{port},"IpProtocol":"tcp","ToPort":{port}}}"#);
        let rules: Vec<String> = ports.iter().map(rule).collect();
        map(&format!(r#"{{"SecurityGroupEgress":[{}]}}"#, rules.join(",")))
    };
    let (old, settled, sent) = (list(&[80]), list(&[1, 80]), list(&[80, 443]));
    let recorded = |live: &[u16]| inputs_after_update(&group, (&old, &sent), &settled, &list(live));
    assert_eq!(recorded(&[1, 80, 443]), sent);
    assert_eq!(recorded(&[1, 80, 444]), list(&[80, 444]));
}
