//! The token that a provider call needs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stead_model::{OpId, OperationToken};
use stead_state::{Pending, Record};

use crate::run::{Ack, WeakQueue};

/// How long after its `Begin` was written a receipt may start a call.
///
/// A run that takes over a stack by force waits this long before it touches interrupted operations.
pub const RECEIPT_VALIDITY: Duration = Duration::from_secs(10);

/// Extra wait of a takeover, because two clocks do not run at the same speed.
pub(crate) const RECEIPT_MARGIN: Duration = Duration::from_millis(2_500);

/// Proof that the intent of an operation is durable.
///
/// Only a durable `Begin` or `Resume` record creates one. A receipt cannot be cloned, and a provider call
/// consumes it.
#[derive(Debug)]
pub struct Receipt {
    op: OpId,
    key: String,
    expires: Duration,
    attempt: u32,
    begun: Option<u64>,
    token: Option<OperationToken>,
    journal: WeakQueue,
    warnings: Warnings,
}

/// Warnings of a service about an operation that may succeed all the same. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    pub fn add(&self, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }

    /// Takes all warnings, in their order.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Receipt {
    pub(crate) fn new(pending: &Pending, written: Duration, attempt: u32, journal: WeakQueue) -> Receipt {
        let Pending { op, intent, at, token, .. } = pending;
        let (key, expires) = (intent.key().to_owned(), written + RECEIPT_VALIDITY);
        Receipt {
            op: *op,
            key,
            expires,
            attempt,
            begun: *at,
            token: token.clone(),
            journal,
            warnings: Warnings::default(),
        }
    }

    pub fn op(&self) -> OpId {
        self.op
    }

    /// Returns a key that is the same for every attempt at this operation.
    pub fn idempotency_key(&self) -> &str {
        &self.key
    }

    /// Returns 1, or more if an earlier run may already have carried out the operation.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the time of the first attempt, in seconds since 1970; `None` if an older version of stead recorded it.
    pub fn begun(&self) -> Option<u64> {
        self.begun
    }

    /// Returns the name under which the service knows the operation, if an earlier run recorded one.
    pub fn token(&self) -> Option<&OperationToken> {
        self.token.as_ref()
    }

    /// Records the name under which the service knows the operation, for the run that continues it after a crash.
    ///
    /// The record is durable before the outcome of the operation is. A call need not wait for it.
    pub fn record_token(&self, token: OperationToken) -> Ack {
        self.journal.submit(Record::Progress { op: self.op, token })
    }

    /// Returns the warnings of the call, for its provider to add to.
    pub fn warnings(&self) -> Warnings {
        self.warnings.clone()
    }

    /// Returns true if a call may still start, by the holder's own monotonic clock.
    pub fn is_valid(&self, now: Duration) -> bool {
        now < self.expires
    }
}

#[cfg(test)]
mod tests {
    use stead_model::{CopyRef, Generation, Uid};
    use stead_state::{AfterDelete, Intent};

    use super::*;

    #[test]
    fn receipt_expires_exactly_when_its_validity_ends() {
        let (written, moment) = (Duration::from_secs(100), Duration::from_nanos(1));
        let copy = CopyRef { uid: Uid("u".to_owned()), generation: Generation(1) };
        let intent = Intent::Delete { key: "key".to_owned(), copy, after: AfterDelete::Gone };
        let pending = Pending { at: Some(3), ..Pending::new(OpId(7), intent) };
        let receipt = Receipt::new(&pending, written, 2, WeakQueue::closed());
        let end = written + RECEIPT_VALIDITY;
        assert!(receipt.is_valid(written) && receipt.is_valid(end - moment));
        assert!(!receipt.is_valid(end) && !receipt.is_valid(end + moment));
        assert_eq!((receipt.op(), receipt.idempotency_key(), receipt.attempt()), (OpId(7), "key", 2));
        assert_eq!((receipt.begun(), receipt.token()), (Some(3), None));
    }
}
