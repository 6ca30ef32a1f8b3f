//! Telemetry: log lines and figures of real resources, found from their records alone.

use std::time::Duration;

use async_trait::async_trait;
use stead_model::Resource;

use crate::Refusal;

/// Wall time in milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u64);

impl Moment {
    /// Returns the time this much earlier, or the first moment.
    #[must_use]
    pub fn before(self, duration: Duration) -> Moment {
        Moment(self.0.saturating_sub(duration.as_millis() as u64))
    }
}

/// A span of time: from its start, up to and without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Moment,
    pub to: Moment,
}

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Time of the event; `None` if the log keeps none.
    pub at: Option<Moment>,
    /// Part of the log that has the line, such as a log stream or `stderr`.
    pub stream: String,
    pub text: String,
    /// Identity of the line among the lines of all logs, which tells a line that is read twice from two equal lines.
    pub id: String,
}

/// Lines of a log, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogLines {
    pub lines: Vec<LogLine>,
    pub rest: Rest,
}

/// Whether lines of the span are missing at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    #[default]
    None,
    /// There are more lines than one answer holds.
    LeftOut,
    /// The log does not exist yet: nothing has written to it.
    NoLogYet,
}

/// How the values of a period become one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    Sum,
    Average,
    Minimum,
    Maximum,
}

impl Statistic {
    pub fn name(self) -> &'static str {
        match self {
            Statistic::Sum => "sum",
            Statistic::Average => "average",
            Statistic::Minimum => "minimum",
            Statistic::Maximum => "maximum",
        }
    }
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Count,
    Bytes,
    Milliseconds,
    Seconds,
    Percent,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::Milliseconds => "milliseconds",
            Unit::Seconds => "seconds",
            Unit::Percent => "percent",
        }
    }
}

/// Figures of one metric over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub metric: String,
    pub statistic: Statistic,
    pub unit: Unit,
    pub span: Span,
    pub period: Duration,
    /// Start and figure of each period that has one, oldest first.
    pub points: Vec<(Moment, f64)>,
}

/// Reads logs and figures of recorded resources. Changes nothing.
#[async_trait]
pub trait Telemetry: Send + Sync {
    /// Returns where the log of a resource is, for people; `None` if it has none.
    fn log_of(&self, resource: &Resource) -> Option<String>;

    /// Returns the lines of a resource in a span. A log without times returns all its lines.
    ///
    /// Called only for a resource with a log.
    async fn log(&self, resource: &Resource, span: Span) -> Result<LogLines, Refusal>;

    /// Returns the names of the metrics of a resource; empty if it has none.
    fn metrics_of(&self, resource: &Resource) -> Vec<String>;

    /// Returns the figures of a resource in a span, one series for each metric. A metric that is measured once a day has a
    /// longer span.
    async fn stats(&self, resource: &Resource, span: Span) -> Result<Vec<Series>, Refusal>;
}
