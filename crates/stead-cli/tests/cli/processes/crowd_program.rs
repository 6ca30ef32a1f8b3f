//! The program of a crowd: fifty groups of ten AWS resources of ten types, in ten regions, in two versions.

use serde_json::Value;

/// Resources of AWS in each version.
pub(super) const RESOURCES: usize = 500;

/// Tokens of the types, and their names in the cloud.
const TYPES: [(&str, &str); 10] = [
    ("aws.iam.ManagedPolicy", "AWS::IAM::ManagedPolicy"),
    ("aws.iam.Role", "AWS::IAM::Role"),
    ("aws.lambda.Function", "AWS::Lambda::Function"),
    ("aws.logs.LogGroup", "AWS::Logs::LogGroup"),
    ("aws.sns.Topic", "AWS::SNS::Topic"),
    ("aws.sqs.Queue", "AWS::SQS::Queue"),
    ("aws.sns.Subscription", "AWS::SNS::Subscription"),
    ("aws.s3.Bucket", "AWS::S3::Bucket"),
    ("aws.dynamodb.Table", "AWS::DynamoDB::Table"),
    ("aws.kms.Key", "AWS::KMS::Key"),
];

#[derive(Clone, Copy, Debug)]
pub(super) enum Version {
    First,
    /// Five groups go and five come. Half of the others change in place; in a fifth the topic is replaced, and with it the
    /// subscription.
    Changed,
}

pub(super) fn text(version: Version) -> String {
    let (number, from) = match version {
        Version::First => (1, 0),
        Version::Changed => (2, 5),
    };
    format!("const version = {number};\nconst from = {from};\n{GROUPS}")
}

const GROUPS: &str = r#"
import * as aws from "stead/aws";

const regions = ["west-1", "west-2", "west-3", "central-1", "north-1"].map((name) => `eu-${name}`);
regions.push("us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1");
const providers = regions.map((region) => new aws.Provider({ region }, { id: region }));
const statement = (text: string) => ({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: text, Resource: "*" }] });
const trust = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" }],
};

for (let n = from; n < from + 50; n++) {
  const options = { id: `g${n}`, provider: providers[n % 10], pinned: false };
  const setting = version === 2 && n % 2 === 0 ? 2 : 1;
  const copy = version === 2 && n % 5 === 1 ? 2 : 1;
  const policy = new aws.iam.ManagedPolicy({ PolicyDocument: statement(`s3:Get${setting}`) }, options);
  const role = new aws.iam.Role(
    { AssumeRolePolicyDocument: trust, ManagedPolicyArns: [policy.PolicyArn], Description: `d${setting}` },
    options,
  );
  const log = new aws.logs.LogGroup({ RetentionInDays: setting === 1 ? 7 : 14 }, options);
  new aws.lambda.Function(
    {
      Role: role.Arn,
      Runtime: "nodejs22.x",
      Handler: "index.handler",
      Code: { ZipFile: `exports.setting = ${setting};` },
      LoggingConfig: { LogGroup: log.LogGroupName },
    },
    options,
  );
  const topic = new aws.sns.Topic({ TopicName: `topic-${n}-${copy}`, DisplayName: `d${setting}` }, options);
  const queue = new aws.sqs.Queue({ DelaySeconds: setting }, options);
  new aws.sns.Subscription({ TopicArn: topic.TopicArn, Protocol: "sqs", Endpoint: queue.Arn }, options);
  new aws.s3.Bucket({ VersioningConfiguration: { Status: setting === 1 ? "Enabled" : "Suspended" } }, options);
  new aws.dynamodb.Table(
    {
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      TableClass: setting === 1 ? "STANDARD" : "STANDARD_INFREQUENT_ACCESS",
    },
    options,
  );
  new aws.kms.Key({ KeyPolicy: statement("kms:*"), Description: `d${setting}` }, options);
}
"#;

/// Returns the type and the identifier of a recorded resource in the cloud. Providers are not in the cloud.
pub(super) fn identity(resource: &Value) -> Option<(String, String)> {
    let token = resource["type"].as_str()?;
    let (_, name) = TYPES.iter().find(|(known, _)| *known == token)?;
    // A create in doubt has no id, and then no success was reported.
    Some(((*name).to_owned(), resource["id"].as_str()?.to_owned()))
}
