//! The target `sim`: AWS resources in the embedded cloud, through every command.

use stead_cloud::Place;

use crate::project::Project;
use crate::providers::cloud;

const PROGRAM: &str = r#"
import { s3, sqs } from "stead/aws";
const dead = new sqs.Queue({}, { id: "dead" });
new sqs.Queue({ QueueName: "jobs", DelaySeconds: 5, RedrivePolicy: { deadLetterTargetArn: dead.Arn, maxReceiveCount: 3 } }, { id: "jobs" });
const bucket = new s3.Bucket({ BucketName: "uploads-1" }, { id: "uploads" });
export const arn = bucket.Arn;
"#;

const SIM: [&str; 2] = ["-t", "sim"];

fn on_sim<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &SIM].concat()
}

#[test]
fn resources_are_created_changed_and_deleted_in_the_embedded_cloud() {
    let project = Project::with(PROGRAM);
    assert!(project.stead(&on_sim(&["up", "--yes"])).ok().contains("arn:aws:s3:::uploads-1"));
    let unchanged = project.stead(&on_sim(&["plan", "--refresh", "--exit-code"]));
    unchanged.ok();

    project.write("main.ts", &PROGRAM.replace("DelaySeconds: 5", "DelaySeconds: 7"));
    let changed = project.stead(&on_sim(&["up", "--yes"])).ends(0);
    assert!(
        changed.stderr.contains("1 updated") || changed.stdout.contains("1 updated"),
        "{}",
        changed.stderr
    );
    project.stead(&on_sim(&["plan", "--refresh", "--exit-code"])).ok();

    project.stead(&on_sim(&["destroy", "--yes"])).ok();
    assert!(project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue"])).ends(0).stdout.is_empty());
}

#[test]
fn existing_resources_are_listed_with_the_records_that_have_them() {
    let project = Project::with(PROGRAM);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let all = project.stead(&on_sim(&["import", "--list", "AWS::S3::Bucket"])).ok();
    assert_eq!(all.trim(), "uploads-1  uploads");
    assert_eq!(project.stead(&on_sim(&["import", "--list", "aws.s3.Bucket", "--unowned"])).ok(), "");
}

#[test]
fn unowned_resources_are_listed_without_those_of_another_stack() {
    let project = Project::with(PROGRAM);
    project.stead(&on_sim(&["up", "--yes", "-e", "prod"])).ok();
    let free = serde_json::from_str(r#"{"BucketName":"free-1"}"#).unwrap();
    let place = Place::new("000000000000", "us-east-1");
    cloud(&project).insert(&place, "AWS::S3::Bucket", &free).unwrap();
    let list = on_sim(&["import", "--list", "AWS::S3::Bucket"]);
    assert_eq!(project.stead(&list).ok(), "free-1\nuploads-1\n");
    assert_eq!(project.stead(&[&list[..], &["--unowned"]].concat()).ok(), "free-1\n");
}

#[test]
fn permissions_of_a_possible_replacement_include_the_update_that_is_tried_first() {
    let net = |tenancy: &str| {
        format!(
            "import {{ ec2 }} from \"stead/aws\";\n\
             new ec2.VPC({{ CidrBlock: \"10.0.0.0/16\", InstanceTenancy: {tenancy:?} }}, {{ id: \"net\" }});\n"
        )
    };
    let project = Project::with(&net("default"));
    project.stead(&on_sim(&["up", "--yes"])).ok();
    project.write("main.ts", &net("dedicated"));
    let printed = project.stead(&on_sim(&["plan", "--permissions"])).ok();
    for action in ["UpdateResource", "CreateResource", "DeleteResource"] {
        assert!(printed.contains(&format!("cloudformation:{action}")), "{action}: {printed}");
    }
    assert!(printed.contains("ec2:ModifyVpcTenancy"), "{printed}");
}

#[test]
fn permissions_of_a_plan_name_the_resources_that_it_knows() {
    let project = Project::with(PROGRAM);
    let printed = project.stead(&on_sim(&["plan", "--permissions"])).ok();
    let policies: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let change = policies["change"]["Statement"].to_string();
    assert!(change.contains("s3:CreateBucket") && change.contains("arn:aws:s3:::uploads-1"), "{change}");
    assert!(!policies["read"]["Statement"].to_string().contains("s3:CreateBucket"));
    assert_eq!(project.stead(&on_sim(&["policy", "permissions"])).ok(), printed);
}

#[test]
fn permissions_of_a_plan_include_its_look_ups_and_name_what_is_recorded() {
    let made = r#"
import { s3, secretsmanager, sns } from "stead/aws";
new s3.Bucket({ BucketName: "reports-1" }, { id: "reports" });
new secretsmanager.Secret({ Name: "db" }, { id: "db" });
new sns.Topic({ TopicName: "orders" }, { id: "orders" });
"#;
    let project = Project::with(made);
    let policies = |arguments: &[&str]| {
        let printed = project.stead(&on_sim(&[&["plan", "--permissions"], arguments].concat())).ok();
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()
    };
    let resources = |policies: &serde_json::Value, part: &str, action: &str| {
        let statements = policies[part]["Statement"].as_array().cloned().unwrap_or_default();
        let has = |one: &&serde_json::Value| {
            one["Action"].as_array().unwrap().iter().any(|listed| listed.as_str() == Some(action))
        };
        statements.iter().find(has).map(|one| one["Resource"].to_string())
    };
    // The bucket and the topic get no role.
    assert_eq!(resources(&policies(&[]), "change", "iam:PassRole"), None);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let secret = resources(&policies(&[]), "read", "secretsmanager:GetSecretValue").unwrap();
    assert!(secret.contains(":secret:db-") && !secret.contains('*'), "{secret}");
    let topic = resources(&policies(&[]), "read", "sns:GetTopicAttributes").unwrap();
    assert!(topic.contains(":orders"), "{topic}");

    // Another environment looks the bucket up.
    project.write(
        "main.ts",
        "import { s3 } from \"stead/aws\";\nexport const arn = s3.Bucket.get(\"reports-1\").Arn;\n",
    );
    let looked_up = policies(&["-e", "prod"]);
    let bucket = resources(&looked_up, "read", "s3:GetBucketTagging").unwrap();
    assert!(bucket.contains("arn:aws:s3:::reports-1"), "{looked_up}");
}

#[test]
fn existing_resource_is_imported_and_keeps_what_the_program_does_not_declare() {
    let project = Project::with(PROGRAM);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    // Another environment takes the bucket over, and declares less of it.
    project.write(
        "main.ts",
        "import { s3 } from \"stead/aws\";\nnew s3.Bucket({ BucketName: \"uploads-1\" }, { id: \"b\", import: \"uploads-1\" });\n",
    );
    let owned = project.stead(&on_sim(&["up", "--yes", "-e", "prod"])).ends(13);
    assert!(owned.stderr.contains("ST0430"), "{}", owned.stderr);
    project.stead(&on_sim(&["up", "--yes", "-e", "prod", "--take-over", "b"])).ok();
    project.stead(&on_sim(&["plan", "--exit-code", "-e", "prod"])).ok();
}

#[test]
fn stack_with_a_long_path_keeps_what_it_owns_from_other_stacks() {
    let project = Project::with(PROGRAM);
    let settings =
        format!("{}\n[state]\npath = \"{}state\"\n", project.read("stead.toml"), "folder/".repeat(43));
    project.write("stead.toml", &settings);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let other = PROGRAM.replace("{ id: \"uploads\" }", "{ id: \"uploads\", import: \"uploads-1\" }");
    project.write("main.ts", &other.replace("QueueName: \"jobs\", ", ""));
    let owned = project.stead(&on_sim(&["up", "--yes", "-e", "prod"])).ends(13);
    assert!(owned.stderr.contains("ST0430"), "{}", owned.stderr);
    // The stack itself changes and deletes what it owns.
    project.write(
        "main.ts",
        &PROGRAM.replace("\"uploads-1\" }", "\"uploads-1\", Tags: [{ Key: \"a\", Value: \"b\" }] }"),
    );
    project.stead(&on_sim(&["up", "--yes"])).ok();
    project.stead(&on_sim(&["plan", "--refresh", "--exit-code"])).ok();
    project.stead(&on_sim(&["destroy", "--yes"])).ok();
}

#[test]
fn next_up_finishes_a_killed_one_by_its_client_token_without_a_question_or_a_duplicate() {
    for point in ["step.begin.durable:1", "step.call.before:2", "step.call.after:1", "step.call.after:3"] {
        let project = Project::with(PROGRAM);
        project.crash(&on_sim(&["up", "--yes"]), point);
        project.stead(&on_sim(&["up", "--yes"])).ok();
        let queues = project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue"])).ok();
        assert_eq!(queues.lines().count(), 2, "{point}: {queues}");
        assert!(queues.lines().all(|line| line.contains("  ")), "{point}: one has no record: {queues}");
        project.crash(&on_sim(&["destroy", "--yes"]), point);
        project.stead(&on_sim(&["destroy", "--yes"])).ok();
        assert_eq!(project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue"])).ok(), "", "{point}");
    }
}

#[test]
fn value_that_is_write_only_in_one_resource_is_no_secret_in_another() {
    let project = Project::with(
        r#"
        import { ec2 } from "stead/aws";
        const data = { InstanceType: "t3.medium", ImageId: "ami-0123456789abcdef0" };
        new ec2.LaunchTemplate({ LaunchTemplateName: "machines", LaunchTemplateData: data }, { id: "template" });
        const machine = new ec2.Instance(data, { id: "machine" });
        export const type = machine.InstanceType;
        "#,
    );
    project.stead(&on_sim(&["up", "--yes"])).ok();
    for command in [&["state", "show", "machine"][..], &["output", "type"]] {
        let shown = project.stead(&on_sim(command)).ok();
        assert!(shown.contains("t3.medium"), "{shown}");
    }
    let template = project.stead(&on_sim(&["state", "show", "template"])).ok();
    assert!(template.contains("[secret]"), "{template}");
    project.stead(&on_sim(&["refresh", "--yes"])).ok();
    let shown = project.stead(&on_sim(&["state", "show", "machine"])).ok();
    assert!(shown.contains("t3.medium"), "{shown}");
}

#[test]
fn secret_that_a_service_makes_is_encrypted_and_shown_to_nobody() {
    let program = r#"
import { ivs, mediapackage } from "stead/aws";
const key = new ivs.StreamKey({ ChannelArn: "arn:aws:ivs:us-east-1:000000000000:channel/abcdABCDefgh" }, { id: "key" });
new mediapackage.Channel({ Id: "channel" }, { id: "channel" });
export const stream = key.Value;
"#;
    let project = Project::with(program);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let shown = project.stead(&on_sim(&["state", "show", "key"])).ok();
    let value = shown.lines().find(|line| line.contains("Value")).unwrap_or_default();
    assert!(value.contains("[secret]"), "{shown}");
    assert!(shown.lines().any(|line| line.contains("Arn") && !line.contains("[secret]")), "{shown}");
    assert!(project.stead(&on_sim(&["output"])).ok().contains("[secret]"));
    let export: serde_json::Value =
        serde_json::from_str(&project.stead(&on_sim(&["stack", "export"])).ok()).unwrap();
    assert!(export.to_string().contains("ciphertext"));
    project.stead(&on_sim(&["plan", "--refresh", "--exit-code"])).ok();
}

/// A program with one queue whose name and address the service makes.
fn unnamed_queue(delay: u32, options: &str) -> String {
    format!(
        "import {{ sqs }} from \"stead/aws\";\n\
         new sqs.Queue({{ DelaySeconds: {delay} }}, {{ id: \"jobs\"{options} }});\n"
    )
}

/// Applies an unnamed queue in `dev`, and takes it over in `prod`, whose mark it gets by a change. Returns its address.
fn taken_from_dev(project: &Project, between: impl FnOnce()) -> String {
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let listed = project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue"])).ok();
    let url = listed.split_whitespace().next().unwrap().to_owned();
    between();
    let take_over = on_sim(&["up", "--yes", "-e", "prod", "--take-over", "jobs"]);
    project.write("main.ts", &unnamed_queue(1, &format!(", import: \"{url}\"")));
    project.stead(&take_over).ok();
    project.write("main.ts", &unnamed_queue(2, ""));
    // The import alone left the mark of `dev`.
    let owned = project.stead(&on_sim(&["up", "--yes", "-e", "prod"])).ends(13);
    assert!(owned.stderr.contains("ST0430"), "{}", owned.stderr);
    project.stead(&take_over).ok();
    url
}

#[test]
fn resource_with_a_physical_id_of_the_service_is_kept_from_the_stack_that_lost_it() {
    let project = Project::with(&unnamed_queue(1, ""));
    let url = taken_from_dev(&project, || {});
    project.write("main.ts", &unnamed_queue(3, ""));
    for command in [&["plan"][..], &["up", "--yes"], &["destroy", "--yes"]] {
        let owned = project.stead(&on_sim(command)).ends(13);
        assert!(owned.stderr.contains("ST0430") && owned.stderr.contains("--take-over"), "{}", owned.stderr);
    }
    let listed = project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue", "-e", "prod"])).ok();
    assert_eq!(listed.trim(), format!("{url}  jobs"));
    project.stead(&on_sim(&["state", "rm", "jobs", "--yes"])).ok();
    project.stead(&on_sim(&["destroy", "--yes", "-e", "prod"])).ok();
    assert_eq!(project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue"])).ok(), "");
}

#[test]
fn interrupted_deletion_of_what_another_stack_took_is_not_repeated() {
    let project = Project::with(&unnamed_queue(1, ""));
    let url =
        taken_from_dev(&project, || project.crash(&on_sim(&["destroy", "--yes"]), "step.begin.durable:1"));
    let owned = project.stead(&on_sim(&["destroy", "--yes"])).ends(13);
    assert!(owned.stderr.contains("ST0430"), "{}", owned.stderr);
    let listed = project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue", "-e", "prod"])).ok();
    assert_eq!(listed.trim(), format!("{url}  jobs"));
}

#[test]
fn resource_with_a_physical_id_of_the_service_has_one_record_whichever_provider_reaches_it() {
    let project = Project::with(&unnamed_queue(1, ""));
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let listed = project.stead(&on_sim(&["import", "--list", "AWS::SQS::Queue"])).ok();
    let url = listed.split_whitespace().next().unwrap();
    let second = format!(
        "import {{ Provider }} from \"stead/aws\";\n{}\
         const here = new Provider({{ region: \"us-east-1\" }}, {{ id: \"here\" }});\n\
         new sqs.Queue({{ DelaySeconds: 1 }}, {{ id: \"again\", import: \"{url}\", provider: here }});\n",
        unnamed_queue(1, "")
    );
    project.write("main.ts", &second);
    let refused = project.stead(&on_sim(&["up", "--yes"])).ends(1);
    assert!(refused.stderr.contains("ST0320"), "{}", refused.stderr);
}

/// Returns the tags of the queue or parameter whose identifier has this end, as JSON.
fn tags(project: &Project, end: &str) -> String {
    let cloud = cloud(project);
    let name = cloud.resources().unwrap().into_iter().find(|name| name.identifier.ends_with(end)).unwrap();
    cloud.model(&name).unwrap().unwrap().get("Tags").unwrap().to_json()
}

#[test]
fn default_tags_join_declared_ones_that_are_known_only_during_the_run() {
    let project = Project::with(
        r#"
import { apply } from "stead";
import { sqs, ssm } from "stead/aws";
const first = new sqs.Queue({}, { id: "first" });
const tags = apply(first.Arn, (arn) => [{ Key: "of", Value: arn.slice(0, 3) }]);
new sqs.Queue({ QueueName: "whole", Tags: tags }, { id: "whole" });
new sqs.Queue({ QueueName: "own", Tags: [{ Key: "team", Value: first.Arn }] }, { id: "own" });
new ssm.Parameter({ Name: "object", Type: "String", Value: "v", Tags: { of: first.Arn } }, { id: "object" });
"#,
    );
    let settings = format!("{}\n[targets.sim.default-tags]\nteam = \"shop\"\n", project.read("stead.toml"));
    project.write("stead.toml", &settings);
    project.stead(&on_sim(&["up", "--yes"])).ok();
    let whole = tags(&project, "whole");
    assert!(whole.contains(r#"{"Key":"of","Value":"arn"}"#), "{whole}");
    assert!(whole.contains(r#"{"Key":"team","Value":"shop"}"#), "{whole}");
    let own = tags(&project, "own");
    assert!(
        own.contains(r#""Key":"team","Value":"arn:aws:sqs"#) && !own.contains(r#""Value":"shop""#),
        "{own}"
    );
    assert!(tags(&project, "object").contains(r#""team":"shop""#));
    project.stead(&on_sim(&["plan", "--refresh", "--exit-code"])).ok();
}
