//! `stead provider`, and programs that use published types.

use crate::project::Project;

#[test]
fn types_are_listed_and_shown() {
    let project = Project::empty();
    let listed = project.stead(&["provider", "types", "sqs"]).ok();
    assert_eq!(listed, "aws.sqs.Queue\naws.sqs.QueueInlinePolicy\naws.sqs.QueuePolicy\n");
    insta::assert_snapshot!(project.stead(&["provider", "schema", "AWS::SNS::Subscription"]).ok(), @"
    aws.sns.Subscription
      published as AWS::SNS::Subscription
      identified by Arn
      can create, read, update, delete, list

      Arn: string, read-only
      DeliveryPolicy: string or object
      Endpoint: string, create-only
      FilterPolicy: string or object
      FilterPolicyScope: string
      Protocol: string, required, create-only
      RawMessageDelivery: true or false
      RedrivePolicy: string or object
      Region: string, write-only, conditionally create-only
      ReplayPolicy: string or object
      SubscriptionRoleArn: string
      TopicArn: string, required, create-only
    ");
    insta::assert_snapshot!(project.stead(&["provider", "schema", "local.Data"]).ok(), @"
    local.Data
      value: any value, required
      output: any value, read-only
    ");
    let unknown = project.stead(&["provider", "schema", "AWS::S3::Buckt"]).ends(1);
    assert!(unknown.stderr.contains("did you mean AWS::S3::Bucket?"), "{}", unknown.stderr);
    assert_eq!(project.stead(&["provider", "types", "nothing like it"]).code, 1);
}

#[test]
fn patch_gives_a_reason_for_each_operation() {
    let project = Project::empty();
    project.write("last.json", r#"{"QueueName":"a","DelaySeconds":1}"#);
    project.write("live.json", r#"{"QueueName":"a","DelaySeconds":1,"Arn":"arn","VisibilityTimeout":30}"#);
    project.write("want.json", r#"{"QueueName":"a","Tags":[{"Key":"k","Value":"v"}]}"#);
    project.write("broken.json", r#"{"QueueName":"#);
    let file = |name: &str| project.path(name).to_str().unwrap().to_owned();
    let patch = |want: &str, extra: &[&str]| {
        let (last, live, want) = (file("last.json"), file("live.json"), file(want));
        let mut arguments = vec!["provider", "patch", "--last", &last, "--live", &live, "--want", &want];
        arguments.extend(extra);
        project.stead(&arguments)
    };
    insta::assert_snapshot!(patch("want.json", &["--type", "AWS::SQS::Queue"]).ok(), @r#"
    remove /DelaySeconds
        it is no longer declared
    add /Tags [{"Key":"k","Value":"v"}]
        it is newly declared

    [{"op":"remove","path":"/DelaySeconds"},{"op":"add","path":"/Tags","value":[{"Key":"k","Value":"v"}]}]
    "#);
    insta::assert_snapshot!(patch("want.json", &["--type", "aws.sqs.Queue", "--json"]).ok(), @r#"{"v":1,"kind":"update","update":{"patch":{"operations":[{"path":["DelaySeconds"],"edit":"remove","why":"it is no longer declared"},{"path":["Tags"],"edit":{"add":[{"Key":"k","Value":"v"}]},"why":"it is newly declared"}],"conditional":[]}},"patch":[{"op":"remove","path":"/DelaySeconds"},{"op":"add","path":"/Tags","value":[{"Key":"k","Value":"v"}]}]}"#);
    assert!(patch("broken.json", &["--type", "AWS::SQS::Queue"]).ends(2).stderr.contains("broken.json"));
    assert!(patch("want.json", &["--schema", &file("want.json")]).ends(2).stderr.contains("typeName"));
    assert_eq!(patch("want.json", &[]).code, 2);
}

#[test]
fn properties_of_published_types_are_checked_at_their_line() {
    let project = Project::with(
        "import { s3, sqs } from \"stead/aws\";\n\
         const bucket = new s3.Bucket({ VersioningConfiguration: { Status: \"enabled\" } });\n\
         new sqs.Queue({ QueueName: `jobs-${bucket.BucketName}`, DelaySecond: 5 }, { id: \"jobs\" });\n\
         export const arn = bucket.Arn;\n",
    );
    insta::assert_snapshot!(project.stead(&["plan"]).ends(1).stderr, @r#"
    error[ST0106]: aws.s3.Bucket: `VersioningConfiguration.Status` cannot be "enabled"
     --> main.ts:2:32
      |
    2 | const bucket = new s3.Bucket({ VersioningConfiguration: { Status: "enabled" } });
      |                                ^^^^^^^^^^^^^^^^^^^^^^^ here
      |
      = help: did you mean "Enabled"?

    error[ST0106]: aws.sqs.Queue#jobs: aws.sqs.Queue has no property `DelaySecond`
     --> main.ts:3:57
      |
    3 | new sqs.Queue({ QueueName: `jobs-${bucket.BucketName}`, DelaySecond: 5 }, { id: "jobs" });
      |                                                         ^^^^^^^^^^^ here
      |
      = help: did you mean `DelaySeconds`?

    For more on this, run `stead explain ST0106`.
    "#);
    let types = project.stead(&["types"]).ok();
    assert!(types.contains("aws.d.ts"), "{types}");
    assert!(project.read(".stead/types/stead/aws.d.ts").contains("export class Bucket extends Base"));
}
