//! Imports of state that lack what the guards keep. The guards must refuse each; none is applied.

use std::sync::Arc;

use stead_engine::ops::{Accepts, StateEdit, Wait};
use stead_model::RecordedMarks;
use stead_state::{Snapshot, State};

use crate::oracle::model::{Violation, violation};
use crate::world::site::Actor;

impl Actor {
    /// Proposes the current state without any protection, and without any record.
    pub(crate) async fn check_depleted_imports(&self) -> Result<(), Violation> {
        let Ok(loaded) = self.workspace.stack.load().await else { return Ok(()) };
        let recorded = loaded.state.snapshot(None);
        let empty = Snapshot { resources: Vec::new(), pending: Vec::new(), ..recorded.clone() };
        for depleted in [unprotected(recorded), empty] {
            let edit = StateEdit::ImportState { snapshot: Box::new(depleted), accepts: Accepts::default() };
            // Other failures are those of the store, or of a rival.
            let Ok(proposed) = self.workspace.edit(edit, Wait::No, &mut |_| ()).await else { return Ok(()) };
            let guarded = proposed.base().is_some_and(has_protection);
            if guarded && proposed.permit().is_ok() {
                let detail = "a file without the protection was permitted";
                return Err(violation("an import of state never removes protection", detail));
            }
        }
        Ok(())
    }
}

fn has_protection(state: &State) -> bool {
    state.copies().any(|copy| copy.prevents_deletion())
}

fn unprotected(mut snapshot: Snapshot) -> Snapshot {
    for copy in snapshot.resources.iter_mut().map(Arc::make_mut) {
        (copy.prevent_delete, copy.marks) = (false, RecordedMarks::default());
    }
    snapshot
}
