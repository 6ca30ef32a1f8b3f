//! Removes the parts of the pinfile that every environment of the project has applied. No state changes.

use std::sync::Arc;

use stead_engine::ops::{OpError, Workspace};
use stead_guard::pins::{Pinfile, PinfileUpdate, PrunedEntry, PrunedStack, prune};
use stead_journal::{StackKeys, load};
use stead_model::Environment;
use stead_state::State;

use crate::{Project, environments};

/// The pinfile without the parts that every environment has applied, not written yet.
pub struct Pruning {
    workspace: Workspace,
    file: Pinfile,
    content: PinfileUpdate,
    /// All releases and moves in the pinfile, with the environments that have not applied them.
    pub entries: Vec<PrunedEntry>,
}

impl Pruning {
    /// Writes the pinfile, unless it changed meanwhile.
    pub fn apply(self) -> Result<Vec<PrunedEntry>, OpError> {
        self.workspace.pinfile.put(&self.file, &self.content).map_err(OpError::pinfile)?;
        Ok(self.entries)
    }
}

/// Looks at all stacks of the project on the target, and prepares the removal of releases and moves that all have applied.
pub async fn prune_pins(project: &Project, workspace: &Workspace) -> Result<Pruning, OpError> {
    let file = workspace.read_pinfile()?;
    let (store, target) = (&workspace.stack.store, workspace.target());
    let mut states: Vec<(Environment, Option<Arc<State>>)> = Vec::new();
    for known in environments(project, workspace).await?.into_iter().flat_map(|known| known.stacks) {
        if known.target == target {
            let keys = StackKeys::new(&project.name, &known.environment.to_string(), target);
            let loaded = load(store, &keys).await.ok().map(|loaded| loaded.state);
            states.push((known.environment, loaded));
        }
    }
    let stacks: Vec<PrunedStack<'_>> = states
        .iter()
        .map(|(environment, state)| PrunedStack { environment: environment.clone(), state: state.as_deref() })
        .collect();
    let (content, entries) = prune(&file, target, &stacks);
    Ok(Pruning { workspace: workspace.clone(), file, content, entries })
}
