//! What is durably written in a stack's journal, read by a witness that is not the journal's own code.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use stead_journal::{JournalError, Receipt, StackKeys, load};
use stead_model::{CopyRef, Epoch};
use stead_state::State;
use stead_store::{FileStore, MemoryStore, Store};

use crate::process::Process;
use crate::{Chance, Disk, Fate};

/// Where the journal is.
#[derive(Clone)]
pub(crate) enum Ledger {
    /// Nobody watches.
    Nowhere,
    Files {
        disk: Disk,
        journal: String,
    },
    Objects {
        store: Arc<MemoryStore>,
        keys: StackKeys,
    },
}

impl Ledger {
    /// Whether what a receipt is for is durable, and which copy it is about, where that is written beside it.
    pub(crate) async fn intent(&self, receipt: &Receipt) -> (bool, Option<CopyRef>) {
        if let Ledger::Nowhere = self {
            return (true, None);
        }
        let key = receipt.idempotency_key();
        let begun = format!("\"key\":\"{key}\"");
        let resumed = format!("{{\"record\":\"resume\",\"op\":{}}}", receipt.op());
        let look = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            match text.find(&begun) {
                Some(at) => Some(about(text, at)),
                None => text.contains(&resumed).then_some(None),
            }
        };
        let found = match self {
            Ledger::Nowhere => None,
            Ledger::Files { disk, journal } => disk.content().find_durable(journal, look),
            Ledger::Objects { store, keys } => in_store(store, keys, look).await,
        };
        (found.is_some(), found.flatten())
    }
}

impl Ledger {
    /// What somebody reads who comes now.
    pub(crate) async fn state(&self) -> Result<Arc<State>, JournalError> {
        let store: Arc<dyn Store> = match self {
            Ledger::Nowhere => Arc::new(MemoryStore::default()),
            Ledger::Files { disk, .. } => {
                let world = Process::new(0, Fate::default()).world(disk, &mut Chance::new(0));
                Arc::new(FileStore::new(world, PathBuf::from("/state")))
            }
            Ledger::Objects { store, .. } => store.clone(),
        };
        Ok(load(&store, &crate::stage::keys()).await?.state)
    }
}

/// The copy that the record around a place in the text is about.
fn about(text: &str, at: usize) -> Option<CopyRef> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    let Begin { intent } = serde_json::from_str(&text[start..end]).ok()?;
    intent.copy.or(intent.resource)
}

/// As much of the beginning of an operation as the witness reads.
#[derive(Deserialize)]
struct Begin {
    intent: Intent,
}

#[derive(Deserialize)]
struct Intent {
    copy: Option<CopyRef>,
    resource: Option<CopyRef>,
}

async fn in_store<T>(store: &MemoryStore, keys: &StackKeys, look: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    let prefix = keys.journal(Epoch(0)).as_str().trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let all = store.list(&stead_store::Key::parse(prefix.trim_end_matches('/')).ok()?).await.ok()?;
    for key in all.iter().rev() {
        let found = store.get(key).await.ok()?;
        if let Some(answer) = found.and_then(|found| look(&found.body)) {
            return Some(answer);
        }
    }
    None
}
