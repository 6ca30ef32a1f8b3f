//! Log events and data of metrics, through the protocols of CloudWatch.

use serde_json::{Value as Json, json};
use stead_cloud::{Cloud, MetricName, NewLogEvent, NewPoint, Place, Settings};
use stead_world::testing::FastClock;
use stead_world::{Http as _, HttpRequest, Timestamp, World};

use crate::client::{Client, json as parsed};

const NOW: u64 = 1_000_000_000;

fn place() -> Place {
    Place::new("111122223333", "eu-west-1")
}

/// Calls a service, and returns its answer, or its error as `Name: message`.
async fn call(cloud: &Cloud, service: &str, call: &str, body: &Json) -> Result<Json, String> {
    let target = match service {
        "logs" => "Logs_20140328",
        _ => "GraniteServiceVersion20100801",
    };
    let mut request = HttpRequest::post("https://cloud.test/", body.to_string());
    request.headers.set("x-amz-target", format!("{target}.{call}"));
    let scope = format!("111122223333/20260101/eu-west-1/{service}/aws4_request");
    let signed = "SignedHeaders=host;x-amz-date, Signature=0";
    request.headers.set("authorization", format!("AWS4-HMAC-SHA256 Credential={scope}, {signed}"));
    let response = cloud.send(request).await.unwrap();
    let body = parsed(std::str::from_utf8(&response.body).unwrap());
    if response.status == 200 {
        return Ok(body);
    }
    let name = body["__type"].as_str().unwrap().rsplit('#').next().unwrap().to_owned();
    Err(format!("{name}: {}", body["Message"].as_str().unwrap()))
}

