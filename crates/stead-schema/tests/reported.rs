//! Updates of real types that were wrong once, each named after what must hold.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use insta::assert_snapshot;
use stead_model::{Map, Value};
use stead_schema::cfn::{
    DigestKey, Edit, LastApplied, Schema, Settled, Update, UpdateInputs, bundle, parse, patch, pointer,
};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn map(text: &str) -> Map {
    json(text).as_map().unwrap().clone()
}

fn published(name: &str) -> Schema {
    bundle::shipped().schema(name).unwrap()
}

fn shown(update: &Update) -> String {
    match update {
        Update::Nothing => "nothing".to_owned(),
        Update::Patch { operations, .. } => {
            let line = |operation: &stead_schema::cfn::Operation| match &operation.edit {
                Edit::Add(value) => format!("add {} {}", pointer(&operation.path), value.to_json()),
                Edit::Remove => format!("remove {}", pointer(&operation.path)),
            };
            operations.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        Update::Replace { forced_by, .. } => {
            let paths: Vec<String> = forced_by.iter().map(|reason| reason.path.to_string()).collect();
            format!("replace because of {}", paths.join(", "))
        }
        Update::Impossible(reasons) => {
            let line =
                |reason: &stead_schema::cfn::Reason| format!("impossible: {}: {}", reason.path, reason.why);
            reasons.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Returns the update of a resource whose state does not record what was read back.
fn update(schema: &Schema, last: &str, live: &str, want: &str) -> String {
    let key = DigestKey::new([7; 32]);
    let last = LastApplied::of(schema, &key, &map(last));
    let (live, want) = (map(live), map(want));
    shown(&patch(schema, &UpdateInputs { last: &last, settled: None, live: &live, want: &want, key: &key }))
}

/// Returns the update of a resource that was read back as `settled` after the last apply.
fn settled_update(schema: &Schema, [last, settled, live, want]: [&str; 4]) -> String {
    let key = DigestKey::new([7; 32]);
    let (last, live, want) = (map(last), map(live), map(want));
    let settled = Settled::of(schema, &key, &last, &map(settled));
    let last = LastApplied::of(schema, &key, &last);
    shown(&patch(
        schema,
        &UpdateInputs { last: &last, settled: Some(&settled), live: &live, want: &want, key: &key },
    ))
}

#[test]
fn empty_object_is_a_value_and_its_drift_is_reverted() {
    let acl = published("AWS::WAFv2::WebACL");
    let (block, allow) = (r#"{"DefaultAction":{"Block":{}}}"#, r#"{"DefaultAction":{"Allow":{}}}"#);
    assert_eq!(update(&acl, block, block, block), "nothing");
    assert_snapshot!(update(&acl, block, allow, block), @"
    add /DefaultAction/Block {}
    remove /DefaultAction/Allow
    ");
    assert_snapshot!(settled_update(&acl, [block, block, allow, block]), @"
    add /DefaultAction/Block {}
    remove /DefaultAction/Allow
    ");
    assert_snapshot!(update(&acl, block, block, allow), @"
    add /DefaultAction/Allow {}
    remove /DefaultAction/Block
    ");
    assert_snapshot!(update(&acl, block, r#"{"DefaultAction":{}}"#, block), @"add /DefaultAction/Block {}");
}

#[test]
fn member_dropped_inside_a_create_only_value_forces_a_replacement() {
    let task = published("AWS::ECS::TaskDefinition");
    let with = |extra: &str| {
        format!(
            r#"{{"Family":"f","ContainerDefinitions":[{{"Name":"a","Image":"i"{extra}}},{{"Name":"b","Image":"i"}}]}}"#
        )
    };
    let plain = with("");
    for extra in [
        r#","Privileged":true"#,
        r#","User":"me""#,
        r#","Command":["run"]"#,
        r#","LinuxParameters":{"InitProcessEnabled":true}"#,
    ] {
        let last = with(extra);
        assert_eq!(update(&task, &last, &last, &plain), "replace because of ContainerDefinitions", "{extra}");
        assert_eq!(update(&task, &last, &last, &last), "nothing", "{extra}");
    }
    let service_added = with(r#","Cpu":0"#);
    assert_eq!(update(&task, &plain, &service_added, &plain), "nothing");
}

#[test]
fn arm_of_a_union_that_is_not_wanted_leaves_a_list_element() {
    let acl = published("AWS::WAFv2::WebACL");
    let rule = |action: &str| {
        format!(
            r#"{{"Rules":[{{"Name":"r","Priority":1,"Action":{{"{action}":{{}}}},"Statement":{{"GeoMatchStatement":{{"CountryCodes":["CH"]}}}}}}]}}"#
        )
    };
    assert_snapshot!(update(&acl, &rule("Block"), &rule("Allow"), &rule("Block")), @r#"add /Rules [{"Action":{"Block":{}},"Name":"r","Priority":1,"Statement":{"GeoMatchStatement":{"CountryCodes":["CH"]}}}]"#);
}

#[test]
fn write_only_object_that_stripping_makes_invalid_is_not_sent_again() {
    let pipe = published("AWS::Pipes::Pipe");
    let last = r#"{"Name":"p","RoleArn":"arn:aws:iam::123456789012:role/r","Source":"arn:aws:mq:eu-west-1:123456789012:broker:b",
        "Target":"arn:aws:sqs:eu-west-1:123456789012:q","Description":"a",
        "SourceParameters":{"ActiveMQBrokerParameters":{"BatchSize":5,"QueueName":"q",
        "Credentials":{"BasicAuth":"arn:aws:secretsmanager:eu-west-1:123456789012:secret:s"}}}}"#;
    let live = r#"{"Name":"p","RoleArn":"arn:aws:iam::123456789012:role/r","Source":"arn:aws:mq:eu-west-1:123456789012:broker:b",
        "Target":"arn:aws:sqs:eu-west-1:123456789012:q","Description":"a"}"#;
    assert_snapshot!(update(&pipe, last, live, &last.replace(r#""Description":"a""#, r#""Description":"b""#)), @r#"add /Description "b""#);
    assert_snapshot!(update(&pipe, last, live, &last.replace(r#""BatchSize":5"#, r#""BatchSize":6"#)), @"impossible: SourceParameters.ActiveMQBrokerParameters: the service requires a part of it that can be set at creation only");
    assert_snapshot!(update(&pipe, last, live, &last.replace(r#""QueueName":"q""#, r#""QueueName":"r""#)), @"replace because of SourceParameters.ActiveMQBrokerParameters.QueueName");
}

#[test]
fn attributes_that_nobody_declared_are_no_difference_and_stay() {
    let balancer = published("AWS::ElasticLoadBalancingV2::LoadBalancer");
    let last = r#"{"LoadBalancerAttributes":[{"Key":"idle_timeout.timeout_seconds","Value":"60"}]}"#;
    let live = r#"{"LoadBalancerAttributes":[{"Key":"a","Value":"x"},{"Key":"idle_timeout.timeout_seconds","Value":"60"}]}"#;
    assert_eq!(update(&balancer, last, live, last), "nothing");
    assert_snapshot!(update(&balancer, last, live, &last.replace("60", "90")), @r#"add /LoadBalancerAttributes [{"Key":"idle_timeout.timeout_seconds","Value":"90"},{"Key":"a","Value":"x"}]"#);
    assert_snapshot!(update(&balancer, last, live, "{}"), @r#"add /LoadBalancerAttributes [{"Key":"a","Value":"x"}]"#);
    let pool = published("AWS::Cognito::UserPool");
    let last = r#"{"Schema":[{"Name":"team","AttributeDataType":"String","Mutable":true}]}"#;
    let live = r#"{"Schema":[{"Name":"sub","AttributeDataType":"String"},{"Name":"custom:team","AttributeDataType":"String","Mutable":true}]}"#;
    assert_eq!(update(&pool, last, live, last), "nothing");
}

#[test]
fn tags_of_other_writers_stay_in_lists_and_in_maps() {
    let subnet = published("AWS::EC2::Subnet");
    let last = r#"{"Tags":[{"Key":"name","Value":"a"}]}"#;
    let live = r#"{"Tags":[{"Key":"kubernetes.io/cluster/x","Value":"shared"},{"Key":"name","Value":"a"}]}"#;
    assert_eq!(update(&subnet, last, live, last), "nothing");
    assert_snapshot!(update(&subnet, last, live, r#"{"Tags":[{"Key":"name","Value":"b"}]}"#), @r#"add /Tags [{"Key":"name","Value":"b"},{"Key":"kubernetes.io/cluster/x","Value":"shared"}]"#);
    assert_snapshot!(update(&subnet, last, live, "{}"), @r#"add /Tags [{"Key":"kubernetes.io/cluster/x","Value":"shared"}]"#);
    assert_snapshot!(update(&subnet, last, last, "{}"), @"remove /Tags");
    let api = published("AWS::ApiGatewayV2::Api");
    let (last, live) = (r#"{"Tags":{"name":"a"}}"#, r#"{"Tags":{"name":"a","theirs":"x"}}"#);
    assert_eq!(update(&api, last, live, last), "nothing");
    assert_snapshot!(update(&api, last, live, "{}"), @"remove /Tags/name");
}

#[test]
fn removal_takes_what_depends_on_it_along() {
    let table = published("AWS::DynamoDB::Table");
    let last = r#"{"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}"#;
    let live = r#"{"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":35}}"#;
    assert_snapshot!(update(&table, last, live, "{}"), @"remove /PointInTimeRecoverySpecification");
    assert_snapshot!(update(&table, last, live, r#"{"PointInTimeRecoverySpecification":{}}"#), @"
    remove /PointInTimeRecoverySpecification/PointInTimeRecoveryEnabled
    remove /PointInTimeRecoverySpecification/RecoveryPeriodInDays
    ");
    let function = published("AWS::Lambda::Function");
    let last = r#"{"VpcConfig":{"SubnetIds":["subnet-1"],"SecurityGroupIds":["sg-1"]}}"#;
    let live = r#"{"VpcConfig":{"SubnetIds":["subnet-1"],"SecurityGroupIds":["sg-1"],"Ipv6AllowedForDualStack":false}}"#;
    assert_snapshot!(update(&function, last, live, "{}"), @"remove /VpcConfig");
}

#[test]
fn value_that_the_service_derived_from_a_changed_one_is_not_sent_back() {
    let listener = published("AWS::ElasticLoadBalancingV2::Listener");
    let group =
        |name: &str| format!("arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/{name}/1");
    let want = |name: &str| {
        format!(r#"{{"DefaultActions":[{{"Type":"forward","TargetGroupArn":"{}"}}]}}"#, group(name))
    };
    let live = format!(
        r#"{{"DefaultActions":[{{"Type":"forward","TargetGroupArn":"{0}","ForwardConfig":{{"TargetGroups":[{{"TargetGroupArn":"{0}"}}]}}}}]}}"#,
        group("a")
    );
    assert_eq!(update(&listener, &want("a"), &live, &want("a")), "nothing");
    assert_snapshot!(update(&listener, &want("a"), &live, &want("b")), @r#"add /DefaultActions [{"TargetGroupArn":"arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/b/1","Type":"forward"}]"#);
}

/// Schema with values that reads inject and the service does not accept.
fn strict() -> Schema {
    parse(&json(
        r##"{
        "typeName": "A::B::Strict",
        "properties": {
            "Size": {"type": "integer"},
            "Text": {"type": "string", "minLength": 1},
            "Arn": {"type": "string", "pattern": "^arn:.+$"},
            "Mode": {"type": "string", "enum": ["a", "b"]},
            "Box": {"type": "object", "properties": {"Names": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "Kind": {"type": "string"}}, "required": ["Kind"], "additionalProperties": false},
            "Rules": {"type": "array", "insertionOrder": false, "items": {"$ref": "#/definitions/Rule"}},
            "From": {"$ref": "#/definitions/Source"}
        },
        "definitions": {
            "Rule": {"type": "object", "properties": {"Name": {"type": "string"}, "Ports": {"type": "array", "minItems": 1,
                "items": {"type": "integer"}}, "Note": {"type": "string", "minLength": 1}}, "additionalProperties": false},
            "Source": {"type": "object", "properties": {"Url": {"type": "string"}, "Bucket": {"type": "string"}},
                "oneOf": [{"required": ["Url"]}, {"required": ["Bucket"]}], "additionalProperties": false}
        },
        "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}}
    }"##,
    ))
    .unwrap()
}

#[test]
fn empty_values_that_reads_inject_are_removed_at_any_depth() {
    let live = r#"{"Size":1,"Text":"","Arn":"","Mode":"","Box":{"Names":[],"Kind":"k"},
        "Rules":[{"Name":"b","Ports":[],"Note":""},{"Name":"a","Ports":[1]}],"From":null}"#;
    let last = r#"{"Size":1,"Box":{"Kind":"k"},"Rules":[{"Name":"a","Ports":[1]},{"Name":"b"}]}"#;
    assert_eq!(update(&strict(), last, live, last), "nothing");
    assert_snapshot!(update(&strict(), last, live, &last.replace("\"Size\":1", "\"Size\":2")), @r#"
    add /Size 2
    remove /Arn
    remove /Box/Names
    remove /From
    remove /Mode
    add /Rules [{"Name":"b","Ports":[]},{"Name":"a","Ports":[1]}]
    remove /Text
    "#);
    let changed = last.replace(r#""Ports":[1]"#, r#""Ports":[2]"#);
    assert_snapshot!(update(&strict(), last, live, &changed), @r#"
    add /Rules [{"Name":"a","Ports":[2]},{"Name":"b"}]
    remove /Arn
    remove /Box/Names
    remove /From
    remove /Mode
    remove /Text
    "#);
}

#[test]
fn undeclared_half_of_an_exclusive_pair_is_removed() {
    let last = r#"{"Size":1,"From":{"Url":"u"}}"#;
    let live = r#"{"Size":1,"From":{"Url":"u","Bucket":"b"}}"#;
    assert_eq!(update(&strict(), last, live, last), "nothing");
    assert_snapshot!(update(&strict(), last, live, &last.replace("\"Size\":1", "\"Size\":2")), @"
    add /Size 2
    remove /From/Bucket
    ");
    assert_snapshot!(update(&strict(), last, r#"{"Size":1,"From":{"Bucket":"b"}}"#, last), @r#"
    add /From/Url "u"
    remove /From/Bucket
    "#);
}

#[test]
fn update_to_an_invalid_model_is_not_sent() {
    let last = r#"{"Size":1,"Arn":"arn:a","Box":{"Kind":"k"}}"#;
    assert_snapshot!(update(&strict(), last, last, &last.replace("arn:a", "none")), @"impossible: Arn: it must match ^arn:.+$");
    assert_snapshot!(update(&strict(), last, last, &last.replace(r#""Kind":"k""#, "")), @"impossible: Box: it must have `Kind`");
    let already = last.replace("arn:a", "none");
    assert_snapshot!(update(&strict(), &already, &already, &already.replace("\"Size\":1", "\"Size\":2")), @"add /Size 2");
}

#[test]
fn long_unordered_list_is_compared_without_order() {
    let group = published("AWS::EC2::SecurityGroup");
    for count in [301, 1500] {
        let rule = |port: usize| {
            format!(r#"{{"IpProtocol":"tcp","FromPort":{port},"ToPort":{port},"CidrIp":"10.0.0.0/8"}}"#)
        };
        let shown = |port: usize| rule(port).replace('}', r#","Description":"x"}"#);
        let want = (0..count).map(rule).collect::<Vec<_>>().join(",");
        let live = (0..count).rev().map(shown).collect::<Vec<_>>().join(",");
        let [want, live] = [want, live].map(|rules| format!(r#"{{"SecurityGroupIngress":[{rules}]}}"#));
        assert_eq!(update(&group, &want, &live, &want), "nothing", "{count}");
        let drifted = live.replace(r#""FromPort":7,"#, r#""FromPort":70007,"#);
        assert!(update(&group, &want, &drifted, &want).starts_with("add /SecurityGroupIngress"), "{count}");
    }
}

#[test]
fn transformation_that_is_not_understood_hides_no_drift() {
    let address = published("AWS::EC2::EIP");
    let (vpc, other) = (r#"{"Domain":"vpc"}"#, r#"{"Domain":"standard"}"#);
    assert_eq!(update(&address, vpc, other, vpc), r#"add /Domain "vpc""#);
    let group = published("AWS::AutoScaling::AutoScalingGroup");
    let named = |name: &str| format!(r#"{{"LaunchConfigurationName":"{name}","MinSize":"1","MaxSize":"1"}}"#);
    assert_eq!(update(&group, &named("a"), &named("b"), &named("a")), r#"add /LaunchConfigurationName "a""#);
}

#[test]
fn value_that_the_service_rewrote_once_is_no_difference() {
    let schema = strict();
    let last =
        r#"{"Arn":"arn:x","Box":{"Kind":"k"},"Rules":[{"Name":"a","Ports":[1]},{"Name":"b"}],"Text":"t"}"#;
    let rewritten = r#"{"Arn":"arn:aws:x","Box":{"Kind":"K","Names":["n"]},
        "Rules":[{"Name":"z"},{"Name":"B"},{"Name":"a","Ports":[1]}]}"#;
    assert_eq!(settled_update(&schema, [last, rewritten, rewritten, last]), "nothing");
    let drifted = rewritten.replace("arn:aws:x", "arn:aws:y");
    assert_snapshot!(settled_update(&schema, [last, rewritten, &drifted, last]), @r#"add /Arn "arn:x""#);
    let changed = last.replace(r#""Text":"t""#, r#""Text":"u""#);
    assert_snapshot!(settled_update(&schema, [last, rewritten, rewritten, &changed]), @r#"add /Text "u""#);
    let fewer = last.replace(r#",{"Name":"b"}"#, "");
    assert_snapshot!(settled_update(&schema, [last, rewritten, rewritten, &fewer]), @r#"add /Rules [{"Name":"a","Ports":[1]},{"Name":"z"}]"#);
}

#[test]
fn record_of_what_was_read_back_holds_no_value() {
    let key = DigestKey::new([7; 32]);
    let inputs = map(r#"{"Text":"hunter2","Rules":[{"Name":"hunter2"}]}"#);
    let settled = Settled::of(&strict(), &key, &inputs, &inputs);
    let kept = serde_json::to_string(&settled).unwrap();
    assert!(!kept.contains("hunter2"), "{kept}");
    assert_eq!(serde_json::from_str::<Settled>(&kept).unwrap(), settled);
    assert_ne!(settled, Settled::of(&strict(), &DigestKey::new([8; 32]), &inputs, &inputs));
}

#[test]
fn write_only_value_that_a_read_shows_is_removed_when_it_is_dropped() {
    let instance = published("AWS::RDS::DBInstance");
    assert_snapshot!(update(&instance, r#"{"MasterUserPassword":"p12345678"}"#, r#"{"MasterUserPassword":"p12345678"}"#, "{}"), @"remove /MasterUserPassword");
}
