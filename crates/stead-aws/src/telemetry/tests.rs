//! Tests of the names that follow from records.

use stead_model::{Name, SourceRef, TypeToken, Uid};

use super::*;

fn record(ty: &str, outputs: &str) -> Resource {
    let name: Name = format!("dev:main:{ty}#x").parse().unwrap();
    let source = SourceRef { file: "main.ts".into(), line: 1, column: 1 };
    let uid = Uid("u".to_owned());
    let outputs = serde_json::from_str(outputs).unwrap();
    Resource { outputs, ..Resource::new(uid, name, TypeToken(ty.to_owned()), source) }
}

#[test]
fn log_groups_follow_from_the_properties_of_a_record() {
    let groups = |ty: &str, outputs: &str| log_groups(&record(ty, outputs));
    assert_eq!(groups("aws.lambda.Function", r#"{"FunctionName":"f"}"#), ["/aws/lambda/f"]);
    let own = r#"{"FunctionName":"f","LoggingConfig":{"LogGroup":"shared"}}"#;
    assert_eq!(groups("aws.lambda.Function", own), ["shared"]);
    let exports = r#"{"DBInstanceIdentifier":"db","EnableCloudwatchLogsExports":["error","slowquery"]}"#;
    assert_eq!(
        groups("aws.rds.DBInstance", exports),
        ["/aws/rds/instance/db/error", "/aws/rds/instance/db/slowquery"]
    );
    assert_eq!(groups("aws.rds.DBInstance", r#"{"DBInstanceIdentifier":"db"}"#), [""; 0]);
    let machine = r#"{"LoggingConfiguration":{"Destinations":[{"CloudWatchLogsLogGroup":{"LogGroupArn":
        "arn:aws:logs:eu-west-1:1:log-group:/aws/states/m:*"}}]}}"#;
    assert_eq!(groups("aws.stepfunctions.StateMachine", machine), ["/aws/states/m"]);
    let to_firehose =
        r#"{"AccessLogSettings":{"DestinationArn":"arn:aws:firehose:eu-west-1:1:deliverystream/x"}}"#;
    assert_eq!(groups("aws.apigatewayv2.Stage", to_firehose), [""; 0]);
    assert_eq!(groups("aws.s3.Bucket", r#"{"BucketName":"b"}"#), [""; 0]);
}

#[test]
fn dimensions_follow_from_the_properties_of_a_record() {
    let rows = |ty: &str, outputs: &str| {
        let found = measured_by(&record(ty, outputs)).into_iter();
        found.map(|(row, dimensions)| (row.namespace, dimensions[0].value.clone())).collect::<Vec<_>>()
    };
    assert_eq!(rows("aws.sqs.Queue", r#"{"QueueName":"q"}"#), [("AWS/SQS", "q".to_owned())]);
    assert_eq!(rows("aws.sqs.Queue", "{}"), []);
    assert_eq!(rows("aws.s3.Bucket", r#"{"BucketName":"b"}"#).len(), 2);
    let balancer = "aws.elasticloadbalancingv2.LoadBalancer";
    let name = r#""LoadBalancerFullName":"app/a/1""#;
    assert_eq!(rows(balancer, &format!("{{{name}}}"))[0].0, "AWS/ApplicationELB");
    assert_eq!(rows(balancer, &format!(r#"{{{name},"Type":"network"}}"#))[0].0, "AWS/NetworkELB");
}

#[test]
fn a_span_has_sixty_periods_at_most_and_daily_metrics_at_least_two_weeks() {
    let hour = 3_600_000;
    let span = |hours: u64| Span { from: Moment(10_000 * hour - hours * hour), to: Moment(10_000 * hour) };
    for (hours, period) in [(1, 60), (3, 300), (24, 1800), (24 * 7, 6 * 3600), (24 * 60, 86_400)] {
        let found = periods(span(hours), Rhythm::Steady).1.as_secs();
        assert!(found >= period.min(3600) && hours * 3600 / found <= 60, "{hours} h: {found} s");
    }
    let (long, period) = periods(span(1), Rhythm::Daily);
    assert_eq!((long.to.0 - long.from.0, period.as_secs()), (14 * 24 * hour, 86_400));
}
