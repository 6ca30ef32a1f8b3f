//! The state of a stack: a snapshot with journal records folded over it. A run and its recovery use the same fold.
//!
//! Folding a record takes time in proportion to what the record changes, not to the size of the stack.

mod copies;
mod extent;
mod relocate;
mod retained;
mod ties;
mod transfer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stead_model::{
    CopyRef, Keyring, Lifecycle, Map, Name, OpId, PhysicalId, ProviderPlaces, Resource, StackId, TypeToken,
    Uid,
};

use copies::Copies;
pub use extent::extent;
pub(crate) use extent::extent_of;
pub use relocate::{OutsideLinks, relocated};
pub use retained::{RetainReason, Retained};
pub use transfer::{Arrival, Departure, StackRef, Transfers};

use crate::hash::HashMap;
use crate::{AfterDelete, Intent, Outcome, Pending, Record, Settlement, Snapshot};

/// The recorded resources of a stack, with the indexes that planning and running need.
#[derive(Clone, Debug)]
pub struct State {
    stack: StackId,
    /// Number of records folded so far; see [`State::serial`].
    pub(crate) serial: u64,
    pub(crate) uids: u64,
    next_op: OpId,
    outputs: Map,
    pub(crate) copies: HashMap<Uid, Copies>,
    pub(crate) names: HashMap<Name, Uid>,
    /// The former names of current resources.
    aliases: HashMap<Name, Uid>,
    /// For each resource, the copies whose ties refer to it by uid.
    tied: HashMap<Uid, BTreeSet<CopyRef>>,
    pub(crate) pending: BTreeMap<OpId, Pending>,
    pub(crate) transfers: Transfers,
    retained: BTreeMap<(TypeToken, PhysicalId), Retained>,
    pinfile: Option<BTreeSet<String>>,
    keyring: Keyring,
    places: ProviderPlaces,
}

/// The resources that a record changed, with repetitions.
pub(crate) type Touched = Vec<Uid>;

/// Why a record cannot be folded. A journal that this crate wrote never causes one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("the journal ends or continues operation {0}, which is not pending")]
    UnknownOperation(OpId),
    #[error("the journal begins operation {0} twice")]
    RepeatedOperation(OpId),
    #[error("the journal refers to {0}, which does not exist")]
    UnknownCopy(CopyRef),
    #[error("the journal refers to the transfer {0}, which is not in progress")]
    UnknownTransfer(String),
    #[error("the journal changes {0}, which is moving to another stack")]
    Departing(Uid),
    #[error("a counter of the journal is out of range")]
    Counter,
    #[error("the name or the uid of {0} is taken")]
    NameOrUidTaken(Name),
    #[error("the journal adopts {0}, whose name or copy number is taken")]
    AlreadyRecorded(CopyRef),
    #[error("the outcome of operation {0} does not match its kind")]
    OutcomeMismatch(OpId),
    #[error("the journal gives the name {0} to a second resource")]
    NameTaken(Name),
}

impl From<Snapshot> for State {
    fn from(snapshot: Snapshot) -> State {
        let mut state = State {
            stack: snapshot.stack,
            serial: snapshot.serial,
            uids: snapshot.uids,
            next_op: snapshot.next_op,
            outputs: snapshot.outputs,
            copies: HashMap::with_capacity_and_hasher(snapshot.resources.len(), Default::default()),
            names: HashMap::with_capacity_and_hasher(snapshot.resources.len(), Default::default()),
            aliases: HashMap::default(),
            tied: HashMap::default(),
            pending: snapshot.pending.into_iter().map(|pending| (pending.op, pending)).collect(),
            transfers: snapshot.transfers,
            retained: snapshot.retained.into_iter().map(|retained| (key_of(&retained), retained)).collect(),
            pinfile: snapshot.pinfile,
            keyring: snapshot.keyring,
            places: snapshot.places,
        };
        snapshot.resources.into_iter().for_each(|resource| state.put(resource));
        state
    }
}

impl State {
    pub fn stack(&self) -> &StackId {
        &self.stack
    }

