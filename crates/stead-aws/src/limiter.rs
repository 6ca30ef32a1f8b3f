//! The limiter: keeps the rate of requests to one account and region as high as the service accepts.
//!
//! A token bucket whose rate adapts. It grows with each request that had to wait and was accepted: fast until the first
//! refusal, slowly after it. A refusal for too many requests halves it. **Invariant:** requests are admitted in the order in
//! which they ask.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stead_world::Clock;

/// Requests per second at the start: a bit less than the known rate of an account.
const START: f64 = 20.0;

/// Bounds of the rate.
const SLOWEST: f64 = 0.5;
const FASTEST: f64 = 10_000.0;

/// Requests that may go out at once after a pause, in seconds of the rate.
const BURST_SECONDS: f64 = 0.5;

/// Refusals within this time count as one, because their requests were sent at the same rate.
const SAME_REFUSAL: Duration = Duration::from_secs(1);

/// Admits requests at an adapting rate. Its clones share the rate.
#[derive(Clone)]
pub struct Limiter {
    clock: Arc<dyn Clock>,
    bucket: Arc<Mutex<Bucket>>,
}

/// The limiters of one process: one for each account and region, which all instances of the provider share.
#[derive(Clone)]
pub(crate) struct Limiters {
    first: Limiter,
    of_places: Arc<Mutex<BTreeMap<String, Limiter>>>,
}

impl Limiters {
    /// Returns limiters that all start like this one.
    pub(crate) fn like(first: Limiter) -> Limiters {
        Limiters { first, of_places: Arc::default() }
    }

    /// Returns the limiter of a place, as its URL and account name it.
    pub(crate) fn of(&self, place: &str) -> Limiter {
        let mut known = self.of_places.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(place.to_owned()).or_insert_with(|| self.first.fresh()).clone()
    }
}

struct Bucket {
    /// Requests per second.
    rate: f64,
    /// Requests that may go out now; negative while admitted ones still wait.
    tokens: f64,
    updated: Duration,
    refused_at: Option<Duration>,
}

/// An admitted request, whose result tells how the rate changes.
#[must_use]
pub struct Admission {
    waited: bool,
}

impl Limiter {
    pub fn new(clock: Arc<dyn Clock>) -> Limiter {
        Limiter::starting_at(clock, START)
    }

    /// Returns a limiter for a service that is in this process, and has no rate of its own.
    pub fn unlimited(clock: Arc<dyn Clock>) -> Limiter {
        Limiter::starting_at(clock, FASTEST)
    }

    fn starting_at(clock: Arc<dyn Clock>, rate: f64) -> Limiter {
        let updated = clock.monotonic();
        let bucket = Bucket { rate, tokens: rate * BURST_SECONDS, updated, refused_at: None };
        Limiter { clock, bucket: Arc::new(Mutex::new(bucket)) }
    }

    /// Returns a limiter with a rate of its own, which is the present one of this limiter.
    fn fresh(&self) -> Limiter {
        let rate = self.rate();
        Limiter::starting_at(self.clock.clone(), rate)
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request may be sent.
    pub async fn admit(&self) -> Admission {
        let wait = self.bucket().take(self.clock.monotonic());
        match wait {
            None => Admission { waited: false },
            Some(wait) => {
                self.clock.sleep(wait).await;
                Admission { waited: true }
            }
        }
    }

    /// Tells that the service accepted a request.
    pub fn accepted(&self, admission: Admission) {
        if admission.waited {
            self.bucket().grow();
        }
    }

    /// Tells that the service refused a request because there were too many.
    pub fn refused(&self) {
        let now = self.clock.monotonic();
        self.bucket().shrink(now);
    }

    /// Returns the requests per second that are admitted now.
    pub fn rate(&self) -> f64 {
        self.bucket().rate
    }
}

impl Bucket {
    /// Takes a token, and returns how long its request has to wait.
    fn take(&mut self, now: Duration) -> Option<Duration> {
        let passed = now.saturating_sub(self.updated).as_secs_f64();
        self.updated = now.max(self.updated);
        let most = (self.rate * BURST_SECONDS).max(1.0);
        self.tokens = (self.tokens + passed * self.rate).min(most) - 1.0;
        (self.tokens < 0.0).then(|| Duration::from_secs_f64(-self.tokens / self.rate))
    }

