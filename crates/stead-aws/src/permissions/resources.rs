//! ARNs of the resources of a plan, as far as they are known.

use stead_model::{Map, TypeToken, Value};
use stead_schema::cfn::{Class, Schema};
use stead_schema::type_name_of;

/// ARNs of resources whose names the program gives: type, property with the name, and the ARN with `{}` for the name.
const NAMED: &[(&str, &str, &str)] = &[
    ("AWS::S3::Bucket", "BucketName", "s3:::{}"),
    ("AWS::SQS::Queue", "QueueName", "sqs:*:*:{}"),
    ("AWS::SNS::Topic", "TopicName", "sns:*:*:{}"),
    ("AWS::DynamoDB::Table", "TableName", "dynamodb:*:*:table/{}"),
    ("AWS::Lambda::Function", "FunctionName", "lambda:*:*:function:{}"),
    ("AWS::IAM::Role", "RoleName", "iam::*:role/{}"),
    ("AWS::IAM::User", "UserName", "iam::*:user/{}"),
    ("AWS::IAM::Group", "GroupName", "iam::*:group/{}"),
    ("AWS::IAM::ManagedPolicy", "ManagedPolicyName", "iam::*:policy/{}"),
    ("AWS::Logs::LogGroup", "LogGroupName", "logs:*:*:log-group:{}"),
    ("AWS::ECR::Repository", "RepositoryName", "ecr:*:*:repository/{}"),
    ("AWS::Kinesis::Stream", "Name", "kinesis:*:*:stream/{}"),
    ("AWS::SSM::Parameter", "Name", "ssm:*:*:parameter/{}"),
    ("AWS::StepFunctions::StateMachine", "StateMachineName", "states:*:*:stateMachine:{}"),
    ("AWS::Events::Rule", "Name", "events:*:*:rule/{}"),
];

/// Returns the ARN of a resource, as far as it is known.
pub(super) fn arn(type_name: &str, schema: Option<&Schema>, known: &Map, partition: &str) -> Option<String> {
    let recorded = own_arn(known.get("Arn")).or_else(|| schema.and_then(|schema| identifier(schema, known)));
    recorded.or_else(|| {
        let (_, property, pattern) = NAMED.iter().find(|(named, ..)| *named == type_name)?;
        let whole = known.get(*property)?.as_str()?;
        // The ARN of a parameter has one slash before its name, that of a log group has the name as it is.
        let name = if pattern.contains("parameter/") { whole.trim_start_matches('/') } else { whole };
        Some(format!("arn:{partition}:{}", pattern.replace("{}", name)))
    })
}

/// Returns the ARN that identifies the resource.
///
/// Of an identifier with several parts, a part that the program gives can be the ARN of another resource.
fn identifier(schema: &Schema, known: &Map) -> Option<String> {
    let primary = &schema.primary_identifier;
    let is_read_only = |path: &&stead_model::PropertyPath| schema.classes.of(Class::ReadOnly).covers(path);
    let additional = schema.additional_identifiers.iter().flatten();
    let whole = primary.iter().filter(|_| primary.len() == 1);
    let parts = whole.chain(primary.iter().chain(additional).filter(is_read_only));
    parts.filter(|path| path.0.len() == 1).find_map(|path| own_arn(known.get(path.root()?)))
}

fn own_arn(value: Option<&Value>) -> Option<String> {
    let arn = value.and_then(Value::as_str).filter(|arn| arn.starts_with("arn:"))?;
    Some(arn.trim_end_matches(":*").to_owned())
}

/// Returns the ARNs of the parts of a resource, such as the objects of a bucket or the streams of a log group.
pub(super) fn parts(type_name: &str, arn: &str) -> Option<String> {
    match type_name {
        "AWS::S3::Bucket" | "AWS::DynamoDB::Table" => Some(format!("{arn}/*")),
        "AWS::Logs::LogGroup" => Some(format!("{arn}:*")),
        _ => None,
    }
}

/// Returns the property that the id of a resource tells.
pub fn known_by_id(ty: &TypeToken, id: &str) -> Map {
    let parts = type_name_of(ty).and(super::schema(ty)).map(|schema| schema.primary_identifier.as_slice());
    match parts {
        Some([only]) if only.0.len() == 1 => {
            only.root().map(|name| (stead_model::Text::from(name), Value::from(id))).into_iter().collect()
        }
        _ => Map::new(),
    }
}
