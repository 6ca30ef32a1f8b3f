//! The stored objects and their encodings: decoded bytes are complete and undamaged, or refused.

mod codec;
mod export;
mod gzip;
mod head;
mod journal;
mod snapshot;
mod spool;
mod v1;
mod v2;

pub use codec::{FormatError, seal, unseal};
pub use export::{Export, ExportError, Origin};
pub use head::{Absent, Command, Head, Owner, RunEnd, RunRecord};
pub use journal::{AfterDelete, Batch, Intent, Outcome, Pending, Record, Settlement};
pub use snapshot::Snapshot;
pub use spool::{SpoolStatus, Spooled};
