//! Events of an operation besides those of its run.

use std::sync::Arc;

use stead_model::{Event, RunId};
use stead_state::{Owner, StackRef, State};

/// Something that happens while an operation is under way.
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
    /// The operation has opened a run of its own.
    RunOpened {
        run: RunId,
    },
    Run(Event),
}
