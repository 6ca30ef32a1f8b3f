//! Events of an operation, with the events of its run among them.

use std::sync::Arc;

use stead_model::{Event, Name, RunId};
use stead_state::{Owner, StackRef, State};

/// An event of an operation.
#[derive(Clone, Debug)]
pub enum OpEvent {
    /// Another run holds the stack, and the operation waits for it.
    Waiting(Arc<Owner>),
    /// The holder of a stack showed no heartbeat and was fenced.
    TakenOver {
        run: RunId,
        stack: StackRef,
    },
    PinfileRead,
    /// Operations of an interrupted run are about to be finished.
    RecoveryStarted {
        state: Arc<State>,
    },
    /// Deletions of an interrupted run stay unfinished: the operation evaluates no program that could protect the resources.
    DeletionsLeft {
        names: Vec<Name>,
    },
    /// The operation has opened a run of its own.
    RunOpened {
        run: RunId,
    },
    Run(Event),
}