fn messages(answer: &Json) -> Vec<&str> {
    answer["events"].as_array().unwrap().iter().map(|event| event["message"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn events_are_brought_in_and_read_by_time_and_stream() {
    let cloud = Client::new(Settings::default()).cloud;
    let filter = json!({ "logGroupName": "app" });
    let missing = call(&cloud, "logs", "FilterLogEvents", &filter).await;
    assert_eq!(missing.unwrap_err(), "ResourceNotFoundException: The specified log group does not exist.");

    call(&cloud, "logs", "CreateLogGroup", &filter).await.unwrap();
    let again = call(&cloud, "logs", "CreateLogGroup", &filter).await.unwrap_err();
    assert_eq!(again, "ResourceAlreadyExistsException: The specified log group already exists");
    let stream = json!({ "logGroupName": "app", "logStreamName": "a" });
    let put = |events: Json| json!({ "logGroupName": "app", "logStreamName": "a", "logEvents": events });
    let one = put(json!([{ "timestamp": NOW, "message": "one" }]));
    let no_stream = call(&cloud, "logs", "PutLogEvents", &one).await.unwrap_err();
    assert_eq!(no_stream, "ResourceNotFoundException: The specified log stream does not exist.");
    call(&cloud, "logs", "CreateLogStream", &stream).await.unwrap();
    call(&cloud, "logs", "PutLogEvents", &one).await.unwrap();
    let unordered = put(json!([{ "timestamp": NOW, "message": "2" }, { "timestamp": 1, "message": "1" }]));
    let refused = call(&cloud, "logs", "PutLogEvents", &unordered).await.unwrap_err();
    assert!(
        refused.starts_with("InvalidParameterException: Log events in a single PutLogEvents"),
        "{refused}"
    );
    let far = put(json!([{ "timestamp": NOW + 3 * 3_600_000, "message": "future" }]));
    let answer = call(&cloud, "logs", "PutLogEvents", &far).await.unwrap();
    assert_eq!(answer["rejectedLogEventsInfo"], json!({ "tooNewLogEventStartIndex": 0 }));

    let event =
        |timestamp, message: &str| NewLogEvent { timestamp: Some(timestamp), message: message.to_owned() };
    cloud
        .put_log_events(&place(), ("app", "b"), vec![event(NOW - 5, "zero"), event(NOW + 5, "two")])
        .unwrap();
    let all = call(&cloud, "logs", "FilterLogEvents", &filter).await.unwrap();
    assert_eq!(messages(&all), ["zero", "one", "two"]);
    let some = json!({ "logGroupIdentifier": "arn:aws:logs:eu-west-1:1:log-group:app:*", "startTime": NOW, "endTime": NOW });
    assert_eq!(messages(&call(&cloud, "logs", "FilterLogEvents", &some).await.unwrap()), ["one"]);
    let of_b = json!({ "logGroupName": "app", "logStreamNames": ["b"] });
    assert_eq!(messages(&call(&cloud, "logs", "FilterLogEvents", &of_b).await.unwrap()), ["zero", "two"]);

    let first = json!({ "logGroupName": "app", "limit": 2 });
    let page = call(&cloud, "logs", "FilterLogEvents", &first).await.unwrap();
    let next = json!({ "logGroupName": "app", "limit": 2, "nextToken": page["nextToken"] });
    let last = call(&cloud, "logs", "FilterLogEvents", &next).await.unwrap();
    assert_eq!((messages(&page), messages(&last)), (vec!["zero", "one"], vec!["two"]));
    assert!(last.get("nextToken").is_none());
}

#[tokio::test]
async fn events_go_with_their_log_group_and_stay_on_the_disk() {
    let clock = || std::sync::Arc::new(FastClock::at(Timestamp(NOW)));
    let world = World { clock: clock(), ..World::in_memory([]) };
    let open = || Cloud::open(&world, std::path::Path::new("/cloud"), Settings::default()).unwrap();
    let cloud = open();
    let group = json!({ "logGroupName": "app" });
    call(&cloud, "logs", "CreateLogGroup", &group).await.unwrap();
    let event = || vec![NewLogEvent { timestamp: None, message: "kept".to_owned() }];
    cloud.put_log_events(&place(), ("app", "a"), event()).unwrap();
    let again = open();
    assert_eq!(messages(&call(&again, "logs", "FilterLogEvents", &group).await.unwrap()), ["kept"]);
    let name = stead_cloud::ResourceName::new(&place(), "AWS::Logs::LogGroup", "app");
    again.remove(&name).unwrap();
    assert!(again.put_log_events(&place(), ("app", "a"), event()).is_err());
    call(&again, "logs", "CreateLogGroup", &group).await.unwrap();
    assert_eq!(messages(&call(&again, "logs", "FilterLogEvents", &group).await.unwrap()), [""; 0]);
}

#[tokio::test]
async fn data_of_a_metric_are_summed_up_by_period() {
    let cloud = Client::new(Settings::default()).cloud;
    let refused = json!({ "Namespace": "AWS/SQS", "MetricData": [{ "MetricName": "m", "Value": 1 }] });
    let refused = call(&cloud, "monitoring", "PutMetricData", &refused).await.unwrap_err();
    assert_eq!(refused, "InvalidParameterValueException: The value AWS/ for parameter Namespace is invalid.");
    let own = json!({ "Namespace": "shop", "MetricData": [
        { "MetricName": "Orders", "Values": [1, 3], "Counts": [2, 1], "Timestamp": NOW / 1000 },
    ]});
    call(&cloud, "monitoring", "PutMetricData", &own).await.unwrap();
    let metric = MetricName {
        namespace: "AWS/SQS".to_owned(),
        name: "Sent".to_owned(),
        dimensions: [("QueueName".to_owned(), "jobs".to_owned())].into(),
    };
    let point = |ago: u64, value| NewPoint { timestamp: Some(NOW - ago), value };
    cloud.put_metric(&place(), metric, &[point(130_000, 2.0), point(125_000, 4.0), point(0, 1.0)]).unwrap();

    let query = |id: &str, namespace: &str, name: &str, dimensions: Json, stat: &str| {
        let metric = json!({ "Namespace": namespace, "MetricName": name, "Dimensions": dimensions });
        json!({ "Id": id, "MetricStat": { "Metric": metric, "Period": 60, "Stat": stat } })
    };
    let jobs = json!([{ "Name": "QueueName", "Value": "jobs" }]);
    let queries = json!([
        query("sum", "AWS/SQS", "Sent", jobs.clone(), "Sum"),
        query("most", "AWS/SQS", "Sent", jobs, "Maximum"),
        query("own", "shop", "Orders", json!([]), "Average"),
        query("none", "AWS/SQS", "Sent", json!([]), "Sum"),
    ]);
    let (start, end) = (NOW / 1000 - 600, NOW / 1000 + 60);
    let body = json!({ "MetricDataQueries": queries, "StartTime": start, "EndTime": end, "ScanBy": "TimestampAscending" });
    let answer = call(&cloud, "monitoring", "GetMetricData", &body).await.unwrap();
    let values = |id: &str| {
        let results = answer["MetricDataResults"].as_array().unwrap();
        let found = results.iter().find(|result| result["Id"] == id).unwrap();
        let all = found["Values"].as_array().unwrap().iter();
        all.map(|value| value.as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(values("sum"), [6.0, 1.0]);
    assert_eq!(values("most"), [4.0, 1.0]);
    assert_eq!(values("own"), [5.0 / 3.0]);
    assert_eq!(values("none"), [0.0; 0]);
}
