//! The virtual time of a life, for a cloud that outlives the processes.

use std::time::Duration;

use async_trait::async_trait;
use stead_world::{Clock, Timestamp};

/// Wall time at the begin of a life.
const START: u64 = 1_700_000_000_000;

/// The clock of the cloud: the virtual time of the whole life.
pub(crate) struct LifeClock(tokio::time::Instant);

impl LifeClock {
    pub(crate) fn new() -> LifeClock {
        LifeClock(tokio::time::Instant::now())
    }

    /// Returns the seconds since the life began.
    pub(crate) fn seconds(&self) -> i64 {
        self.0.elapsed().as_secs() as i64
    }
}

#[async_trait]
impl Clock for LifeClock {
    fn now(&self) -> Timestamp {
        Timestamp(START + self.0.elapsed().as_millis() as u64)
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
