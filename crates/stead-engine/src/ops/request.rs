//! The request that a caller makes of a preview.

use stead_guard::pins::Orphans;
use stead_plan::{Follow, Glob, MovePolicy, Request, Selection};
use stead_state::Command;

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
    EndPin,
    Resolve,
    ImportState,
    RemoveStack,
    RenameStack,
    AcceptPlace,
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
            RunKind::EndPin => "pin rm",
            RunKind::Resolve => "state resolve",
            RunKind::ImportState => "stack import",
            RunKind::RemoveStack => "stack rm",
            RunKind::RenameStack => "stack rename",
            RunKind::AcceptPlace => "stack place",
            RunKind::Unlock => "unlock",
        }
    }
}

impl From<RunKind> for Command {
    fn from(kind: RunKind) -> Command {
        Command::new(kind.as_str())
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

impl PinUse {
    /// Returns how pins without a declared resource are treated.
    pub(super) fn orphans(self) -> Orphans {
        match self {
            PinUse::Apply(orphans) => orphans,
            PinUse::Hold => Orphans::Refuse,
        }
    }
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

    /// The command for the history: what was selected, and each setting that is not the default.
    pub(super) fn command(&self) -> Command {
        let Selection { targets, exclude, reach } = &self.plan.selection;
        let mut options: Vec<String> =
            exclude.iter().map(|glob| format!("exclude={}", glob.as_str())).collect();
        let settings = [
            (reach.dependencies == Follow::Yes, "with-dependencies"),
            (reach.dependents == Follow::Yes, "with-dependants"),
            (self.plan.moves == MovePolicy::Accept, "moves=accept"),
            (self.plan.moves == MovePolicy::Refuse, "moves=refuse"),
            (self.look == Look::All, "read=all"),
            (self.look == Look::Changed, "read=changed"),
            (self.pins == PinUse::Apply(Orphans::Release), "release-orphaned-pins"),
            (self.on_failure == OnFailure::Stop, "stop-on-failure"),
        ];
        options.extend(settings.into_iter().filter(|(set, _)| *set).map(|(_, name)| name.to_owned()));
        let targets = targets.iter().map(|glob| glob.as_str().to_owned()).collect();
        Command { name: self.kind.as_str().to_owned(), targets, options }
    }

    /// A run back to the state after an earlier run.
    ///
    /// Its declarations come from records, so that a search for renames is of no use. Unnamed siblings may have other counters now.
    pub fn rollback(plan: Request) -> PlanRequest {
        let plan = Request { moves: MovePolicy::Regroup, ..plan };
        PlanRequest { kind: RunKind::Rollback, pins: PinUse::Hold, ..PlanRequest::up(plan) }
    }
}
