//! What may go wrong for a process, by count: after so many, it happens.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::process::Skew;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fate {
    /// The crash point, of all that it passes, at which it dies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dies_at: Option<u64>,
    /// Where it dies, of places that few processes pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rare: Option<Rare>,
    /// The crash point after which it stays where it next waits, until it is woken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stops_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_fault: Option<DiskFault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cut: Option<PowerCut>,
    /// If it dies, the power goes too.
    #[serde(skip_serializing_if = "is_false")]
    pub power: bool,
    #[serde(skip_serializing_if = "is_exact")]
    pub skew: Skew,
}

impl Fate {
    /// Whether it may die on the way.
    pub(crate) fn dies(&self) -> bool {
        self.dies_at.is_some() || self.rare.is_some()
    }

    /// Nothing goes wrong.
    pub(crate) const NONE: Fate = Fate {
        dies_at: None,
        rare: None,
        stops_at: None,
        disk_fault: None,
        power_cut: None,
        power: false,
        skew: Skew { off: 0, fast: 0, jump: 0 },
    };
}

/// Crash points that few processes pass, and which of them it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rare {
    pub place: Place,
    /// The first or the second of them.
    pub nth: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    Pinfile,
    Transfer,
    Takeover,
    Close,
}

pub(crate) const PLACES: [Place; 5] =
    [Place::Pinfile, Place::Pinfile, Place::Transfer, Place::Takeover, Place::Close];

impl Place {
    /// What the names of its points begin with.
    pub(crate) fn points(self) -> &'static str {
        match self {
            Place::Pinfile => "pins.write.",
            Place::Transfer => "transfer.",
            Place::Takeover => "run.open.",
            Place::Close => "run.publish.",
        }
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_exact(skew: &Skew) -> bool {
    *skew == Skew::default()
}

/// A file operation that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskFault {
    /// Which one, of all that the process does.
    pub at: u64,
    #[serde(with = "error_kind")]
    pub kind: io::ErrorKind,
    pub extent: Extent,
}

/// What fails from that operation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Errors by their names.
mod error_kind {
    use std::io::ErrorKind;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(kind: &ErrorKind, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&format_args!("{kind:?}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ErrorKind, D::Error> {
        let name = String::deserialize(from)?;
        let kind = super::DISK_ERRORS.into_iter().find(|kind| format!("{kind:?}") == name);
        kind.ok_or_else(|| serde::de::Error::custom("not an error that a disk has here"))
    }
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    /// Which sync, of all that the process does.
    pub sync: u64,
    /// One bit for each change of names that was not synced, oldest first.
    pub survivors: u64,
    pub torn: Torn,
}

/// What is in a file whose bytes were on their way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
