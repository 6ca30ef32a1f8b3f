//! Logs and metrics of AWS types, as data: which log groups and dimensions follow from which properties.

use stead_provider::{Statistic, Unit};

/// Log groups of a type. Each entry is a group: the first of its templates that has a text counts.
pub(super) struct Logs {
    pub(super) type_name: &'static str,
    pub(super) groups: &'static [&'static [&'static str]],
}

const fn logs(type_name: &'static str, groups: &'static [&'static [&'static str]]) -> Logs {
    Logs { type_name, groups }
}

/// A template may lead to the ARN of a log group.
pub(super) const LOGS: &[Logs] = &[
    logs("AWS::Logs::LogGroup", &[&["{LogGroupName}"]]),
    logs("AWS::Lambda::Function", &[&["{LoggingConfig.LogGroup}", "/aws/lambda/{FunctionName}"]]),
    logs(
        "AWS::ApiGateway::Stage",
        &[&["{AccessLogSetting.DestinationArn}", "API-Gateway-Execution-Logs_{RestApiId}/{StageName}"]],
    ),
    logs("AWS::ApiGatewayV2::Stage", &[&["{AccessLogSettings.DestinationArn}"]]),
    logs(
        "AWS::StepFunctions::StateMachine",
        &[&["{LoggingConfiguration.Destinations.*.CloudWatchLogsLogGroup.LogGroupArn}"]],
    ),
    logs("AWS::ECS::TaskDefinition", &[&["{ContainerDefinitions.*.LogConfiguration.Options.awslogs-group}"]]),
    logs(
        "AWS::RDS::DBInstance",
        &[&["/aws/rds/instance/{DBInstanceIdentifier}/{EnableCloudwatchLogsExports.*}"]],
    ),
    logs(
        "AWS::RDS::DBCluster",
        &[&["/aws/rds/cluster/{DBClusterIdentifier}/{EnableCloudwatchLogsExports.*}"]],
    ),
    logs("AWS::EKS::Cluster", &[&["/aws/eks/{Name}/cluster"]]),
    logs("AWS::EC2::FlowLog", &[&["{LogGroupName}"]]),
    logs("AWS::CloudTrail::Trail", &[&["{CloudWatchLogsLogGroupArn}"]]),
    logs("AWS::OpenSearchService::Domain", &[&["{LogPublishingOptions.*.CloudWatchLogsLogGroupArn}"]]),
    logs("AWS::MSK::Cluster", &[&["{LoggingInfo.BrokerLogs.CloudWatchLogs.LogGroup}"]]),
    logs("AWS::Pipes::Pipe", &[&["{LogConfiguration.CloudwatchLogsLogDestination.LogGroupArn}"]]),
    logs("AWS::AppSync::GraphQLApi", &[&["/aws/appsync/apis/{ApiId}"]]),
    logs("AWS::Transfer::Server", &[&["{StructuredLogDestinations.*}", "/aws/transfer/{ServerId}"]]),
    logs(
        "AWS::ElastiCache::ReplicationGroup",
        &[&["{LogDeliveryConfigurations.*.DestinationDetails.CloudWatchLogsDetails.LogGroup}"]],
    ),
];

/// Metrics of a type in one namespace.
pub(super) struct Metrics {
    pub(super) type_name: &'static str,
    /// Property, the value that it must have for this row, and the value that it has if it is missing.
    pub(super) only_if: Option<(&'static str, &'static str, &'static str)>,
    pub(super) namespace: &'static str,
    /// Name and template of each dimension.
    pub(super) dimensions: &'static [(&'static str, &'static str)],
    pub(super) metrics: &'static [Metric],
}

/// One metric: the figure that tells most.
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) statistic: Statistic,
    pub(super) unit: Unit,
    pub(super) rhythm: Rhythm,
}

/// How often a metric is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rhythm {
    Steady,
    Daily,
}

const fn metric(name: &'static str, statistic: Statistic, unit: Unit) -> Metric {
    Metric { name, statistic, unit, rhythm: Rhythm::Steady }
}

const fn sum(name: &'static str) -> Metric {
    metric(name, Statistic::Sum, Unit::Count)
}

const fn percent(name: &'static str) -> Metric {
    metric(name, Statistic::Average, Unit::Percent)
}

const fn of(
    type_name: &'static str,
    namespace: &'static str,
    dimensions: &'static [(&'static str, &'static str)],
    metrics: &'static [Metric],
) -> Metrics {
    Metrics { type_name, only_if: None, namespace, dimensions, metrics }
}

