//! Lists of stacks in a store and of runs of a stack. Writes nothing.

use serde::Serialize;
use stead_engine::ops::{OpError, Workspace};
use stead_journal::{HistoryCheck, StackKeys, exists, read_head};
use stead_state::{Absent, RunRecord};
use stead_store::Key;

/// One stack of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackEntry {
    pub project: String,
    pub environment: String,
    pub target: String,
}

/// Lists the stacks in the store of a workspace, with stacks whose head cannot be read.
pub async fn stacks(workspace: &Workspace) -> Result<Vec<StackEntry>, OpError> {
    let store = &workspace.stack.store;
    let keys = store.list(&Key::root()).await?;
    let mut stacks = Vec::new();
    for (project, environment, target) in StackKeys::in_listing(&keys) {
        let keys = StackKeys::new(&project, &environment, &target);
        if !matches!(exists(store, &keys).await, Ok(false)) {
            stacks.push(StackEntry { project, environment, target });
        }
    }
    Ok(stacks)
}

/// Returns the runs of a stack, oldest first, also after the stack was removed.
pub async fn history(workspace: &Workspace) -> Result<Vec<RunRecord>, OpError> {
    let (store, keys) = (&workspace.stack.store, &workspace.stack.keys);
    let head = read_head(store, keys).await?;
    if head.is_none_or(|(head, _)| head.absent != Some(Absent::Removed)) {
        workspace.load_existing().await?;
    }
    let mut runs = Vec::new();
    for key in store.list(&keys.histories()).await? {
        // The history is for display only, so that an unreadable record is left out.
        if let Some(found) = store.get(&key).await?
            && let Ok(record) = RunRecord::decode(&found.body)
        {
            runs.push(record);
        }
    }
    runs.sort_by(|a, b| {
        (&a.started, a.run.as_str().len(), &a.run).cmp(&(&b.started, b.run.as_str().len(), &b.run))
    });
    Ok(runs)
}

/// Checks the run records and the snapshots of a stack. The current state does not depend on them.
pub async fn check_history(workspace: &Workspace) -> Result<HistoryCheck, OpError> {
    Ok(stead_journal::check_history(&workspace.stack.store, &workspace.stack.keys).await?)
}
