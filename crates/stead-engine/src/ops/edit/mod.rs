//! Edits of the recorded state. No edit changes a real resource, except that an operation in doubt may be sent again.

mod apply;
mod forget;
mod import_review;
mod import_state;
mod names;
mod place;
mod renames;
mod resolve;
mod stack;
mod to_stack;

use std::collections::BTreeSet;
use std::sync::Arc;

use stead_journal::{ReadVersion, Survey};
use stead_model::{
    CopyRef, Digest, Environment, Name, OpId, Operation, PhysicalId, ProviderPlace, ProviderPlaces, Resource,
    RunId, TypeToken, Uid,
};
use stead_plan::{Follow, Selection};
use stead_state::{Origin, Owner, Pending, Record, Snapshot, State};

pub use import_review::{Accepts, Guard, Lineage, Loss, Losses};
pub use renames::declared_places;

use self::import_review::ImportReview;
use crate::ops::guards::permit_forgetting;
use crate::ops::{OpError, OpEvent, RunKind, Wait, Workspace};
use crate::{Drift, Resolution, Stack};

/// An edit of the recorded state.
pub enum StateEdit {
    /// Gives a resource, or all resources in a module or an instance, another name and remembers the old one.
    Rename {
        from: String,
        to: String,
        /// The names that the program declares, which tell two readings of `to` apart. Empty: not known.
        declared: BTreeSet<Name>,
    },
    /// Gives a resource another name and does not remember the old one.
    Move {
        from: String,
        to: String,
    },
    /// Moves resources to another stack of the project.
    MoveToStack {
        names: Vec<String>,
        to: Box<Workspace>,
        dependencies: Follow,
    },
    /// Stops managing a resource.
    Forget {
        name: String,
    },
    Protect {
        name: String,
        protection: Protection,
    },
    /// Ends the pins that state records, because the pinfile releases them.
    EndPins {
        paths: BTreeSet<String>,
    },
    /// Answers for an operation in doubt; `None` sends it again, unless it is a deletion, which only the guards of a program permit.
    Resolve {
        target: ResolveTarget,
        answer: Option<Resolution>,
    },
    /// Records the differences between state and providers.
    Refresh {
        selection: Selection,
    },
    CreateStack,
    RemoveStack {
        resources: Remaining,
        history: Purge,
    },
    RenameStack {
        to: Environment,
    },
    /// Records the places to which the default providers lead now.
    AcceptPlace,
    /// Replaces everything that is recorded.
    ImportState {
        snapshot: Box<Snapshot>,
        /// The stack that the file names as its own, if it names one. It decides where this stack has no uuid, because its state
        /// is lost or was never there.
        origin: Option<Origin>,
        accepts: Accepts,
    },
    /// Makes the numbered proposal of a survey the state.
    Repair {
        survey: Box<Survey>,
        number: usize,
        losses: Losses,
    },
    /// Takes the lock from its holder.
    Unlock,
}

/// Sets or removes the protection on a record itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    Set,
    Removed,
}

/// Whether a stack may be removed that still records resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remaining {
    Refuse,
    Forget,
}

/// Whether the history of a removed stack is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purge {
    Keep,
    Delete,
}

/// Which operation in doubt is meant.
#[derive(Clone, Debug)]
pub enum ResolveTarget {
    /// The operation on the resource with this name, whole or short.
    Name(String),
    Operation(OpId),
}

