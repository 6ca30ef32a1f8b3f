//! Telemetry behind the veil: a record is revealed to find its log, and no secret of the record is in a line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use stead_model::{BLINDED, Map, Resource, Value};

use super::RunSecrets;
use super::marks::Marks;
use crate::{LogLine, LogLines, Provider, Refusal, Series, Span, Telemetry};

pub(super) struct VeiledTelemetry {
    inner: Arc<dyn Provider>,
    known: RunSecrets,
}

impl VeiledTelemetry {
    pub(super) fn new(inner: Arc<dyn Provider>, known: RunSecrets) -> VeiledTelemetry {
        VeiledTelemetry { inner, known }
    }

    /// Returns a text without the secrets of the record and of the run.
    fn text(&self, marks: &Marks, text: &str) -> String {
        self.known.text(&marks.text(text)).into_owned()
    }

    /// Hides the secrets that go over several lines of one stream.
    fn hide_across(&self, marks: &Marks, lines: &mut [LogLine]) {
        let mut streams: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, line) in lines.iter().enumerate() {
            streams.entry(line.stream.clone()).or_default().push(at);
        }
        for places in streams.into_values() {
            let texts = places.iter().map(|at| std::mem::take(&mut lines[*at].text)).collect();
            for (at, text) in places.iter().zip(self.known.lines(marks.lines(texts))) {
                lines[*at].text = text;
            }
        }
    }

    /// Returns the telemetry of the provider. The veil offers this object only if the provider has some.
    fn inner(&self) -> Result<&dyn Telemetry, Refusal> {
        self.inner.telemetry().ok_or_else(|| Refusal::new("the provider has no logs and no metrics"))
    }
}

#[async_trait]
impl Telemetry for VeiledTelemetry {
    fn log_of(&self, resource: &Resource) -> Option<String> {
        let marks = Marks::of_record(resource);
        let found = self.inner().ok()?.log_of(&shown(resource))?;
        Some(self.text(&marks, &found))
    }

    async fn log(&self, resource: &Resource, span: Span) -> Result<LogLines, Refusal> {
        let marks = Marks::of_record(resource);
        let read = self.inner()?.log(&shown(resource), span).await;
        let LogLines { mut lines, rest } =
            read.map_err(|refusal| self.known.refusal(marks.refusal(refusal)))?;
        self.hide_across(&marks, &mut lines);
        let concealed = |line: LogLine| LogLine {
            text: self.text(&marks, &line.text),
            stream: self.text(&marks, &line.stream),
            ..line
        };
        Ok(LogLines { lines: lines.into_iter().map(concealed).collect(), rest })
    }

    fn metrics_of(&self, resource: &Resource) -> Vec<String> {
        let Ok(inner) = self.inner() else { return Vec::new() };
        inner.metrics_of(&shown(resource))
    }

    async fn stats(&self, resource: &Resource, span: Span) -> Result<Vec<Series>, Refusal> {
        let marks = Marks::of_record(resource);
        let read = self.inner()?.stats(&shown(resource), span).await;
        read.map_err(|refusal| self.known.refusal(marks.refusal(refusal)))
    }
}

/// Returns the record as the provider gets it. A secret of several lines is hidden as a whole, because a short line of it could not be
/// recognised; names of logs have one line.
fn shown(resource: &Resource) -> Cow<'_, Resource> {
    if !resource.inputs.values().chain(resource.outputs.values()).any(Value::has_secrets) {
        return Cow::Borrowed(resource);
    }
    let (inputs, outputs) = (revealed(&resource.inputs), revealed(&resource.outputs));
    Cow::Owned(Resource { inputs, outputs, ..resource.clone() })
}

fn revealed(values: &Map) -> Map {
    values.iter().filter_map(|(key, value)| Some((key.clone(), reveal(value)?))).collect()
}

fn reveal(value: &Value) -> Option<Value> {
    match value {
        Value::Secret(secret) => {
            let plain = secret.reveal().ok()?;
            let has_lines = plain.to_json().contains("\\n");
            Some(if has_lines { Value::from(BLINDED) } else { plain.clone() })
        }
        Value::List(items) => Some(items.iter().filter_map(reveal).collect()),
        Value::Map(map) => Some(Value::Map(revealed(map))),
        plain => Some(plain.clone()),
    }
}
