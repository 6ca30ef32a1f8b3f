//! The fold: a snapshot plus journal records gives the state. Running and recovering both use it.
//!
//! Every record costs what it changes, never what the stack holds.

mod copies;
mod ties;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stead_model::{CopyRef, Lifecycle, Map, Name, OpId, PhysicalId, Resource, StackId, TypeToken, Uid};

use copies::Copies;

use crate::hash::HashMap;
use crate::{AfterDelete, Intent, Kept, Outcome, Pending, Record, Retained, Settlement, Snapshot, Transfers};

/// What is known of a stack, with the indexes that planning and running need.
#[derive(Clone, Debug)]
pub struct State {
    stack: StackId,
    pub(crate) uids: u64,
    next_op: OpId,
    outputs: Map,
    pub(crate) copies: HashMap<Uid, Copies>,
    pub(crate) names: HashMap<Name, Uid>,
    /// The names that current resources had.
    aliases: HashMap<Name, Uid>,
    /// For each resource, the copies that are tied to it by uid.
    tied: HashMap<Uid, BTreeSet<CopyRef>>,
    pub(crate) pending: BTreeMap<OpId, Pending>,
    pub(crate) transfers: Transfers,
    /// What still exists and is not managed any more.
    retained: BTreeMap<(TypeToken, PhysicalId), Retained>,
    pinfile: Option<BTreeSet<String>>,
}

/// The resources that a record changed.
pub(crate) type Touched = Vec<Uid>;

/// A record that cannot be applied: the journal is not one that this fold wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("the journal ends operation {0}, which it never began")]
    UnknownOperation(OpId),
    #[error("the journal begins operation {0} twice")]
    RepeatedOperation(OpId),
    #[error("the journal speaks of {0}, which does not exist")]
    UnknownCopy(CopyRef),
    #[error("the journal speaks of the transfer {0}, which is not under way")]
    UnknownTransfer(String),
    #[error("the journal changes {0}, which is leaving for another stack")]
    Departing(Uid),
    #[error("the journal counts further than any stack gets")]
    Counter,
    #[error("the name or the uid of {0} is taken")]
    Taken(Name),
    #[error("the journal adopts {0}, whose name or number is taken")]
    KnownAlready(CopyRef),
    #[error("operation {0} ended in a way that does not fit it")]
    OddOutcome(OpId),
    #[error("the journal gives the name {0} to a second resource")]
    NameTaken(Name),
}

impl From<Snapshot> for State {
    fn from(snapshot: Snapshot) -> State {
        let mut state = State {
            stack: snapshot.stack,
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
        };
        snapshot.resources.into_iter().for_each(|resource| state.place(resource));
        state
    }
}

impl State {
    pub fn stack(&self) -> &StackId {
        &self.stack
    }

    pub fn outputs(&self) -> &Map {
        &self.outputs
    }

    /// How many uids were given out; the next one is derived from this.
    pub fn uids(&self) -> u64 {
        self.uids
    }

    pub fn next_op(&self) -> OpId {
        self.next_op
    }

    /// The resource that holds the name now: live, or deleted and about to be made again.
    pub fn by_name(&self, name: &Name) -> Option<&Resource> {
        self.current(self.names.get(name)?)
    }

    /// The newest copy of a resource that is not condemned.
    pub fn current(&self, uid: &Uid) -> Option<&Resource> {
        let newest = self.copies.get(uid)?.values().next_back()?;
        (newest.lifecycle != Lifecycle::Condemned).then_some(newest)
    }

    pub fn copy(&self, copy: &CopyRef) -> Option<&Resource> {
        self.copies.get(&copy.uid)?.get(copy.generation)
    }

    /// The copy that a dependency means: that very one, or the current one once it is gone.
    pub fn resolve(&self, copy: &CopyRef) -> Option<&Resource> {
        self.copy(copy).or_else(|| self.current(&copy.uid))
    }

    /// All copies of one resource, oldest first.
    pub fn copies_of(&self, uid: &Uid) -> impl Iterator<Item = &Resource> {
        self.copies.get(uid).into_iter().flat_map(Copies::values)
    }

