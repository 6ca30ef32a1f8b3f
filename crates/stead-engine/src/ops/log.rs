//! Log lines of operations, for `tracing`.
//!
//! **Invariant:** a line has names, counts and results; never a value of a property, nor a message that may quote one.

use stead_model::{Event, StepEnd};
use stead_plan::Plan;
use stead_state::State;
use tracing::{debug, info};

pub(super) fn loaded(state: &State) {
    debug!(resources = state.len(), pending = state.pending().count(), "state loaded");
}

pub(super) fn planned(plan: &Plan) {
    info!(steps = plan.steps.len(), unchanged = plan.summary.unchanged, "planned");
}

pub(super) fn opened(kind: &str, run: &str) {
    info!(kind, run, "run opened");
}

/// Logs an event of a run, without the problem that a failed step has.
pub(super) fn event(event: &Event) {
    match event {
        Event::RunStarted { run, steps } => info!(run = run.as_str(), steps, "run started"),
        Event::RunEnded { run, result } => info!(run = run.as_str(), ?result, "run ended"),
        Event::Recovering { operation, name, .. } => {
            info!(operation = operation.verb(), %name, "recovering an interrupted operation");
        }
        Event::Recovered { operation, name, millis } => {
            debug!(operation = operation.verb(), %name, millis, "recovery ended");
        }
        Event::StillRunning { operation, name, millis, .. } => {
            debug!(operation = operation.verb(), %name, millis, "still running");
        }
        Event::StepStarted { operation, name, .. } => {
            debug!(operation = operation.verb(), %name, "step started");
        }
        Event::StepRetried { operation, name, attempt, millis, .. } => {
            debug!(operation = operation.verb(), %name, attempt, millis, "step will be retried");
        }
        Event::StepReplaces { name, .. } => {
            debug!(%name, "step replaces the resource");
        }
        Event::StepWarned { operation, name, .. } => {
            info!(operation = operation.verb(), %name, "the service has a warning");
        }
        Event::StepEnded { operation, name, end, millis } => {
            let end = match end {
                StepEnd::Done => "done",
                StepEnd::Failed { .. } => "failed",
                StepEnd::InDoubt { .. } => "in doubt",
                StepEnd::Skipped { .. } => "skipped",
            };
            debug!(operation = operation.verb(), %name, end, millis, "step ended");
        }
        Event::Stopping { under_way } => info!(under_way, "stopping"),
    }
}
