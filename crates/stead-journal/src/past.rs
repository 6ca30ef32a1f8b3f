//! What was: the history of a stack, and the state as a run left it. Reads only.

use std::sync::Arc;

use stead_model::RunId;
use stead_state::{RunRecord, Snapshot};
use stead_store::Store;

use crate::load::{Present, format_error, present, read_head};
use crate::{JournalError, StackKeys};

/// Whether there is a stack; one that was removed or renamed is none.
pub async fn exists(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<bool, JournalError> {
    let Some((head, _)) = read_head(store, keys).await? else { return Ok(false) };
    Ok(matches!(present(store, keys, head).await?, Present::Stack(_)))
}

/// The state at the end of a run; `None`: the history has no such run.
pub async fn load_run(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    run: &RunId,
) -> Result<Option<Snapshot>, JournalError> {
    let key = keys.history(run);
    let Some(found) = store.get(&key).await? else { return Ok(None) };
    let record = RunRecord::decode(&found.body).map_err(|source| format_error(&key, source))?;
    let key = keys.snapshot(&record.snapshot);
    let found = store.get(&key).await?.ok_or_else(|| JournalError::Missing { key: key.to_string() })?;
    Snapshot::decode(&found.body, &record.snapshot).map(Some).map_err(|source| format_error(&key, source))
}
