//! Reads the durable content of a stack's journal, independently of the journal's own code.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use stead_engine::StackSecrets;
use stead_journal::{JournalError, Receipt, StackKeys, load};
use stead_model::{CopyRef, Epoch};
use stead_state::State;
use stead_store::{FileStore, MemoryStore, Store};

use crate::world::process::Process;
use crate::{Disk, ProcessFaults, Rng};

/// Location of the journal.
#[derive(Clone)]
pub(crate) enum JournalWitness {
    /// No journal is checked.
    Unchecked,
    Files {
        disk: Disk,
        journal: String,
    },
    Objects {
        store: Arc<MemoryStore>,
        keys: StackKeys,
    },
}

impl JournalWitness {
    /// Returns true if the intent of a receipt is durable, and the copy that it is about if the record names one.
    pub(crate) async fn intent(&self, receipt: &Receipt) -> (bool, Option<CopyRef>) {
        if let JournalWitness::Unchecked = self {
            return (true, None);
        }
        let key = receipt.idempotency_key();
        let begun = format!("\"key\":\"{key}\"");
        let resumed = format!("{{\"record\":\"resume\",\"op\":{}}}", receipt.op());
        let find_intent = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            match text.find(&begun) {
                Some(at) => Some(about(text, at)),
                None => text.contains(&resumed).then_some(None),
            }
        };
        let found = match self {
            JournalWitness::Unchecked => None,
            JournalWitness::Files { disk, journal } => disk.content().find_durable(journal, find_intent),
            JournalWitness::Objects { store, keys } => in_store(store, keys, find_intent).await,
        };
        (found.is_some(), found.flatten())
    }
}

impl JournalWitness {
    /// Returns the state as a reader sees it now.
    pub(crate) async fn state(&self) -> Result<Arc<State>, JournalError> {
        let store: Arc<dyn Store> = match self {
            JournalWitness::Unchecked => Arc::new(MemoryStore::default()),
            JournalWitness::Files { disk, .. } => {
                let world = Process::new(0, ProcessFaults::default()).world(disk, &mut Rng::new(0));
                Arc::new(FileStore::new(world, PathBuf::from("/state")))
            }
            JournalWitness::Objects { store, .. } => store.clone(),
        };
        let state = load(&store, &crate::world::site::keys()).await?.state;
        // A secret that does not open is not the one of its object.
        let _ = StackSecrets::in_memory().unlock("dev", &state).await;
        Ok(state)
    }
}

/// Returns the copy named in the record around a position of the text.
fn about(text: &str, at: usize) -> Option<CopyRef> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    let Begin { intent } = serde_json::from_str(&text[start..end]).ok()?;
    intent.copy.or(intent.resource)
}

/// The part of a `begin` record that the witness reads.
#[derive(Deserialize)]
struct Begin {
    intent: Intent,
}

#[derive(Deserialize)]
struct Intent {
    copy: Option<CopyRef>,
    resource: Option<CopyRef>,
}

async fn in_store<T>(
    store: &MemoryStore,
    keys: &StackKeys,
    find_intent: impl Fn(&[u8]) -> Option<T>,
) -> Option<T> {
    let prefix = keys.journal(Epoch(0)).as_str().trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let all = store.list(&stead_store::Key::parse(prefix.trim_end_matches('/')).ok()?).await.ok()?;
    for key in all.iter().rev() {
        let found = store.get(key).await.ok()?;
        if let Some(answer) = found.and_then(|found| find_intent(&found.body)) {
            return Some(answer);
        }
    }
    None
}
