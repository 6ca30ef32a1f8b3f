//! A client of the embedded cloud that speaks its wire protocol.

use std::sync::Arc;

use serde_json::Value as Json;
use stead_cloud::{Cloud, Settings};
use stead_model::{Map, Value};
use stead_world::testing::FastClock;
use stead_world::{Http as _, HttpRequest, Timestamp};

/// Polls after which an operation is taken for lost.
const POLLS: usize = 100;

pub(crate) struct Client {
    pub(crate) cloud: Cloud,
    pub(crate) clock: FastClock,
    account: String,
    region: String,
}

pub(crate) fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

pub(crate) fn map(text: &str) -> Map {
    match serde_json::from_str(text).unwrap() {
        Value::Map(map) => map,
        other => panic!("{other:?}"),
    }
}

impl Client {
    pub(crate) fn new(settings: Settings) -> Client {
        let clock = FastClock::at(Timestamp(1_000_000_000));
        let cloud = Cloud::new(Arc::new(clock.clone()), settings);
        Client::of(cloud, clock)
    }

    pub(crate) fn of(cloud: Cloud, clock: FastClock) -> Client {
        Client { cloud, clock, account: "111122223333".to_owned(), region: "eu-west-1".to_owned() }
    }

    /// Returns a client of the same cloud in another place.
    pub(crate) fn at(&self, account: &str, region: &str) -> Client {
        Client {
            cloud: self.cloud.clone(),
            clock: self.clock.clone(),
            account: account.to_owned(),
            region: region.to_owned(),
        }
    }

    pub(crate) async fn raw(
        &self,
        key: Option<&str>,
        service: &str,
        call: &str,
        body: &str,
    ) -> (u16, String) {
        let mut request = HttpRequest::post("https://cloud.test/", body);
        request.headers.set("x-amz-target", format!("CloudApiService.{call}"));
        if let Some(key) = key {
            let scope = format!("{key}/20260101/{}/{service}/aws4_request", self.region);
            let signed = "SignedHeaders=host;x-amz-date, Signature=0";
            request.headers.set("authorization", format!("AWS4-HMAC-SHA256 Credential={scope}, {signed}"));
        }
        match self.cloud.send(request).await {
            Ok(response) => (response.status, String::from_utf8(response.body.to_vec()).unwrap()),
            Err(_) => (0, String::new()),
        }
    }

    /// Returns the answer of a call, or its error as `Name: message`.
    pub(crate) async fn call(&self, call: &str, body: &str) -> Result<Json, String> {
        let (status, body) = self.raw(Some(&self.account), "cloudcontrolapi", call, body).await;
        if status == 0 {
            return Err("no answer".to_owned());
        }
        let body = json(&body);
        if status == 200 {
            return Ok(body);
        }
        let name = body["__type"].as_str().unwrap().rsplit('#').next().unwrap().to_owned();
        Err(format!("{name}: {}", body["Message"].as_str().unwrap()))
    }

    pub(crate) async fn create(&self, type_name: &str, desired: &str) -> Result<Json, String> {
        let body = serde_json::json!({ "TypeName": type_name, "DesiredState": desired });
        Ok(self.call("CreateResource", &body.to_string()).await?["ProgressEvent"].clone())
    }

    pub(crate) async fn update(
        &self,
        type_name: &str,
        identifier: &str,
        patch: &str,
    ) -> Result<Json, String> {
        let body =
            serde_json::json!({ "TypeName": type_name, "Identifier": identifier, "PatchDocument": patch });
        Ok(self.call("UpdateResource", &body.to_string()).await?["ProgressEvent"].clone())
    }

    pub(crate) async fn delete(&self, type_name: &str, identifier: &str) -> Result<Json, String> {
        let body = serde_json::json!({ "TypeName": type_name, "Identifier": identifier });
        Ok(self.call("DeleteResource", &body.to_string()).await?["ProgressEvent"].clone())
    }

    pub(crate) async fn get(&self, type_name: &str, identifier: &str) -> Result<Map, String> {
        let body = serde_json::json!({ "TypeName": type_name, "Identifier": identifier });
        let answer = self.call("GetResource", &body.to_string()).await?;
        Ok(map(answer["ResourceDescription"]["Properties"].as_str().unwrap()))
    }

    pub(crate) async fn status(&self, token: &str) -> Json {
        let body = serde_json::json!({ "RequestToken": token });
        self.call("GetResourceRequestStatus", &body.to_string()).await.unwrap()["ProgressEvent"].clone()
    }

    /// Polls an operation to its end.
    pub(crate) async fn finished(&self, event: &Json) -> Json {
        let token = event["RequestToken"].as_str().unwrap();
        for _ in 0..POLLS {
            let event = self.status(token).await;
            if matches!(event["OperationStatus"].as_str(), Some("SUCCESS" | "FAILED" | "CANCEL_COMPLETE")) {
                return event;
            }
        }
        panic!("{event} does not end")
    }

    /// Creates a resource and returns its identifier.
    pub(crate) async fn made(&self, type_name: &str, desired: &str) -> String {
        let event = self.create(type_name, desired).await.unwrap();
        let event = self.finished(&event).await;
        assert_eq!(event["OperationStatus"], "SUCCESS", "{event}");
        event["Identifier"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn gone(&self, type_name: &str, identifier: &str) {
        let event = self.delete(type_name, identifier).await.unwrap();
        let event = self.finished(&event).await;
        assert_eq!(event["OperationStatus"], "SUCCESS", "{event}");
    }
}