    /// How many resources there are, however many copies each has.
    pub fn len(&self) -> usize {
        self.copies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    pub(crate) fn holder(&self, name: &Name) -> Option<&Uid> {
        self.names.get(name)
    }

    /// The current resource that had the name before, if any did.
    pub fn formerly(&self, name: &Name) -> Option<&Uid> {
        self.aliases.get(name)
    }

    pub(crate) fn alias_holder(&self, name: &Name) -> Option<&Uid> {
        self.aliases.get(name)
    }

    pub(crate) fn operation(&self, op: OpId) -> Option<&Pending> {
        self.pending.get(&op)
    }

    /// All copies of all resources, in no order that means anything.
    pub fn copies(&self) -> impl Iterator<Item = &Resource> {
        self.copies.values().flat_map(Copies::values)
    }

    /// As `resources`, for a snapshot that shares them.
    fn shared(&self) -> Vec<Arc<Resource>> {
        let mut all: Vec<Arc<Resource>> = self.copies.values().flat_map(Copies::shared).cloned().collect();
        all.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        all
    }

    /// All copies of all resources, sorted by name, uid and generation.
    pub fn resources(&self) -> Vec<&Resource> {
        let mut all: Vec<&Resource> = self.copies().collect();
        all.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        all
    }

    pub fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.pending.values()
    }

    /// What is on its way to another stack, or came from one a moment ago.
    pub fn transfers(&self) -> &Transfers {
        &self.transfers
    }

    /// What still exists and is not managed any more, by type and id.
    pub fn retained(&self) -> impl Iterator<Item = &Retained> {
        self.retained.values()
    }

    /// The paths that the pinfile had at the end of the last run that went well; `None`: nobody ever said.
    pub fn pinfile(&self) -> Option<&BTreeSet<String>> {
        self.pinfile.as_ref()
    }

    /// The copies that are gone when that resource is deleted.
    pub fn inside(&self, uid: &Uid) -> impl Iterator<Item = &Resource> {
        let tied = self.tied.get(uid).into_iter().flatten().filter_map(|copy| self.copy(copy));
        tied.filter(|resource| resource.ties.deleted_with.as_ref() == Some(uid))
    }

    /// Something still exists and is not managed any more, unless a newer copy is the same thing.
    fn retain(&mut self, uid: &Uid, retained: Option<Retained>) {
        let managed = |id: &PhysicalId| self.current(uid).is_some_and(|newer| newer.id.as_ref() == Some(id));
        if let Some(retained) = retained.filter(|retained| !managed(&retained.id)) {
            self.retained.insert(key_of(&retained), retained);
        }
    }

    /// What an operation is about, for a message.
    pub fn subject(&self, intent: &Intent) -> Option<Name> {
        match intent {
            Intent::Create { resource, .. } | Intent::Update { resource, .. } => Some(resource.name.clone()),
            Intent::Delete { copy, .. } => self.copy(copy).map(|resource| resource.name.clone()),
        }
    }

    /// Whoever wrote the pending operations is gone: from now on nobody knows how they ended.
    pub fn orphan_pending(&mut self) {
        #[cfg(stead_planted)]
        if stead_model::planted::is("pending-dropped") {
            self.pending.clear();
        }
        for pending in self.pending.values_mut().filter(|pending| pending.doubt.is_none()) {
            pending.doubt = Some("the run stopped while it was under way".to_owned());
        }
    }

    pub fn snapshot(&self, run: Option<stead_model::RunId>) -> Snapshot {
        Snapshot {
            stack: self.stack.clone(),
            run,
            uids: self.uids,
            next_op: self.next_op,
            outputs: self.outputs.clone(),
            pending: self.pending.values().cloned().collect(),
            transfers: self.transfers.clone(),
            resources: self.shared(),
            retained: self.retained.values().cloned().collect(),
            pinfile: self.pinfile.clone(),
        }
    }

    pub fn apply(&mut self, record: &Record) -> Result<(), ReplayError> {
        self.fold(record, &mut Touched::new())
    }

