//! Lives of resources without faults: create, read, change, delete, import.

use stead_cloud::{Delay, Fault, HandlerError};
use stead_model::{PhysicalId, TypeToken};
use stead_provider::{CallOutcome, Provider, RefusalClass};

use crate::bench::{BUCKET, Bench, declared, map, receipt};

#[tokio::test]
async fn bucket_is_created_read_changed_and_deleted() {
    let bench = Bench::new();
    let inputs = r#"{"BucketName":"my-bucket","VersioningConfiguration":{"Status":"Enabled"}}"#;
    let bucket = bench.created(BUCKET, inputs).await;
    assert_eq!(bucket.id, Some(PhysicalId("my-bucket".into())));
    let arn = bucket.outputs.get("Arn").and_then(|arn| arn.as_str());
    assert_eq!(arn, Some("arn:aws:s3:::my-bucket"));
    assert_eq!(bench.changes(&bucket, inputs).await, [""; 0]);
    let live = bench.read(&bucket).await.unwrap();
    assert_eq!((live.inputs, live.outputs), (bucket.inputs.clone(), bucket.outputs.clone()));

    let suspended = r#"{"BucketName":"my-bucket","VersioningConfiguration":{"Status":"Suspended"}}"#;
    assert_eq!(bench.changes(&bucket, suspended).await, ["VersioningConfiguration.Status"]);
    let bucket = bench.updated(&bucket, suspended).await;
    assert_eq!(
        bench.bucket("my-bucket").unwrap().get("VersioningConfiguration"),
        map(suspended).get("VersioningConfiguration")
    );
    let bare = r#"{"BucketName":"my-bucket"}"#;
    let bucket = bench.updated(&bucket, bare).await;
    assert!(!bench.bucket("my-bucket").unwrap().contains_key("VersioningConfiguration"));
    assert_eq!(bench.changes(&bucket, r#"{"BucketName":"other"}"#).await, ["BucketName!"]);

    assert_eq!(bench.delete(&bucket).await, CallOutcome::Done(()));
    assert_eq!((bench.read(&bucket).await, bench.count()), (None, 0));
}

#[tokio::test]
async fn property_that_is_changed_in_place_only_sometimes_is_planned_as_tried() {
    let bench = Bench::new();
    let vpc =
        bench.created("aws.ec2.VPC", r#"{"CidrBlock":"10.0.0.0/16","InstanceTenancy":"default"}"#).await;
    let dedicated = r#"{"CidrBlock":"10.0.0.0/16","InstanceTenancy":"dedicated"}"#;
    let checked = bench.provider.check(&vpc.ty, declared(&map(dedicated))).await.unwrap();
    let changes = bench.provider.diff(&vpc, &checked).await.changes;
    let shown: Vec<_> =
        changes.iter().map(|one| (one.path.to_string(), one.replaces, one.tried_in_place)).collect();
    assert_eq!(shown, [("InstanceTenancy".to_owned(), true, true)]);
    bench.fail(Fault::Fails(HandlerError::NotUpdatable), "UpdateResource");
    let CallOutcome::Refused(refusal) = bench.update_with(receipt().await, &vpc, dedicated).await else {
        panic!()
    };
    assert_eq!(refusal.class, RefusalClass::NotInPlace);
    // A change of what is create-only is certain to replace, whatever else changes.
    let elsewhere = r#"{"CidrBlock":"10.1.0.0/16","InstanceTenancy":"dedicated"}"#;
    assert!(bench.changes(&vpc, elsewhere).await.contains(&"CidrBlock!".to_owned()));
    bench.updated(&vpc, dedicated).await;
}

#[tokio::test]
async fn operation_makes_the_requests_that_the_guide_lists_after_the_look_at_the_mark() {
    let bench = Bench::new();
    let calls = |bench: &Bench| {
        ["CreateResource", "UpdateResource", "DeleteResource", "GetResource", "ListResources"]
            .map(|call| bench.calls(call))
    };
    let queue = bench.created("aws.sqs.Queue", r#"{"QueueName":"q","DelaySeconds":1}"#).await;
    assert_eq!(calls(&bench), [1, 0, 0, 1, 0]);
    bench.read(&queue).await.unwrap();
    assert_eq!(calls(&bench), [1, 0, 0, 2, 0]);
    let queue = bench.updated(&queue, r#"{"QueueName":"q","DelaySeconds":2}"#).await;
    assert_eq!(calls(&bench), [1, 1, 0, 4, 0]);
    assert_eq!(bench.delete(&queue).await, CallOutcome::Done(()));
    assert_eq!(calls(&bench), [1, 1, 1, 4, 0]);
}

#[tokio::test]
async fn slow_operation_is_awaited_and_its_resource_read_once_it_is_found() {
    let cloud = stead_cloud::Settings {
        operations: Delay::of(std::time::Duration::from_secs(40)),
        consistency: Delay::of(std::time::Duration::from_secs(3)),
        ..Default::default()
    };
    let bench = Bench::with(Default::default(), cloud);
    let queue = bench.created("aws.sqs.Queue", r#"{"QueueName":"jobs"}"#).await;
    assert!(queue.outputs.contains_key("Arn"));
    let asked = bench.cloud.calls().get("GetResourceRequestStatus").copied().unwrap_or_default();
    assert!((1..20).contains(&asked), "{asked} questions in 40 s");
    assert_eq!(bench.delete(&queue).await, CallOutcome::Done(()));
}

#[tokio::test]
async fn change_outside_is_shown_by_a_read_and_refused_by_an_update_that_touches_it() {
    let bench = Bench::new();
    let inputs = r#"{"QueueName":"jobs","DelaySeconds":5,"VisibilityTimeout":30}"#;
    let queue = bench.created("aws.sqs.Queue", inputs).await;
    let id = queue.id.clone().unwrap();
    bench.drift("AWS::SQS::Queue", id.as_str(), r#"[{"op":"add","path":"/DelaySeconds","value":9}]"#);
    let live = bench.read(&queue).await.unwrap();
    assert_eq!(live.inputs, map(r#"{"QueueName":"jobs","DelaySeconds":9,"VisibilityTimeout":30}"#));

    let wanted = r#"{"QueueName":"jobs","DelaySeconds":6,"VisibilityTimeout":30}"#;
    let CallOutcome::Refused(refusal) = bench.update_with(receipt().await, &queue, wanted).await else {
        panic!()
    };
    assert_eq!(refusal.message, "`DelaySeconds` was changed outside of stead since it was last read");
    let refreshed = stead_model::Resource { inputs: live.inputs, outputs: live.outputs, ..queue };
    bench.updated(&refreshed, wanted).await;
    let found = bench.cloud.model(&bench.name("AWS::SQS::Queue", id.as_str())).unwrap().unwrap();
    assert_eq!(found.get("DelaySeconds").and_then(|value| value.as_i64()), Some(6));
}

#[tokio::test]
async fn existing_resource_is_found_with_what_a_program_can_declare() {
    let bench = Bench::new();
    let place = bench.place();
    bench.cloud.insert(&place, "AWS::S3::Bucket", &map(r#"{"BucketName":"old"}"#)).unwrap();
    let (token, id) = (TypeToken(BUCKET.into()), PhysicalId("old".into()));
    let found = bench.provider.find(&token, &id).await.unwrap().unwrap();
    assert!(found.outputs.contains_key("Arn") && !found.inputs.contains_key("Arn"));
    assert!(found.inputs.contains_key("BucketName"));
    let missing = bench.provider.find(&token, &PhysicalId("none".into())).await.unwrap();
    assert_eq!(missing, None);
}

#[tokio::test]
async fn types_that_cloud_control_cannot_manage_are_refused_with_the_reason() {
    let bench = Bench::new();
    let project = TypeToken("aws.codebuild.Project".into());
    let problems = bench.provider.check(&project, declared(&map("{}"))).await.unwrap_err();
    assert_eq!(
        problems[0].message,
        "AWS::CodeBuild::Project cannot be managed through Cloud Control: it cannot create or read or delete it"
    );
    let policy = TypeToken("aws.iam.Policy".into());
    let problems = bench.provider.check(&policy, declared(&map("{}"))).await.unwrap_err();
    assert!(problems[0].message.ends_with("it cannot read it"), "{}", problems[0].message);
}

#[tokio::test]
async fn write_only_value_is_sent_with_every_update_and_never_returned() {
    let bench = Bench::new();
    let secret =
        |description: &str| format!(r#"{{"Name":"s","SecretString":"hush","Description":"{description}"}}"#);
    let old = bench.created("aws.secretsmanager.Secret", &secret("a")).await;
    assert!(!old.outputs.contains_key("SecretString"));
    // A record keeps no write-only value.
    let mut kept = old.clone();
    kept.inputs.remove("SecretString");
    bench.updated(&kept, &secret("b")).await;
    let id = old.id.unwrap();
    let model = bench.cloud.model(&bench.name("AWS::SecretsManager::Secret", id.as_str())).unwrap().unwrap();
    assert_eq!(model.get("SecretString").and_then(|value| value.as_str()), Some("hush"));
}

#[tokio::test]
async fn deleting_what_is_gone_succeeds() {
    let bench = Bench::new();
    let bucket = bench.created(BUCKET, r#"{"BucketName":"gone"}"#).await;
    bench.cloud.remove(&bench.name("AWS::S3::Bucket", "gone")).unwrap();
    assert_eq!(bench.delete(&bucket).await, CallOutcome::Done(()));
    let CallOutcome::Refused(refusal) = bench
        .update_with(
            receipt().await,
            &bucket,
            r#"{"BucketName":"gone","VersioningConfiguration":{"Status":"Enabled"}}"#,
        )
        .await
    else {
        panic!()
    };
    assert_eq!(refusal.message, "gone does not exist any more");
}
