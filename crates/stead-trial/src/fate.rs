//! What may go wrong for a process, by count: after so many, it happens.

use std::io;
use std::path::Path;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    /// The crash point, of all that it passes, at which it dies.
    pub dies_at: Option<u64>,
    pub disk_fault: Option<DiskFault>,
    pub power_cut: Option<PowerCut>,
}

impl Fate {
    /// Whether a run may end early because of it.
    pub(crate) fn can_end_it(&self) -> bool {
        self.dies_at.is_some() || self.disk_fault.is_some() || self.power_cut.is_some()
    }
}

/// A file operation that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskFault {
    /// Which one, of all that the process does.
    pub at: u64,
    pub kind: io::ErrorKind,
    pub extent: Extent,
}

/// What fails from that operation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// That one operation.
    Once,
    /// Every write below the store's folder.
    Store,
    /// Every write but those to the user's own files.
    Project,
    /// Every write.
    Disk,
}

/// What the disk can say instead of doing: a full disk, a quota, a broken one, a read-only one, a folder
/// that is somebody else's, a call that was interrupted.
pub const DISK_ERRORS: [io::ErrorKind; 6] = [
    io::ErrorKind::StorageFull,
    io::ErrorKind::QuotaExceeded,
    io::ErrorKind::Other,
    io::ErrorKind::ReadOnlyFilesystem,
    io::ErrorKind::PermissionDenied,
    io::ErrorKind::Interrupted,
];

/// Whether an operation changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl DiskFault {
    /// Whether the operation with this number fails.
    pub(crate) fn strikes(&self, number: u64, access: Access, path: &Path) -> bool {
        let writes = access == Access::Write && number >= self.at;
        match self.extent {
            Extent::Once => number == self.at,
            Extent::Store => writes && path.starts_with("/state"),
            Extent::Project => writes && !path.starts_with("/home"),
            Extent::Disk => writes,
        }
    }
}

/// The power goes when something is about to be synced; of what was not, exactly this survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerCut {
    /// Which sync, of all that the process does.
    pub sync: u64,
    /// One bit for each change of names that was not synced, oldest first.
    pub survivors: u64,
    pub torn: Torn,
}

/// What is in a file whose bytes were on their way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torn {
    Whole,
    Empty,
    Half,
    Garbage,
}

impl Torn {
    pub const ALL: [Torn; 4] = [Torn::Whole, Torn::Empty, Torn::Half, Torn::Garbage];

    pub(crate) fn tear(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Torn::Whole => bytes.to_vec(),
            Torn::Empty => Vec::new(),
            Torn::Half => bytes[..bytes.len() / 2].to_vec(),
            Torn::Garbage => bytes.iter().map(|byte| byte ^ 0x5a).collect(),
        }
    }
}

/// What there was to lose when the power went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Changes of names that were not synced.
    pub unsynced: usize,
    /// The bytes of a file were on their way, not only names.
    pub writing: bool,
}
