//! Provider resources: several accounts and regions in one program, on the target `sim`.

use stead_cloud::{Cloud, Place, ResourceName};
use stead_model::Value;
use stead_world::World;

use crate::project::Project;

const PROGRAM: &str = r#"
import * as aws from "stead/aws";
const frankfurt = new aws.Provider({ region: "eu-central-1", defaultTags: { team: "shop" } }, { id: "frankfurt" });
const audit = new aws.Provider({ region: "eu-west-1", role: { arn: "arn:aws:iam::222222222222:role/deploy" } }, { id: "audit" });
new aws.dynamodb.Table({ TableName: "jobs", KeySchema: [{ AttributeName: "id", KeyType: "HASH" }], AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }], BillingMode: "PAY_PER_REQUEST" }, { id: "here" });
new aws.dynamodb.Table({ TableName: "jobs", KeySchema: [{ AttributeName: "id", KeyType: "HASH" }], AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }], BillingMode: "PAY_PER_REQUEST" }, { id: "there", provider: frankfurt });
new aws.sqs.Queue({ QueueName: "jobs" }, { id: "elsewhere", provider: audit });
export const account = audit.accountId;
"#;

/// Two providers of one place, which differ in their tags.
const TAGS: &str = r#"
import * as aws from "stead/aws";
for (const team of ["shop", "audit"]) {
  const provider = new aws.Provider({ region: "eu-central-1", defaultTags: { team } }, { id: `of-${team}` });
  new aws.sqs.Queue({ QueueName: team }, { id: team, provider });
}
"#;

/// A queue in another region.
const QUEUE: &str = r#"
import * as aws from "stead/aws";
const there = new aws.Provider({ region: "eu-central-1" }, { id: "there" });
new aws.sqs.Queue({ QueueName: "jobs" }, { id: "jobs", provider: there });
"#;

fn on_sim<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["-t", "sim"]].concat()
}

pub(crate) fn cloud(project: &Project) -> Cloud {
    Cloud::open(&World::real(), &project.path(".stead/sim"), Default::default()).unwrap()
}

/// Returns account, region and type of everything in the embedded cloud, sorted.
fn places(project: &Project) -> Vec<String> {
    let place =
        |name: ResourceName| format!("{} {} {}", name.place.account, name.place.region, name.type_name);
    let mut all: Vec<String> = cloud(project).resources().unwrap().into_iter().map(place).collect();
    all.sort();
    all
}

const ALL: [&str; 3] = [
    "000000000000 eu-central-1 AWS::DynamoDB::Table",
    "000000000000 us-east-1 AWS::DynamoDB::Table",
    "222222222222 eu-west-1 AWS::SQS::Queue",
];

#[test]
fn one_program_has_resources_in_two_accounts_and_three_regions() {
    let project = Project::with(PROGRAM);
    assert!(project.stead(&on_sim(&["up", "--yes"])).ok().contains("222222222222"));
    assert_eq!(places(&project), ALL);
    let cloud = cloud(&project);
    let there =
        cloud.resources().unwrap().into_iter().find(|one| one.place.region == "eu-central-1").unwrap();
    let tags = cloud.model(&there).unwrap().unwrap().get("Tags").map(Value::to_json).unwrap_or_default();
    assert!(tags.contains("\"team\""), "{tags}");
    project.stead(&on_sim(&["plan", "--refresh", "--exit-code"])).ok();
    project.write(
        "main.ts",
        &PROGRAM
            .replace("\"jobs\" }, { id: \"elsewhere\"", "\"jobs\", DelaySeconds: 3 }, { id: \"elsewhere\""),
    );
    project.stead(&on_sim(&["up", "--yes"])).ok();
    assert_eq!(places(&project), ALL);
}

#[test]
fn two_providers_may_have_one_place_and_one_real_resource_may_not_have_two_records() {
    let project = Project::with(TAGS);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    assert_eq!(places(&project), ["000000000000 eu-central-1 AWS::SQS::Queue"; 2]);
    let table = PROGRAM.replace("region: \"eu-central-1\", defaultTags", "defaultTags");
    let project = Project::with(&table);
    let twice = project.stead(&on_sim(&["plan"])).ends(1);
    assert!(twice.stderr.contains("are the same real resource"), "{}", twice.stderr);
}

#[test]
fn destroy_without_a_program_reaches_every_account_and_region() {
    let project = Project::with(PROGRAM);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    project.write("main.ts", "this does not parse");
    project.stead(&on_sim(&["destroy", "--yes", "--without-program"])).ok();
    assert!(places(&project).is_empty());
}

