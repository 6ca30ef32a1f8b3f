//! What happens during a run, for whoever watches: the terminal, a JSON stream, a test.

use serde::{Deserialize, Serialize};

use crate::{Diagnostic, Name, RunId, TypeToken};

/// What a provider is asked to do.
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
    /// It did not start, because of another step.
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

/// One thing that happened. The order of events is the order in which they became true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    RunStarted {
        run: RunId,
        steps: usize,
    },
    /// An operation that an earlier run left behind is finished first.
    Recovering {
        operation: Operation,
        name: Name,
        /// The run that does it.
        run: RunId,
    },
    StepStarted {
        operation: Operation,
        name: Name,
        #[serde(rename = "type")]
        resource: TypeToken,
    },
    StepEnded {
        operation: Operation,
        name: Name,
        #[serde(flatten)]
        end: StepEnd,
        millis: u64,
    },
    /// The provider is busy; the step is tried again after a pause of this many milliseconds.
    StepRetried {
        operation: Operation,
        name: Name,
        attempt: u32,
        because: String,
        millis: u64,
    },
    /// Somebody asked the run to stop: what is under way finishes, nothing new starts.
    Stopping {
        under_way: usize,
    },
    RunEnded {
        run: RunId,
        result: RunResult,
    },
}
