//! Turns exceptions of a program into diagnostics.

use std::time::Duration;

use rquickjs::{Ctx, Object, Value};
use stead_model::{Code, Diagnostic, EvalError, SourceRef};

use crate::host::{Handles, SharedSession, meant_by_undefined};
use crate::program::source_text::SourceSpan;

/// Steps of the engine between two interrupts, approximately.
const STEPS: u64 = 10_000;

const CYCLE_HELP: &str = "if two modules import each other, the one that is imported first runs last; \
    write `import type` where only types are needed";

/// Limits of the evaluation, and the one that the program exceeded.
pub(crate) struct LimitState {
    pub(crate) exceeded: Option<ExceededLimit>,
    pub(crate) interrupts: u64,
    pub(crate) time: Duration,
    pub(crate) heap: usize,
}

/// Limit that ends an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExceededLimit {
    Steps,
    /// Processor time.
    Time,
    Memory,
}

/// Reports an exception, unless it stands for an error that is already reported.
pub(crate) fn report<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    thrown: &Value<'js>,
    limit_state: &LimitState,
) {
    if handles.is_refusal(ctx, thrown) && !session.borrow().diagnostics.is_empty() {
        return;
    }
    if let Some(number) = handles.catchable(ctx, thrown)
        && limit_state.exceeded.is_none()
        && let Some(problem) = uncaught(session, number, thrown)
    {
        return session.borrow_mut().report(problem);
    }
    let details = ThrownDetails::of(thrown);
    let mut frames = session.borrow_mut().frames(&details.stack);
    frames.dedup();
    let site = handles.thrown_at(ctx, thrown);
    // The engine throws null when it has no memory left for an error.
    let details = if thrown.is_null() && site.is_none() { ThrownDetails::out_of_memory() } else { details };
    let mut problem = match limit(&details, limit_state) {
        Some(problem) => problem,
        None => {
            let problem = Diagnostic::error(Code::PROGRAM_THREW, details.headline());
            let problem = if details.is_uninitialised() { problem.help(CYCLE_HELP) } else { problem };
            details.undeclared().into_iter().fold(problem, Diagnostic::help)
        }
    };
    let site = site.map(|site| session.borrow().locate_site(site));
    let place = site.or_else(|| frames.first().map(|frame| frame.place.clone()));
    // A loop that ran before any call has no position; the first loop of the file is the best guess.
    let start = session.borrow().locate_site(usize::MAX);
    let around = limit_state
        .exceeded
        .as_ref()
        .and_then(|_| session.borrow().loop_at(place.as_ref().unwrap_or(&start)));
    let meant = place.as_ref().zip(details.undefined_member());
    let meant = meant.and_then(|(place, key)| meant_by_undefined(&session.borrow(), place, key));
    problem = meant.into_iter().fold(problem, Diagnostic::help);
    if let Some(SourceSpan { at, length }) = place {
        let what = if limit_state.exceeded.is_some() { "last known position" } else { "thrown here" };
        problem = problem.at(at, length, what);
    }
    if let Some(SourceSpan { at, length }) = around {
        problem = problem.at(at, length, "probably in this loop");
    }
    if problem.labels.is_empty() && limit_state.exceeded.is_some() {
        // Jobs ran without end; none of them has a position.
        problem = problem.at(start.at.clone(), 0, "in a job that this program started");
    }
    for frame in frames.iter().skip(1).take(10) {
        let function = if frame.function.is_empty() { "the module" } else { &frame.function };
        problem = problem.note(format!("called by {function} at {}", frame.place.at));
    }
    for cause in details.causes {
        problem = problem.note(format!("caused by {cause}"));
    }
    session.borrow_mut().report(problem);
}

/// Returns the diagnostic of a catchable error, located where it was thrown.
fn uncaught(session: &SharedSession, number: usize, thrown: &Value<'_>) -> Option<Diagnostic> {
    let mut session = session.borrow_mut();
    let problem = session.uncaught(number)?;
    let stack = ThrownDetails::of(thrown).stack;
    let located = !problem.labels.is_empty();
    let problem = if located { problem } else { session.label_stack(problem, &stack) };
    Some(session.caller_first(problem, &stack))
}

/// Converts an exception of a deferred function to an error with message and position.
pub(crate) fn thrown<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    thrown: &Value<'js>,
    limit_state: &LimitState,
    function: &SourceRef,
) -> EvalError {
    let reported = session.borrow_mut().diagnostics.pop().filter(|_| handles.is_refusal(ctx, thrown));
    if let Some(problem) = reported {
        let place = problem.labels.first().map(|label| label.place.clone());
        return EvalError::Threw { message: problem.message, place };
    }
    let details = ThrownDetails::of(thrown);
    let message = match limit(&details, limit_state) {
        Some(problem) => problem.message.replace("the program", "the function"),
        None => details.headline().replacen("the program threw", "the function threw", 1),
    };
    let frames = session.borrow_mut().frames(&details.stack);
    let site = handles.thrown_at(ctx, thrown).map(|site| session.borrow().locate_site(site));
    let place = site.or_else(|| frames.into_iter().next().map(|frame| frame.place));
    EvalError::Threw { message, place: Some(place.map_or_else(|| function.clone(), |place| place.at)) }
}

/// Details of a thrown value. Each property is read once, because a getter may run code of the program.
#[derive(Default)]
struct ThrownDetails {
    name: String,
    message: String,
    stack: String,
    causes: Vec<String>,
}

