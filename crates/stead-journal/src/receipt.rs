//! The token that a provider call needs.

use std::time::Duration;

use stead_model::OpId;

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
}

impl Receipt {
    pub(crate) fn new(op: OpId, key: String, written: Duration, attempt: u32) -> Receipt {
        Receipt { op, key, expires: written + RECEIPT_VALIDITY, attempt }
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

    /// Returns true if a call may still start, by the holder's own monotonic clock.
    pub fn is_valid(&self, now: Duration) -> bool {
        now < self.expires
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipt_expires_exactly_when_its_validity_ends() {
        let (written, moment) = (Duration::from_secs(100), Duration::from_nanos(1));
        let receipt = Receipt::new(OpId(7), "key".to_owned(), written, 2);
        let end = written + RECEIPT_VALIDITY;
        assert!(receipt.is_valid(written) && receipt.is_valid(end - moment));
        assert!(!receipt.is_valid(end) && !receipt.is_valid(end + moment));
        assert_eq!((receipt.op(), receipt.idempotency_key(), receipt.attempt()), (OpId(7), "key", 2));
    }
}
