//! The limiter: keeps the rate of requests to one account and region as high as the service accepts.
//!
//! A token bucket whose rate adapts. It grows with each request that had to wait and was accepted: fast until the first
//! refusal, slowly after it. A refusal for too many requests lowers it to a bit less than the service accepted in the last
//! second, and at most to a half, so that the rate stays near the limit. **Invariants:** requests are admitted in the order in which they ask, and
//! each at the rate of the moment at which its turn comes.

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

/// Time over which accepted requests are counted, in milliseconds.
const WINDOW_MS: u64 = 1_000;

/// Shortest wait for a token: clocks count milliseconds.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// Part of the accepted rate to which a refusal lowers the rate.
const BACK_OFF: f64 = 0.9;

/// Part of the rate by which it grows in a second after the first refusal.
const GROWTH: f64 = 0.02;

/// Refusals within this time count as one, because their requests were sent at the same rate.
const SAME_REFUSAL: Duration = Duration::from_secs(1);

/// Admits requests at an adapting rate, or all of them. Its clones share the rate.
#[derive(Clone)]
pub struct Limiter {
    pace: Option<Pace>,
}

#[derive(Clone)]
struct Pace {
    clock: Arc<dyn Clock>,
    bucket: Arc<Mutex<Bucket>>,
    /// Held by the request that is admitted next. It serves its waiters in order.
    turn: Arc<tokio::sync::Mutex<()>>,
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
    /// Requests that may go out now.
    tokens: f64,
    updated: Duration,
    refused_at: Option<Duration>,
    accepted: Accepted,
}

/// Accepted requests of this window of time and of the last one.
#[derive(Default)]
struct Accepted {
    window: u64,
    now: u32,
    before: u32,
}

impl Accepted {
    fn turn_to(&mut self, now: Duration) {
        let window = now.as_millis() as u64 / WINDOW_MS;
        match window.saturating_sub(self.window) {
            0 => return,
            1 => self.before = self.now,
            _ => self.before = 0,
        }
        (self.window, self.now) = (window, 0);
    }

    fn count(&mut self, now: Duration) {
        self.turn_to(now);
        self.now += 1;
    }

    /// Returns the accepted requests per second, of which the older part is an estimate.
    fn rate(&mut self, now: Duration) -> f64 {
        self.turn_to(now);
        let length = WINDOW_MS as f64 / 1000.0;
        let part = (now.as_millis() as u64 % WINDOW_MS) as f64 / WINDOW_MS as f64;
        (f64::from(self.before) * (1.0 - part) + f64::from(self.now)) / length
    }
}

/// An admitted request, whose result tells how the rate changes.
#[must_use]
pub struct Admission {
    waited: bool,
}

impl Limiter {
    pub fn new(clock: Arc<dyn Clock>) -> Limiter {
        Limiter { pace: Some(Pace::new(clock)) }
    }

    /// Returns a limiter for a service that is in this process, and has no rate of its own.
    pub fn unlimited() -> Limiter {
        Limiter { pace: None }
    }

    /// Returns a limiter of the same kind with a rate of its own.
    fn fresh(&self) -> Limiter {
        Limiter { pace: self.pace.as_ref().map(|pace| Pace::new(pace.clock.clone())) }
    }

    /// Waits until a request may be sent.
    pub async fn admit(&self) -> Admission {
        match &self.pace {
            Some(pace) => pace.admit().await,
            None => Admission { waited: false },
        }
    }

    /// Tells that the service accepted a request.
    pub fn accepted(&self, admission: Admission) {
        let Some(pace) = &self.pace else { return };
        let now = pace.clock.monotonic();
        let mut bucket = pace.bucket();
        bucket.accepted.count(now);
        if admission.waited {
            bucket.grow();
        }
    }

    /// Tells that the service refused a request because there were too many.
    pub fn refused(&self) {
        let Some(pace) = &self.pace else { return };
        let now = pace.clock.monotonic();
        pace.bucket().shrink(now);
    }

    /// Returns the requests per second that are admitted now; `None` if all of them are.
    pub fn rate(&self) -> Option<f64> {
        self.pace.as_ref().map(|pace| pace.bucket().rate)
    }
}

impl Pace {
    fn new(clock: Arc<dyn Clock>) -> Pace {
        let updated = clock.monotonic();
        let (tokens, refused_at, accepted) = (START * BURST_SECONDS, None, Accepted::default());
        let bucket = Bucket { rate: START, tokens, updated, refused_at, accepted };
        Pace { clock, bucket: Arc::new(Mutex::new(bucket)), turn: Arc::default() }
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn admit(&self) -> Admission {
        let (_turn, mut waited) = match self.turn.try_lock() {
            Ok(turn) => (turn, false),
            Err(_) => (self.turn.lock().await, true),
        };
        loop {
            let wait = self.bucket().take(self.clock.monotonic());
            let Some(wait) = wait else { return Admission { waited } };
            waited = true;
            self.clock.sleep(wait).await;
        }
    }
}

impl Bucket {
    /// Takes a token, or returns how long it takes until there is one.
    fn take(&mut self, now: Duration) -> Option<Duration> {
        let passed = now.saturating_sub(self.updated).as_secs_f64();
        self.updated = now.max(self.updated);
        let most = (self.rate * BURST_SECONDS).max(1.0);
        self.tokens = (self.tokens + passed * self.rate).min(most);
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return None;
        }
        // Never nothing: a wait that is rounded to zero would be repeated for ever.
        Some(Duration::from_secs_f64((1.0 - self.tokens) / self.rate).max(SHORTEST_WAIT))
    }

    fn grow(&mut self) {
        // One more for each accepted request doubles the rate in a second; one by the rate adds one in a second.
        let more = if self.refused_at.is_none() { 1.0 } else { (1.0 / self.rate).max(GROWTH) };
        self.rate = (self.rate + more).min(FASTEST);
    }

    fn shrink(&mut self, now: Duration) {
        if self.refused_at.is_some_and(|last| now < last + SAME_REFUSAL) {
            return;
        }
        self.refused_at = Some(now);
        let accepted = self.accepted.rate(now);
        let lower = (accepted * BACK_OFF).clamp(self.rate / 2.0, self.rate * BACK_OFF);
        self.rate = lower.max(SLOWEST);
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
        assert!(rate > 27.0 && rate <= 30.5, "{rate} per second");
        assert!(f64::from(refused) < 0.1 * f64::from(accepted), "{refused} refused of {accepted}");
    }

    #[tokio::test]
    async fn refusals_of_one_moment_halve_the_rate_once() {
        let clock = FastClock::at(Timestamp(0));
        let limiter = Limiter::new(Arc::new(clock.clone()));
        (0..5).for_each(|_| limiter.refused());
        assert_eq!(limiter.rate(), Some(START / 2.0));
        clock.advance(SAME_REFUSAL);
        limiter.refused();
        assert_eq!(limiter.rate(), Some(START / 4.0));
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
        assert_eq!(limiter.rate(), Some(START));
    }

    #[tokio::test]
    async fn instances_of_one_place_share_a_limiter_and_others_do_not() {
        let limiters = Limiters::like(Limiter::new(Arc::new(FastClock::at(Timestamp(0)))));
        limiters.of("111111111111 eu").refused();
        assert_eq!(limiters.of("111111111111 eu").rate(), Some(START / 2.0));
        assert_eq!(limiters.of("222222222222 eu").rate(), Some(START));
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
