//! Retries: steps that a provider refused for the moment, and that wait for their next attempt.

use std::collections::HashMap;

use stead_model::Diagnostic;
use stead_plan::StepId;

/// Steps that wait for another attempt, and the number of attempts of each step.
#[derive(Default)]
pub(crate) struct Retries {
    /// Each step with the problem of its last attempt.
    waiting: HashMap<StepId, Diagnostic>,
    /// Timers that still run although their retry was cancelled.
    cancelled: usize,
    /// Attempts of each step that was retried, with the one that is due.
    attempts: HashMap<StepId, u32>,
}

impl Retries {
    /// Returns how many attempts of a step have started.
    pub(crate) fn attempts_of(&self, step: StepId) -> u32 {
        self.attempts.get(&step).copied().unwrap_or(1)
    }

    /// Adds a retry, and returns the number of the attempt that it will be. The caller starts its timer.
    pub(crate) fn schedule(&mut self, step: StepId, problem: Diagnostic) -> u32 {
        self.waiting.insert(step, problem);
        let attempts = self.attempts.entry(step).or_insert(1);
        *attempts += 1;
        *attempts
    }

    /// Removes a retry whose timer has fired. Returns false if it was cancelled.
    pub(crate) fn timer_fired(&mut self, step: StepId) -> bool {
        let due = self.waiting.remove(&step).is_some();
        if !due {
            self.cancelled -= 1;
        }
        due
    }

    /// Cancels all retries, and returns the steps with their last problems, in order.
    pub(crate) fn cancel_all(&mut self) -> Vec<(StepId, Diagnostic)> {
        let mut cancelled: Vec<(StepId, Diagnostic)> = self.waiting.drain().collect();
        cancelled.sort_by_key(|(id, _)| *id);
        self.cancelled += cancelled.len();
        cancelled
    }

    /// Returns how many timers of cancelled retries still run.
    pub(crate) fn cancelled_timers(&self) -> usize {
        self.cancelled
    }
}