#[test]
fn killed_run_is_finished_in_the_right_account_and_region() {
    for point in ["step.begin.durable:2", "step.call.after:3", "step.call.after:5"] {
        let project = Project::with(PROGRAM);
        project.crash(&on_sim(&["up", "--yes"]), point);
        project.stead(&on_sim(&["up", "--yes"])).ok();
        assert_eq!(places(&project), ALL, "{point}");
        project.crash(&on_sim(&["destroy", "--yes"]), "step.call.after:2");
        project.stead(&on_sim(&["destroy", "--yes"])).ok();
        assert!(places(&project).is_empty(), "{point}");
    }
}

#[test]
fn drift_in_another_region_is_read_there() {
    let project = Project::with(QUEUE);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let cloud = cloud(&project);
    let queue = cloud.resources().unwrap().pop().unwrap();
    let patch: Value = serde_json::from_str(r#"[{"op":"add","path":"/DelaySeconds","value":9}]"#).unwrap();
    cloud.drift(&queue, &patch).unwrap();
    let seen = project.stead(&on_sim(&["refresh", "--yes"])).ends(0);
    assert!(seen.stdout.contains("jobs"), "{}", seen.stdout);
    cloud.remove(&queue).unwrap();
    assert!(project.stead(&on_sim(&["plan", "--refresh"])).ends(0).stdout.contains("jobs"));
}

#[test]
fn another_region_of_a_provider_replaces_what_it_serves_under_the_guards() {
    let project = Project::with(QUEUE);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let moved = QUEUE.replace("eu-central-1", "eu-west-3");
    project.write("main.ts", &moved.replace("provider: there }", "provider: there, preventDelete: true }"));
    let refused = project.stead(&on_sim(&["up", "--yes"])).ends(13);
    assert!(refused.stderr.contains("jobs"), "{}", refused.stderr);
    assert_eq!(places(&project), ["000000000000 eu-central-1 AWS::SQS::Queue"]);
    project.write("main.ts", &moved);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    assert_eq!(places(&project), ["000000000000 eu-west-3 AWS::SQS::Queue"]);
}

#[test]
fn role_of_another_account_replaces_and_a_role_of_the_same_one_does_not() {
    let role = |account: &str, name: &str| {
        let role =
            format!("role: {{ arn: \"arn:aws:iam::{account}:role/{name}\" }}, region: \"eu-central-1\"");
        QUEUE.replace("region: \"eu-central-1\"", &role)
    };
    let project = Project::with(&role("111111111111", "a"));
    project.stead(&on_sim(&["up", "--yes"])).ok();
    project.write("main.ts", &role("111111111111", "b"));
    let kept = project.stead(&on_sim(&["up", "--yes"])).ends(0);
    assert!(!kept.stdout.contains("replace"), "{}", kept.stdout);
    assert_eq!(places(&project), ["111111111111 eu-central-1 AWS::SQS::Queue"]);
    project.write("main.ts", &role("333333333333", "b"));
    project.stead(&on_sim(&["up", "--yes"])).ok();
    assert_eq!(places(&project), ["333333333333 eu-central-1 AWS::SQS::Queue"]);
}

#[test]
fn removed_role_that_leads_to_another_account_is_refused_and_nothing_moves() {
    let with_role = QUEUE.replace(
        "region: \"eu-central-1\"",
        "region: \"eu-central-1\", role: { arn: \"arn:aws:iam::111111111111:role/a\" }",
    );
    let project = Project::with(&with_role);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    project.write("main.ts", &QUEUE.replace("\"jobs\" }, {", "\"jobs\", DelaySeconds: 4 }, {"));
    let refused = project.stead(&on_sim(&["up", "--yes"])).ends(1);
    assert!(refused.stderr.contains("account 111111111111"), "{}", refused.stderr);
    assert_eq!(places(&project), ["111111111111 eu-central-1 AWS::SQS::Queue"]);
}

#[test]
fn change_of_the_provider_option_replaces_only_between_places() {
    let by_default = QUEUE.replace(", provider: there", "");
    let project = Project::with(&by_default);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    assert_eq!(places(&project), ["000000000000 us-east-1 AWS::SQS::Queue"]);
    // Another provider of the same place changes the record only.
    project.write("main.ts", &QUEUE.replace("eu-central-1", "us-east-1"));
    let same = project.stead(&on_sim(&["up", "--yes"])).ends(0);
    assert!(same.stdout.contains("its provider changed; only the record changes"), "{}", same.stdout);
    assert_eq!(places(&project), ["000000000000 us-east-1 AWS::SQS::Queue"]);
    project.write("main.ts", QUEUE);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    assert_eq!(places(&project), ["000000000000 eu-central-1 AWS::SQS::Queue"]);
    project.write("main.ts", &by_default);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    assert_eq!(places(&project), ["000000000000 us-east-1 AWS::SQS::Queue"]);
}

#[test]
fn provider_with_a_role_that_the_program_makes_is_planned_by_schema() {
    let project = Project::with(
        r#"
import * as aws from "stead/aws";
const role = new aws.iam.Role({ RoleName: "deploy", AssumeRolePolicyDocument: { Version: "2012-10-17", Statement: [] } }, { id: "role" });
const inside = new aws.Provider({ region: "eu-central-1", role: { arn: role.Arn } }, { id: "inside" });
new aws.sqs.Queue({ QueueName: "jobs" }, { id: "jobs", provider: inside });
"#,
    );
    let plan = project.stead(&on_sim(&["plan"])).ok();
    assert!(plan.contains("jobs") && plan.contains("inside"), "{plan}");
    project.stead(&on_sim(&["up", "--yes"])).ok();
    assert_eq!(
        places(&project),
        ["000000000000 aws-global AWS::IAM::Role", "000000000000 eu-central-1 AWS::SQS::Queue"]
    );
    project.stead(&on_sim(&["plan", "--exit-code"])).ok();
    project.stead(&on_sim(&["destroy", "--yes"])).ok();
    assert!(places(&project).is_empty());
}

#[test]
fn settings_are_checked_like_every_type() {
    let wrong = |text: &str| {
        let project = Project::with(&QUEUE.replace("region: \"eu-central-1\"", text));
        project.stead(&on_sim(&["plan"])).ends(1).stderr
    };
    assert!(wrong("regoin: \"eu-central-1\"").contains("`region`"));
    assert!(wrong("role: { arn: \"deploy\" }").contains("arn"));
    let project = Project::with(&QUEUE.replace("provider: there", "provider: new aws.sqs.Queue({})"));
    assert!(project.stead(&on_sim(&["plan"])).ends(1).stderr.contains("Provider"));
}

#[test]
fn look_up_reads_in_the_region_of_its_provider() {
    let project = Project::with(QUEUE);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let reading = |id: &str, options: &str| {
        format!(
            "import * as aws from \"stead/aws\";\nconst there = new aws.Provider({{ region: \"eu-central-1\" }}, {{ id: \"p\" }});\n\
             export const name = aws.sqs.Queue.get({id}{options}).QueueName;\n"
        )
    };
    let url = "https://sqs.eu-central-1.amazonaws.com/000000000000/jobs";
    project.write("main.ts", &reading(&format!("{url:?}"), ", { provider: there }"));
    let found = project.stead(&on_sim(&["plan", "-e", "prod"])).ok();
    assert!(found.contains("jobs"), "{found}");
    project.write("main.ts", &reading(&format!("{{ QueueUrl: {url:?} }}"), ", { provider: there }"));
    project.stead(&on_sim(&["plan", "-e", "prod"])).ok();
    project.write("main.ts", &reading(&format!("{url:?}"), ""));
    let missing = project.stead(&on_sim(&["plan", "-e", "prod"])).ends(1);
    assert!(missing.stderr.contains("ST0116"), "{}", missing.stderr);
}

#[test]
fn resource_of_another_region_is_listed_and_imported_through_its_provider() {
    let project = Project::with(QUEUE);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let there = Place::new("000000000000", "eu-central-1");
    let queue = serde_json::from_str(r#"{"QueueName":"old"}"#).unwrap();
    let url = cloud(&project).insert(&there, "AWS::SQS::Queue", &queue).unwrap().identifier;
    let listed = project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue", "--provider", "there"])).ok();
    assert!(listed.contains(&url) && listed.contains("jobs  jobs"), "{listed}");
    assert!(!project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue"])).ok().contains(&url));

    let import = ["import", "aws.sqs.Queue", "old", &url, "--yes"];
    let not_here = project.stead(&on_sim(&import)).ends(1);
    assert!(not_here.stderr.contains("there is no aws.sqs.Queue"), "{}", not_here.stderr);
    let unknown = project.stead(&on_sim(&[&import[..], &["--provider", "here"]].concat())).ends(1);
    assert!(unknown.stderr.contains("it declares: there"), "{}", unknown.stderr);
    let imported = project.stead(&on_sim(&[&import[..], &["--provider", "there"]].concat())).ends(0);
    assert!(imported.stdout.contains("QueueName: \"old\""), "{}", imported.stdout);
    project.stead(&on_sim(&["plan", "--refresh", "--exit-code"])).ok();
    let declared = "new aws.sqs.Queue({ QueueName: \"old\" }, { id: \"old\", provider: there });\n";
    project.write("main.ts", &format!("{QUEUE}{declared}"));
    let taken = project.stead(&on_sim(&["up", "--yes"])).ends(0);
    assert!(!taken.stdout.contains("replace"), "{}", taken.stdout);
    assert_eq!(places(&project), ["000000000000 eu-central-1 AWS::SQS::Queue"; 2]);
}