/// One effect of an edit, to be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum EditChange {
    Renamed {
        from: Name,
        to: Name,
    },
    Forgotten {
        name: Name,
        ty: TypeToken,
        id: Option<PhysicalId>,
    },
    /// The protection on the record changes, or is as wanted already.
    Protection {
        name: Name,
        changes: Change,
        still_set_by: Option<String>,
    },
    /// State no longer records the pin of a resource.
    PinEnded {
        name: Name,
    },
    Resolved {
        name: Name,
        operation: Operation,
    },
    /// The recorded resources are replaced by those of an export.
    Replaced {
        recorded: usize,
        imported: usize,
        lineage: Lineage,
    },
    /// An import of state adds a record.
    Added {
        name: Name,
        ty: TypeToken,
        id: Option<PhysicalId>,
    },
    /// An import of state changes these parts of a record.
    Changed {
        name: Name,
        ty: TypeToken,
        id: Option<PhysicalId>,
        parts: Vec<&'static str>,
    },
    /// State does not keep these write-only values, and their digests are not valid in the other stack: its next plan sends
    /// them again.
    SentAgain {
        name: Name,
        properties: Vec<String>,
    },
    /// An import of state changes the outputs of the stack.
    OutputsChanged,
    /// Every resource gets a name of the new environment.
    StackRenamed {
        resources: usize,
    },
    /// A default provider keeps the resources of the stack in another place than the record says.
    PlaceAccepted {
        provider: String,
        from: Option<ProviderPlace>,
        to: ProviderPlace,
    },
    /// How many recorded resources were read in the accepted places.
    ResourcesFound {
        count: usize,
    },
    /// A recorded resource does not exist in the accepted place. The next refresh records it as missing.
    NotThere {
        name: Name,
        ty: TypeToken,
        id: Option<PhysicalId>,
    },
    StackCreated,
    StackRemoved {
        history: Purge,
    },
    /// Only the history of a stack that was removed before is deleted.
    HistoryDeleted,
    Repaired {
        resources: usize,
    },
    LockTaken {
        from: Box<Owner>,
        holder: Holder,
    },
}

/// Whether an edit has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Made,
    None,
}

/// Whether the holder of a lock is known to have died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Dead,
    PerhapsAlive,
}

/// An edit with its effects, not applied yet.
pub struct ProposedEdit {
    workspace: Workspace,
    /// `None`: the edit was planned on no particular state.
    base: Option<Arc<State>>,
    version: ReadVersion,
    work: Work,
    changes: Vec<EditChange>,
    drift: Vec<Drift>,
    /// The resources that nothing manages afterwards.
    forgets: Vec<Resource>,
    /// The resources that the stack does not reach afterwards, although it records them.
    unreached: Vec<Resource>,
    /// For an import or a repair of state: what else the guards must know.
    review: Option<Box<ImportReview>>,
}

/// How an edit is carried out.
enum Work {
    Nothing,
    /// Records in a run of their own.
    Append {
        kind: RunKind,
        records: Vec<Record>,
    },
    Forget(Vec<CopyRef>),
    Settle {
        pending: Box<Pending>,
        answer: Option<Resolution>,
    },
    MoveToStack(Box<StackMove>),
    CreateStack,
    RemoveStack(Purge),
    DeleteHistory,
    RenameStack {
        to: Environment,
        /// Records of the pins that only the pinfile has: its section may be for the old environment.
        pins: Vec<Record>,
    },
    ImportState(Box<Snapshot>),
    Repair {
        survey: Box<Survey>,
        number: usize,
    },
    Unlock,
}

/// Resources on their way to another stack.
struct StackMove {
    target: Stack,
    version: ReadVersion,
    environment: Environment,
    uids: BTreeSet<Uid>,
    /// Records of the pins that only the pinfile has: its section may be for the old environment.
    pins: Vec<Record>,
    /// Places of the resources, if the target does not record them yet.
    places: Option<ProviderPlaces>,
}

/// The result of an applied edit.
#[derive(Debug)]
pub struct EditReport {
    /// The run of the edit, where it had one.
    pub run: Option<RunId>,
    pub outcome: EditOutcome,
}

/// The part of the result that the proposal did not show.
#[derive(Debug)]
pub enum EditOutcome {
    Done,
    /// The operation in doubt was sent again and is done.
    Retried,
    /// The lock is free; the run that held it left this many operations unfinished.
    Unlocked {
        unfinished: usize,
    },
    HistoryDeleted {
        objects: usize,
    },
    Repaired {
        snapshot: Digest,
    },
}

