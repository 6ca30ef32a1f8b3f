//! Owner marks and default tags.

use std::sync::Arc;
use std::time::Duration;

use stead_aws::{AwsProvider, Settings};
use stead_cloud::{Cloud, Fault, Injected};
use stead_model::{PhysicalId, PhysicalIdentity, Resource, Value};
use stead_provider::{Description, Provider};
use stead_world::{Clock as _, SimulatedClock, Timestamp, World};

use crate::bench::{BUCKET, Bench, REGION, declared, map, owner, record};

fn keys(bench: &Bench, id: &str) -> Vec<String> {
    let model = bench.bucket(id).unwrap();
    let tags = model.get("Tags").and_then(Value::as_list).unwrap_or_default();
    let key =
        |tag: &Value| tag.as_map().and_then(|tag| tag.get("Key")).and_then(Value::as_str).map(str::to_owned);
    let mut keys: Vec<String> = tags.iter().filter_map(key).collect();
    keys.sort();
    keys
}

const MARK: [&str; 3] = ["stead:name", "stead:stack", "stead:uid"];

#[tokio::test]
async fn mark_is_written_at_create_and_is_no_part_of_inputs_outputs_or_changes() {
    let bench = Bench::new();
    let inputs = r#"{"BucketName":"aaa"}"#;
    let bucket = bench.created(BUCKET, inputs).await;
    assert_eq!(keys(&bench, "aaa"), MARK);
    assert!(!bucket.outputs.contains_key("Tags"));
    assert_eq!(bench.changes(&bucket, inputs).await, [""; 0]);
    let ownership = bench.provider.ownership().unwrap();
    let identity = PhysicalIdentity::new(format!("{BUCKET} aaa"));
    assert_eq!(ownership.identities(vec![Description::of_record(&bucket)]).await, [vec![identity.clone()]]);
    let missing = PhysicalIdentity::new(format!("{BUCKET} none"));
    assert_eq!(ownership.owners(vec![identity, missing]).await, [Ok(Some(owner())), Ok(None)]);
}

