//! The history of a stack: its run records and the state at the end of each run. Reads only.

use std::sync::Arc;

use stead_model::{Digest, RunId};
use stead_state::{FormatError, RunRecord, Snapshot, verify};
use stead_store::{Key, Store};

use crate::load::{Presence, format_error, presence, read_head};
use crate::repair::{REPAIR, epoch_of};
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

/// Result of checking the history of a stack. The current state depends on none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryCheck {
    pub runs: usize,
    pub snapshots: usize,
    /// Damaged or missing objects, in words.
    pub damaged: Vec<String>,
    /// The same, for objects from before the last repair. A repair keeps damaged objects.
    pub damaged_before_repair: Vec<String>,
}

/// Reads every run record and every snapshot, and checks digests and integrity rules.
pub async fn check_history(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<HistoryCheck, JournalError> {
    let mut check = HistoryCheck::default();
    let mut runs = Vec::new();
    let mut damaged: Vec<(Option<RunId>, String)> = Vec::new();
    for key in store.list(&keys.histories()).await? {
        let Some(blob) = store.get(&key).await? else { continue };
        let named = key.segments().last().map(RunId);
        match RunRecord::decode(&blob.body) {
            Ok(record) if named.as_ref() == Some(&record.run) => runs.push(record),
            Ok(record) => damaged.push((named, format!("{key}: it is the record of {}", record.run))),
            Err(problem) => damaged.push((named, format!("{key}: {problem}"))),
        }
    }
    let stored = store.list(&keys.snapshots()).await?;
    for record in &runs {
        let key = keys.snapshot(&record.snapshot);
        if stored.binary_search(&key).is_err() {
            let missing = JournalError::Missing { key: key.to_string() };
            damaged.push((Some(record.run.clone()), missing.to_string()));
        }
    }
    check.runs = runs.len();
    check.snapshots = stored.len();
    for key in stored {
        if let Some(problem) = snapshot_problem(store, &key).await? {
            let ended = runs.iter().filter(|record| keys.snapshot(&record.snapshot) == key);
            let last = ended.max_by_key(|record| epoch_of(&record.run));
            damaged.push((last.map(|record| record.run.clone()), format!("{key}: {problem}")));
        }
    }
    let repairs = runs.iter().filter(|record| record.command == REPAIR);
    let repaired = repairs.map(|record| epoch_of(&record.run)).max();
    for (run, problem) in damaged {
        let before = repaired.is_some_and(|repaired| run.is_none_or(|run| epoch_of(&run) < repaired));
        if before { &mut check.damaged_before_repair } else { &mut check.damaged }.push(problem);
    }
    Ok(check)
}

/// Describes the damage of a stored snapshot. A format that this version does not know is no damage.
async fn snapshot_problem(store: &Arc<dyn Store>, key: &Key) -> Result<Option<String>, JournalError> {
    let Some(blob) = store.get(key).await? else { return Ok(None) };
    let digest = Digest::of(&blob.body);
    if key.segments().last().as_deref() != Some(digest.as_str()) {
        return Ok(Some("its digest is not the one in its name".to_owned()));
    }
    Ok(match Snapshot::decode(&blob.body, &digest) {
        Ok(snapshot) => verify(&snapshot).first().map(|violation| violation.to_string()),
        Err(FormatError::Newer { .. }) => None,
        Err(problem) => Some(problem.to_string()),
    })
}
