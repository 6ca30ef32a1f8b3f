//! The token that a provider's `delete` requires.

use std::collections::HashMap;

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

/// The permits of one plan. Each can be taken once.
#[derive(Debug, Default)]
pub struct Permits {
    by_copy: HashMap<CopyRef, DeletePermit>,
}

impl Permits {
    pub(crate) fn of(copies: impl Iterator<Item = CopyRef>) -> Permits {
        Permits { by_copy: copies.map(|copy| (copy.clone(), DeletePermit { copy })).collect() }
    }

    pub fn take(&mut self, copy: &CopyRef) -> Option<DeletePermit> {
        #[cfg(stead_planted)]
        if stead_model::planted::is("permit-reused") {
            return self.by_copy.keys().min().cloned().map(|copy| DeletePermit { copy });
        }
        self.by_copy.remove(copy)
    }
}
