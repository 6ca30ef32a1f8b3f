//! The calls, one by one.

use std::time::Duration;

use crate::client::{Client, json, map};
use stead_cloud::{Delay, Fault, FaultPlan, HandlerError, Injected, Place, Rate, ResourceName, Settings};
use stead_model::Value;

fn place() -> Place {
    Place::new("111122223333", "eu-west-1")
}

#[tokio::test]
async fn a_queue_is_created_read_changed_listed_and_deleted() {
    let client = Client::new(Settings::default());
    let event = client.create("AWS::SQS::Queue", r#"{"QueueName":"jobs","DelaySeconds":5}"#).await.unwrap();
    assert_eq!(event["OperationStatus"], "IN_PROGRESS");
    let event = client.finished(&event).await;
    let url = "https://sqs.eu-west-1.amazonaws.com/111122223333/jobs";
    assert_eq!(
        (&event["OperationStatus"], &event["Identifier"]),
        (&json("\"SUCCESS\""), &json(&format!("{url:?}")))
    );
    let model = client.get("AWS::SQS::Queue", url).await.unwrap();
    assert_eq!(model.get("Arn").unwrap().as_str(), Some("arn:aws:sqs:eu-west-1:111122223333:jobs"));
    let patch = r#"[{"op":"replace","path":"/DelaySeconds","value":9}]"#;
    let event = client.update("AWS::SQS::Queue", url, patch).await.unwrap();
    assert_eq!(client.finished(&event).await["OperationStatus"], "SUCCESS");
    assert_eq!(client.get("AWS::SQS::Queue", url).await.unwrap().get("DelaySeconds"), Some(&Value::from(9)));
    let listed = client.call("ListResources", r#"{"TypeName":"AWS::SQS::Queue"}"#).await.unwrap();
    assert_eq!(listed["ResourceDescriptions"][0]["Identifier"], url);
    let event = client.delete("AWS::SQS::Queue", url).await.unwrap();
    assert_eq!(client.finished(&event).await["OperationStatus"], "SUCCESS");
    let gone = client.get("AWS::SQS::Queue", url).await.unwrap_err();
    assert!(
        gone.starts_with(
            "ResourceNotFoundException: AWS::SQS::Queue Handler returned status FAILED: Resource"
        ),
        "{gone}"
    );
}

#[tokio::test]
async fn refusals_have_the_words_of_the_service() {
    let client = Client::new(Settings::default());
    let refused = async |name: &str, body: &str| client.call(name, body).await.unwrap_err();
    for (call, body, words) in [
        (
            "GetResource",
            r#"{"TypeName":"AWS::No::Such","Identifier":"x"}"#,
            "TypeNotFoundException: The type 'AWS::No::Such' cannot be found.",
        ),
        (
            "GetResource",
            r#"{"TypeName":"bucket","Identifier":"x"}"#,
            "ValidationException: 1 validation error detected: Value 'bucket' at 'typeName' failed to satisfy constraint: Member must have length greater than or equal to 10",
        ),
        (
            "GetResource",
            r#"{"TypeName":"AWS::S3::Bucket"}"#,
            "ValidationException: 1 validation error detected: Value null at 'identifier' failed to satisfy constraint: Member must not be null",
        ),
        (
            "CreateResource",
            r#"{"TypeName":"AWS::CodeBuild::Project","DesiredState":"{}"}"#,
            "UnsupportedActionException: Resource type AWS::CodeBuild::Project does not support CREATE action",
        ),
        (
            "CreateResource",
            r#"{"TypeName":"AWS::IAM::Role","DesiredState":"{}"}"#,
            "ValidationException: Model validation failed (#: required key [AssumeRolePolicyDocument] not found)",
        ),
        (
            "CreateResource",
            r#"{"TypeName":"AWS::SQS::Queue","DesiredState":"{\"Arn\":\"x\"}"}"#,
            "ValidationException: Encountered unsupported property /properties/Arn",
        ),
        (
            "ListResources",
            r#"{"TypeName":"AWS::EKS::Nodegroup"}"#,
            "InvalidRequestException: Missing or invalid ResourceModel property in AWS::EKS::Nodegroup list handler request input.Required property: (#: required key [ClusterName] not found)",
        ),
        (
            "GetResourceRequestStatus",
            r#"{"RequestToken":"no"}"#,
            "RequestTokenNotFoundException: Request with token no was not found.",
        ),
        ("NoSuchCall", "{}", "UnknownOperationException: "),
    ] {
        assert_eq!(refused(call, body).await, words, "{call} {body}");
    }
    client.made("AWS::SQS::Queue", r#"{"QueueName":"jobs"}"#).await;
    let url = "https://sqs.eu-west-1.amazonaws.com/111122223333/jobs";
    for (patch, words) in [
        (
            r#"[{"op":"replace","path":"/QueueName","value":"x"}]"#,
            "NotUpdatableException: Invalid patch update: createOnlyProperties [/properties/QueueName] cannot be updated",
        ),
        (
            r#"[{"op":"add","path":"/Arn","value":"x"}]"#,
            "ValidationException: Invalid patch update: readOnlyProperties [/properties/Arn] cannot be updated",
        ),
        (
            r#"[{"op":"replace","path":"/NoSuch","value":1}]"#,
            "ValidationException: [REPLACE Operation] noSuchPath in source, path provided : //NoSuch",
        ),
        (
            r#"[{"op":"add","path":"/Tags","value":"x"}]"#,
            "ValidationException: Model validation failed (#/Tags: expected type: JSONArray, found: String)",
        ),
    ] {
        assert_eq!(client.update("AWS::SQS::Queue", url, patch).await.unwrap_err(), words, "{patch}");
    }
}

#[tokio::test]
async fn a_client_token_replays_the_same_request_and_refuses_another() {
    let client = Client::new(Settings::default());
    let body = |name: &str| {
        format!(
            r#"{{"TypeName":"AWS::SQS::Queue","ClientToken":"t1","DesiredState":"{{\"QueueName\":\"{name}\"}}"}}"#
        )
    };
    let first = client.call("CreateResource", &body("a")).await.unwrap();
    let again = client.call("CreateResource", &body("a")).await.unwrap();
    assert_eq!(first["ProgressEvent"]["RequestToken"], again["ProgressEvent"]["RequestToken"]);
    assert_eq!(again["ProgressEvent"]["OperationStatus"], "SUCCESS");
    let conflict = client.call("CreateResource", &body("b")).await.unwrap_err();
    assert!(conflict.starts_with("ClientTokenConflictException: "), "{conflict}");
    client.clock.advance(Duration::from_secs(37 * 3600));
    let later = client.call("CreateResource", &body("a")).await.unwrap();
    let later = client.finished(&later["ProgressEvent"]).await;
    assert_eq!(
        (&later["OperationStatus"], &later["ErrorCode"]),
        (&json("\"FAILED\""), &json("\"AlreadyExists\""))
    );
}

#[tokio::test]
async fn one_operation_at_a_time_works_on_a_resource() {
    let client =
        Client::new(Settings { operations: Delay::of(Duration::from_secs(10)), ..Settings::default() });
    let event = client.create("AWS::S3::Bucket", r#"{"BucketName":"bucket-b"}"#).await.unwrap();
    assert_eq!(event["Identifier"], "bucket-b");
    let busy = client.delete("AWS::S3::Bucket", "bucket-b").await.unwrap_err();
    assert!(busy.starts_with("ConcurrentOperationException: "), "{busy}");
    assert!(client.get("AWS::S3::Bucket", "bucket-b").await.is_err());
    let token = event["RequestToken"].as_str().unwrap();
    assert_eq!(client.status(token).await["OperationStatus"], "IN_PROGRESS");
    assert_eq!(client.status(token).await["RetryAfter"], 1_000_010.0);
    client.clock.advance(Duration::from_secs(10));
    assert_eq!(client.status(token).await["OperationStatus"], "SUCCESS");
    assert!(client.get("AWS::S3::Bucket", "bucket-b").await.is_ok());
}

#[tokio::test]
async fn a_cancelled_operation_has_no_effect() {
    let client = Client::new(Settings { operations: Delay::looks(3), ..Settings::default() });
    let event = client.create("AWS::S3::Bucket", r#"{"BucketName":"bucket-b"}"#).await.unwrap();
    let token = format!(r#"{{"RequestToken":{}}}"#, event["RequestToken"]);
    let cancelled = client.call("CancelResourceRequest", &token).await.unwrap();
    assert_eq!(cancelled["ProgressEvent"]["OperationStatus"], "CANCEL_IN_PROGRESS");
    let twice = client.call("CancelResourceRequest", &token).await.unwrap_err();
    assert!(twice.starts_with("ConcurrentModificationException: "), "{twice}");
    assert_eq!(client.finished(&event).await["OperationStatus"], "CANCEL_COMPLETE");
    assert!(client.get("AWS::S3::Bucket", "bucket-b").await.is_err());
    let filter = r#"{"ResourceRequestStatusFilter":{"Operations":["CREATE"],"OperationStatuses":["CANCEL_COMPLETE"]}}"#;
    let listed = client.call("ListResourceRequests", filter).await.unwrap();
    assert_eq!(listed["ResourceRequestStatusSummaries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn lists_have_pages() {
    let client = Client::new(Settings::default());
    for number in 0..25 {
        client.made("AWS::Logs::LogGroup", &format!(r#"{{"LogGroupName":"g{number:02}"}}"#)).await;
    }
    let (mut found, mut next) = (Vec::new(), String::new());
    loop {
        let body = format!(r#"{{"TypeName":"AWS::Logs::LogGroup","MaxResults":10{next}}}"#);
        let page = client.call("ListResources", &body).await.unwrap();
        for one in page["ResourceDescriptions"].as_array().unwrap() {
            found.push(one["Identifier"].as_str().unwrap().to_owned());
        }
        let Some(token) = page["NextToken"].as_str() else { break };
        next = format!(r#","NextToken":"{token}""#);
    }
    assert_eq!(found, (0..25).map(|number| format!("g{number:02}")).collect::<Vec<_>>());
    let requests = client.call("ListResourceRequests", "{}").await.unwrap();
    assert_eq!(requests["ResourceRequestStatusSummaries"].as_array().unwrap().len(), 20);
    let next = format!(r#"{{"NextToken":{}}}"#, requests["NextToken"]);
    let requests = client.call("ListResourceRequests", &next).await.unwrap();
    assert_eq!(requests["ResourceRequestStatusSummaries"].as_array().unwrap().len(), 5);
    assert!(requests["NextToken"].is_null());
}

#[tokio::test]
async fn accounts_and_regions_are_separate_but_bucket_names_and_roles_are_not() {
    let here = Client::new(Settings::default());
    let there = here.at("111122223333", "us-east-1");
    let other = here.at("444455556666", "us-east-1");
    here.made("AWS::SQS::Queue", r#"{"QueueName":"q"}"#).await;
    there.made("AWS::SQS::Queue", r#"{"QueueName":"q"}"#).await;
    here.made("AWS::S3::Bucket", r#"{"BucketName":"taken"}"#).await;
    let event = other.create("AWS::S3::Bucket", r#"{"BucketName":"taken"}"#).await.unwrap();
    assert_eq!(other.finished(&event).await["ErrorCode"], "AlreadyExists");
    here.made("AWS::IAM::Role", r#"{"RoleName":"r","AssumeRolePolicyDocument":{}}"#).await;
    let role = there.get("AWS::IAM::Role", "r").await.unwrap();
    assert_eq!(role.get("Arn").unwrap().as_str(), Some("arn:aws:iam::111122223333:role/r"));
    assert!(other.get("AWS::IAM::Role", "r").await.is_err());
}

#[tokio::test]
async fn write_only_values_are_kept_and_never_returned() {
    let client = Client::new(Settings::default());
    let desired = r#"{"Name":"s","SecretString":"canary"}"#;
    let identifier = client.made("AWS::SecretsManager::Secret", desired).await;
    let shown = client.get("AWS::SecretsManager::Secret", &identifier).await.unwrap();
    assert!(!shown.contains_key("SecretString"));
    let name = ResourceName::new(&place(), "AWS::SecretsManager::Secret", identifier);
    assert_eq!(client.cloud.model(&name).unwrap().unwrap().get("SecretString"), Some(&Value::from("canary")));
}

#[tokio::test]
async fn references_must_lead_somewhere_and_hold_what_they_name() {
    let client = Client::new(Settings::default());
    let function = |role: &str| format!(r#"{{"FunctionName":"f","Role":"{role}","Code":{{"ZipFile":"x"}}}}"#);
    let missing =
        client.create("AWS::Lambda::Function", &function("arn:aws:iam::111122223333:role/r")).await.unwrap();
    let missing = client.finished(&missing).await;
    assert_eq!(missing["ErrorCode"], "InvalidRequest");
    assert_eq!(
        missing["StatusMessage"],
        "Invalid request provided: The role defined for the function cannot be assumed by Lambda."
    );
    client.made("AWS::IAM::Role", r#"{"RoleName":"r","AssumeRolePolicyDocument":{}}"#).await;
    client.made("AWS::Lambda::Function", &function("arn:aws:iam::111122223333:role/r")).await;
    let vpc = client.made("AWS::EC2::VPC", r#"{"CidrBlock":"10.0.0.0/16"}"#).await;
    let subnet =
        client.made("AWS::EC2::Subnet", &format!(r#"{{"VpcId":"{vpc}","CidrBlock":"10.0.1.0/24"}}"#)).await;
    let held = client.delete("AWS::EC2::VPC", &vpc).await.unwrap();
    let held = client.finished(&held).await;
    assert_eq!(held["StatusMessage"], format!("The vpc '{vpc}' has dependencies and cannot be deleted."));
    client.gone("AWS::EC2::Subnet", &subnet).await;
    client.gone("AWS::EC2::VPC", &vpc).await;
}

#[tokio::test]
async fn a_bucket_with_objects_stays() {
    let client = Client::new(Settings::default());
    client.made("AWS::S3::Bucket", r#"{"BucketName":"bucket-b"}"#).await;
    let name = ResourceName::new(&place(), "AWS::S3::Bucket", "bucket-b");
    client.cloud.set_contents(&name, 3).unwrap();
    let event = client.delete("AWS::S3::Bucket", "bucket-b").await.unwrap();
    assert_eq!(client.finished(&event).await["StatusMessage"], "The bucket you tried to delete is not empty");
    client.cloud.set_contents(&name, 0).unwrap();
    client.gone("AWS::S3::Bucket", "bucket-b").await;
}

#[tokio::test]
async fn quotas_end_creation() {
    let client = Client::new(Settings::default());
    for _ in 0..5 {
        client.made("AWS::EC2::VPC", r#"{"CidrBlock":"10.0.0.0/16"}"#).await;
    }
    let sixth = client.create("AWS::EC2::VPC", r#"{"CidrBlock":"10.0.0.0/16"}"#).await.unwrap();
    assert_eq!(client.finished(&sixth).await["ErrorCode"], "ServiceLimitExceeded");
}

#[tokio::test]
async fn reads_may_lag_behind_changes() {
    let client = Client::new(Settings { consistency: Delay::looks(2), ..Settings::default() });
    client.made("AWS::SSM::Parameter", r#"{"Name":"p","Type":"String","Value":"1"}"#).await;
    assert!(client.get("AWS::SSM::Parameter", "p").await.is_err());
    assert!(client.get("AWS::SSM::Parameter", "p").await.is_err());
    assert!(client.get("AWS::SSM::Parameter", "p").await.is_ok());
    let patch = r#"[{"op":"add","path":"/Value","value":"2"}]"#;
    let event = client.update("AWS::SSM::Parameter", "p", patch).await.unwrap();
    assert_eq!(client.finished(&event).await["OperationStatus"], "SUCCESS");
    assert_eq!(client.get("AWS::SSM::Parameter", "p").await.unwrap().get("Value"), Some(&Value::from("1")));
    client.clock.advance(Duration::from_secs(3600));
    assert_eq!(client.get("AWS::SSM::Parameter", "p").await.unwrap().get("Value"), Some(&Value::from("2")));
}

#[tokio::test]
async fn injected_faults_have_the_effect_that_they_say() {
    let client = Client::new(Settings::default());
    let desired = r#"{"BucketName":"bucket-b"}"#;
    for fault in
        [Fault::Throttled, Fault::InternalError, Fault::Unavailable, Fault::LostBefore, Fault::ExpiredToken]
    {
        client.cloud.fail_next(Injected::next(fault));
        assert!(client.create("AWS::S3::Bucket", desired).await.is_err(), "{fault:?}");
        assert_eq!(client.cloud.resources().unwrap(), [], "{fault:?}");
    }
    client.cloud.fail_next(Injected::next(Fault::Fails(HandlerError::Throttling)));
    let event = client.create("AWS::S3::Bucket", desired).await.unwrap();
    assert_eq!(client.finished(&event).await["ErrorCode"], "Throttling");
    assert_eq!(client.cloud.resources().unwrap(), []);
    client.cloud.fail_next(Injected::next(Fault::HalfMade));
    let event = client.create("AWS::S3::Bucket", desired).await.unwrap();
    let event = client.finished(&event).await;
    assert_eq!(
        (&event["ErrorCode"], &event["Identifier"]),
        (&json("\"NotStabilized\""), &json("\"bucket-b\""))
    );
    client.gone("AWS::S3::Bucket", "bucket-b").await;
    client.cloud.fail_next(Injected::next(Fault::LostAfter).of_call("CreateResource"));
    assert_eq!(client.create("AWS::S3::Bucket", desired).await.unwrap_err(), "no answer");
    assert_eq!(client.cloud.resources().unwrap().len(), 1);
}

#[tokio::test]
async fn throttled_calls_leave_no_trace_and_faults_by_plan_repeat() {
    let client =
        Client::new(Settings { rate: Some(Rate { per_second: 1, burst: 2 }), ..Settings::default() });
    assert!(client.create("AWS::S3::Bucket", "{}").await.is_ok());
    assert!(client.create("AWS::S3::Bucket", "{}").await.is_ok());
    assert_eq!(
        client.create("AWS::S3::Bucket", "{}").await.unwrap_err(),
        "ThrottlingException: Rate exceeded"
    );
    client.clock.advance(Duration::from_secs(1));
    assert!(client.create("AWS::S3::Bucket", "{}").await.is_ok());
    assert_eq!(client.cloud.resources().unwrap().len(), 3);
    let run = async || {
        let client =
            Client::new(Settings { faults: Some(FaultPlan { seed: 3, rate: 0.5 }), ..Settings::default() });
        let mut seen = Vec::new();
        for number in 0..40 {
            let event = client.create("AWS::SQS::Queue", &format!(r#"{{"QueueName":"q{number}"}}"#)).await;
            seen.push(event.map(|event| event.to_string()));
        }
        seen
    };
    let seen = run().await;
    assert_eq!(seen, run().await);
    assert!(seen.iter().any(Result::is_err) && seen.iter().any(Result::is_ok));
}

#[tokio::test]
async fn tests_change_the_cloud_from_outside() {
    let client = Client::new(Settings::default());
    let name = client.cloud.insert(&place(), "AWS::SQS::Queue", &map(r#"{"QueueName":"q"}"#)).unwrap();
    let before = client.cloud.snapshot().unwrap();
    client.cloud.drift(&name, &json_value(r#"[{"op":"add","path":"/DelaySeconds","value":7}]"#)).unwrap();
    assert_eq!(
        client.get("AWS::SQS::Queue", &name.identifier).await.unwrap().get("DelaySeconds"),
        Some(&Value::from(7))
    );
    client.cloud.remove(&name).unwrap();
    assert!(client.get("AWS::SQS::Queue", &name.identifier).await.is_err());
    assert!(client.cloud.remove(&name).is_err());
    client.cloud.restore(&before).unwrap();
    assert!(client.get("AWS::SQS::Queue", &name.identifier).await.is_ok());
    client.cloud.reset().unwrap();
    assert_eq!(client.cloud.resources().unwrap(), []);
}

fn json_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn identifiers_may_be_json_objects() {
    let client = Client::new(Settings::default());
    client.made("AWS::S3::Bucket", r#"{"BucketName":"bucket-b"}"#).await;
    assert!(client.get("AWS::S3::Bucket", r#"{"BucketName":"bucket-b"}"#).await.is_ok());
    client.made("AWS::Logs::LogGroup", r#"{"LogGroupName":"g"}"#).await;
    let stream = client.made("AWS::Logs::LogStream", r#"{"LogGroupName":"g","LogStreamName":"s"}"#).await;
    assert_eq!(stream, "g|s");
    let both = r#"{"LogStreamName":"s","LogGroupName":"g"}"#;
    assert!(client.get("AWS::Logs::LogStream", both).await.is_ok());
}

#[tokio::test]
async fn unsigned_requests_are_refused_and_roles_are_assumed() {
    let client = Client::new(Settings::default());
    let (status, body) = client.raw(None, "cloudcontrolapi", "GetResource", "{}").await;
    assert_eq!(status, 403);
    assert!(body.contains("MissingAuthenticationTokenException"), "{body}");
    let (_, body) =
        client.raw(Some("111122223333"), "sts", "", "Action=GetCallerIdentity&Version=2011-06-15").await;
    assert!(body.contains("<Account>111122223333</Account>"), "{body}");
    let form =
        "Action=AssumeRole&RoleArn=arn%3Aaws%3Aiam%3A%3A444455556666%3Arole%2Fdeploy&RoleSessionName=s";
    let (status, body) = client.raw(Some("111122223333"), "sts", "", form).await;
    assert_eq!(status, 200, "{body}");
    let key = body.split("<AccessKeyId>").nth(1).unwrap().split('<').next().unwrap();
    let (_, body) = client.raw(Some(key), "sts", "", "Action=GetCallerIdentity").await;
    assert!(body.contains("arn:aws:sts::444455556666:assumed-role/deploy/s"), "{body}");
}

#[tokio::test]
async fn resources_of_one_name_in_two_parents_have_different_identifiers() {
    let client = Client::new(Settings::default());
    let made = async |group: &str| {
        let inputs = format!(r#"{{"ChannelGroupName":"{group}","ChannelName":"news"}}"#);
        client.made("AWS::MediaPackageV2::Channel", &inputs).await
    };
    assert!(made("one").await.ends_with(":channel/one/news"));
    assert!(made("two").await.ends_with(":channel/two/news"));
}

#[tokio::test]
async fn generated_name_fits_the_pattern_of_its_type() {
    let client = Client::new(Settings::default());
    let inputs = r#"{"KeyspaceName":"shop","PartitionKeyColumns":[{"ColumnName":"id","ColumnType":"text"}]}"#;
    let table = client.made("AWS::Cassandra::Table", inputs).await;
    let name = table.rsplit('|').next().unwrap();
    assert!(name.starts_with("table_") && !name.contains('-'), "{table}");
}
