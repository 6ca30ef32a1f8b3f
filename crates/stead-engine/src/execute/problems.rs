//! Diagnostics of steps that did not succeed.

use std::time::Duration;

use stead_model::{Code, Diagnostic, Operation};
use stead_plan::Step;
use stead_provider::{Refusal, RefusalClass};

/// Describes a step that had no effect.
pub(crate) fn failure(
    step: &Step,
    operation: Option<Operation>,
    message: &str,
    refusal: Option<&Refusal>,
) -> Diagnostic {
    let verb = operation.map_or("change", Operation::verb);
    let code = match refusal.map(|refusal| refusal.class) {
        Some(RefusalClass::OwnedElsewhere) => Code::OWNED_ELSEWHERE,
        _ => Code::STEP_FAILED,
    };
    let problem = Diagnostic::error(code, format!("cannot {verb} {}: {message}", step.name));
    let problem = problem.at(step.source.clone(), 0, "declared here");
    refusal.and_then(|refusal| refusal.help.clone()).into_iter().fold(problem, Diagnostic::help)
}

/// Part of an operation that a provider did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The resource has other inputs than declared, so that the next plan has the difference.
    Inputs,
    /// The resource is as declared, and some of its outputs are lost.
    Outputs,
}

/// Describes a step that took effect in part.
pub(crate) fn partial(
    step: &Step,
    operation: Option<Operation>,
    unfinished: Unfinished,
    refusal: &Refusal,
) -> Diagnostic {
    let (verb, name, because) = (operation.map_or("change", Operation::verb), &step.name, &refusal.message);
    let (message, note) = match unfinished {
        Unfinished::Inputs => (
            format!("the {verb} of {name} was not finished: {because}"),
            "The finished part is recorded; the next run does the rest.".to_owned(),
        ),
        Unfinished::Outputs => (
            format!("the {verb} of {name} happened, but some of its outputs are lost: {because}"),
            format!("The resource is recorded without them, and the next run does not repeat the {verb}."),
        ),
    };
    let problem =
        Diagnostic::error(Code::STEP_FAILED, message).at(step.source.clone(), 0, "declared here").note(note);
    refusal.help.clone().into_iter().fold(problem, Diagnostic::help)
}

/// Describes a step whose outcome is unknown.
pub(crate) fn in_doubt(
    step: &Step,
    operation: Option<Operation>,
    message: &str,
    timed_out: Option<Duration>,
) -> Diagnostic {
    let verb = operation.map_or("change", Operation::verb);
    let code = if timed_out.is_some() { Code::TIMED_OUT } else { Code::IN_DOUBT };
    let message = format!("it is unknown whether the {verb} of {} happened: {message}", step.name);
    let problem = Diagnostic::error(code, message).at(step.source.clone(), 0, "declared here");
    match timed_out {
        Some(_) => {
            problem.help(format!("set `timeouts: {{ {verb}: SECONDS }}` on it if the {verb} needs more time"))
        }
        None => problem,
    }
}