    fn grow(&mut self) {
        // One more for each accepted request doubles the rate in a second; one by the rate adds one in a second.
        let more = if self.refused_at.is_none() { 1.0 } else { 1.0 / self.rate };
        self.rate = (self.rate + more).min(FASTEST);
    }

    fn shrink(&mut self, now: Duration) {
        if self.refused_at.is_some_and(|last| now < last + SAME_REFUSAL) {
            return;
        }
        self.refused_at = Some(now);
        self.rate = (self.rate / 2.0).max(SLOWEST);
        self.tokens = self.tokens.min(0.0);
    }
}

#[cfg(test)]
mod tests {
    use stead_world::Timestamp;
    use stead_world::testing::FastClock;

    use super::*;

    /// A service that accepts so many requests in each second.
    struct Service {
        limit: u32,
        second: u64,
        in_second: u32,
    }

    impl Service {
        fn accepts(&mut self, now: Duration) -> bool {
            if now.as_secs() != self.second {
                (self.second, self.in_second) = (now.as_secs(), 0);
            }
            self.in_second += 1;
            self.in_second <= self.limit
        }
    }

    /// Sends requests one after the other, and returns how many were accepted and refused.
    async fn send(limiter: &Limiter, clock: &FastClock, service: &mut Service, count: u32) -> (u32, u32) {
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..count {
            let admission = limiter.admit().await;
            if service.accepts(clock.monotonic()) {
                accepted += 1;
                limiter.accepted(admission);
            } else {
                refused += 1;
                limiter.refused();
            }
        }
        (accepted, refused)
    }

    #[tokio::test]
    async fn rate_grows_until_the_service_refuses_and_then_stays_near_its_limit() {
        let clock = FastClock::at(Timestamp(0));
        let limiter = Limiter::new(Arc::new(clock.clone()));
        let mut service = Service { limit: 30, second: 0, in_second: 0 };
        send(&limiter, &clock, &mut service, 300).await;
        let before = clock.monotonic();
        let (accepted, refused) = send(&limiter, &clock, &mut service, 1_000).await;
        let seconds = (clock.monotonic() - before).as_secs_f64();
        let rate = f64::from(accepted) / seconds;
        assert!(rate > 18.0 && rate <= 30.5, "{rate} per second");
        assert!(f64::from(refused) < 0.1 * f64::from(accepted), "{refused} refused of {accepted}");
    }

    #[tokio::test]
    async fn refusals_of_one_moment_halve_the_rate_once() {
        let clock = FastClock::at(Timestamp(0));
        let limiter = Limiter::new(Arc::new(clock.clone()));
        (0..5).for_each(|_| limiter.refused());
        assert_eq!(limiter.rate(), START / 2.0);
        clock.advance(SAME_REFUSAL);
        limiter.refused();
        assert_eq!(limiter.rate(), START / 4.0);
    }

    #[tokio::test]
    async fn rate_does_not_grow_while_no_request_waits() {
        let clock = FastClock::at(Timestamp(0));
        let limiter = Limiter::new(Arc::new(clock.clone()));
        for _ in 0..50 {
            let admission = limiter.admit().await;
            limiter.accepted(admission);
            clock.advance(Duration::from_secs(1));
        }
        assert_eq!(limiter.rate(), START);
    }

    #[tokio::test]
    async fn instances_of_one_place_share_a_limiter_and_others_do_not() {
        let limiters = Limiters::like(Limiter::new(Arc::new(FastClock::at(Timestamp(0)))));
        limiters.of("111111111111 eu").refused();
        assert_eq!(limiters.of("111111111111 eu").rate(), START / 2.0);
        assert_eq!(limiters.of("222222222222 eu").rate(), START);
    }

    #[tokio::test]
    async fn pause_allows_a_short_burst_and_no_more() {
        let clock = FastClock::at(Timestamp(0));
        let limiter = Limiter::new(Arc::new(clock.clone()));
        clock.advance(Duration::from_secs(3600));
        let start = clock.monotonic();
        for _ in 0..10 {
            let _ = limiter.admit().await;
        }
        assert_eq!(clock.monotonic(), start, "half a second's requests go out at once");
        let _ = limiter.admit().await;
        assert!(clock.monotonic() > start);
    }
}
