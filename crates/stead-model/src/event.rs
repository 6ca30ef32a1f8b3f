//! Events of a run, for the terminal, the JSON stream and tests.

use serde::{Deserialize, Serialize};

use crate::{Diagnostic, Name, RunId, TypeToken};

/// A change that a provider makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    pub fn verb(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Delete => "delete",
        }
    }
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum StepEnd {
    Done,
    Failed {
        problem: Diagnostic,
    },
    InDoubt {
        problem: Diagnostic,
    },
    /// The step did not start because of another step.
    Skipped {
        because: String,
    },
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResult {
    Succeeded,
    Failed,
    InDoubt,
    Interrupted,
}

/// Phase of a run in which an operation is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Recovery finishes an operation of an earlier run.
    Recovery,
    Step,
}

/// An event of a run. Events arrive in the order in which they became true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    RunStarted {
        run: RunId,
        steps: usize,
    },
    /// Recovery repeats or settles an operation that an earlier run did not finish.
    Recovering {
        operation: Operation,
        name: Name,
        /// The run that recovers.
        run: RunId,
    },
    /// Recovery of an operation ended, whatever came of it.
    Recovered {
        operation: Operation,
        name: Name,
        millis: u64,
    },
    StepStarted {
        operation: Operation,
        name: Name,
        #[serde(rename = "type")]
        ty: TypeToken,
    },
    StepEnded {
        operation: Operation,
        name: Name,
        #[serde(flatten)]
        end: StepEnd,
        millis: u64,
    },
    /// The provider throttled the step; it is retried after `millis` milliseconds.
    StepRetried {
        operation: Operation,
        name: Name,
        attempt: u32,
        because: String,
        millis: u64,
    },
    /// A step or a recovery is under way for `millis` milliseconds. Displays make this event as time passes.
    StillRunning {
        operation: Operation,
        name: Name,
        phase: Phase,
        millis: u64,
    },
    /// The service does not make the change of the step in place, so that the step replaces the resource, as planned.
    StepReplaces {
        operation: Operation,
        name: Name,
        because: String,
    },
    /// The service has a warning about an operation, which may succeed all the same.
    StepWarned {
        operation: Operation,
        name: Name,
        message: String,
    },
    /// The run was asked to stop: calls under way finish, no new step starts.
    Stopping {
        under_way: usize,
    },
    RunEnded {
        run: RunId,
        result: RunResult,
    },
}
