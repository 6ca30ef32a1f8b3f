//! The calls of CloudWatch: `FilterLogEvents` (JSON 1.1) and `GetMetricData` (JSON 1.0).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stead_provider::{Moment, Rest, Span, Statistic};

use super::tables::Metric;
use crate::client::{Client, Service};
use crate::fault::Fault;

const LOGS: Service =
    Service { name: "logs", target: "Logs_20140328", content_type: "application/x-amz-json-1.1" };
const METRICS: Service = Service {
    name: "monitoring",
    target: "GraniteServiceVersion20100801",
    content_type: "application/x-amz-json-1.0",
};

/// Largest number of pages that are read of one log at a time. A page has up to 10,000 events.
const MAX_PAGES: usize = 50;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FilterLogEvents<'a> {
    log_group_name: &'a str,
    start_time: u64,
    /// The last millisecond, which is included.
    end_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filtered {
    #[serde(default)]
    events: Vec<Event>,
    #[serde(default)]
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    #[serde(default)]
    pub(super) log_stream_name: String,
    #[serde(default)]
    pub(super) timestamp: u64,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) event_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Dimension {
    pub(super) name: &'static str,
    pub(super) value: String,
}

/// Metrics of one resource.
pub(super) struct Measured<'a> {
    pub(super) namespace: &'a str,
    pub(super) dimensions: &'a [Dimension],
    pub(super) metrics: &'a [&'a Metric],
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct GetMetricData<'a> {
    metric_data_queries: Vec<Query<'a>>,
    /// Seconds since 1970.
    start_time: u64,
    end_time: u64,
    scan_by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<String>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Query<'a> {
    id: String,
    metric_stat: MetricStat<'a>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricStat<'a> {
    metric: MetricOf<'a>,
    period: u64,
    stat: &'static str,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricOf<'a> {
    namespace: &'a str,
    metric_name: &'a str,
    dimensions: &'a [Dimension],
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MetricData {
    #[serde(default)]
    metric_data_results: Vec<MetricResult>,
    #[serde(default)]
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MetricResult {
    id: String,
    #[serde(default)]
    timestamps: Vec<f64>,
    #[serde(default)]
    values: Vec<f64>,
}

impl Client {
    /// Returns the events of a log group in a span, oldest first.
    pub(super) async fn filter_log_events(
        &self,
        group: &str,
        span: Span,
    ) -> Result<(Vec<Event>, Rest), Fault> {
        let (mut events, mut next_token) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let body = FilterLogEvents {
                log_group_name: group,
                start_time: span.from.0,
                end_time: span.to.0.saturating_sub(1),
                next_token: next_token.take(),
            };
            let page: Filtered = self.call_service(&LOGS, "FilterLogEvents", &body).await?;
            events.extend(page.events);
            match page.next_token.filter(|token| !token.is_empty()) {
                Some(next) => next_token = Some(next),
                None => return Ok((events, Rest::None)),
            }
        }
        Ok((events, Rest::LeftOut))
    }

    /// Returns the figures of each metric, oldest first.
    pub(super) async fn metric_data(
        &self,
        measured: &Measured<'_>,
        span: Span,
        period: Duration,
    ) -> Result<Vec<Vec<(Moment, f64)>>, Fault> {
        let query = |(at, metric): (usize, &&Metric)| Query {
            id: format!("m{at}"),
            metric_stat: MetricStat {
                metric: MetricOf {
                    namespace: measured.namespace,
                    metric_name: metric.name,
                    dimensions: measured.dimensions,
                },
                period: period.as_secs(),
                stat: statistic(metric.statistic),
            },
        };
        let mut figures = vec![Vec::new(); measured.metrics.len()];
        let mut next_token = None;
        for _ in 0..MAX_PAGES {
            let body = GetMetricData {
                metric_data_queries: measured.metrics.iter().enumerate().map(query).collect(),
                start_time: span.from.0 / 1000,
                end_time: span.to.0.div_ceil(1000),
                scan_by: "TimestampAscending",
                next_token: next_token.take(),
            };
            let page: MetricData = self.call_service(&METRICS, "GetMetricData", &body).await?;
            for MetricResult { id, timestamps, values } in page.metric_data_results {
                let at = id.strip_prefix('m').and_then(|at| at.parse::<usize>().ok());
                let Some(points) = at.and_then(|at| figures.get_mut(at)) else { continue };
                let moment = |seconds: f64| Moment((seconds * 1000.0).round() as u64);
                points.extend(timestamps.into_iter().map(moment).zip(values));
            }
            match page.next_token.filter(|token| !token.is_empty()) {
                Some(next) => next_token = Some(next),
                None => break,
            }
        }
        Ok(figures)
    }
}

fn statistic(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Sum => "Sum",
        Statistic::Average => "Average",
        Statistic::Minimum => "Minimum",
        Statistic::Maximum => "Maximum",
    }
}
