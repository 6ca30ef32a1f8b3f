//! Tests of the policies for a plan.

use super::*;

use crate::RoleSettings;

fn used(ty: &str, handler: HandlerKind, known: &str) -> TypeUse {
    let known = serde_json::from_str(known).unwrap();
    TypeUse { ty: TypeToken(ty.into()), handler, known, more: MoreProperties::None, provider: None }
}

/// Returns the policies for the credentials of a target without settings.
fn of_target(uses: &[TypeUse]) -> Policies {
    least(uses, &Settings::default()).by_caller.remove("").unwrap()
}

fn parts_of(uses: &[TypeUse]) -> BTreeMap<String, Policy> {
    least(uses, &Settings::default()).split().into_iter().flat_map(SplitPolicy::named).collect()
}

fn resources<'a>(policy: &'a Policy, action: &str) -> &'a [String] {
    let has = |statement: &&Statement| statement.action.iter().any(|one| one == action);
    policy.statement.iter().find(has).map(|statement| statement.resource.as_slice()).unwrap_or_default()
}

#[test]
fn policy_names_resources_where_their_names_are_known() {
    let uses = [
        used("aws.sqs.Queue", HandlerKind::Create, r#"{"QueueName":"jobs"}"#),
        used("aws.sqs.Queue", HandlerKind::Read, r#"{"Arn":"arn:aws:sqs:eu-west-1:1:jobs"}"#),
    ];
    let Policies { read, change } = of_target(&uses);
    assert_eq!(resources(&change, "sqs:CreateQueue"), ["arn:aws:sqs:*:*:jobs"]);
    assert_eq!(resources(&change, "cloudformation:CreateResource"), ["*"]);
    assert_eq!(resources(&read, "sqs:GetQueueAttributes"), ["arn:aws:sqs:eu-west-1:1:jobs"]);
    assert_eq!(resources(&read, "sqs:CreateQueue"), [""; 0]);
}

#[test]
fn unknown_name_and_actions_that_list_need_all_resources() {
    let change = of_target(&[used("aws.sqs.Queue", HandlerKind::Create, "{}")]).change;
    assert_eq!(resources(&change, "sqs:CreateQueue"), ["*"]);
    assert!(!can_be_narrowed("logs:DescribeLogGroups", "arn:aws:logs:*:*:log-group:a"));
    assert!(!can_be_narrowed("iam:PassRole", "arn:aws:lambda:*:*:function:f"));
    // One unknown name makes the action one on all resources.
    let both = [
        used("aws.sqs.Queue", HandlerKind::Create, "{}"),
        used("aws.sqs.Queue", HandlerKind::Create, r#"{"QueueName":"jobs"}"#),
    ];
    assert_eq!(resources(&of_target(&both).change, "sqs:CreateQueue"), ["*"]);
}

#[test]
fn only_the_roles_that_a_resource_gets_may_be_passed() {
    let role = r#"{"FunctionName":"f","Role":"arn:aws:iam::1:role/f"}"#;
    let function = used("aws.lambda.Function", HandlerKind::Create, role);
    assert_eq!(
        resources(&of_target(std::slice::from_ref(&function)).change, PASS_ROLE),
        ["arn:aws:iam::1:role/f"]
    );
    let unknown = TypeUse { more: MoreProperties::Unknown, ..function };
    assert_eq!(resources(&of_target(&[unknown]).change, PASS_ROLE), ["*"]);
}

#[test]
fn policies_that_are_too_long_are_split_and_empty_ones_left_out() {
    let queue =
        |n: usize| used("aws.sqs.Queue", HandlerKind::Create, &format!(r#"{{"QueueName":"queue-{n}"}}"#));
    let few: Vec<TypeUse> = (0..3).map(queue).collect();
    assert_eq!(parts_of(&few).keys().collect::<Vec<_>>(), ["change"]);
    let many: Vec<TypeUse> = (0..400).map(queue).collect();
    let (whole, parts) = (of_target(&many), parts_of(&many));
    assert!(parts.len() >= 2 && parts.contains_key("change-1"), "{:?}", parts.keys());
    assert!(parts.values().all(|part| part.size() <= MANAGED_POLICY));
    let pairs = |policies: &[&Policy]| {
        let statements = policies.iter().flat_map(|policy| &policy.statement);
        let pair = |one: &Statement| {
            let of = |action: &String| {
                one.resource.iter().map(|to| (action.clone(), to.clone())).collect::<Vec<_>>()
            };
            one.action.iter().flat_map(of).collect::<Vec<_>>()
        };
        statements.flat_map(pair).collect::<BTreeSet<_>>()
    };
    assert_eq!(pairs(&parts.values().collect::<Vec<_>>()), pairs(&[&whole.change]));
    assert!(parts_of(&[]).is_empty());
}

#[test]
fn bucket_includes_its_objects() {
    let change = of_target(&[used("aws.s3.Bucket", HandlerKind::Create, r#"{"BucketName":"b"}"#)]).change;
    assert_eq!(resources(&change, "s3:CreateBucket"), ["arn:aws:s3:::b", "arn:aws:s3:::b/*"]);
}

#[test]
fn recorded_identifier_that_is_an_arn_narrows_the_actions() {
    let secret = "arn:aws:secretsmanager:eu-west-1:1:secret:db-AbCdEf";
    let read = of_target(&[used(
        "aws.secretsmanager.Secret",
        HandlerKind::Read,
        &format!(r#"{{"Id":"{secret}"}}"#),
    )]);
    assert_eq!(resources(&read.read, "secretsmanager:DescribeSecret"), ["*"]);
    assert_eq!(resources(&read.read, "secretsmanager:GetSecretValue"), [secret]);
    let topic = "arn:aws:sns:eu-west-1:1:orders";
    let topic_of = |handler| used("aws.sns.Topic", handler, &format!(r#"{{"TopicArn":"{topic}"}}"#));
    let change = of_target(&[topic_of(HandlerKind::Delete)]).change;
    assert_eq!(resources(&change, "sns:DeleteTopic"), [topic]);
    // A part that the program gives is the ARN of another resource.
    let service = r#"{"Cluster":"arn:aws:ecs:eu-west-1:1:cluster/c"}"#;
    let change = of_target(&[used("aws.ecs.Service", HandlerKind::Update, service)]).change;
    assert_eq!(resources(&change, "ecs:UpdateService"), ["*"]);
}

#[test]
fn no_role_is_passed_where_none_is_given() {
    let created = |ty: &str, known: &str| of_target(&[used(ty, HandlerKind::Create, known)]).change;
    let bucket = r#"{"BucketName":"b"}"#;
    assert!(permissions("AWS::S3::Bucket", HandlerKind::Create).contains(&PASS_ROLE));
    assert_eq!(resources(&created("aws.s3.Bucket", bucket), PASS_ROLE), [""; 0]);
    // A role by its name, and one that a profile hides.
    let function = r#"{"FunctionName":"f","Role":"writer"}"#;
    assert_eq!(
        resources(&created("aws.lambda.Function", function), PASS_ROLE),
        ["arn:aws:iam::*:role/writer"]
    );
    let instance = r#"{"IamInstanceProfile":"web"}"#;
    assert_eq!(resources(&created("aws.ec2.Instance", instance), PASS_ROLE), ["*"]);
    // The own ARN of a recorded role, and those in its policies, are not passed.
    let role = r#"{"RoleName":"r","Arn":"arn:aws:iam::1:role/r",
        "AssumeRolePolicyDocument":{"Statement":[{"Principal":{"AWS":"arn:aws:iam::1:role/other"}}]}}"#;
    let role = used("aws.iam.Role", HandlerKind::Update, role);
    assert_eq!(passed(&role, schema(&role.ty), "aws"), Passed::Roles(BTreeSet::new()));
}

#[test]
fn names_are_in_the_partition_of_the_region() {
    let target = Settings { region: Some("cn-north-1".to_owned()), ..Settings::default() };
    let function =
        used("aws.lambda.Function", HandlerKind::Create, r#"{"FunctionName":"f","Role":"writer"}"#);
    let change = &least(&[function], &target).by_caller[""].change;
    assert_eq!(resources(change, PASS_ROLE), ["arn:aws-cn:iam::*:role/writer"]);
    assert_eq!(resources(change, "lambda:CreateFunction"), ["arn:aws-cn:lambda:*:*:function:f"]);
}

#[test]
fn each_account_has_policies_of_its_own() {
    let queue = |settings: Option<&str>, more| {
        let provider = settings.map(|settings| UsedProvider {
            name: "other".to_owned(),
            settings: serde_json::from_str(settings).unwrap(),
            more,
        });
        TypeUse { provider, ..used("aws.sqs.Queue", HandlerKind::Create, r#"{"QueueName":"jobs"}"#) }
    };
    let uses = [
        queue(None, MoreProperties::None),
        // Another region of the same account.
        queue(Some(r#"{"region":"us-east-1"}"#), MoreProperties::None),
        queue(Some(r#"{"role":{"arn":"arn:aws:iam::2:role/deploy"}}"#), MoreProperties::None),
        queue(Some("{}"), MoreProperties::Unknown),
    ];
    let policies: BTreeMap<_, _> =
        least(&uses, &Settings::default()).split().into_iter().flat_map(SplitPolicy::named).collect();
    assert_eq!(policies.keys().collect::<Vec<_>>(), ["change", "change@2-deploy", "change@other", "read"]);
    assert_eq!(resources(&policies["read"], ASSUME_ROLE), ["arn:aws:iam::2:role/deploy"]);

    // The role of the target is assumed with the credentials of the environment.
    let role =
        RoleSettings { arn: "arn:aws:iam::3:role/ci".to_owned(), external_id: None, session_name: None };
    let target = Settings { role: Some(role), ..Settings::default() };
    let policies = &least(&uses[..1], &target).by_caller;
    assert_eq!(policies.keys().collect::<Vec<_>>(), ["", "environment"]);
    assert_eq!(resources(&policies["environment"].read, ASSUME_ROLE), ["arn:aws:iam::3:role/ci"]);
}
