//! The decision on all deletions of a plan.
//!
//! A resource with prevent-delete is neither deleted, replaced nor forgotten, for any cause. A resource with deletion
//! policy retain is not deleted together with its container, and is not replaced while it keeps the name that its
//! replacement needs.
//!
//! Marks in force now and marks recorded in state both count, and the more restrictive one applies. Unprotecting a
//! resource and deleting it therefore takes two runs.

mod permit;
mod pin_refusal;
mod refusal;

use serde::Serialize;
use stead_model::{CopyRef, Marks, Name, Resource};

use crate::pins::{Declared, PinVerdict, PinfileStatus, pin_verdict};
pub use permit::{DeletePermit, Permits};
use refusal::SetBy;
pub use refusal::{Refusal, forget_refusal};

/// Why a plan deletes a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "cause")]
pub enum Cause {
    /// The program no longer declares the resource.
    Removed,
    /// The user asked to destroy the stack.
    Destroyed,
    /// A change, of this resource or another one, requires a replacement.
    Replaced { because: String },
    /// An earlier run replaced the copy and ended before deleting it.
    LeftOver,
}

/// What a deletion does to the real resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "fate")]
pub enum DeletionEffect {
    Deleted,
    /// The resource stays, because of its deletion policy, and its record is removed.
    Forgotten,
    /// The resource is deleted because its container is deleted.
    #[serde(rename = "gone_with")]
    DeletedWithContainer {
        name: Name,
    },
    /// The resource stays, because of its deletion policy, and keeps the name that its replacement needs.
    #[serde(rename = "in_the_way")]
    RetainedNameConflict,
}

/// A deletion that a plan or a recovery asks for.
pub struct Deletion<'a> {
    pub resource: &'a Resource,
    /// The marks in force now, from the program and the levels around it.
    pub current_marks: Marks,
    pub cause: Cause,
    pub effect: DeletionEffect,
    /// Whether the program pins the resource now.
    pub declared_pin: Declared,
}

impl Deletion<'_> {
    /// Decides whether a pin forbids the deletion.
    pub fn pin_verdict(&self, pinfile: &PinfileStatus) -> PinVerdict {
        pin_verdict(self.resource, self.declared_pin, pinfile)
    }
}

/// The mark because of which a deletion is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    PreventDelete,
    Retain,
    Pinned(PinVerdict),
}

/// Permits all deletions of a plan, or returns the refused ones.
///
/// A permitted deletion with a container has a permit of its own, for the case that the container stays.
pub fn decide(deletions: &[Deletion<'_>], pinfile: &PinfileStatus) -> Result<Permits, Vec<Refusal>> {
    let refused: Vec<Refusal> =
        deletions.iter().filter_map(|deletion| refusal(deletion, deletion.pin_verdict(pinfile))).collect();
    let deleted = deletions.iter().filter(|deletion| {
        matches!(deletion.effect, DeletionEffect::Deleted | DeletionEffect::DeletedWithContainer { .. })
    });
    if refused.is_empty() { Ok(Permits::of(deleted.map(copy))) } else { Err(refused) }
}

fn copy(deletion: &Deletion<'_>) -> CopyRef {
    deletion.resource.copy()
}

pub(crate) fn refusal(deletion: &Deletion<'_>, pin: PinVerdict) -> Option<Refusal> {
    let Deletion { resource, current_marks, cause, effect, .. } = deletion;
    let recorded = resource.prevents_deletion();
    let (mark, set_by) = match effect {
        _ if recorded || current_marks.prevents_deletion() => {
            (Mark::PreventDelete, SetBy::prevention(resource, current_marks))
        }
        _ if pin != PinVerdict::Free => (Mark::Pinned(pin), Some(SetBy::pin(resource))),
        DeletionEffect::RetainedNameConflict | DeletionEffect::DeletedWithContainer { .. } => {
            (Mark::Retain, SetBy::retention(resource, current_marks))
        }
        DeletionEffect::Deleted | DeletionEffect::Forgotten => return None,
    };
    Some(Refusal {
        name: resource.name.clone(),
        source: resource.source.clone(),
        cause: cause.clone(),
        effect: effect.clone(),
        mark,
        set_by: set_by?,
        resource: resource.ty.clone(),
    })
}

#[cfg(test)]
pub(crate) mod tests;
