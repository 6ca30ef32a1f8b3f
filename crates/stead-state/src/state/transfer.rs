//! Transfers of resources from one stack to another.
//!
//! The source records the departure, then the target the arrival, then the source the removal. **Invariant:** a resource
//! belongs to exactly one of the two stacks at every moment. Until the arrival is recorded that is the source, which may
//! not change the resource meanwhile; from then on it is the target.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stead_model::{CopyRef, Generation, Name, Resource, Uid};

use super::{Removal, ReplayError, State, Touched};
use crate::Record;

/// A stack of the same project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackRef {
    pub environment: String,
    pub target: String,
}

/// Resources that leave the stack with all their copies. No other record may change them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Departure {
    /// The unique id of the transfer.
    pub transfer: String,
    pub to: StackRef,
    pub uids: Vec<Uid>,
}

/// A transfer that has arrived. The target keeps the mark until the source has recorded the removal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrival {
    pub transfer: String,
    pub from: StackRef,
}

/// The unfinished transfers of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Transfers {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub departing: Vec<Departure>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrived: Vec<Arrival>,
}

impl Transfers {
    pub fn is_empty(&self) -> bool {
        *self == Transfers::default()
    }

    pub fn has_arrived(&self, transfer: &str) -> bool {
        self.arrived.iter().any(|arrival| arrival.transfer == transfer)
    }

    pub fn is_departing(&self, uid: &Uid) -> bool {
        self.departing.iter().any(|departure| departure.uids.contains(uid))
    }

    fn take_departure(&mut self, transfer: &str) -> Result<Departure, ReplayError> {
        let at = self.departing.iter().position(|departure| departure.transfer == transfer);
        let at = at.ok_or_else(|| ReplayError::UnknownTransfer(transfer.to_owned()))?;
        Ok(self.departing.remove(at))
    }
}

impl State {
    /// Refuses a record that changes a departing resource.
    pub(crate) fn check_not_departing(&self, record: &Record) -> Result<(), ReplayError> {
        if self.transfers.departing.is_empty() {
            return Ok(());
        }
        let uid = match record {
            Record::Begin { intent, .. } => intent.copy().uid,
            Record::Amend { resource } => resource.uid.clone(),
            Record::Observed { copy, .. } | Record::Forget { copy, .. } => copy.uid.clone(),
            _ => return Ok(()),
        };
        if self.transfers.is_departing(&uid) { Err(ReplayError::Departing(uid)) } else { Ok(()) }
    }

    pub(crate) fn depart(&mut self, departure: &Departure) -> Result<(), ReplayError> {
        for uid in &departure.uids {
            if !self.copies.contains_key(uid) {
                let copy = CopyRef { uid: uid.clone(), generation: Generation(0) };
                return Err(ReplayError::UnknownCopy(copy));
            }
            let has_pending = self.pending.values().any(|pending| pending.intent.copy().uid == *uid);
            if has_pending || self.transfers.is_departing(uid) {
                return Err(ReplayError::Departing(uid.clone()));
            }
        }
        self.transfers.departing.push(departure.clone());
        Ok(())
    }

    pub(crate) fn arrive(
        &mut self,
        arrival: &Arrival,
        resources: &[Resource],
        touched: &mut Touched,
    ) -> Result<(), ReplayError> {
        if self.transfers.has_arrived(&arrival.transfer) {
            return Err(ReplayError::UnknownTransfer(arrival.transfer.clone()));
        }
        let taken = |name: &Name| self.names.contains_key(name);
        if let Some(resource) =
            resources.iter().find(|new| self.copies.contains_key(&new.uid) || taken(&new.name))
        {
            return Err(ReplayError::NameOrUidTaken(resource.name.clone()));
        }
        let uids: BTreeSet<&Uid> = resources.iter().map(|resource| &resource.uid).collect();
        self.uids = self.uids.checked_add(uids.len() as u64).ok_or(ReplayError::Counter)?;
        // `write` and not `insert`, which would drop ties to resources that are added later in this loop.
        for resource in resources {
            self.write(resource.clone());
            touched.push(resource.uid.clone());
        }
        self.transfers.arrived.push(arrival.clone());
        Ok(())
    }

    pub(crate) fn departed(&mut self, transfer: &str, touched: &mut Touched) -> Result<(), ReplayError> {
        for uid in self.transfers.take_departure(transfer)?.uids {
            let generations: Vec<Generation> =
                self.copies.get(&uid).map(|copies| copies.generations().collect()).unwrap_or_default();
            for generation in generations {
                self.remove(&CopyRef { uid: uid.clone(), generation }, Removal::Forgotten, touched);
            }
        }
        Ok(())
    }

    pub(crate) fn stayed(&mut self, transfer: &str) -> Result<(), ReplayError> {
        self.transfers.take_departure(transfer).map(|_| ())
    }

    /// Removes the mark of an arrival.
    pub(crate) fn acknowledge(&mut self, transfer: &str) {
        self.transfers.arrived.retain(|arrival| arrival.transfer != transfer);
    }
}

#[cfg(test)]
mod tests;
