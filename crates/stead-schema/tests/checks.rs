//! Inputs and declarations of published types.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use insta::assert_snapshot;
use stead_model::{ExprId, Input, TypeToken, Value};
use stead_schema::{Catalog, check, declarations, type_name_of, warnings};

fn said(token: &str, inputs: &str) -> String {
    let catalog = Catalog::default().with_published();
    let schema = catalog.get(&TypeToken(token.to_owned())).unwrap();
    let inputs: BTreeMap<String, Value> = serde_json::from_str(inputs).unwrap();
    let inputs = inputs.into_iter().map(|(name, value)| (name, Input::Known(value))).collect();
    let all = check(schema, &inputs).into_iter().map(|problem| ("", problem));
    let all = all.chain(warnings(schema, &inputs).into_iter().map(|problem| ("warning: ", problem)));
    let line = |(kind, problem): (&str, stead_schema::Problem)| {
        format!("{kind}{} / {}", problem.message, problem.help.unwrap_or_default())
    };
    all.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn check_reports_each_kind_of_problem_in_a_published_type() {
    assert_snapshot!(said(
        "aws.s3.Bucket",
        r#"{"BucketNme": "x", "Arn": "a", "VersioningConfiguration": {"Status": "enabled", "Statsu": 1},
            "Tags": [{"Key": "a", "Value": 7}, {"Key": "b"}], "LifecycleConfiguration": {"Rules": "no"},
            "BucketEncryption": {}, "AccessControl": "Private"}"#
    ), @r#"
    `Arn` is set by the provider and cannot be given / leave `Arn` out
    aws.s3.Bucket has no property `BucketNme` / did you mean `BucketName`?
    `BucketEncryption.ServerSideEncryptionConfiguration` is missing / `BucketEncryption` needs it
    `LifecycleConfiguration.Rules` must be a list, but it is a string / 
    `Tags[0].Value` must be a string, but it is a number / 
    `Tags[1].Value` is missing / `Tags[1]` needs it
    `VersioningConfiguration` has no `Statsu` / did you mean `Status`?
    `VersioningConfiguration.Status` cannot be "enabled" / did you mean "Enabled"?
    "#);
    assert_snapshot!(said("aws.sqs.Queue", r#"{"DelaySeconds": 5, "RedrivePolicy": {"any": 1}, "QueueName": null}"#), @"`RedrivePolicy` has no `any` / it has: deadLetterTargetArn, maxReceiveCount");
    assert_snapshot!(said("aws.rds.DBInstance", r#"{"TdeCredentialArn": "x", "AllocatedStorage": "20"}"#), @"warning: `TdeCredentialArn` of AWS::RDS::DBInstance is deprecated /");
    assert_snapshot!(said("aws.lambda.Function", r#"{"Code": {"ZipFile": "x"}}"#), @"`Role` is missing / aws.lambda.Function needs it");
}

#[test]
fn check_reports_values_outside_of_their_limits() {
    assert_snapshot!(said("aws.s3.Bucket", r#"{"BucketName": "My_Bucket"}"#), @r#"`BucketName` must match ^([a-z0-9][a-z0-9.-]*[a-z0-9])?$, but it is "My_Bucket" /"#);
    assert_snapshot!(said("aws.sqs.Queue", r#"{"DelaySeconds": 901, "Tags": [{"Key": "", "Value": "x"}]}"#), @"
    `DelaySeconds` must be 0 to 900, but it is 901 / 
    `Tags[0].Key` must have 1 to 128 characters, but it has 0 /
    ");
    assert_snapshot!(said("aws.lambda.Function", r#"{"Code": {}, "Role": "admin", "MemorySize": 64, "Layers": []}"#), @r#"
    `MemorySize` must be 128 to 32768, but it is 64 / 
    `Role` must match ^arn:(aws[a-zA-Z-]*)?:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+$, but it is "admin" /
    "#);
    assert_snapshot!(said(
        "aws.dynamodb.Table",
        r#"{"KeySchema": [], "PointInTimeRecoverySpecification": {"RecoveryPeriodInDays": 36}}"#
    ), @"
    `KeySchema` must have at least 1 elements, but it has 0 / 
    `PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled` is missing / `PointInTimeRecoverySpecification.RecoveryPeriodInDays` needs it
    `PointInTimeRecoverySpecification.RecoveryPeriodInDays` must be 1 to 35, but it is 36 /
    ");
    assert_snapshot!(said("aws.ec2.VPC", r#"{"CidrBlock": "10.0.0.0/16"}"#), @"");
}

#[test]
fn deferred_values_are_valid_at_any_depth() {
    let catalog = Catalog::default().with_published();
    let schema = catalog.get(&TypeToken("aws.s3.Bucket".into())).unwrap();
    let inside = Input::Map([("Status".to_owned(), Input::Deferred(ExprId(0)))].into());
    let inputs =
        [("VersioningConfiguration".to_owned(), inside), ("Tags".to_owned(), Input::Deferred(ExprId(1)))];
    assert!(check(schema, &inputs.into()).is_empty());
}

#[test]
fn published_type_is_declared_as_a_class() {
    let catalog = Catalog::default().with_published();
    let schema = catalog.get(&TypeToken("aws.logs.LogGroup".into())).unwrap();
    assert_snapshot!(declarations([schema]), @r#"
    import { Resource as Base, ResourceOptions } from "stead";

    export namespace logs {
    export namespace LogGroup {
      interface Tag {
        Key: string;
        Value: string;
      }
    }

    export interface LogGroupInputs {
      BearerTokenAuthenticationEnabled?: boolean;
      DataProtectionPolicy?: string | Record<string, any>;
      DeletionProtectionEnabled?: boolean;
      FieldIndexPolicies?: Array<Record<string, any>>;
      KmsKeyId?: string;
      LogGroupClass?: "STANDARD" | "INFREQUENT_ACCESS" | "DELIVERY";
      /** create-only */
      LogGroupName?: string;
      ResourcePolicyDocument?: Record<string, any>;
      RetentionInDays?: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | 400 | 545 | 731 | 1096 | 1827 | 2192 | 2557 | 2922 | 3288 | 3653;
      Tags?: Array<LogGroup.Tag>;
    }

    /** AWS::Logs::LogGroup on AWS. */
    export class LogGroup extends Base {
      constructor(inputs?: LogGroupInputs, options?: ResourceOptions);
      /** Returns an existing resource that this program does not declare, by its id. */
      static get(id: string | { LogGroupName: string }, options?: { provider?: Base }): LogGroup;
      /** read-only */
      readonly Arn: string;
      readonly BearerTokenAuthenticationEnabled: boolean;
      readonly DataProtectionPolicy: string | Record<string, any>;
      readonly DeletionProtectionEnabled: boolean;
      readonly FieldIndexPolicies: Array<Record<string, any>>;
      readonly KmsKeyId: string;
      readonly LogGroupClass: "STANDARD" | "INFREQUENT_ACCESS" | "DELIVERY";
      /** create-only */
      readonly LogGroupName: string;
      readonly ResourcePolicyDocument: Record<string, any>;
      readonly RetentionInDays: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | 400 | 545 | 731 | 1096 | 1827 | 2192 | 2557 | 2922 | 3288 | 3653;
      readonly Tags: Array<LogGroup.Tag>;
    }
    }
    "#);
}

#[test]
fn tokens_and_type_names_convert_to_each_other() {
    let catalog = Catalog::default().with_published();
    let tokens: Vec<&TypeToken> = catalog.tokens_of("aws").collect();
    assert_eq!(tokens.len(), 1883, "all published types, and the provider");
    for token in tokens.into_iter().filter(|token| token.as_str() != stead_schema::AWS_PROVIDER) {
        let name = type_name_of(token).unwrap();
        assert_eq!(stead_schema::token_of(name).as_ref(), Some(token));
    }
    assert_eq!(type_name_of(&TypeToken("aws.dynamodb.Table".into())), Some("AWS::DynamoDB::Table"));
    assert!(stead_schema::token_of("AWS::A").is_none() && stead_schema::token_of("Acme::A::B").is_none());
}
