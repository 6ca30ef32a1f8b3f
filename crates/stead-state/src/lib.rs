//! The state of a stack: its stored formats, the rules it keeps, and replay.
//!
//! - [`format`]: snapshot, journal batch, head, spooled answer and export, as bytes.
//! - [`state`]: [`State`], the result of folding journal records over a snapshot.
//! - [`rules`]: the numbered integrity rules, and [`verify`], which checks a whole snapshot.
//! - [`verified`]: [`VerifiedState`], which checks the rules record by record while a run writes.
//! - [`secrets`]: sealing secrets in records, and opening them in a state.
//! - [`repair`]: proposals for a state that breaks a rule.
//!
//! **Invariants:** this crate reads and writes no file, network or clock; equal states encode to equal bytes;
//! a run and its recovery use the same fold, [`State::apply`].

mod format;
mod hash;
mod repair;
mod rules;
mod secrets;
mod state;
mod verified;

pub use format::{
    Absent, AfterDelete, Batch, Command, Export, ExportError, FormatError, Head, Intent, Origin, Outcome,
    Owner, Pending, Record, RunEnd, RunRecord, Settlement, Snapshot, SpoolStatus, Spooled, seal, unseal,
};
pub use repair::{Difference, Proposal, RepairMethod, compare, propose_repairs};
pub use rules::{RULES, Rule, Violation, verify};
pub use secrets::{forget_digests, has_encrypted_values, has_secrets, open_resource, seal_resource};
pub use state::{
    Arrival, Departure, OutsideLinks, ReplayError, RetainReason, Retained, StackRef, State, Transfers,
    extent, relocated,
};
pub use verified::{ApplyError, VerifiedState};

/// The format version that this build writes. Readers accept this version and older ones, and refuse newer ones.
pub const FORMAT: u32 = 6;
