//! A stack open for a run.
//!
//! Promises:
//! - a [`Receipt`] exists only if its `Begin` record is durable;
//! - opening a run increments the epoch, and a run of an older epoch can never append again;
//! - state is `base snapshot + journal`, replayed the same way while running and while recovering;
//! - `head` never refers to a snapshot that is not stored, or that violates an integrity rule.
//!
//! A claim (a locked file) and the recorded owner only tell people which run holds a stack; no promise
//! depends on them.
//!
//! The way through: [`load`] reads a stack, [`open`] starts a [`Run`], `run/appender.rs` makes its records
//! durable, [`Run::close`] publishes the new snapshot. `lifecycle.rs` creates, removes and renames stacks,
//! `repair.rs` mends damaged ones.

mod error;
mod history;
mod keys;
mod lifecycle;
mod load;
mod receipt;
mod repair;
mod run;
mod seal;
mod spool;

pub use error::{JournalError, UnrecordedAnswer};
pub use history::{HistoryCheck, check_history, exists, load_run};
pub use keys::StackKeys;
pub use lifecycle::{create, purge, rename};
pub use load::{Loaded, ReadVersion, load, load_with_spool, read_head};
pub use receipt::{RECEIPT_VALIDITY, Receipt, Warnings};
pub use repair::{Survey, repair, survey};
pub use run::{Ack, ClosedRun, LEASE_TIMEOUT, OpenRequest, Run, SubmittedIntent, Takeover};
pub use run::{is_dead, open, wait_for_lock};
pub use spool::{LocalSpool, Spool};
