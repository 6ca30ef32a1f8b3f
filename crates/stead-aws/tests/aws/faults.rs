//! Tests with faults: no resource is made twice, none is lost, and a token settles each doubt.

use std::time::Duration;

use stead_cloud::{Delay, Fault, HandlerError};
use stead_provider::{CallOutcome, Provider, RefusalClass};

use crate::bench::{BUCKET, Bench, attempts, done, map, receipt, record};

const VPC: &str = "aws.ec2.VPC";
const CIDR: &str = r#"{"CidrBlock":"10.0.0.0/16"}"#;

#[tokio::test]
async fn request_is_repeated_after_each_fault_without_making_two() {
    for fault in
        [Fault::Throttled, Fault::InternalError, Fault::Unavailable, Fault::LostBefore, Fault::LostAfter]
    {
        for call in ["CreateResource", "GetResource", "GetResourceRequestStatus"] {
            let bench = Bench::new();
            bench.fail_times(fault, call, 3);
            bench.created(VPC, CIDR).await;
            assert_eq!(bench.count(), 1, "{fault:?} {call}");
        }
    }
}

#[tokio::test]
async fn create_in_doubt_is_resolved_by_its_token() {
    let bench = Bench::new();
    let (first, second) = attempts().await;
    // As many failures as the client sends a request, so that none is left for the second attempt.
    bench.fail(Fault::LostAfter, "CreateResource");
    bench.fail_times(Fault::Unavailable, "CreateResource", 6);
    let outcome = bench.create_with(first, VPC, map(CIDR)).await;
    assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
    assert_eq!(bench.count(), 1);
    done(bench.create_with(second, VPC, map(CIDR)).await);
    assert_eq!(bench.count(), 1);
}

#[tokio::test]
async fn create_that_was_never_sent_is_refused_and_not_in_doubt() {
    let bench = Bench::new();
    bench.fail_times(Fault::Throttled, "CreateResource", 1_000);
    let CallOutcome::Refused(refusal) = bench.create(VPC, CIDR).await else { panic!() };
    assert_eq!((refusal.class, bench.count()), (RefusalClass::Transient, 0));
}

#[tokio::test]
async fn operation_that_fails_for_the_moment_is_a_transient_refusal() {
    for error in [HandlerError::Throttling, HandlerError::ServiceInternalError, HandlerError::NetworkFailure]
    {
        let bench = Bench::new();
        bench.fail(Fault::Fails(error), "CreateResource");
        let CallOutcome::Refused(refusal) = bench.create(VPC, CIDR).await else { panic!() };
        assert_eq!((refusal.class, bench.count()), (RefusalClass::Transient, 0), "{error:?}");
    }
}

#[tokio::test]
async fn half_made_resource_is_kept() {
    let bench = Bench::new();
    bench.fail(Fault::HalfMade, "CreateResource");
    let CallOutcome::Partial(partial) = bench.create(BUCKET, r#"{"BucketName":"half"}"#).await else {
        panic!()
    };
    assert_eq!((partial.done.id.as_str(), partial.refusal.class), ("half", RefusalClass::Final));
    assert!(partial.done.outputs.contains_key("Arn"));
}

#[tokio::test]
async fn half_made_resource_that_a_read_does_not_find_at_once_is_kept() {
    let consistency = Delay::of(std::time::Duration::from_secs(5));
    let cloud = stead_cloud::Settings { consistency, ..stead_cloud::Settings::default() };
    let bench = Bench::with(Default::default(), cloud);
    bench.fail(Fault::HalfMade, "CreateResource");
    let CallOutcome::Partial(partial) = bench.create(VPC, CIDR).await else { panic!() };
    assert!(partial.done.outputs.contains_key("VpcId"));
}

