//! What must be true of everything that is stored.

use stead_model::Digest;
use stead_state::{Snapshot, verify};

use crate::disk::{Disk, Entry};
use crate::model::{Loss, loss};

/// Which snapshots are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// The last one is about to be read anyway, by code that looks as closely.
    AllButTheLast,
}

/// Looks at the snapshots that got their names since somebody last looked.
pub(crate) fn snapshots(disk: &Disk, which: Which) -> Result<(), Loss> {
    let mut content = disk.content();
    let mut stored = std::mem::take(&mut content.stored);
    if which == Which::AllButTheLast {
        stored.pop();
    }
    for path in stored {
        // A loss of power may have taken it again.
        let Some(Entry::File { bytes, .. }) = content.get(std::path::Path::new(&path)) else { continue };
        let name = path.rsplit('/').next().unwrap_or_default();
        let sound = |what: String| loss("every stored snapshot passes every rule", what);
        let digest = Digest::of(bytes);
        if digest.as_str() != name {
            return Err(sound(format!("snapshot {name} does not hold what its name says")));
        }
        let snapshot = Snapshot::decode(bytes, &digest).map_err(|error| sound(error.to_string()))?;
        if let Some(violation) = verify(&snapshot).first() {
            return Err(sound(violation.to_string()));
        }
    }
    Ok(())
}
