//! Prevent-delete: what carries the mark is neither deleted, replaced nor forgotten, whatever the cause.
//! Retain: what carries it does not go with another, and does not stand in its replacement's way.
//!
//! What holds today and what is recorded in state both count, and the safer one holds: to unprotect and to destroy
//! are two runs.

use serde::Serialize;
use stead_model::{CopyRef, Marks, Name, Resource};

use crate::Permits;
use crate::pins::Hold;
use crate::refusal::{Refusal, SetBy};

/// Why a copy would be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "cause")]
pub enum Cause {
    /// The program no longer declares it.
    Removed,
    /// `stead destroy` asked for it.
    Destroyed,
    /// A change that cannot be made in place, its own or that of another one.
    Replaced { because: String },
    /// An earlier run replaced it and did not get to delete the old copy.
    LeftOver,
}

/// What becomes of the real thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "fate")]
pub enum Fate {
    Deleted,
    /// It stays; its deletion policy says so.
    Forgotten,
    /// It goes because what it is in is deleted.
    GoneWith {
        name: Name,
    },
    /// It stays, where its replacement has to be.
    InTheWay,
}

/// A deletion that a plan or a recovery wants.
pub struct Deletion<'a> {
    pub resource: &'a Resource,
    /// What holds by the program and what is around it, as they are now.
    pub today: Marks,
    pub cause: Cause,
    pub fate: Fate,
    /// What a pin says to it.
    pub pin: Hold,
}

/// The mark that stands against a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    PreventDelete,
    Retain,
    Pinned(Hold),
}

/// All deletions are allowed, or none is.
pub fn decide(deletions: &[Deletion<'_>]) -> Result<Permits, Vec<Refusal>> {
    let refused: Vec<Refusal> = deletions.iter().filter_map(refusal).collect();
    let deleted = deletions.iter().filter(|deletion| deletion.fate == Fate::Deleted);
    if refused.is_empty() { Ok(Permits::of(deleted.map(copy))) } else { Err(refused) }
}

fn copy(deletion: &Deletion<'_>) -> CopyRef {
    deletion.resource.copy()
}

fn refusal(deletion: &Deletion<'_>) -> Option<Refusal> {
    let Deletion { resource, today, cause, fate, pin } = deletion;
    let recorded = resource.prevents_deletion();
    #[cfg(stead_planted)]
    let recorded = recorded && !stead_model::planted::is("mark-from-program-only");
    let (mark, set_by) = match fate {
        _ if recorded || today.prevents_deletion() => {
            (Mark::PreventDelete, SetBy::prevention(resource, today))
        }
        _ if *pin != Hold::Free => (Mark::Pinned(*pin), Some(SetBy::pin(resource))),
        Fate::InTheWay | Fate::GoneWith { .. } => (Mark::Retain, SetBy::retention(resource, today)),
        Fate::Deleted | Fate::Forgotten => return None,
    };
    Some(Refusal {
        name: resource.name.clone(),
        source: resource.source.clone(),
        cause: cause.clone(),
        fate: fate.clone(),
        mark,
        set_by: set_by?,
        resource: resource.ty.clone(),
    })
}

#[cfg(test)]
pub(crate) mod tests;
