//! Tests of resuming by token: the run after a crash asks for the end of the same operation, and sends nothing.

use std::time::Duration;

use stead_cloud::{Delay, Fault, HandlerError};
use stead_provider::{CallOutcome, DeleteRequest, Provider, RefusalScope};

use crate::bench::{BUCKET, Bench, Stack, begin, done, map, permit};

const VPC: &str = "aws.ec2.VPC";
const CIDR: &str = r#"{"CidrBlock":"10.0.0.0/16"}"#;
const DNS: &str = r#"{"CidrBlock":"10.0.0.0/16","EnableDnsSupport":false}"#;

/// Returns a cloud whose operations are under way for a while.
fn slow() -> Bench {
    let operations = Delay::looks(2);
    Bench::with(Default::default(), stead_cloud::Settings { operations, ..Default::default() })
}

/// Loses as many answers about progress as one attempt asks for, so that it ends like one whose process dies.
fn die_while_waiting(bench: &Bench) {
    bench.fail_times(Fault::Unavailable, "GetResourceRequestStatus", 70);
}

#[tokio::test]
async fn create_of_an_earlier_run_is_asked_for_by_its_request_token() {
    let (bench, stack) = (slow(), Stack::new());
    let run = stack.open().await;
    die_while_waiting(&bench);
    let outcome = bench.create_with(begin(&run).await, VPC, map(CIDR)).await;
    assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
    drop(run);
    let receipt = stack.resume().await;
    assert!(receipt.token().is_some());
    done(bench.create_with(receipt, VPC, map(CIDR)).await);
    assert_eq!((bench.calls("CreateResource"), bench.count()), (1, 1));
}

#[tokio::test]
async fn failure_of_an_earlier_run_is_told_as_the_end_of_the_operation() {
    let (bench, stack) = (slow(), Stack::new());
    let run = stack.open().await;
    bench.fail(Fault::Fails(HandlerError::ServiceLimitExceeded), "CreateResource");
    die_while_waiting(&bench);
    let outcome = bench.create_with(begin(&run).await, VPC, map(CIDR)).await;
    assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
    drop(run);
    let CallOutcome::Refused(refusal) = bench.create_with(stack.resume().await, VPC, map(CIDR)).await else {
        panic!()
    };
    assert!(refusal.message.contains("ServiceLimitExceeded"), "{}", refusal.message);
    assert_eq!((refusal.scope, bench.calls("CreateResource")), (RefusalScope::Operation, 1));
}

#[tokio::test]
async fn update_and_deletion_of_an_earlier_run_are_asked_for_by_their_request_tokens() {
    let bench = slow();
    let vpc = bench.created(VPC, CIDR).await;
    for call in ["UpdateResource", "DeleteResource"] {
        let stack = Stack::new();
        let run = stack.open().await;
        die_while_waiting(&bench);
        let first = begin(&run).await;
        let again = match call {
            "UpdateResource" => {
                let outcome = bench.update_with(first, &vpc, DNS).await;
                assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
                drop(run);
                done(bench.update_with(stack.resume().await, &vpc, DNS).await);
                bench.count()
            }
            _ => {
                let request = || DeleteRequest { resource: &vpc };
                let outcome = bench.provider.delete(first, permit(&vpc), request()).await;
                assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
                drop(run);
                done(bench.provider.delete(stack.resume().await, permit(&vpc), request()).await);
                bench.count()
            }
        };
        assert_eq!((bench.calls(call), again), (1, usize::from(call == "UpdateResource")), "{call}");
    }
}

#[tokio::test]
async fn create_is_sent_again_only_while_the_client_token_is_known() {
    const HOUR: Duration = Duration::from_secs(3600);
    // A machine whose clock is ahead of that of the service recorded a beginning that looks younger than it is.
    let ahead = Bench::with_clock_ahead;
    let cases = [
        (Bench::new(), HOUR * 34, 2),
        (Bench::new(), HOUR * 37, 1),
        (ahead(HOUR * 3), HOUR * 34, 1),
        (ahead(HOUR * 3), HOUR * 31, 2),
    ];
    for (bench, age, sent) in cases {
        let stack = Stack::of_the_past(age);
        // The answer is lost, so that no request token is recorded.
        bench.fail(Fault::LostAfter, "CreateResource");
        bench.fail_times(Fault::Unavailable, "CreateResource", 6);
        let run = stack.open().await;
        let outcome = bench.create_with(begin(&run).await, VPC, map(CIDR)).await;
        assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
        drop(run);
        let before = bench.calls("CreateResource");
        let outcome = bench.create_with(stack.resume().await, VPC, map(CIDR)).await;
        assert_eq!(matches!(outcome, CallOutcome::Done(_)), sent == 2, "{outcome:?}");
        assert_eq!((bench.calls("CreateResource") - before, bench.count()), (sent - 1, 1));
    }
}

const VERSIONED: &str = r#"{"BucketName":"aaa","VersioningConfiguration":{"Status":"Enabled"}}"#;
const SUSPENDED: &str = r#"{"BucketName":"aaa","VersioningConfiguration":{"Status":"Suspended"}}"#;

/// Changes the bucket as another tool does.
fn suspend(bench: &Bench) {
    let patch = r#"[{"op":"replace","path":"/VersioningConfiguration/Status","value":"Suspended"}]"#;
    bench.drift("AWS::S3::Bucket", "aaa", patch);
}

#[tokio::test]
async fn value_that_was_changed_before_a_create_was_recorded_is_recorded_as_a_change() {
    for changed in [false, true] {
        let (bench, stack) = (Bench::new(), Stack::new());
        bench.fail(Fault::LostAfter, "CreateResource");
        bench.fail_times(Fault::Unavailable, "CreateResource", 6);
        let run = stack.open().await;
        let outcome = bench.create_with(begin(&run).await, BUCKET, map(VERSIONED)).await;
        assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
        drop(run);
        if changed {
            suspend(&bench);
        }
        match bench.create_with(stack.resume().await, BUCKET, map(VERSIONED)).await {
            CallOutcome::Done(_) => assert!(!changed),
            CallOutcome::Partial(partial) => assert!(changed && partial.inputs == map(SUSPENDED)),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn value_that_was_changed_before_an_update_was_recorded_is_recorded_as_a_change() {
    let operations = Delay::of(Duration::from_secs(30));
    let bench = Bench::with(Default::default(), stead_cloud::Settings { operations, ..Default::default() });
    let bucket = bench.created(BUCKET, r#"{"BucketName":"aaa"}"#).await;
    let stack = Stack::new();
    let run = stack.open().await;
    die_while_waiting(&bench);
    let outcome = bench.update_with(begin(&run).await, &bucket, VERSIONED).await;
    assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
    drop(run);
    // A look ends the operation, whose time has passed.
    assert_eq!(bench.count(), 1);
    suspend(&bench);
    match bench.update_with(stack.resume().await, &bucket, VERSIONED).await {
        CallOutcome::Partial(partial) => assert_eq!(partial.inputs, map(SUSPENDED)),
        other => panic!("{other:?}"),
    }
}