    /// Returns the serial of the stack: the number of journal records that led to this state.
    ///
    /// Of two states of one stack, the one with the higher serial is newer. A record's `version` is the serial at
    /// its last change.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    pub fn outputs(&self) -> &Map {
        &self.outputs
    }

    /// Returns the number of uids allocated so far; the next uid is derived from it.
    pub fn uids(&self) -> u64 {
        self.uids
    }

    pub fn next_op(&self) -> OpId {
        self.next_op
    }

    /// Returns the current copy of the resource with this name: live, or deleted and about to be created again.
    pub fn by_name(&self, name: &Name) -> Option<&Resource> {
        self.current(self.names.get(name)?)
    }

    /// Returns the newest copy of a resource unless that copy is condemned.
    pub fn current(&self, uid: &Uid) -> Option<&Resource> {
        let newest = self.copies.get(uid)?.values().next_back()?;
        (newest.lifecycle != Lifecycle::Condemned).then_some(newest)
    }

    pub fn copy(&self, copy: &CopyRef) -> Option<&Resource> {
        self.copies.get(&copy.uid)?.get(copy.generation)
    }

    /// Returns the copy that a dependency refers to: the named copy, or the current one if the named copy is gone.
    pub fn resolve(&self, copy: &CopyRef) -> Option<&Resource> {
        self.copy(copy).or_else(|| self.current(&copy.uid))
    }

    /// Returns all copies of one resource, oldest first.
    pub fn copies_of(&self, uid: &Uid) -> impl Iterator<Item = &Resource> {
        self.copies.get(uid).into_iter().flat_map(Copies::values)
    }

    /// Returns the number of resources. The copies of one resource count as one.
    pub fn len(&self) -> usize {
        self.copies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    pub(crate) fn holder(&self, name: &Name) -> Option<&Uid> {
        self.names.get(name)
    }

    /// Returns the current resource that has the name among its aliases.
    pub fn by_former_name(&self, name: &Name) -> Option<&Uid> {
        self.aliases.get(name)
    }

    pub(crate) fn operation(&self, op: OpId) -> Option<&Pending> {
        self.pending.get(&op)
    }

    /// Returns all copies of all resources, in an unspecified order.
    pub fn copies(&self) -> impl Iterator<Item = &Resource> {
        self.copies.values().flat_map(Copies::values)
    }

    /// Returns the same copies as [`resources`](State::resources), shared.
    fn shared(&self) -> Vec<Arc<Resource>> {
        let mut all: Vec<Arc<Resource>> = self.copies.values().flat_map(Copies::shared).cloned().collect();
        all.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        all
    }

    /// Returns all copies of all resources, sorted by name, uid and generation.
    pub fn resources(&self) -> Vec<&Resource> {
        let mut all: Vec<&Resource> = self.copies().collect();
        all.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        all
    }

    pub fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.pending.values()
    }

    /// Returns the transfers to and from other stacks that are not finished.
    pub fn transfers(&self) -> &Transfers {
        &self.transfers
    }

    /// Returns the real resources that the stack no longer manages, sorted by type and id.
    pub fn retained(&self) -> impl Iterator<Item = &Retained> {
        self.retained.values()
    }

    /// Returns the paths in the pinfile after the last successful run; `None` if no run recorded them.
    pub fn pinfile(&self) -> Option<&BTreeSet<String>> {
        self.pinfile.as_ref()
    }

    /// Returns the wrapped data keys of the stack; empty before its first secret.
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// Returns the places where the default providers keep resources of the stack.
    pub fn places(&self) -> &ProviderPlaces {
        &self.places
    }

    /// Returns the copies that are deleted together with a resource, because of their tie `deletedWith`.
    pub fn deleted_with(&self, uid: &Uid) -> impl Iterator<Item = &Resource> {
        let tied = self.tied.get(uid).into_iter().flatten().filter_map(|copy| self.copy(copy));
        tied.filter(|resource| resource.ties.deleted_with.as_ref() == Some(uid))
    }

    /// Lists a resource as retained unless the current copy of `uid` has the same id.
    fn retain(&mut self, uid: &Uid, retained: Option<Retained>) {
        let managed = |id: &PhysicalId| self.current(uid).is_some_and(|newer| newer.id.as_ref() == Some(id));
        if let Some(retained) = retained.filter(|retained| !managed(&retained.id)) {
            self.retained.insert(key_of(&retained), retained);
        }
    }

    /// Returns the name of the resource that an operation is about, for a message.
    pub fn subject(&self, intent: &Intent) -> Option<Name> {
        match intent {
            Intent::Create { resource, .. } | Intent::Update { resource, .. } => Some(resource.name.clone()),
            Intent::Delete { copy, .. } => self.copy(copy).map(|resource| resource.name.clone()),
        }
    }

    /// Marks all pending operations as in doubt, because the run that began them has ended.
    pub fn mark_pending_in_doubt(&mut self) {
        for pending in self.pending.values_mut().filter(|pending| pending.doubt.is_none()) {
            pending.doubt = Some("the run stopped while it was under way".to_owned());
        }
    }

    pub fn snapshot(&self, run: Option<stead_model::RunId>) -> Snapshot {
        Snapshot {
            stack: self.stack.clone(),
            run,
            serial: self.serial,
            uids: self.uids,
            next_op: self.next_op,
            outputs: self.outputs.clone(),
            pending: self.pending.values().cloned().collect(),
            transfers: self.transfers.clone(),
            resources: self.shared(),
            retained: self.retained.values().cloned().collect(),
            pinfile: self.pinfile.clone(),
            keyring: self.keyring.clone(),
            places: self.places.clone(),
        }
    }

    /// Folds one journal record into the state.
    pub fn apply(&mut self, record: &Record) -> Result<(), ReplayError> {
        self.fold(record, &mut Touched::new())
    }

    /// Folds one journal record into the state and appends the resources that it changed to `touched`.
    pub(crate) fn fold(&mut self, record: &Record, touched: &mut Touched) -> Result<(), ReplayError> {
        let before = self.serial;
        if !matches!(record, Record::Seal { .. }) {
            self.serial = before.checked_add(1).ok_or(ReplayError::Counter)?;
        }
        self.fold_numbered(record, touched).inspect_err(|_| self.serial = before)
    }

    /// Folds a record whose serial is set.
    fn fold_numbered(&mut self, record: &Record, touched: &mut Touched) -> Result<(), ReplayError> {
        self.check_not_departing(record)?;
        match record {
            Record::Reserve { uids } => {
                self.uids = self.uids.max(*uids);
                Ok(())
            }
            Record::Begin { op, intent, at } => self.begin(*op, intent, *at),
            Record::Resume { op } => {
                let pending = self.pending.get_mut(op).ok_or(ReplayError::UnknownOperation(*op))?;
                pending.doubt = None;
                Ok(())
            }
            Record::Progress { op, token } => {
                let pending = self.pending.get_mut(op).ok_or(ReplayError::UnknownOperation(*op))?;
                pending.token = Some(token.clone());
                Ok(())
            }
            Record::End { op, outcome } => self.end(*op, outcome, touched),
            Record::Settle { op, settlement } => self.settle(*op, settlement, touched),
            Record::Amend { resource } => {
                self.existing(&resource.copy())?;
                self.insert(resource.as_ref().clone(), touched)
            }
            Record::Adopt { resource } => {
                if self.copy(&resource.copy()).is_some() || self.by_name(&resource.name).is_some() {
                    return Err(ReplayError::AlreadyRecorded(resource.copy()));
                }
                self.insert(resource.as_ref().clone(), touched)
            }
            Record::Observed { copy, inputs: None, outputs: None, .. } => {
                self.existing(copy)?;
                self.deleted(copy, AfterDelete::Replacing, touched);
                Ok(())
            }
            Record::Observed { copy, inputs, outputs, provider_data } => {
                let mut resource = self.existing(copy)?.clone();
                resource.inputs = inputs.clone().unwrap_or(resource.inputs);
                resource.outputs = outputs.clone().unwrap_or(resource.outputs);
                resource.provider_data = provider_data.clone().or(resource.provider_data);
                self.insert(resource, touched)
            }
            Record::Forget { copy, kept } => {
                let resource = self.existing(copy)?;
                let retained = kept.as_deref().and_then(|reason| retained(resource, reason));
                self.remove(copy, Removal::Forgotten, touched);
                self.retain(&copy.uid, retained);
                Ok(())
            }
            Record::Depart { departure } => self.depart(departure),
            Record::Arrive { arrival, resources } => self.arrive(arrival, resources, touched),
            Record::Departed { transfer } => self.departed(transfer, touched),
            Record::Stayed { transfer } => self.stayed(transfer),
            Record::Acknowledge { transfer } => {
                self.acknowledge(transfer);
                Ok(())
            }
            Record::Outputs { outputs } => {
                self.outputs.clone_from(outputs);
                Ok(())
            }
            Record::Pinfile { paths } => {
                self.pinfile = Some(paths.clone());
                Ok(())
            }
            Record::Keys { keyring } => {
                self.keyring.clone_from(keyring);
                Ok(())
            }
            Record::Places { places } => {
                self.places.clone_from(places);
                Ok(())
            }
            Record::Seal { .. } => Ok(()),
        }
    }

    fn begin(&mut self, op: OpId, intent: &Intent, at: Option<u64>) -> Result<(), ReplayError> {
        if op < self.next_op {
            return Err(ReplayError::RepeatedOperation(op));
        }
        if !matches!(intent, Intent::Create { .. }) {
            self.existing(&intent.copy())?;
        }
        self.next_op = OpId(op.0.checked_add(1).ok_or(ReplayError::Counter)?);
        self.pending.insert(op, Pending { at, ..Pending::new(op, intent.clone()) });
        Ok(())
    }

    fn end(&mut self, op: OpId, outcome: &Outcome, touched: &mut Touched) -> Result<(), ReplayError> {
        if let Outcome::InDoubt { message } = outcome {
            let pending = self.pending.get_mut(&op).ok_or(ReplayError::UnknownOperation(op))?;
            pending.doubt = Some(message.clone());
            return Ok(());
        }
        let Pending { intent, .. } = self.pending.remove(&op).ok_or(ReplayError::UnknownOperation(op))?;
        match (intent, outcome) {
            (_, Outcome::Failed { .. }) => Ok(()),
            (Intent::Create { mut resource, .. }, Outcome::Created { id, outputs, provider_data }) => {
                resource.id = Some(id.clone());
                resource.outputs.clone_from(outputs);
                resource.provider_data = provider_data.clone().or(resource.provider_data);
                self.replace_older(&resource.uid);
                self.insert(*resource, touched)
            }
            (Intent::Update { mut resource, .. }, Outcome::Updated { outputs, provider_data }) => {
                resource.outputs.clone_from(outputs);
                resource.provider_data = provider_data.clone().or(resource.provider_data);
                self.insert(*resource, touched)
            }
            (Intent::Delete { copy, after, .. }, Outcome::Deleted) => {
                self.deleted(&copy, after, touched);
                Ok(())
            }
            _ => Err(ReplayError::OutcomeMismatch(op)),
        }
    }

    fn settle(
        &mut self,
        op: OpId,
        settlement: &Settlement,
        touched: &mut Touched,
    ) -> Result<(), ReplayError> {
        let pending = self.pending.get(&op).ok_or(ReplayError::UnknownOperation(op))?;
        let outcome = match (settlement, &pending.intent) {
            (Settlement::DidNotHappen, _) => Outcome::Failed { message: String::new() },
            (Settlement::Happened { id: Some(id), outputs }, Intent::Create { .. }) => {
                Outcome::created(id.clone(), outputs.clone())
            }
            (Settlement::Happened { outputs, .. }, Intent::Update { .. }) => {
                Outcome::updated(outputs.clone())
            }
            (Settlement::Happened { .. }, Intent::Delete { .. }) => Outcome::Deleted,
            (Settlement::Happened { id: None, .. }, Intent::Create { .. }) => {
                return Err(ReplayError::OutcomeMismatch(op));
            }
        };
        self.end(op, &outcome, touched)
    }

    fn existing(&self, copy: &CopyRef) -> Result<&Resource, ReplayError> {
        self.copy(copy).ok_or_else(|| ReplayError::UnknownCopy(copy.clone()))
    }

    /// Condemns the older copies of a resource. A copy that is already deleted is removed.
    fn replace_older(&mut self, uid: &Uid) {
        let older: Vec<CopyRef> = self.copies_of(uid).map(Resource::copy).collect();
        for copy in older {
            if let Some(resource) = self.take_out(&copy)
                && resource.lifecycle != Lifecycle::Replacing
            {
                self.write(Resource { lifecycle: Lifecycle::Condemned, ..resource });
            }
        }
    }

    fn deleted(&mut self, copy: &CopyRef, after: AfterDelete, touched: &mut Touched) {
        let condemned = self.copy(copy).is_some_and(|found| found.lifecycle == Lifecycle::Condemned);
        match after {
            // A condemned copy has a successor and is not created again.
            AfterDelete::Replacing if condemned => self.remove(copy, Removal::Deleted, touched),
            AfterDelete::Gone => self.remove(copy, Removal::Deleted, touched),
            AfterDelete::Replacing => {
                if let Some(resource) = self.take_out(copy) {
                    self.write(Resource { lifecycle: Lifecycle::Replacing, id: None, ..resource });
                    touched.push(copy.uid.clone());
                }
            }
        }
    }
}

fn key_of(retained: &Retained) -> (TypeToken, PhysicalId) {
    (retained.resource.clone(), retained.id.clone())
}

fn retained(resource: &Resource, reason: &RetainReason) -> Option<Retained> {
    let (name, id) = (resource.name.clone(), resource.id.clone()?);
    Some(Retained { name, resource: resource.ty.clone(), id, reason: reason.clone() })
}

/// Why the record of a copy is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// The real resource was deleted.
    Deleted,
    /// The real resource may still exist.
    Forgotten,
}

#[cfg(test)]
mod tests;
