//! The token that a provider's `delete` requires.

use std::collections::{HashMap, HashSet};

use stead_model::CopyRef;

/// Proof that the guards permit the deletion of one copy.
///
/// It cannot be cloned, and the provider call consumes it.
#[derive(Debug)]
pub struct DeletePermit {
    copy: CopyRef,
}

impl DeletePermit {
    pub fn copy(&self) -> &CopyRef {
        &self.copy
    }
}

/// The permits of one plan. Each can be taken once, and again for another attempt.
#[derive(Debug, Default)]
pub struct Permits {
    by_copy: HashMap<CopyRef, DeletePermit>,
    taken: HashSet<CopyRef>,
}

impl Permits {
    pub(crate) fn of(copies: impl Iterator<Item = CopyRef>) -> Permits {
        let by_copy = copies.map(|copy| (copy.clone(), DeletePermit { copy })).collect();
        Permits { by_copy, taken: HashSet::new() }
    }

    pub fn take(&mut self, copy: &CopyRef) -> Option<DeletePermit> {
        let permit = self.by_copy.remove(copy)?;
        self.taken.insert(copy.clone());
        Some(permit)
    }

    /// Issues a permit again that was taken, for another attempt at the same deletion.
    ///
    /// The caller knows that the attempt before had no effect.
    pub fn reissue(&self, copy: &CopyRef) -> Option<DeletePermit> {
        self.taken.contains(copy).then(|| DeletePermit { copy: copy.clone() })
    }
}