impl Workspace {
    /// Prepares an edit. Operations of an interrupted run are finished first, except for edits that are about those.
    ///
    /// An edit evaluates no program, so that it leaves interrupted deletions pending. Edits that cannot be made beside one are
    /// refused.
    pub async fn edit(
        &self,
        edit: StateEdit,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        match edit {
            StateEdit::Rename { from, to, declared } => {
                self.rename(&from, &to, &declared, wait, events).await
            }
            StateEdit::Move { from, to } => self.move_name(&from, &to, wait, events).await,
            StateEdit::MoveToStack { names, to, dependencies } => {
                self.move_to_stack(&names, &to, dependencies, wait, events).await
            }
            StateEdit::Forget { name } => self.forget(&name, wait, events).await,
            StateEdit::Protect { name, protection } => self.protect(&name, protection, wait, events).await,
            StateEdit::EndPins { paths } => self.end_pins(&paths, wait, events).await,
            StateEdit::Resolve { target, answer } => self.resolve(&target, answer).await,
            StateEdit::Refresh { selection } => self.record_drift(&selection, wait, events).await,
            StateEdit::CreateStack => Ok(self.proposed(Work::CreateStack, vec![EditChange::StackCreated])),
            StateEdit::RemoveStack { resources, history } => {
                self.remove_stack(resources, history, wait, events).await
            }
            StateEdit::RenameStack { to } => self.rename_stack(to, wait, events).await,
            StateEdit::AcceptPlace => self.accept_place(wait, events).await,
            StateEdit::ImportState { snapshot, origin, accepts } => {
                self.import_state(*snapshot, origin.as_ref(), accepts).await
            }
            StateEdit::Repair { survey, number, losses } => self.repair(survey, number, losses),
            StateEdit::Unlock => self.unlock().await,
        }
    }

    /// An edit that was planned on no particular state.
    fn proposed(&self, work: Work, changes: Vec<EditChange>) -> ProposedEdit {
        ProposedEdit {
            workspace: self.clone(),
            base: None,
            version: ReadVersion::default(),
            work,
            changes,
            drift: Vec::new(),
            forgets: Vec::new(),
            unreached: Vec::new(),
            review: None,
        }
    }

    /// An edit that was planned on the loaded state.
    fn proposed_on(
        &self,
        loaded: stead_journal::Loaded,
        work: Work,
        changes: Vec<EditChange>,
    ) -> ProposedEdit {
        ProposedEdit { base: Some(loaded.state), version: loaded.version, ..self.proposed(work, changes) }
    }
}

impl ProposedEdit {
    /// The effects, in the order in which they are applied.
    pub fn changes(&self) -> &[EditChange] {
        &self.changes
    }

    /// For a refresh: the differences between state and providers.
    pub fn drift(&self) -> &[Drift] {
        &self.drift
    }

    /// The state that the edit was planned on.
    pub fn base(&self) -> Option<&State> {
        self.base.as_deref()
    }

    /// Returns true if applying would change nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self.work, Work::Nothing)
    }

    /// Asks the guards whether the resources that the edit stops managing may be forgotten, and whether an import or a repair
    /// of state may lose what it would lose.
    pub fn permit(self) -> Result<PermittedEdit, OpError> {
        let (levels, pins) = (&self.workspace.levels, self.workspace.pins_in_force());
        let losses = match &self.review {
            Some(review) => review.permit(&self.forgets, levels, &pins)?,
            None => {
                permit_forgetting(self.forgets.iter().chain(&self.unreached), levels, &pins)?;
                Vec::new()
            }
        };
        Ok(PermittedEdit { edit: self, losses })
    }
}

/// An edit that no guard objects to, or whose losses the user accepts.
pub struct PermittedEdit {
    edit: ProposedEdit,
    losses: Vec<Loss>,
}

impl PermittedEdit {
    pub fn edit(&self) -> &ProposedEdit {
        &self.edit
    }

    /// The guarded records, marks and operations that the edit loses because the user accepts it.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
}
