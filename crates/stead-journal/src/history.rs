//! The history of a stack: its run records and the state at the end of each run. Reads only.

use std::sync::Arc;

use stead_model::RunId;
use stead_state::{RunRecord, Snapshot};
use stead_store::Store;

use crate::load::{Presence, format_error, presence, read_head};
use crate::{JournalError, StackKeys};

/// Returns true if there is a stack under these keys; a removed or renamed stack does not count.
pub async fn exists(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<bool, JournalError> {
    let Some((head, _)) = read_head(store, keys).await? else { return Ok(false) };
    Ok(matches!(presence(store, keys, head).await?, Presence::Stack(_)))
}

/// Reads the state at the end of a run; `None` if the history has no such run.
pub async fn load_run(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    run: &RunId,
) -> Result<Option<Snapshot>, JournalError> {
    let key = keys.history(run);
    let Some(blob) = store.get(&key).await? else { return Ok(None) };
    let record = RunRecord::decode(&blob.body).map_err(|source| format_error(&key, source))?;
    let key = keys.snapshot(&record.snapshot);
    let blob = store.get(&key).await?.ok_or_else(|| JournalError::Missing { key: key.to_string() })?;
    Snapshot::decode(&blob.body, &record.snapshot).map(Some).map_err(|source| format_error(&key, source))
}