use Statistic::{Average, Maximum, Minimum, Sum};
use Unit::{Bytes, Count, Milliseconds, Seconds};

const fn daily(name: &'static str, unit: Unit) -> Metric {
    Metric { name, statistic: Average, unit, rhythm: Rhythm::Daily }
}

const DYNAMODB: &[Metric] = &[
    sum("ConsumedReadCapacityUnits"),
    sum("ConsumedWriteCapacityUnits"),
    sum("ReadThrottleEvents"),
    sum("WriteThrottleEvents"),
];

pub(super) const METRICS: &[Metrics] = &[
    of(
        "AWS::Lambda::Function",
        "AWS/Lambda",
        &[("FunctionName", "{FunctionName}")],
        &[
            sum("Invocations"),
            sum("Errors"),
            sum("Throttles"),
            metric("Duration", Average, Milliseconds),
            metric("ConcurrentExecutions", Maximum, Count),
        ],
    ),
    of(
        "AWS::SQS::Queue",
        "AWS/SQS",
        &[("QueueName", "{QueueName}")],
        &[
            sum("NumberOfMessagesSent"),
            sum("NumberOfMessagesReceived"),
            metric("ApproximateNumberOfMessagesVisible", Maximum, Count),
            metric("ApproximateAgeOfOldestMessage", Maximum, Seconds),
        ],
    ),
    of(
        "AWS::SNS::Topic",
        "AWS/SNS",
        &[("TopicName", "{TopicName}")],
        &[
            sum("NumberOfMessagesPublished"),
            sum("NumberOfNotificationsDelivered"),
            sum("NumberOfNotificationsFailed"),
        ],
    ),
    of("AWS::DynamoDB::Table", "AWS/DynamoDB", &[("TableName", "{TableName}")], DYNAMODB),
    of("AWS::DynamoDB::GlobalTable", "AWS/DynamoDB", &[("TableName", "{TableName}")], DYNAMODB),
    of(
        "AWS::S3::Bucket",
        "AWS/S3",
        &[("BucketName", "{BucketName}"), ("StorageType", "StandardStorage")],
        &[daily("BucketSizeBytes", Bytes)],
    ),
    of(
        "AWS::S3::Bucket",
        "AWS/S3",
        &[("BucketName", "{BucketName}"), ("StorageType", "AllStorageTypes")],
        &[daily("NumberOfObjects", Count)],
    ),
    Metrics {
        type_name: "AWS::ElasticLoadBalancingV2::LoadBalancer",
        only_if: Some(("Type", "application", "application")),
        namespace: "AWS/ApplicationELB",
        dimensions: &[("LoadBalancer", "{LoadBalancerFullName}")],
        metrics: &[
            sum("RequestCount"),
            sum("HTTPCode_Target_5XX_Count"),
            sum("HTTPCode_ELB_5XX_Count"),
            metric("TargetResponseTime", Average, Seconds),
        ],
    },
    Metrics {
        type_name: "AWS::ElasticLoadBalancingV2::LoadBalancer",
        only_if: Some(("Type", "network", "application")),
        namespace: "AWS/NetworkELB",
        dimensions: &[("LoadBalancer", "{LoadBalancerFullName}")],
        metrics: &[
            sum("NewFlowCount"),
            metric("ActiveFlowCount", Average, Count),
            metric("ProcessedBytes", Sum, Bytes),
        ],
    },
    of(
        "AWS::RDS::DBInstance",
        "AWS/RDS",
        &[("DBInstanceIdentifier", "{DBInstanceIdentifier}")],
        &[
            percent("CPUUtilization"),
            metric("DatabaseConnections", Maximum, Count),
            metric("FreeStorageSpace", Minimum, Bytes),
            metric("ReadLatency", Average, Seconds),
            metric("WriteLatency", Average, Seconds),
        ],
    ),
    of(
        "AWS::RDS::DBCluster",
        "AWS/RDS",
        &[("DBClusterIdentifier", "{DBClusterIdentifier}")],
        &[
            percent("CPUUtilization"),
            metric("DatabaseConnections", Maximum, Count),
            metric("VolumeBytesUsed", Average, Bytes),
        ],
    ),
    of(
        "AWS::Kinesis::Stream",
        "AWS/Kinesis",
        &[("StreamName", "{Name}")],
        &[
            sum("IncomingRecords"),
            metric("IncomingBytes", Sum, Bytes),
            metric("GetRecords.IteratorAgeMilliseconds", Maximum, Milliseconds),
            sum("WriteProvisionedThroughputExceeded"),
            sum("ReadProvisionedThroughputExceeded"),
        ],
    ),
    of(
        "AWS::KinesisFirehose::DeliveryStream",
        "AWS/Firehose",
        &[("DeliveryStreamName", "{DeliveryStreamName}")],
        &[
            sum("IncomingRecords"),
            metric("IncomingBytes", Sum, Bytes),
            metric("DeliveryToS3.DataFreshness", Maximum, Seconds),
        ],
    ),
    of(
        "AWS::ApiGateway::RestApi",
        "AWS/ApiGateway",
        &[("ApiName", "{Name}")],
        &[sum("Count"), sum("4XXError"), sum("5XXError"), metric("Latency", Average, Milliseconds)],
    ),
    of(
        "AWS::ApiGatewayV2::Api",
        "AWS/ApiGateway",
        &[("ApiId", "{ApiId}")],
        &[sum("Count"), sum("4xx"), sum("5xx"), metric("Latency", Average, Milliseconds)],
    ),
    of(
        "AWS::StepFunctions::StateMachine",
        "AWS/States",
        &[("StateMachineArn", "{Arn}")],
        &[
            sum("ExecutionsStarted"),
            sum("ExecutionsSucceeded"),
            sum("ExecutionsFailed"),
            metric("ExecutionTime", Average, Milliseconds),
        ],
    ),
    of(
        "AWS::EC2::Instance",
        "AWS/EC2",
        &[("InstanceId", "{InstanceId}")],
        &[
            percent("CPUUtilization"),
            metric("NetworkIn", Sum, Bytes),
            metric("NetworkOut", Sum, Bytes),
            sum("StatusCheckFailed"),
        ],
    ),
    of(
        "AWS::AutoScaling::AutoScalingGroup",
        "AWS/EC2",
        &[("AutoScalingGroupName", "{AutoScalingGroupName}")],
        &[percent("CPUUtilization"), metric("NetworkIn", Sum, Bytes), metric("NetworkOut", Sum, Bytes)],
    ),
    of(
        "AWS::EC2::NatGateway",
        "AWS/NATGateway",
        &[("NatGatewayId", "{NatGatewayId}")],
        &[
            metric("BytesOutToDestination", Sum, Bytes),
            metric("ActiveConnectionCount", Maximum, Count),
            sum("ErrorPortAllocation"),
        ],
    ),
    of(
        "AWS::EFS::FileSystem",
        "AWS/EFS",
        &[("FileSystemId", "{FileSystemId}")],
        &[
            metric("ClientConnections", Sum, Count),
            percent("PercentIOLimit"),
            metric("MeteredIOBytes", Sum, Bytes),
        ],
    ),
    of(
        "AWS::Events::Rule",
        "AWS/Events",
        &[("RuleName", "{Name}")],
        &[sum("Invocations"), sum("FailedInvocations")],
    ),
    of(
        "AWS::Logs::LogGroup",
        "AWS/Logs",
        &[("LogGroupName", "{LogGroupName}")],
        &[sum("IncomingLogEvents"), metric("IncomingBytes", Sum, Bytes)],
    ),
];

#[cfg(test)]
mod tests {
    use stead_schema::cfn::bundle;

    use super::*;
    use crate::telemetry::template::paths;

    /// Fails unless the first property of each template is one of the type.
    fn check(type_name: &str, templates: &[&str]) {
        let schema = bundle::shipped().schema(type_name).unwrap_or_else(|| panic!("{type_name}"));
        for path in templates.iter().flat_map(|template| paths(template)) {
            assert!(
                schema.properties().any(|(name, _)| name == path[0]),
                "{type_name} has no property {}",
                path[0]
            );
        }
    }

    #[test]
    fn templates_use_properties_that_the_types_have() {
        for Logs { type_name, groups } in LOGS {
            groups.iter().for_each(|templates| check(type_name, templates));
        }
        for Metrics { type_name, dimensions, only_if, .. } in METRICS {
            dimensions.iter().for_each(|(_, template)| check(type_name, &[template]));
            only_if.iter().for_each(|(property, ..)| check(type_name, &[&format!("{{{property}}}")]));
        }
    }
}