    /// As `apply`, and adds the resources that it changed.
    pub(crate) fn fold(&mut self, record: &Record, touched: &mut Touched) -> Result<(), ReplayError> {
        self.check_not_departing(record)?;
        match record {
            #[cfg(stead_planted)]
            Record::Reserve { .. } if stead_model::planted::is("uid-counter-lost") => Ok(()),
            Record::Reserve { uids } => {
                self.uids = self.uids.max(*uids);
                Ok(())
            }
            Record::Begin { op, intent } => self.begin(*op, intent),
            Record::Resume { op } => {
                let pending = self.pending.get_mut(op).ok_or(ReplayError::UnknownOperation(*op))?;
                pending.doubt = None;
                Ok(())
            }
            Record::End { op, outcome } => self.end(*op, outcome, touched),
            Record::Settle { op, settlement } => self.settle(*op, settlement, touched),
            Record::Note { resource } => {
                self.existing(&resource.copy())?;
                self.insert(resource.as_ref().clone(), touched)
            }
            Record::Adopt { resource } => {
                if self.copy(&resource.copy()).is_some() || self.by_name(&resource.name).is_some() {
                    return Err(ReplayError::KnownAlready(resource.copy()));
                }
                self.insert(resource.as_ref().clone(), touched)
            }
            Record::Observed { copy, inputs, outputs } => self.observed(copy, inputs, outputs, touched),
            Record::Forget { copy, kept } => {
                let resource = self.existing(copy)?;
                let retained = kept.as_deref().and_then(|kept| retained(resource, kept));
                self.remove(copy, Ending::Forgotten, touched);
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
            Record::Seal { .. } => Ok(()),
        }
    }

    fn begin(&mut self, op: OpId, intent: &Intent) -> Result<(), ReplayError> {
        if op < self.next_op {
            return Err(ReplayError::RepeatedOperation(op));
        }
        if !matches!(intent, Intent::Create { .. }) {
            self.existing(&intent.copy())?;
        }
        self.next_op = OpId(op.0.checked_add(1).ok_or(ReplayError::Counter)?);
        self.pending.insert(op, Pending { op, intent: intent.clone(), doubt: None });
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
            (Intent::Create { mut resource, .. }, Outcome::Created { id, outputs }) => {
                resource.id = Some(id.clone());
                resource.outputs.clone_from(outputs);
                self.replace_older(&resource.uid);
                self.insert(*resource, touched)
            }
            (Intent::Update { mut resource, .. }, Outcome::Updated { outputs }) => {
                resource.outputs.clone_from(outputs);
                self.insert(*resource, touched)
            }
            (Intent::Delete { copy, after, .. }, Outcome::Deleted) => {
                self.deleted(&copy, after, touched);
                Ok(())
            }
            _ => Err(ReplayError::OddOutcome(op)),
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
                Outcome::Created { id: id.clone(), outputs: outputs.clone() }
            }
            (Settlement::Happened { outputs, .. }, Intent::Update { .. }) => {
                Outcome::Updated { outputs: outputs.clone() }
            }
            (Settlement::Happened { .. }, Intent::Delete { .. }) => Outcome::Deleted,
            (Settlement::Happened { id: None, .. }, Intent::Create { .. }) => {
                return Err(ReplayError::OddOutcome(op));
            }
        };
        self.end(op, &outcome, touched)
    }

    fn observed(
        &mut self,
        copy: &CopyRef,
        inputs: &Option<Map>,
        outputs: &Option<Map>,
        touched: &mut Touched,
    ) -> Result<(), ReplayError> {
        let mut resource = self.existing(copy)?.clone();
        match (inputs, outputs) {
            (None, None) => {
                self.deleted(copy, AfterDelete::Replacing, touched);
                Ok(())
            }
            (inputs, outputs) => {
                resource.inputs = inputs.clone().unwrap_or(resource.inputs);
                resource.outputs = outputs.clone().unwrap_or(resource.outputs);
                self.insert(resource, touched)
            }
        }
    }

    fn existing(&self, copy: &CopyRef) -> Result<&Resource, ReplayError> {
        self.copy(copy).ok_or_else(|| ReplayError::UnknownCopy(copy.clone()))
    }

    /// Older copies give way: one that still exists is condemned, one that is deleted already goes.
    fn replace_older(&mut self, uid: &Uid) {
        let older: Vec<CopyRef> = self.copies_of(uid).map(Resource::copy).collect();
        for copy in older {
            if let Some(resource) = self.lift(&copy)
                && resource.lifecycle != Lifecycle::Replacing
            {
                #[cfg(stead_planted)]
                if stead_model::planted::is("condemned-dropped-early") {
                    continue;
                }
                self.place(Resource { lifecycle: Lifecycle::Condemned, ..resource });
            }
        }
    }

    fn deleted(&mut self, copy: &CopyRef, after: AfterDelete, touched: &mut Touched) {
        let condemned = self.copy(copy).is_some_and(|found| found.lifecycle == Lifecycle::Condemned);
        match after {
            // Something else has taken the place of a condemned copy; it is not made again.
            AfterDelete::Replacing if condemned => self.remove(copy, Ending::Deleted, touched),
            AfterDelete::Gone => self.remove(copy, Ending::Deleted, touched),
            AfterDelete::Replacing => {
                if let Some(resource) = self.lift(copy) {
                    self.place(Resource { lifecycle: Lifecycle::Replacing, id: None, ..resource });
                    touched.push(copy.uid.clone());
                }
            }
        }
    }
}

fn key_of(retained: &Retained) -> (TypeToken, PhysicalId) {
    (retained.resource.clone(), retained.id.clone())
}

fn retained(resource: &Resource, kept: &Kept) -> Option<Retained> {
    let (name, id) = (resource.name.clone(), resource.id.clone()?);
    Some(Retained { name, resource: resource.ty.clone(), id, kept: kept.clone() })
}

/// How the record of a copy comes to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The real thing is gone.
    Deleted,
    /// The real thing may be there still.
    Forgotten,
}

#[cfg(test)]
mod tests;
