//! The request that a caller makes of a preview.

use stead_guard::pins::Orphans;
use stead_plan::{Glob, Request};

use crate::OnFailure;

/// The kind of a run, as its history records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    Up,
    Destroy,
    Rollback,
    Import,
    Refresh,
    Rename,
    Move,
    Forget,
    Protect,
    Unprotect,
    Resolve,
    ImportState,
    RemoveStack,
    RenameStack,
    Unlock,
}

impl RunKind {
    /// The text in the history. Part of the state format.
    pub fn as_str(self) -> &'static str {
        match self {
            RunKind::Up => "up",
            RunKind::Destroy => "destroy",
            RunKind::Rollback => "rollback",
            RunKind::Import => "import",
            RunKind::Refresh => "refresh",
            RunKind::Rename => "rename",
            RunKind::Move => "state mv",
            RunKind::Forget => "state rm",
            RunKind::Protect => "state protect",
            RunKind::Unprotect => "state unprotect",
            RunKind::Resolve => "state resolve",
            RunKind::ImportState => "stack import",
            RunKind::RemoveStack => "stack rm",
            RunKind::RenameStack => "stack rename",
            RunKind::Unlock => "unlock",
        }
    }
}

/// The resources that are read from the providers before planning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// Nothing: the recorded state counts.
    #[default]
    Recorded,
    /// Every resource.
    All,
    /// The resources that the plan would change.
    Changed,
}

/// How a proposal treats the pinfile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinUse {
    /// The pinfile is applied to the graph, and written after a successful run.
    Apply(Orphans),
    /// The pinfile holds against deletions and is not written.
    Hold,
}

/// Whether a proposal is made to be applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// The preview writes nothing, not even to finish an interrupted run; its proposal cannot be applied.
    ReadOnly,
    #[default]
    Apply,
}

/// Whether an operation waits if another run holds the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    #[default]
    No,
    ForTheLock,
}

/// The plan to make, and how to make it.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    pub kind: RunKind,
    pub plan: Request,
    pub look: Look,
    pub pins: PinUse,
    pub on_failure: OnFailure,
    pub access: Access,
    pub wait: Wait,
    /// Resources that may be taken from the stack that owns them.
    pub take_over: Vec<Glob>,
}

impl PlanRequest {
    /// A run that makes everything as the program declares it.
    pub fn up(plan: Request) -> PlanRequest {
        PlanRequest {
            kind: RunKind::Up,
            plan,
            look: Look::default(),
            pins: PinUse::Apply(Orphans::Refuse),
            on_failure: OnFailure::default(),
            access: Access::default(),
            wait: Wait::default(),
            take_over: Vec::new(),
        }
    }

    /// A run that deletes the recorded resources.
    pub fn destroy(plan: Request) -> PlanRequest {
        PlanRequest { kind: RunKind::Destroy, pins: PinUse::Hold, ..PlanRequest::up(plan) }
    }

    /// A run back to the state after an earlier run.
    pub fn rollback(plan: Request) -> PlanRequest {
        PlanRequest { kind: RunKind::Rollback, pins: PinUse::Hold, ..PlanRequest::up(plan) }
    }
}
