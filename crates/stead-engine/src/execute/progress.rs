//! Progress of a run: counters, problems, and the reasons to start no more steps.

use stead_journal::JournalError;
use stead_model::{Diagnostic, RunResult, StepEnd};
use stead_plan::StepId;

use crate::Stop;
use crate::pinfile::PinfileWrite;

/// Results of the finished steps, and the reasons to start no more of them.
pub(crate) struct Progress {
    pub stopping: Stop,
    /// The failed step that keeps others from starting, under [`OnFailure::Stop`](crate::OnFailure::Stop).
    pub halted_by: Option<StepId>,
    /// The first error of the journal. No step starts after it.
    pub journal_error: Option<JournalError>,
    pub done: usize,
    pub skipped: usize,
    pub in_doubt: usize,
    pub problems: Vec<Diagnostic>,
    /// Result of the write of the pinfile; `None` before it.
    pub pinfile: Option<Result<PinfileWrite, Diagnostic>>,
}

impl Progress {
    pub(crate) fn new() -> Progress {
        Progress {
            stopping: Stop::No,
            halted_by: None,
            journal_error: None,
            done: 0,
            skipped: 0,
            in_doubt: 0,
            problems: Vec::new(),
            pinfile: None,
        }
    }

    /// Returns true as long as nothing keeps further steps from starting.
    pub(crate) fn allows_new_steps(&self) -> bool {
        self.stopping == Stop::No && self.journal_error.is_none() && self.halted_by.is_none()
    }

    /// Counts a finished step, and keeps its problem.
    pub(crate) fn count(&mut self, end: &StepEnd) {
        match end {
            StepEnd::Done => self.done += 1,
            StepEnd::Failed { problem } => self.problems.push(problem.clone()),
            StepEnd::InDoubt { problem } => {
                self.in_doubt += 1;
                self.problems.push(problem.clone());
            }
            StepEnd::Skipped { .. } => self.skipped += 1,
        }
    }

    /// Returns the result of the run, once no step is under way.
    pub(crate) fn result(&self) -> RunResult {
        match (self.stopping, self.in_doubt, self.problems.len()) {
            (_, 1.., _) => RunResult::InDoubt,
            (Stop::Finish | Stop::Now, _, _) => RunResult::Interrupted,
            (_, _, 0) if self.journal_error.is_none() => RunResult::Succeeded,
            _ => RunResult::Failed,
        }
    }
}
