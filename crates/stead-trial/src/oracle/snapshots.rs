//! The oracle of stored snapshots: each one matches its digest and satisfies every state rule.

use stead_model::Digest;
use stead_state::{Snapshot, verify};

use crate::oracle::model::{Violation, violation};
use crate::world::disk::{Disk, Entry};

/// Snapshots to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SnapshotScope {
    All,
    /// All but the last, which the next reader verifies in the same way.
    AllButTheLast,
}

/// Checks the snapshots that were stored since the last check.
pub(crate) fn check(disk: &Disk, which: SnapshotScope) -> Result<(), Violation> {
    let mut content = disk.content();
    let mut stored = std::mem::take(&mut content.stored);
    if which == SnapshotScope::AllButTheLast {
        stored.pop();
    }
    for path in stored {
        // A power loss may have removed the file again.
        let Some(Entry::File { bytes, .. }) = content.get(std::path::Path::new(&path)) else { continue };
        let name = path.rsplit('/').next().unwrap_or_default();
        let sound = |detail: String| violation("every stored snapshot passes every rule", detail);
        let digest = Digest::of(bytes);
        if digest.as_str() != name {
            return Err(sound(format!("snapshot {name} does not match its digest")));
        }
        let snapshot = Snapshot::decode(bytes, &digest).map_err(|error| sound(error.to_string()))?;
        if let Some(violation) = verify(&snapshot).first() {
            return Err(sound(violation.to_string()));
        }
    }
    Ok(())
}
