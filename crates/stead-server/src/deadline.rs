//! Timeouts of connections, measured with the world's clock.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stead_world::Clock;

/// Deadline that can be extended.
#[derive(Clone)]
pub(crate) struct Deadline {
    clock: Arc<dyn Clock>,
    at: Arc<Mutex<Duration>>,
}

impl Deadline {
    pub(crate) fn new(clock: Arc<dyn Clock>, first: Duration) -> Deadline {
        let at = Arc::new(Mutex::new(clock.monotonic() + first));
        Deadline { clock, at }
    }

    /// Sets the deadline to this duration from now.
    pub(crate) fn extend(&self, wait: Duration) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = self.clock.monotonic() + wait;
    }

    /// Returns once the deadline has passed.
    pub(crate) async fn passed(&self) {
        loop {
            let at = *self.at.lock().unwrap_or_else(PoisonError::into_inner);
            let left = at.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return;
            }
            self.clock.sleep(left).await;
        }
    }
}

/// Returns the result of the work, or `None` if it takes longer than the limit.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = clock.sleep(limit) => None,
    }
}
