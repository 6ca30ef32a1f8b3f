//! Logs of this machine's resources: the output of commands, as their records have it.
//!
//! A command runs during an operation only, and its output is recorded with the result. There is no other log of it, and no
//! time of each line.

use async_trait::async_trait;
use stead_model::{Resource, Value};
use stead_provider::{LogLine, LogLines, Refusal, Series, Span, Telemetry};

use crate::LocalProvider;

/// Outputs of a command that are its log, in order.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

#[async_trait]
impl Telemetry for LocalProvider {
    fn log_of(&self, resource: &Resource) -> Option<String> {
        let has_output = resource.ty.as_str() == "local.Command"
            && STREAMS.iter().any(|of| resource.outputs.contains_key(*of));
        has_output.then(|| "output of its last command, as state records it".to_owned())
    }

    async fn log(&self, resource: &Resource, _: Span) -> Result<LogLines, Refusal> {
        let mut lines = Vec::new();
        for stream in STREAMS {
            let text = resource.outputs.get(stream).and_then(Value::as_str).unwrap_or_default();
            lines.extend(text.lines().enumerate().map(|(index, text)| LogLine {
                at: None,
                stream: stream.to_owned(),
                text: text.to_owned(),
                // The output of a command that runs again is another one, even if the text is equal.
                id: format!("{} {} {stream} {index}", resource.uid.0, resource.version),
            }));
        }
        Ok(LogLines { lines, ..LogLines::default() })
    }

    fn metrics_of(&self, _: &Resource) -> Vec<String> {
        Vec::new()
    }

    async fn stats(&self, _: &Resource, _: Span) -> Result<Vec<Series>, Refusal> {
        Ok(Vec::new())
    }
}
