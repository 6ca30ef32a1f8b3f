//! The last line of defence: every text that the process prints passes here, and leaves without the secrets of this process.
//!
//! Only a [`Disclosure`] goes around it: a person confirmed that secrets are shown.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::borrow::Cow;
use std::io::Write;
use std::panic::PanicHookInfo;

use stead::secrets::Redactor;
use stead_model::{Diagnostic, Hint, Value, watch_secrets};
use tracing_subscriber::fmt::MakeWriter;

static REDACTOR: Redactor = Redactor::new();

/// A person's consent to show secrets in the clear. Only a confirmation makes it.
pub(crate) struct Disclosure(pub(super) ());

/// Learns of every secret from here on, and takes them out of the texts of panics.
pub(crate) fn start() {
    watch_secrets(|secret| REDACTOR.add(secret));
    std::panic::set_hook(Box::new(report_panic));
}

/// Adds a text that no value marks as secret, such as a passphrase.
pub(crate) fn add(secret: &str) {
    REDACTOR.add(&Value::from(secret));
}

/// Returns a result without secrets.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    REDACTOR.redact(text)
}

/// Returns a message or a log without secrets and without long lines of them: it may show a part of a text.
pub(crate) fn message(text: &str) -> Cow<'_, str> {
    REDACTOR.redact_message(text)
}

/// Returns a line of JSON without secrets. It stays JSON: secrets are looked for in its strings, keys and numbers.
pub(crate) fn json(line: &str) -> Cow<'_, str> {
    if let Cow::Borrowed(line) = REDACTOR.redact(line) {
        return Cow::Borrowed(line);
    }
    let Ok(value) = serde_json::from_str(line) else { return REDACTOR.redact(line) };
    let redacted = format!("{}\n", json_value(value));
    Cow::Owned(REDACTOR.redact(&redacted).into_owned())
}

fn json_value(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        Json::String(text) => Json::String(REDACTOR.redact(&text).into_owned()),
        Json::Number(number) => match REDACTOR.redact(&number.to_string()) {
            Cow::Borrowed(_) => Json::Number(number),
            Cow::Owned(hidden) => Json::String(hidden),
        },
        Json::Array(items) => items.into_iter().map(json_value).collect(),
        Json::Object(fields) => {
            let redacted =
                |(key, item): (String, Json)| (REDACTOR.redact(&key).into_owned(), json_value(item));
            Json::Object(fields.into_iter().map(redacted).collect())
        }
        other => other,
    }
}

/// Returns a problem without secrets. Its texts are looked at before they are laid out, because a line break hides a secret.
pub(crate) fn problem(mut problem: Diagnostic) -> Diagnostic {
    let hide = |text: &mut String| {
        if let Cow::Owned(hidden) = message(text) {
            *text = hidden;
        }
    };
    hide(&mut problem.message);
    problem.notes.iter_mut().for_each(hide);
    problem.labels.iter_mut().for_each(|label| hide(&mut label.text));
    for help in &mut problem.help {
        if let Cow::Owned(hidden) = message(&help.to_string()) {
            *help = Hint::text(hidden);
        }
    }
    problem
}

/// Prints a panic like the standard library does, without secrets. If that cannot be assured, only its place is printed.
fn report_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    let backtrace = Backtrace::capture();
    let trace = match backtrace.status() {
        BacktraceStatus::Captured => format!("stack backtrace:\n{backtrace}"),
        _ => "note: run with `RUST_BACKTRACE=1` to display a backtrace\n".to_owned(),
    };
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let payload = panic.payload_as_str().unwrap_or("(no text)");
    let shown = REDACTOR
        .try_redact(payload)
        .unwrap_or_else(|| "(its text is withheld, because it may contain a secret)".to_owned());
    let _ = write!(std::io::stderr(), "\nthread '{name}' panicked at {place}:\n{shown}\n{trace}");
}

/// Writer of log lines to stderr. Each write is a whole line.
#[derive(Clone, Copy)]
pub(crate) struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let shown = String::from_utf8_lossy(line);
        std::io::stderr().lock().write_all(message(&shown).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().lock().flush()
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LogWriter;

    fn make_writer(&'a self) -> LogWriter {
        LogWriter
    }
}
