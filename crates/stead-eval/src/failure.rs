//! From what a program threw to a diagnostic.

use rquickjs::{Ctx, Object, Value};
use stead_model::{Code, Diagnostic, EvalError, SourceRef};

use crate::host::{Kept, Shared};
use crate::place::Place;

/// Why the evaluation ended too early, as far as the engine tells.
pub(crate) struct Stops {
    pub(crate) stopped: Option<Stop>,
    pub(crate) interrupts: u64,
    pub(crate) heap: usize,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Time,
    Memory,
}

/// Reports what was thrown, unless it was reported when it happened.
pub(crate) fn report<'js>(ctx: &Ctx<'js>, session: &Shared, kept: &Kept, thrown: &Value<'js>, stops: &Stops) {
    if kept.is_refusal(ctx, thrown) && !session.borrow().diagnostics.is_empty() {
        return;
    }
    let seen = Seen::of(thrown);
    let mut frames = session.borrow_mut().frames(&seen.stack);
    frames.dedup();
    let site = kept.thrown_at(ctx, thrown);
    // The engine throws null when it has no memory left for an error.
    let seen = if thrown.is_null() && site.is_none() { Seen::out_of_memory() } else { seen };
    let mut problem = match limit(&seen, stops) {
        Some(problem) => problem,
        None => Diagnostic::error(Code::PROGRAM_THREW, seen.headline()),
    };
    let site = site.map(|site| session.borrow().site_place(site));
    let place = site.or_else(|| frames.first().map(|frame| frame.place.clone()));
    // A loop before anything else was noted has no place of its own: it is the first one there is.
    let start = session.borrow().site_place(usize::MAX);
    let around =
        stops.stopped.as_ref().and_then(|_| session.borrow().loop_at(place.as_ref().unwrap_or(&start)));
    let words = match place {
        Some(_) => "and this is the loop that it was in, or came to",
        None => "this is the loop that it was in, or came to",
    };
    if let Some(Place { at, length }) = place {
        let what = if stops.stopped.is_some() { "it was last seen here" } else { "thrown here" };
        problem = problem.at(at, length, what);
    }
    if let Some(Place { at, length }) = around {
        problem = problem.at(at, length, words);
    }
    for frame in frames.iter().skip(1).take(10) {
        let function = if frame.function.is_empty() { "the module" } else { &frame.function };
        problem = problem.note(format!("called by {function} at {}", frame.place.at));
    }
    for cause in seen.causes {
        problem = problem.note(format!("caused by {cause}"));
    }
    session.borrow_mut().report(problem);
}

/// What a function threw that runs after the evaluation: its message, and where in the program.
pub(crate) fn thrown<'js>(
    ctx: &Ctx<'js>,
    session: &Shared,
    kept: &Kept,
    thrown: &Value<'js>,
    stops: &Stops,
    function: &SourceRef,
) -> EvalError {
    let reported = session.borrow_mut().diagnostics.pop().filter(|_| kept.is_refusal(ctx, thrown));
    if let Some(problem) = reported {
        let place = problem.labels.first().map(|label| label.place.clone());
        return EvalError::Threw { message: problem.message, place };
    }
    let seen = Seen::of(thrown);
    let message = match limit(&seen, stops) {
        Some(problem) => problem.message.replace("the program", "the function"),
        None => seen.headline().replacen("the program threw", "the function threw", 1),
    };
    let frames = session.borrow_mut().frames(&seen.stack);
    let site = kept.thrown_at(ctx, thrown).map(|site| session.borrow().site_place(site));
    let place = site.or_else(|| frames.into_iter().next().map(|frame| frame.place));
    EvalError::Threw { message, place: Some(place.map_or_else(|| function.clone(), |place| place.at)) }
}

/// What can be read of a thrown value without running code of the program more than once.
#[derive(Default)]
struct Seen {
    name: String,
    message: String,
    stack: String,
    causes: Vec<String>,
}

impl Seen {
    fn of(thrown: &Value<'_>) -> Seen {
        let Some(object) = thrown.as_object().filter(|_| thrown.is_error()) else {
            return Seen { message: text(thrown), ..Seen::default() };
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
        Seen {
            name: member(object, "name"),
            message: member(object, "message"),
            stack: member(object, "stack"),
            causes,
        }
    }

    fn out_of_memory() -> Seen {
        Seen { message: "out of memory".to_owned(), ..Seen::default() }
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

fn limit(seen: &Seen, stops: &Stops) -> Option<Diagnostic> {
    let error = |message: String| Diagnostic::error(Code::EVALUATION_LIMIT, message);
    if stops.stopped == Some(Stop::Time) {
        let message = "the program runs too long".to_owned();
        return Some(
            error(message)
                .note(format!(
                    "it was stopped after {} counts of about ten thousand steps each",
                    stops.interrupts
                ))
                .help("look for a loop that does not end"),
        );
    }
    match seen.message.as_str() {
        _ if stops.stopped == Some(Stop::Memory) => Some(too_much_memory(stops)),
        "out of memory" | "string too long" | "invalid string length" => Some(too_much_memory(stops)),
        "Maximum call stack size exceeded" => Some(
            error("functions call each other too deeply".to_owned())
                .help("look for a function that calls itself without end"),
        ),
        _ => None,
    }
}

fn too_much_memory(stops: &Stops) -> Diagnostic {
    Diagnostic::error(Code::EVALUATION_LIMIT, "the program takes too much memory")
        .note(format!("it may take {} MiB", stops.heap >> 20))
        .help("look for a list or a text that grows without end")
}
