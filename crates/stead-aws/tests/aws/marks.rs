//! Owner marks and default tags.

use stead_aws::Settings;
use stead_model::{PhysicalIdentity, Value};
use stead_provider::Provider;

use crate::bench::{BUCKET, Bench, declared, map, owner};

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
    assert_eq!(
        ownership.identities(vec![(bucket.ty.clone(), bucket.inputs.clone())]).await,
        [vec![identity.clone()]]
    );
    let missing = PhysicalIdentity::new(format!("{BUCKET} none"));
    assert_eq!(ownership.owners(vec![identity, missing]).await, Ok(vec![Some(owner()), None]));
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
