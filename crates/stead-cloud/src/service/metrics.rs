//! The calls of CloudWatch that bring data of metrics in and read them, in its JSON protocol.
//!
//! No resource measures anything by itself. Clients bring data of their own metrics; tests bring those of AWS, too.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use stead_model::{Map, Value};
use stead_world::Timestamp;

use super::batches::{Batch, Datum, Shelf};
use super::calls::{Answer, Function};
use super::error::{ErrorKind, ServiceError};
use super::logs::answered;
use super::machine::{Call, Machine};
use super::place::Place;

/// Prefix of the header `X-Amz-Target`.
pub(crate) const TARGET: &str = "GraniteServiceVersion20100801.";
/// Most queries of one call.
const MOST_QUERIES: usize = 500;

/// A metric: its namespace, its name, and the dimensions that tell one resource from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricName {
    pub namespace: String,
    pub name: String,
    #[serde(default)]
    pub dimensions: BTreeMap<String, String>,
}

/// One value of a metric. Without a time it was measured now.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewPoint {
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: Option<u64>,
    pub value: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Dimension {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Put {
    namespace: String,
    #[serde(default)]
    metric_data: Vec<PutDatum>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PutDatum {
    metric_name: String,
    #[serde(default)]
    dimensions: Vec<Dimension>,
    timestamp: Option<f64>,
    value: Option<f64>,
    values: Option<Vec<f64>>,
    counts: Option<Vec<f64>>,
    statistic_values: Option<StatisticSet>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StatisticSet {
    sample_count: f64,
    sum: f64,
    minimum: f64,
    maximum: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Get {
    metric_data_queries: Vec<Query>,
    start_time: f64,
    end_time: f64,
    scan_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Query {
    id: String,
    metric_stat: Option<MetricStat>,
    label: Option<String>,
    return_data: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MetricStat {
    metric: Metric,
    period: u64,
    stat: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Metric {
    namespace: String,
    metric_name: String,
    #[serde(default)]
    dimensions: Vec<Dimension>,
}

/// Returns the call with this name.
pub(crate) fn named(name: &str) -> Option<Function> {
    Some(match name {
        "PutMetricData" => put,
        "GetMetricData" => get,
        _ => return None,
    })
}

fn put(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let Put { namespace, metric_data } = call.parsed()?;
    if namespace.starts_with("AWS/") {
        return Err(invalid("The value AWS/ for parameter Namespace is invalid."));
    }
    let mut batches = Vec::new();
    for datum in metric_data {
        let at = datum.timestamp.map_or(call.now.0, millis);
        let data = datum.data(at)?;
        let dimensions = named_values(datum.dimensions);
        batches
            .push((MetricName { namespace: namespace.clone(), name: datum.metric_name, dimensions }, data));
    }
    for (name, data) in batches {
        machine.put_data(call.place, name, data);
    }
    Ok(Value::Map(Map::new()))
}

impl PutDatum {
    fn data(&self, at: u64) -> Result<Vec<Datum>, ServiceError> {
        let one = |value: f64, count: f64| Datum { at, count, sum: value * count, least: value, most: value };
        Ok(match (self.value, &self.values, &self.statistic_values) {
            (Some(value), None, None) => vec![one(value, 1.0)],
            (None, Some(values), None) => {
                let counts = self.counts.clone().unwrap_or_else(|| vec![1.0; values.len()]);
                if counts.len() != values.len() {
                    return Err(invalid(
                        "The parameters MetricData.member.1.Values and MetricData.member.1.Counts must be of the same size.",
                    ));
                }
                values.iter().zip(counts).map(|(value, count)| one(*value, count)).collect()
            }
            (None, None, Some(set)) => {
                let StatisticSet { sample_count: count, sum, minimum: least, maximum: most } = *set;
                vec![Datum { at, count, sum, least, most }]
            }
            _ => return Err(invalid("A datum has one of the parameters Value, Values and StatisticValues.")),
        })
    }
}

fn get(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let Get { metric_data_queries: queries, start_time, end_time, scan_by } = call.parsed()?;
    let (start, end) = (millis(start_time), millis(end_time));
    if start >= end {
        return Err(invalid("The parameter StartTime must be less than the parameter EndTime."));
    }
    if queries.is_empty() || queries.len() > MOST_QUERIES {
        return Err(invalid("The parameter MetricDataQueries must have between 1 and 500 members."));
    }
    let mut results = Vec::new();
    for query in queries {
        let Some(MetricStat { metric, period, stat }) = query.metric_stat else {
            return Err(invalid("The embedded cloud evaluates no expressions."));
        };
        if period == 0 || (period >= 60 && period % 60 != 0) {
            return Err(invalid("The parameter Period must be a multiple of 60."));
        }
        let figure = statistic(&stat).ok_or_else(|| {
            invalid("The embedded cloud knows the statistics Sum, Average, Minimum, Maximum and SampleCount.")
        })?;
        let label = query.label.unwrap_or_else(|| metric.metric_name.clone());
        let dimensions = named_values(metric.dimensions);
        let shelf = Shelf::Metric { namespace: metric.namespace, name: metric.metric_name, dimensions };
        let mut points = periods(machine, call.place, &shelf, (start, end), period * 1000);
        if scan_by.as_deref() != Some("TimestampAscending") {
            points.reverse();
        }
        if query.return_data != Some(false) {
            results.push(json!({
                "Id": query.id,
                "Label": label,
                "Timestamps": points.iter().map(|(at, _)| *at as f64 / 1000.0).collect::<Vec<_>>(),
                "Values": points.iter().map(|(_, datum)| figure(datum)).collect::<Vec<_>>(),
                "StatusCode": "Complete",
            }));
        }
    }
    answered(&json!({ "MetricDataResults": results, "Messages": [] }))
}

/// Returns the data of each period that has some, by the start of the period.
fn periods(
    machine: &Machine,
    place: &Place,
    shelf: &Shelf,
    (start, end): (u64, u64),
    period: u64,
) -> Vec<(u64, Datum)> {
    let first = start - start % period;
    let mut found: BTreeMap<u64, Datum> = BTreeMap::new();
    for datum in
        machine.state.batches().of_metric(place, shelf).filter(|datum| (first..end).contains(&datum.at))
    {
        let at = datum.at - datum.at % period;
        found
            .entry(at)
            .and_modify(|sum| {
                *sum = Datum {
                    at,
                    count: sum.count + datum.count,
                    sum: sum.sum + datum.sum,
                    least: sum.least.min(datum.least),
                    most: sum.most.max(datum.most),
                };
            })
            .or_insert(Datum { at, ..*datum });
    }
    found.into_iter().collect()
}

fn statistic(name: &str) -> Option<fn(&Datum) -> f64> {
    Some(match name {
        "Sum" => |datum| datum.sum,
        "Average" => |datum| datum.sum / datum.count,
        "Minimum" => |datum| datum.least,
        "Maximum" => |datum| datum.most,
        "SampleCount" => |datum| datum.count,
        _ => return None,
    })
}

impl Machine {
    /// Adds values to a metric, of AWS or of a client.
    pub(crate) fn put_points(
        &mut self,
        place: &Place,
        name: MetricName,
        points: &[NewPoint],
        now: Timestamp,
    ) {
        let datum = |NewPoint { timestamp, value }: &NewPoint| Datum {
            at: timestamp.unwrap_or(now.0),
            count: 1.0,
            sum: *value,
            least: *value,
            most: *value,
        };
        self.put_data(place, name, points.iter().map(datum).collect());
    }

    fn put_data(&mut self, place: &Place, name: MetricName, data: Vec<Datum>) {
        let MetricName { namespace, name, dimensions } = name;
        let key = self.state.next_batch(place, Shelf::Metric { namespace, name, dimensions });
        self.state.set_batch(key, Some(Batch::Data(data)));
    }
}

fn named_values(dimensions: Vec<Dimension>) -> BTreeMap<String, String> {
    dimensions.into_iter().map(|Dimension { name, value }| (name, value)).collect()
}

fn millis(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

fn invalid(message: &str) -> ServiceError {
    ServiceError::new(ErrorKind::InvalidParameterValue, message)
}
