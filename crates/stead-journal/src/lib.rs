//! A stack open for a run.
//!
//! What this crate promises:
//! - a [`Receipt`] exists only if its `Begin` record is durable;
//! - opening a run bumps the epoch, and whoever wrote in an older one cannot append any more, however late;
//! - state is `base snapshot + journal`, folded the same way while running and while recovering;
//! - `head` never refers to a snapshot that is not stored, or that breaks an integrity rule.
//!
//! Claims and owners only tell people who holds a stack; no promise rests on them.

mod appender;
mod error;
mod keys;
mod lease;
mod leave;
mod load;
mod open;
mod past;
mod receipt;
mod rename;
mod repair;
mod run;
mod spool;

pub use error::{JournalError, Kept};
pub use keys::StackKeys;
pub use lease::{LEASE, wait_for};
pub use leave::{create, purge};
pub use load::{Loaded, Seen, load, load_with, read_head};
pub use open::{Opening, Takeover, is_dead, open};
pub use past::{exists, load_run};
pub use receipt::{RECEIPT_VALIDITY, Receipt};
pub use rename::rename;
pub use repair::{Survey, repair, survey};
pub use run::{Ack, Begun, Closed, Run};
pub use spool::{Machine, Spool};
