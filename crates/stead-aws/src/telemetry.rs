//! Logs and metrics of AWS resources, from CloudWatch. Which ones a resource has follows from its record.

mod cloudwatch;
mod tables;
mod template;

use std::time::Duration;

use async_trait::async_trait;
use stead_model::{Map, Resource, Value};
use stead_provider::{LogLine, LogLines, Moment, Refusal, Rest, Series, Span, Telemetry};
use stead_schema::type_name_of;

use self::cloudwatch::{Dimension, Measured};
use self::tables::{LOGS, METRICS, Metric, Metrics, Rhythm};
use self::template::texts;
use crate::AwsProvider;
use crate::fault::FaultKind;

/// Days that a metric which is measured once a day is shown for.
const DAYS: u64 = 14;
const DAY: Duration = Duration::from_secs(86_400);

/// Lengths of periods. The shortest that gives at most [`MOST_PERIODS`] is used.
const PERIODS: [u64; 6] = [60, 300, 900, 3600, 6 * 3600, 86_400];
const MOST_PERIODS: u64 = 60;

#[async_trait]
impl Telemetry for AwsProvider {
    fn log_of(&self, resource: &Resource) -> Option<String> {
        let groups = log_groups(resource);
        match groups.as_slice() {
            [] => None,
            [group] => Some(format!("log group {group}")),
            groups => Some(format!("log groups {}", groups.join(", "))),
        }
    }

    async fn log(&self, resource: &Resource, span: Span) -> Result<LogLines, Refusal> {
        let groups = log_groups(resource);
        let (mut all, mut missing, count) = (LogLines::default(), 0, groups.len());
        for group in groups {
            match self.client.filter_log_events(&group, span).await {
                Ok((events, rest)) => {
                    all.lines.extend(events.into_iter().map(|event| LogLine {
                        at: Some(Moment(event.timestamp)),
                        stream: event.log_stream_name,
                        text: event.message.trim_end_matches(['\n', '\r']).to_owned(),
                        id: format!("{group} {}", event.event_id),
                    }));
                    all.rest = if rest == Rest::LeftOut { rest } else { all.rest };
                }
                Err(fault) if fault.kind == FaultKind::NotFound => missing += 1,
                Err(fault) => return Err(fault.refusal()),
            }
        }
        if missing == count {
            all.rest = Rest::NoLogYet;
        }
        all.lines.sort_by_key(|line| line.at);
        Ok(all)
    }

    fn metrics_of(&self, resource: &Resource) -> Vec<String> {
        let all = measured_by(resource);
        all.iter().flat_map(|(row, _)| row.metrics).map(|metric| metric.name.to_owned()).collect()
    }

    async fn stats(&self, resource: &Resource, span: Span) -> Result<Vec<Series>, Refusal> {
        let mut all = Vec::new();
        for (row, dimensions) in measured_by(resource) {
            for rhythm in [Rhythm::Steady, Rhythm::Daily] {
                let metrics: Vec<&Metric> =
                    row.metrics.iter().filter(|metric| metric.rhythm == rhythm).collect();
                if metrics.is_empty() {
                    continue;
                }
                let (span, period) = periods(span, rhythm);
                let measured =
                    Measured { namespace: row.namespace, dimensions: &dimensions, metrics: &metrics };
                let read = self.client.metric_data(&measured, span, period).await;
                let figures = read.map_err(|fault| fault.refusal())?;
                all.extend(metrics.iter().zip(figures).map(|(metric, points)| Series {
                    metric: metric.name.to_owned(),
                    statistic: metric.statistic,
                    unit: metric.unit,
                    span,
                    period,
                    points,
                }));
            }
        }
        Ok(all)
    }
}

/// Returns the span and the period in which a metric is read: whole periods, sixty at most.
fn periods(span: Span, rhythm: Rhythm) -> (Span, Duration) {
    let from = match rhythm {
        Rhythm::Steady => span.from,
        Rhythm::Daily => span.from.min(span.to.before(DAY * DAYS as u32)),
    };
    let seconds = span.to.0.saturating_sub(from.0) / 1000;
    let fits = |period: &&u64| seconds.div_ceil(**period) <= MOST_PERIODS;
    let period = match rhythm {
        Rhythm::Steady => PERIODS.iter().find(fits).copied().unwrap_or(DAY.as_secs()),
        Rhythm::Daily => DAY.as_secs(),
    };
    (Span { from, to: span.to }, Duration::from_secs(period))
}

/// Returns the names of the log groups of a resource.
fn log_groups(resource: &Resource) -> Vec<String> {
    let properties = properties(resource);
    let row = type_name_of(&resource.ty).and_then(|name| LOGS.iter().find(|row| row.type_name == name));
    let first = |templates: &&[&str]| {
        let found = templates.iter().map(|template| texts(template, &properties));
        found.into_iter().find(|groups| !groups.is_empty()).unwrap_or_default()
    };
    let all = row.into_iter().flat_map(|row| row.groups).flat_map(first);
    let mut groups: Vec<String> = all.filter_map(|text| group_name(&text)).collect();
    groups.sort();
    groups.dedup();
    groups
}

/// Returns the name of a log group from its name or its ARN; `None` for the ARN of another destination, such as a stream.
fn group_name(text: &str) -> Option<String> {
    match text.split_once(":log-group:") {
        Some((_, name)) => Some(name.trim_end_matches(":*").to_owned()),
        None => (!text.starts_with("arn:")).then(|| text.to_owned()),
    }
}

/// Returns the rows of metrics that a resource has, with its dimensions.
fn measured_by(resource: &Resource) -> Vec<(&'static Metrics, Vec<Dimension>)> {
    let properties = properties(resource);
    let Some(name) = type_name_of(&resource.ty) else { return Vec::new() };
    let fits = |row: &&Metrics| {
        row.only_if.is_none_or(|(property, value, default)| {
            properties.get(property).and_then(Value::as_str).unwrap_or(default) == value
        })
    };
    let dimensions = |row: &Metrics| -> Option<Vec<Dimension>> {
        let value = |template| texts(template, &properties).into_iter().next();
        row.dimensions
            .iter()
            .map(|(name, template)| Some(Dimension { name, value: value(template)? }))
            .collect()
    };
    let rows = METRICS.iter().filter(|row| row.type_name == name).filter(fits);
    rows.filter_map(|row| Some((row, dimensions(row)?))).collect()
}

/// Returns the properties of a record: as they were read, and else as they were declared.
fn properties(resource: &Resource) -> Map {
    let mut properties = resource.inputs.clone();
    properties.extend(resource.outputs.iter().map(|(name, value)| (name.clone(), value.clone())));
    properties
}

#[cfg(test)]
mod tests;
