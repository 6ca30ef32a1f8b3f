//! Logs and figures of resources, read from the embedded cloud.

use std::time::Duration;

use stead_cloud::{Fault, Injected, MetricName, NewLogEvent, NewPoint};
use stead_provider::{Moment, Provider, Rest, Span};

use crate::bench::{Bench, map, record};

/// Time of the bench's clock at its start.
const NOW: u64 = 1_794_974_400_000;

fn last_hour() -> Span {
    Span { from: Moment(NOW).before(Duration::from_secs(3600)), to: Moment(NOW + 3_600_000) }
}

fn event(ago: u64, message: &str) -> NewLogEvent {
    NewLogEvent { timestamp: Some(NOW - ago), message: message.to_owned() }
}

fn texts(lines: &stead_provider::LogLines) -> Vec<&str> {
    lines.lines.iter().map(|line| line.text.as_str()).collect()
}

#[tokio::test]
async fn log_of_a_function_is_its_group_and_is_read_page_by_page() {
    let bench = Bench::new();
    let function = record("aws.lambda.Function", map(r#"{"FunctionName":"orders"}"#));
    let telemetry = bench.provider.telemetry().unwrap();
    assert_eq!(telemetry.log_of(&function).as_deref(), Some("log group /aws/lambda/orders"));
    let none = telemetry.log(&function, last_hour()).await.unwrap();
    assert_eq!((none.lines.len(), none.rest), (0, Rest::NoLogYet), "a function that never ran has no group");

    let group = map(r#"{"LogGroupName":"/aws/lambda/orders"}"#);
    bench.cloud.insert(&bench.place(), "AWS::Logs::LogGroup", &group).unwrap();
    let many: Vec<NewLogEvent> = (0..10_001u64).rev().map(|ago| event(ago, "line\n")).collect();
    bench.cloud.put_log_events(&bench.place(), ("/aws/lambda/orders", "b"), many).unwrap();
    let old = vec![event(2 * 3_600_000, "too old"), event(1_800_000, "first")];
    bench.cloud.put_log_events(&bench.place(), ("/aws/lambda/orders", "a"), old).unwrap();
    let read = telemetry.log(&function, last_hour()).await.unwrap();
    assert_eq!((read.lines.len(), read.rest), (10_002, Rest::None));
    assert_eq!((texts(&read)[0], texts(&read)[10_001]), ("first", "line"));
    assert_eq!((read.lines[0].stream.as_str(), read.lines[0].at), ("a", Some(Moment(NOW - 1_800_000))));
    let ids: std::collections::BTreeSet<&str> = read.lines.iter().map(|line| line.id.as_str()).collect();
    assert_eq!(ids.len(), read.lines.len());
}

#[tokio::test]
async fn throttled_and_lost_reads_are_repeated() {
    let bench = Bench::new();
    let group = record("aws.logs.LogGroup", map(r#"{"LogGroupName":"app"}"#));
    bench.cloud.insert(&bench.place(), "AWS::Logs::LogGroup", &map(r#"{"LogGroupName":"app"}"#)).unwrap();
    bench.cloud.put_log_events(&bench.place(), ("app", "a"), vec![event(1, "here")]).unwrap();
    for fault in [Fault::Throttled, Fault::LostBefore, Fault::Unavailable] {
        bench.cloud.fail_next(Injected::next(fault).of_call("FilterLogEvents"));
        let read = bench.provider.telemetry().unwrap().log(&group, last_hour()).await.unwrap();
        assert_eq!(texts(&read), ["here"], "{fault:?}");
    }
}

#[tokio::test]
async fn figures_of_a_queue_have_one_series_for_each_metric() {
    let bench = Bench::new();
    let queue = record("aws.sqs.Queue", map(r#"{"QueueName":"jobs"}"#));
    let sent = MetricName {
        namespace: "AWS/SQS".to_owned(),
        name: "NumberOfMessagesSent".to_owned(),
        dimensions: [("QueueName".to_owned(), "jobs".to_owned())].into(),
    };
    let points = [600_000, 590_000, 0].map(|ago| NewPoint { timestamp: Some(NOW - ago), value: 2.0 });
    bench.cloud.put_metric(&bench.place(), sent, &points).unwrap();
    let telemetry = bench.provider.telemetry().unwrap();
    let span = Span { from: Moment(NOW).before(Duration::from_secs(3 * 3600)), to: Moment(NOW + 1) };
    let series = telemetry.stats(&queue, span).await.unwrap();
    let names: Vec<&str> = series.iter().map(|series| series.metric.as_str()).collect();
    assert_eq!(names, telemetry.metrics_of(&queue));
    assert_eq!(names[0], "NumberOfMessagesSent");
    assert_eq!(series[0].period, Duration::from_secs(300));
    assert_eq!(series[0].points, [(Moment(NOW - 600_000), 4.0), (Moment(NOW), 2.0)]);
    assert!(series[1..].iter().all(|series| series.points.is_empty()));

    let bucket = record("aws.s3.Bucket", map(r#"{"BucketName":"uploads"}"#));
    let size = telemetry.stats(&bucket, span).await.unwrap();
    assert!(size.iter().all(|series| series.period == Duration::from_secs(86_400)), "measured once a day");
    assert!(telemetry.metrics_of(&record("aws.iam.Role", map("{}"))).is_empty());
}