impl ThrownDetails {
    fn of(thrown: &Value<'_>) -> ThrownDetails {
        let Some(object) = thrown.as_object().filter(|_| thrown.is_error()) else {
            return ThrownDetails { message: text(thrown), ..ThrownDetails::default() };
        };
        let mut causes = Vec::new();
        let mut at = object.get::<_, Value<'_>>("cause").ok();
        while let Some(cause) = at.filter(|cause| !cause.is_undefined() && causes.len() < 5) {
            let cause_object = cause.as_object().filter(|_| cause.is_error());
            causes.push(match cause_object {
                Some(object) => format!("{}: {}", member(object, "name"), member(object, "message")),
                None => text(&cause),
            });
            at = cause_object.and_then(|object| object.get::<_, Value<'_>>("cause").ok());
        }
        ThrownDetails {
            name: member(object, "name"),
            message: member(object, "message"),
            stack: member(object, "stack"),
            causes,
        }
    }

    fn out_of_memory() -> ThrownDetails {
        ThrownDetails { message: "out of memory".to_owned(), ..ThrownDetails::default() }
    }

    /// Returns true for the use of a variable before its declaration ran.
    fn is_uninitialised(&self) -> bool {
        self.name == "ReferenceError" && self.message.ends_with("is not initialized")
    }

    /// Returns the member that was read of a value that does not exist.
    fn undefined_member(&self) -> Option<&str> {
        let rest =
            self.message.strip_prefix("cannot read property '").filter(|_| self.name == "TypeError")?;
        rest.strip_suffix("' of undefined")
    }

    /// Returns a help for a name of another environment that a program does not have.
    fn undeclared(&self) -> Option<&'static str> {
        let name = self.message.strip_suffix(" is not defined").filter(|_| self.name == "ReferenceError")?;
        Some(match name {
            "require" => "write `import`; an ES module of Node.js has no `require` either",
            "module" | "exports" => {
                "write `export`; an ES module of Node.js has no `module` and no `exports` either"
            }
            "__dirname" => "write `import.meta.dirname`, or a path relative to the project folder",
            "__filename" => "write `import.meta.filename`, or a path relative to the project folder",
            "window" | "document" | "navigator" | "self" | "localStorage" | "XMLHttpRequest" => {
                "a program does not run in a browser; `globalThis` is the global object"
            }
            "Headers" | "Request" | "Response" | "FormData" | "WebSocket" | "EventSource" => {
                "a program has no network; describe the call as a resource such as `local.Command`, or look a \
                 resource up with `Type.get(id)`"
            }
            "Worker" | "BroadcastChannel" | "MessagePort" => {
                "a program runs on one thread; use `await` and promises"
            }
            "ReadableStream"
            | "WritableStream"
            | "TransformStream"
            | "CompressionStream"
            | "DecompressionStream"
            | "TextDecoderStream"
            | "TextEncoderStream" => {
                "a program has no streams; `readText` and `readBytes` of the module `stead` return a file as a whole"
            }
            "DOMException" => "throw an `Error`, and set its `name`",
            "alert" | "confirm" | "prompt" => {
                "a program does not run in a browser; `console.log` prints, `config` takes values from outside"
            }
            "WebAssembly" => {
                "a program cannot use WebAssembly; describe the work as a resource such as `local.Command`"
            }
            "Deno" | "Bun" => {
                "a program runs neither in Deno nor in Bun; `docs/guide/packages.md` lists what it has"
            }
            _ => return None,
        })
    }

    fn headline(&self) -> String {
        match self.name.as_str() {
            "" | "Error" => format!("the program threw: {}", self.message),
            name => format!("the program threw: {name}: {}", self.message),
        }
    }
}

fn member(object: &Object<'_>, name: &str) -> String {
    object.get::<_, Value<'_>>(name).ok().map(|value| text(&value)).unwrap_or_default()
}

fn text(value: &Value<'_>) -> String {
    if let Some(text) = value.as_string() {
        return text.to_string().unwrap_or_default();
    }
    if let Some(number) = value.as_number() {
        return number.to_string();
    }
    if let Some(flag) = value.as_bool() {
        return flag.to_string();
    }
    value.type_name().to_owned()
}

fn limit(details: &ThrownDetails, limit_state: &LimitState) -> Option<Diagnostic> {
    let error = |message: String| Diagnostic::error(Code::EVALUATION_LIMIT, message);
    let used = match limit_state.exceeded {
        Some(ExceededLimit::Steps) => {
            Some(format!("about {} steps", limit_state.interrupts.saturating_mul(STEPS)))
        }
        Some(ExceededLimit::Time) => Some(format!("{} s of processor time", limit_state.time.as_secs())),
        Some(ExceededLimit::Memory) | None => None,
    };
    if let Some(used) = used {
        let problem = error("the program runs too long".to_owned());
        let problem = problem.note(format!("it was stopped after {used}"));
        return Some(problem.help("check for a loop that does not end"));
    }
    match details.message.as_str() {
        _ if limit_state.exceeded == Some(ExceededLimit::Memory) => Some(too_much_memory(limit_state)),
        "out of memory" | "string too long" | "invalid string length" => Some(too_much_memory(limit_state)),
        "Maximum call stack size exceeded" => Some(
            error("the call stack is too deep".to_owned())
                .help("check for a function that calls itself without end"),
        ),
        _ => None,
    }
}

fn too_much_memory(limit_state: &LimitState) -> Diagnostic {
    Diagnostic::error(Code::EVALUATION_LIMIT, "the program uses too much memory")
        .note(format!("the limit is {} MiB", limit_state.heap >> 20))
        .help("check for a list or a string that grows without end")
}
