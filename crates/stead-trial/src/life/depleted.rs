//! Imports of state that lack what the guards keep. The guards must refuse each; none is applied.

use std::sync::Arc;

use stead_engine::ops::{Accepts, StateEdit, Wait};
use stead_model::{Environment, RecordedMarks, StackId};
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
            let (snapshot, accepts) = (Box::new(depleted), Accepts::default());
            let edit = StateEdit::ImportState { snapshot, origin: None, accepts };
            // Other failures are those of the store, or of a rival.
            let Ok(proposed) = self.workspace.edit(edit, Wait::No, &mut |_| ()).await else { return Ok(()) };
            let guarded = proposed.base().is_some_and(has_protection);
            if guarded && proposed.permit().is_ok() {
                let detail = "a file without the protection was permitted";
                return Err(violation("an import of state never removes protection", detail));
            }
        }
        self.check_foreign_import(loaded.state.snapshot(None)).await
    }

    /// Proposes the current state to this stack as an export of another one, and to a stack without state.
    async fn check_foreign_import(&self, recorded: Snapshot) -> Result<(), Violation> {
        let foreign = Snapshot { stack: StackId("another".to_owned()), ..recorded };
        let elsewhere =
            self.workspace.sibling(&Environment::new("elsewhere"), "sim", self.workspace.levels.clone());
        for workspace in [&self.workspace, &elsewhere] {
            let (snapshot, accepts) = (Box::new(foreign.clone()), Accepts::default());
            let edit = StateEdit::ImportState { snapshot, origin: None, accepts };
            let Ok(proposed) = workspace.edit(edit, Wait::No, &mut |_| ()).await else { return Ok(()) };
            if proposed.permit().is_ok() {
                let detail = "it was permitted";
                return Err(violation("an export of another stack is not imported unasked", detail));
            }
            self.trace.mark("an export of another stack was refused");
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
