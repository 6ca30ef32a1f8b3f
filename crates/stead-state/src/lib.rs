//! What is stored and what it means: snapshot, journal, head, integrity rules, replay.
//!
//! Bytes in, bytes out. **Invariants:** nothing here reads or writes anything; the same state always gives
//! the same bytes; recovery and running use the same fold, [`State::apply`].

mod codec;
mod export;
mod gzip;
mod hash;
mod head;
mod journal;
mod limits;
mod relocate;
mod repair;
mod retained;
mod rules;
mod snapshot;
mod sound;
mod spool;
mod state;
mod transfer;

pub use codec::FormatError;
pub use export::{Export, ExportError, Origin};
pub use head::{Absent, Head, Owner, RunRecord};
pub use journal::{AfterDelete, Batch, Intent, Outcome, Pending, Record, Settlement};
pub use limits::extent;
pub use relocate::{Bonds, relocated};
pub use repair::{Difference, Proposal, Way, compare, mend};
pub use retained::{Kept, Retained};
pub use rules::{RULES, Rule, Violation, verify};
pub use snapshot::Snapshot;
pub use sound::{Refused, Sound};
pub use spool::{Belongs, Spooled};
pub use state::{ReplayError, State};
pub use transfer::{Arrival, Departure, StackRef, Transfers};

/// The format that this version writes. Readers take this one and older ones, and refuse newer ones.
pub const FORMAT: u32 = 1;
