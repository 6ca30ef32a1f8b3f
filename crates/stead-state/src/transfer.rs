//! Resources on their way from one stack to another: in one of the two at every moment, never in both.
//!
//! The source notes the departure, the target the arrival, the source that they are gone. The arrival decides:
//! before it they belong to the source, which may not touch them; after it to the target alone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stead_model::{CopyRef, Generation, Name, Resource, Uid};

use crate::state::{Ending, Touched};
use crate::{Record, ReplayError, State};

/// A stack, as another stack of the same project names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StackRef {
    pub environment: String,
    pub target: String,
}

/// Resources that are leaving, with all their copies. Nothing may be done to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// Drawn for this one transfer; it never repeats.
    pub transfer: String,
    pub to: StackRef,
    pub uids: Vec<Uid>,
}

/// A transfer that arrived, kept until the source knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    pub transfer: String,
    pub from: StackRef,
}

/// The transfers that are not finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
    /// Refuses what would touch a resource that is leaving.
    pub(crate) fn check_not_departing(&self, record: &Record) -> Result<(), ReplayError> {
        if self.transfers.departing.is_empty() {
            return Ok(());
        }
        let uid = match record {
            Record::Begin { intent, .. } => intent.copy().uid,
            Record::Note { resource } => resource.uid.clone(),
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
            let busy = self.pending.values().any(|pending| pending.intent.copy().uid == *uid);
            if busy || self.transfers.is_departing(uid) {
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
            return Err(ReplayError::Taken(resource.name.clone()));
        }
        let uids: BTreeSet<&Uid> = resources.iter().map(|resource| &resource.uid).collect();
        self.uids = self.uids.checked_add(uids.len() as u64).ok_or(ReplayError::Counter)?;
        // All at once: they may be tied to each other in any order.
        for resource in resources {
            self.place(resource.clone());
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
                self.remove(&CopyRef { uid: uid.clone(), generation }, Ending::Forgotten, touched);
            }
        }
        Ok(())
    }

    pub(crate) fn stayed(&mut self, transfer: &str) -> Result<(), ReplayError> {
        self.transfers.take_departure(transfer).map(|_| ())
    }

    /// The source knows; the mark has told what it had to tell.
    pub(crate) fn acknowledge(&mut self, transfer: &str) {
        self.transfers.arrived.retain(|arrival| arrival.transfer != transfer);
    }
}

#[cfg(test)]
mod tests;
