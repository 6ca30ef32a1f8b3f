//! Provider resources: instances for other accounts and regions.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use stead_aws::{AwsProvider, Settings};
use stead_cloud::Cloud;
use stead_model::{Map, Resource, TypeToken};
use stead_provider::{CallOutcome, Completeness, Configuration, Description, Provider, Refusal};
use stead_world::{Http, HttpError, HttpRequest, HttpResponse, World};

use crate::bench::{BUCKET, Bench, REGION, done, map, receipt, record};

const PROVIDER: &str = "aws.Provider";
const THERE: &str = r#"{"region":"eu-west-3","role":{"arn":"arn:aws:iam::222222222222:role/deploy"}}"#;

fn configured(bench: &Bench, settings: &str, outputs: Map) -> Result<Arc<dyn Provider>, Refusal> {
    let (settings, completeness) = (map(settings), Completeness::Whole);
    bench.provider.configurable().unwrap().configured(&Configuration { settings, outputs, completeness })
}

#[tokio::test]
async fn create_tells_account_and_region_and_makes_nothing_on_aws() {
    let bench = Bench::new();
    let provider = bench.created(PROVIDER, THERE).await;
    assert_eq!(provider.outputs, map(r#"{"accountId":"222222222222","region":"eu-west-3"}"#));
    let second = bench.created(PROVIDER, THERE).await;
    assert!(provider.id.is_some() && second.id.is_some());
    done(bench.delete(&provider).await);
    assert_eq!(bench.count(), 0);
}

#[tokio::test]
async fn instance_serves_its_account_and_region_with_its_tags() {
    let bench = Bench::new();
    let provider = bench.created(PROVIDER, THERE).await;
    let tagged = THERE.replacen('{', r#"{"defaultTags":{"team":"audit"},"#, 1);
    let instance = configured(&bench, &tagged, provider.outputs.clone()).unwrap();
    let token = TypeToken(BUCKET.to_owned());
    let checked = instance.check(&token, crate::bench::declared(&map(r#"{"BucketName":"aaa"}"#))).await;
    assert!(checked.unwrap().contains_key("Tags"));
    let place = instance.place().await.unwrap().unwrap();
    assert_eq!(place.to_string(), "account 222222222222, region eu-west-3");
    let own = bench.provider.place().await.unwrap().unwrap();
    assert_eq!(own.differences(&place), ["account", "region"]);
}

#[tokio::test]
async fn instance_makes_no_request_with_credentials_of_another_account() {
    let bench = Bench::new();
    let outputs = map(r#"{"accountId":"333333333333","region":"eu-west-3"}"#);
    let instance = configured(&bench, THERE, outputs).unwrap();
    let record = Resource {
        id: Some(stead_model::PhysicalId("aaa".into())),
        ..crate::bench::record(BUCKET, map(r#"{"BucketName":"aaa"}"#))
    };
    let refused = instance.read(&record).await.unwrap_err();
    assert!(refused.message.contains("222222222222") && refused.message.contains("333333333333"));
    assert_eq!(bench.cloud.calls().get("GetResource"), None);
}

#[tokio::test]
async fn region_that_is_left_out_stays_the_recorded_one() {
    let bench = Bench::new();
    let outputs = map(r#"{"accountId":"000000000000","region":"ap-south-1"}"#);
    let instance = configured(&bench, "{}", outputs).unwrap();
    assert!(instance.place().await.unwrap().unwrap().to_string().ends_with("region ap-south-1"));
}

#[tokio::test]
async fn another_region_cloud_or_account_replaces_and_another_role_does_not() {
    let bench = Bench::new();
    let provider = bench.created(PROVIDER, THERE).await;
    let with = |from: &str, to: &str| THERE.replace(from, to);
    for (settings, changes) in [
        (with("eu-west-3", "eu-west-1"), "region!"),
        (with("role/deploy", "role/other"), "role.arn"),
        (with("222222222222", "333333333333"), "role.arn!"),
        (with("{\"region", "{\"profile\":\"p\",\"region"), "profile"),
        (with("{\"region", "{\"endpoint\":\"http://127.0.0.1:1\",\"region"), "endpoint!"),
        (
            with(
                "{\"region",
                "{\"endpoint\":\"https://vpce-1.cloudcontrolapi.eu-west-3.vpce.amazonaws.com\",\"region",
            ),
            "endpoint",
        ),
    ] {
        assert_eq!(bench.changes(&provider, &settings).await, [changes], "{settings}");
    }
}

#[tokio::test]
async fn update_that_leads_to_another_account_is_refused() {
    let bench = Bench::new();
    let provider = bench.created(PROVIDER, THERE).await;
    let same = bench.updated(&provider, &THERE.replace("role/deploy", "role/other")).await;
    assert_eq!(same.outputs, provider.outputs);
    let refused = bench.update_with(receipt().await, &provider, r#"{"region":"eu-west-3"}"#).await;
    match refused {
        CallOutcome::Refused(refusal) => {
            assert!(refusal.message.contains("222222222222"), "{}", refusal.message)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn names_mean_something_only_in_their_place() {
    let bench = Bench::new();
    let there = configured(&bench, THERE, Map::new()).unwrap();
    let of = |token: &str, inputs: &str| vec![Description::of_record(&record(token, map(inputs)))];
    for (token, inputs, same) in [
        ("aws.dynamodb.Table", r#"{"TableName":"t"}"#, false),
        ("aws.iam.Role", r#"{"RoleName":"r"}"#, false),
        (BUCKET, r#"{"BucketName":"b"}"#, true),
    ] {
        let here = bench.provider.ownership().unwrap().identities(of(token, inputs)).await;
        let elsewhere = there.ownership().unwrap().identities(of(token, inputs)).await;
        assert_eq!(here == elsewhere, same, "{here:?} {elsewhere:?}");
    }
    let region = configured(&bench, r#"{"region":"eu-west-3"}"#, Map::new()).unwrap();
    let role = of("aws.iam.Role", r#"{"RoleName":"r"}"#);
    let here = bench.provider.ownership().unwrap().identities(role.clone()).await;
    assert_eq!(here, region.ownership().unwrap().identities(role).await, "a role has no region");
}

/// A cloud that counts the questions to STS.
struct Asked {
    cloud: Cloud,
    calls: Mutex<Vec<&'static str>>,
}

#[async_trait]
impl Http for Asked {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let body = String::from_utf8_lossy(&request.body);
        let known = ["GetCallerIdentity", "AssumeRole"].into_iter().find(|call| body.contains(call));
        self.calls.lock().unwrap().extend(known);
        self.cloud.send(request).await
    }
}

#[tokio::test]
async fn all_instances_of_one_identity_ask_sts_once() {
    let cloud = Bench::new().cloud;
    let http = Arc::new(Asked { cloud, calls: Mutex::default() });
    let world = World { http: http.clone(), ..World::in_memory([]) };
    let settings = Settings { region: Some(REGION.to_owned()), ..Settings::default() };
    let provider = AwsProvider::embedded(world, settings);
    let place_of = async |settings: &str, outputs: &str| {
        let completeness = Completeness::Whole;
        let configuration = Configuration { settings: map(settings), outputs: map(outputs), completeness };
        let instance = provider.configurable().unwrap().configured(&configuration).unwrap();
        instance.place().await.unwrap().unwrap().to_string()
    };
    provider.place().await.unwrap();
    let own = r#"{"accountId":"000000000000"}"#;
    assert!(place_of(r#"{"region":"eu-west-3"}"#, own).await.ends_with("eu-west-3"));
    assert!(place_of(r#"{"region":"us-east-1"}"#, own).await.ends_with("us-east-1"));
    assert_eq!(*http.calls.lock().unwrap(), ["GetCallerIdentity"]);
    for outputs in ["{}", r#"{"accountId":"222222222222","region":"eu-west-3"}"#] {
        assert!(place_of(THERE, outputs).await.starts_with("account 222222222222"));
    }
    assert_eq!(*http.calls.lock().unwrap(), ["GetCallerIdentity", "AssumeRole", "GetCallerIdentity"]);
}