#[tokio::test]
async fn identity_is_the_physical_id_and_the_spelling_of_the_properties_besides() {
    let bench = Bench::new();
    let ownership = bench.provider.ownership().unwrap();
    let queue = bench.created("aws.sqs.Queue", "{}").await;
    let of_queue = ownership.identities(vec![Description::of_record(&queue)]).await.pop().unwrap();
    let id = queue.id.as_ref().unwrap();
    assert!(of_queue[0].as_str().starts_with(&format!("aws.sqs.Queue {id} in ")), "{of_queue:?}");
    assert_eq!(of_queue.len(), 1);
    assert_eq!(ownership.owners(of_queue).await, [Ok(Some(owner()))]);
    let bucket =
        Resource { id: Some(PhysicalId("aaa".into())), ..record(BUCKET, map(r#"{"BucketName":"AAA"}"#)) };
    let of_bucket = ownership.identities(vec![Description::of_record(&bucket)]).await.pop().unwrap();
    assert_eq!(
        of_bucket.iter().map(PhysicalIdentity::as_str).collect::<Vec<_>>(),
        ["aws.s3.Bucket aaa", "aws.s3.Bucket AAA"]
    );
}

#[tokio::test]
async fn mark_that_cannot_be_read_leaves_the_others() {
    let bench = Bench::new();
    let ownership = bench.provider.ownership().unwrap();
    let mut identities = Vec::new();
    for name in ["aaa", "bbb"] {
        bench.created(BUCKET, &format!(r#"{{"BucketName":"{name}"}}"#)).await;
        identities.push(PhysicalIdentity::new(format!("{BUCKET} {name}")));
    }
    let both = ownership.owners(identities.clone()).await;
    assert_eq!(both, [Ok(Some(owner())), Ok(Some(owner()))]);
    bench.cloud.remove(&bench.name("AWS::S3::Bucket", "aaa")).unwrap();
    let queue = PhysicalIdentity::new("aws.sqs.Queue not a queue in 1, eu-west-1");
    bench
        .cloud
        .fail_next(Injected::next(Fault::ExpiredToken).of_call("GetResource").of_type("AWS::SQS::Queue"));
    bench
        .cloud
        .fail_next(Injected::next(Fault::ExpiredToken).of_call("GetResource").of_type("AWS::SQS::Queue"));
    identities.push(queue);
    let found = ownership.owners(identities).await;
    assert_eq!(found[..2], [Ok(None), Ok(Some(owner()))]);
    assert!(found[2].is_err(), "{found:?}");
}

#[test]
fn marks_are_read_together() {
    let clock = SimulatedClock::starting_at(Timestamp(1_794_974_400_000));
    let latency = Duration::from_millis(100);
    let cloud = Cloud::new(Arc::new(clock.clone()), stead_cloud::Settings { latency, ..Default::default() });
    let (time, http) = (Arc::new(clock.clone()), Arc::new(cloud));
    let world = World { clock: time, http, ..World::in_memory([]) };
    let settings = Settings { region: Some(REGION.to_owned()), ..Settings::default() };
    let provider = AwsProvider::embedded(world, settings);
    let of = (0..64).map(|n| PhysicalIdentity::new(format!("{BUCKET} bucket-{n}"))).collect();
    let begun = clock.monotonic();
    let found = clock.block_on(provider.ownership().unwrap().owners(of)).unwrap();
    assert_eq!(found.len(), 64);
    let took = clock.monotonic() - begun;
    assert!((latency * 4..latency * 8).contains(&took), "{took:?}");
}

#[tokio::test]
async fn change_of_tags_keeps_the_mark() {
    let bench = Bench::new();
    let with = |tag: &str| format!(r#"{{"BucketName":"aaa","Tags":[{{"Key":"{tag}","Value":"1"}}]}}"#);
    let bucket = bench.created(BUCKET, &with("one")).await;
    let bucket = bench.updated(&bucket, &with("two")).await;
    assert_eq!(keys(&bench, "aaa"), ["stead:name", "stead:stack", "stead:uid", "two"]);
    bench.updated(&bucket, r#"{"BucketName":"aaa"}"#).await;
    assert_eq!(keys(&bench, "aaa"), MARK);
}

#[tokio::test]
async fn tags_that_are_not_declared_any_more_are_removed_and_those_of_others_stay() {
    let bench = Bench::new();
    let tagged = r#"{"BucketName":"aaa","Tags":[{"Key":"ours","Value":"1"}]}"#;
    let bucket = bench.created(BUCKET, tagged).await;
    let theirs = r#"[{"op":"add","path":"/Tags/-","value":{"Key":"theirs","Value":"2"}}]"#;
    bench.drift("AWS::S3::Bucket", "aaa", theirs);
    let live = bench.read(&bucket).await.unwrap();
    let bucket = stead_model::Resource { outputs: live.outputs, ..bucket };
    bench.updated(&bucket, r#"{"BucketName":"aaa"}"#).await;
    assert_eq!(keys(&bench, "aaa"), ["stead:name", "stead:stack", "stead:uid", "theirs"]);
}

#[tokio::test]
async fn resource_without_a_mark_gets_one_at_its_next_update_and_keeps_foreign_tags() {
    let bench = Bench::new();
    let place = bench.place();
    let existing = map(r#"{"BucketName":"aaa","Tags":[{"Key":"theirs","Value":"1"}]}"#);
    bench.cloud.insert(&place, "AWS::S3::Bucket", &existing).unwrap();
    let (token, id) = (stead_model::TypeToken(BUCKET.into()), stead_model::PhysicalId("aaa".into()));
    let found = bench.provider.find(&token, &id).await.unwrap().unwrap();
    assert_eq!(keys(&bench, "aaa"), ["theirs"], "a look adds no mark");
    let record = crate::bench::record(BUCKET, map(r#"{"BucketName":"aaa"}"#));
    let record = stead_model::Resource {
        id: Some(stead_model::PhysicalId("aaa".into())),
        outputs: found.outputs,
        ..record
    };
    bench.updated(&record, r#"{"BucketName":"aaa","VersioningConfiguration":{"Status":"Enabled"}}"#).await;
    assert_eq!(keys(&bench, "aaa"), ["stead:name", "stead:stack", "stead:uid", "theirs"]);
}

#[tokio::test]
async fn first_declared_tags_join_those_of_others() {
    let bench = Bench::new();
    let bucket = bench.created(BUCKET, r#"{"BucketName":"aaa"}"#).await;
    let theirs = r#"[{"op":"add","path":"/Tags/-","value":{"Key":"theirs","Value":"1"}}]"#;
    bench.drift("AWS::S3::Bucket", "aaa", theirs);
    let outputs = bench.read(&bucket).await.unwrap().outputs;
    let refreshed = stead_model::Resource { outputs, ..bucket };
    bench.updated(&refreshed, r#"{"BucketName":"aaa","Tags":[{"Key":"ours","Value":"1"}]}"#).await;
    assert_eq!(keys(&bench, "aaa"), ["ours", "stead:name", "stead:stack", "stead:uid", "theirs"]);
}

#[tokio::test]
async fn default_tags_are_part_of_the_plan() {
    let default_tags = [("team".to_owned(), "shop".to_owned())].into();
    let bench = Bench::with(Settings { default_tags, ..Settings::default() }, Default::default());
    let token = stead_model::TypeToken(BUCKET.into());
    let checked = bench.provider.check(&token, declared(&map(r#"{"BucketName":"aaa"}"#))).await.unwrap();
    assert!(checked.contains_key("Tags"));
    let bucket = bench.created(BUCKET, r#"{"BucketName":"aaa"}"#).await;
    assert_eq!(bench.changes(&bucket, r#"{"BucketName":"aaa"}"#).await, ["Tags"]);
}
