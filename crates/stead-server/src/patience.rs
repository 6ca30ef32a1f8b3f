//! How long a connection may keep us waiting, by the world's clock.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stead_world::Clock;

/// A deadline that can be moved.
#[derive(Clone)]
pub(crate) struct Patience {
    clock: Arc<dyn Clock>,
    until: Arc<Mutex<Duration>>,
}

impl Patience {
    pub(crate) fn new(clock: Arc<dyn Clock>, first: Duration) -> Patience {
        let until = Arc::new(Mutex::new(clock.monotonic() + first));
        Patience { clock, until }
    }

    /// From now on, the wait may last this long.
    pub(crate) fn renew(&self, wait: Duration) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = self.clock.monotonic() + wait;
    }

    /// Returns once the deadline is past.
    pub(crate) async fn exhausted(&self) {
        loop {
            let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
            let left = until.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return;
            }
            self.clock.sleep(left).await;
        }
    }
}

/// What the work gives, or `None` if it takes longer than this.
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
