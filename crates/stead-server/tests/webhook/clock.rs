//! Clock that only the test advances.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use stead_world::{Clock, Timestamp};
use tokio::sync::watch;

/// 2026-11-16, so that certificates are valid.
const BEGIN: u64 = 1_794_787_200_000;

#[derive(Clone)]
pub(crate) struct HandClock(Arc<watch::Sender<Duration>>);

impl HandClock {
    pub(crate) fn new() -> HandClock {
        HandClock(Arc::new(watch::Sender::new(Duration::ZERO)))
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.0.send_modify(|now| *now += by);
    }

    /// Advances the clock in small steps until the future resolves.
    pub(crate) async fn pass_until<T>(&self, happened: impl Future<Output = T>) -> T {
        let mut happened = std::pin::pin!(happened);
        loop {
            tokio::select! {
                biased;
                done = happened.as_mut() => return done,
                () = tokio::task::yield_now() => self.advance(Duration::from_millis(20)),
            }
        }
    }
}

#[async_trait]
impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(BEGIN + self.monotonic().as_millis() as u64)
    }

    fn monotonic(&self) -> Duration {
        *self.0.borrow()
    }

    async fn sleep(&self, duration: Duration) {
        let until = self.monotonic() + duration;
        let mut now = self.0.subscribe();
        // The clock outlives its sleepers.
        let _ = now.wait_for(|now| *now >= until).await;
    }
}