#[tokio::test]
async fn failed_create_does_not_take_an_older_resource_for_a_half_made_one() {
    let network = Fault::Fails(HandlerError::NetworkFailure);
    let bench = Bench::new();
    let place = bench.place();
    bench.cloud.insert(&place, "AWS::S3::Bucket", &map(r#"{"BucketName":"theirs"}"#)).unwrap();
    bench.fail(network, "CreateResource");
    let outcome = bench.create(BUCKET, r#"{"BucketName":"theirs"}"#).await;
    let CallOutcome::InDoubt(doubt) = outcome else { panic!("{outcome:?}") };
    assert!(doubt.message.contains("theirs exists without a mark"), "{}", doubt.message);

    let marked = r#"{"BucketName":"marked","Tags":[{"Key":"stead:uid","Value":"of-another"}]}"#;
    bench.cloud.insert(&place, "AWS::S3::Bucket", &map(marked)).unwrap();
    bench.fail(network, "CreateResource");
    let outcome = bench.create(BUCKET, r#"{"BucketName":"marked"}"#).await;
    assert!(matches!(outcome, CallOutcome::Refused(_)), "{outcome:?}");
}

#[tokio::test]
async fn existing_resource_is_adopted_only_with_the_mark_of_this_record() {
    let bench = Bench::new();
    let place = bench.place();
    bench.cloud.insert(&place, "AWS::S3::Bucket", &map(r#"{"BucketName":"theirs"}"#)).unwrap();
    let CallOutcome::Refused(refusal) = bench.create(BUCKET, r#"{"BucketName":"theirs"}"#).await else {
        panic!()
    };
    assert!(refusal.message.contains("AlreadyExists"), "{}", refusal.message);
    // An earlier attempt of this record made it, and its answer was lost for longer than the token is known.
    bench.created(BUCKET, r#"{"BucketName":"ours"}"#).await;
    let again = done(bench.create(BUCKET, r#"{"BucketName":"ours"}"#).await);
    assert_eq!((again.id.as_str(), bench.count()), ("ours", 2));
}

#[tokio::test]
async fn update_is_repeated_until_the_resource_is_as_desired() {
    for fault in [
        Fault::Throttled,
        Fault::InternalError,
        Fault::LostBefore,
        Fault::LostAfter,
        Fault::Stale,
        Fault::Slow,
    ] {
        let bench = Bench::new();
        let queue = bench.created("aws.sqs.Queue", r#"{"QueueName":"q","DelaySeconds":1}"#).await;
        bench.fail_times(fault, "UpdateResource", 2);
        bench.updated(&queue, r#"{"QueueName":"q","DelaySeconds":2}"#).await;
        let id = queue.id.unwrap();
        let found = bench.cloud.model(&bench.name("AWS::SQS::Queue", id.as_str())).unwrap().unwrap();
        assert_eq!(found.get("DelaySeconds").and_then(|value| value.as_i64()), Some(2), "{fault:?}");
    }
}

#[tokio::test]
async fn deletion_is_repeated_after_each_fault() {
    for fault in [Fault::Throttled, Fault::Unavailable, Fault::LostBefore, Fault::LostAfter, Fault::Slow] {
        let bench = Bench::new();
        let vpc = bench.created(VPC, CIDR).await;
        bench.fail_times(fault, "DeleteResource", 2);
        assert_eq!(bench.delete(&vpc).await, CallOutcome::Done(()), "{fault:?}");
        assert_eq!(bench.count(), 0, "{fault:?}");
    }
}

#[tokio::test]
async fn denied_read_is_not_taken_for_a_missing_resource() {
    let bench = Bench::new();
    let vpc = bench.created(VPC, CIDR).await;
    bench.fail_times(Fault::ExpiredToken, "GetResource", 5);
    assert!(bench.provider.read(&vpc).await.is_err());
    let CallOutcome::Refused(_) = bench
        .update_with(receipt().await, &vpc, r#"{"CidrBlock":"10.0.0.0/16","EnableDnsSupport":true}"#)
        .await
    else {
        panic!()
    };
}

#[tokio::test]
async fn denied_create_names_what_it_needs() {
    let bench = Bench::new();
    bench.fail(Fault::Fails(HandlerError::AccessDenied), "CreateResource");
    let CallOutcome::Refused(refusal) = bench.create("aws.sqs.Queue", r#"{"QueueName":"q"}"#).await else {
        panic!()
    };
    let help = refusal.help.unwrap().to_string();
    assert!(help.contains("sqs:CreateQueue"), "{help}");
}

#[tokio::test]
async fn denied_create_of_a_named_resource_is_told_after_a_few_reads() {
    for (error, reads) in [(HandlerError::AccessDenied, 3), (HandlerError::ServiceLimitExceeded, 7)] {
        let bench = Bench::new();
        bench.fail(Fault::Fails(error), "CreateResource");
        let outcome = bench.create(BUCKET, r#"{"BucketName":"named"}"#).await;
        assert!(matches!(outcome, CallOutcome::Refused(_)), "{outcome:?}");
        assert_eq!(bench.calls("GetResource"), reads, "{error:?}");
    }
}

#[tokio::test]
async fn one_stale_read_does_not_take_a_resource_for_deleted() {
    let consistency = Delay { duration: Duration::from_secs(600), looks: Some(1) };
    let bench = Bench::with(Default::default(), stead_cloud::Settings { consistency, ..Default::default() });
    // The create cannot read what it made, so that the first look is that of the next read.
    bench.fail_times(Fault::Unavailable, "GetResource", 7);
    let CallOutcome::Partial(partial) = bench.create(VPC, CIDR).await else { panic!() };
    let vpc = stead_model::Resource { id: Some(partial.done.id), ..record(VPC, map(CIDR)) };
    assert!(bench.read(&vpc).await.is_some());

    bench.cloud.remove(&bench.name("AWS::EC2::VPC", vpc.id.as_ref().unwrap().as_str())).unwrap();
    assert_eq!(bench.read(&vpc).await, None);
}
