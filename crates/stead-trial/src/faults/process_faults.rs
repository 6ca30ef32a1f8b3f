//! Faults of a process, triggered by count: the n-th crash point, file operation or sync.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::world::process::ClockSkew;

/// Faults of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessFaults {
    /// Number of the crash point at which the process dies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dies_at: Option<u64>,
    /// Crash point of a rarely executed kind at which the process dies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rare: Option<RareCrash>,
    /// Number of the crash point after which the process is suspended at its next wait, until it is woken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stops_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_fault: Option<DiskFault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cut: Option<PowerCut>,
    /// The machine loses power when the process dies.
    #[serde(skip_serializing_if = "is_false")]
    pub power: bool,
    #[serde(skip_serializing_if = "is_exact")]
    pub skew: ClockSkew,
}

impl ProcessFaults {
    /// Returns true if the process may die.
    pub(crate) fn can_die(&self) -> bool {
        self.dies_at.is_some() || self.rare.is_some()
    }

    /// No faults.
    pub(crate) const NONE: ProcessFaults = ProcessFaults {
        dies_at: None,
        rare: None,
        stops_at: None,
        disk_fault: None,
        power_cut: None,
        power: false,
        skew: ClockSkew { off: 0, fast: 0, jump: 0 },
    };
}

/// A crash point of a kind that few processes pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RareCrash {
    pub place: CrashPlace,
    /// Number of the point among the points of its kind: the first or the second.
    pub nth: u64,
}

/// Kind of a rarely passed crash point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CrashPlace {
    Pinfile,
    Transfer,
    Takeover,
    Close,
}

pub(crate) const CRASH_PLACES: [CrashPlace; 5] =
    [CrashPlace::Pinfile, CrashPlace::Pinfile, CrashPlace::Transfer, CrashPlace::Takeover, CrashPlace::Close];

impl CrashPlace {
    /// Returns the prefix of the crash points of this kind.
    pub(crate) fn points(self) -> &'static str {
        match self {
            CrashPlace::Pinfile => "pins.write.",
            CrashPlace::Transfer => "transfer.",
            CrashPlace::Takeover => "run.open.",
            CrashPlace::Close => "run.publish.",
        }
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_exact(skew: &ClockSkew) -> bool {
    *skew == ClockSkew::default()
}

/// A failing file operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskFault {
    /// Number of the operation in its process.
    pub at: u64,
    #[serde(with = "error_kind")]
    pub kind: io::ErrorKind,
    pub extent: FaultExtent,
}

/// Operations that fail, starting with the given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FaultExtent {
    /// Only the given operation.
    Once,
    /// Every write below the store's folder.
    Store,
    /// Every write except to the user's home folder.
    Project,
    /// Every write.
    Disk,
}

/// Errors of a failing disk: full, over quota, broken, read-only, permission denied, interrupted.
pub const DISK_ERRORS: [io::ErrorKind; 6] = [
    io::ErrorKind::StorageFull,
    io::ErrorKind::QuotaExceeded,
    io::ErrorKind::Other,
    io::ErrorKind::ReadOnlyFilesystem,
    io::ErrorKind::PermissionDenied,
    io::ErrorKind::Interrupted,
];

/// Serialises an error kind by its name.
mod error_kind {
    use std::io::ErrorKind;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(kind: &ErrorKind, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&format_args!("{kind:?}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ErrorKind, D::Error> {
        let name = String::deserialize(from)?;
        let kind = super::DISK_ERRORS.into_iter().find(|kind| format!("{kind:?}") == name);
        kind.ok_or_else(|| serde::de::Error::custom("not a known disk error"))
    }
}

/// Access of a file operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl DiskFault {
    /// Returns true if the operation with this number fails.
    pub(crate) fn applies_to(&self, number: u64, access: Access, path: &Path) -> bool {
        let writes = access == Access::Write && number >= self.at;
        match self.extent {
            FaultExtent::Once => number == self.at,
            FaultExtent::Store => writes && path.starts_with("/state"),
            FaultExtent::Project => writes && !path.starts_with("/home"),
            FaultExtent::Disk => writes,
        }
    }
}

/// A power cut in the middle of a sync, with an exact choice of the unsynced changes that survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    /// Number of the sync in its process.
    pub sync: u64,
    /// One bit for each unsynced change of a name, oldest first.
    pub survivors: u64,
    pub torn: TornWrite,
}

/// Content of a file whose write was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TornWrite {
    Whole,
    Empty,
    Half,
    Garbage,
}

impl TornWrite {
    pub const ALL: [TornWrite; 4] = [TornWrite::Whole, TornWrite::Empty, TornWrite::Half, TornWrite::Garbage];

    pub(crate) fn tear(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            TornWrite::Whole => bytes.to_vec(),
            TornWrite::Empty => Vec::new(),
            TornWrite::Half => bytes[..bytes.len() / 2].to_vec(),
            TornWrite::Garbage => bytes.iter().map(|byte| byte ^ 0x5a).collect(),
        }
    }
}

/// Unsynced work at the moment of a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncBoundary {
    /// Number of unsynced changes of names.
    pub unsynced: usize,
    /// The bytes of a file were being written, not only names.
    pub writing: bool,
}
