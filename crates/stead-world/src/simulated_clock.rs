//! A clock of simulated time. It stands still while tasks work, and jumps to the end of the next sleep once all of them wait.
//!
//! **Invariant:** the order in which sleeps end depends on their lengths and on the order of their starts, never on the machine.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;

use crate::{Clock, Timestamp};

/// A clock of simulated time. Its clones are the same clock.
#[derive(Clone)]
pub struct SimulatedClock {
    times: Arc<Mutex<Times>>,
}

struct Times {
    start: Timestamp,
    passed: Duration,
    /// Tasks that sleep, by the end of their sleep and the order of their starts.
    sleeping: BTreeMap<(Duration, u64), Waker>,
    started: u64,
}

struct Sleep {
    clock: SimulatedClock,
    end: Duration,
    number: u64,
}

impl SimulatedClock {
    pub fn starting_at(start: Timestamp) -> SimulatedClock {
        let times = Times { start, passed: Duration::ZERO, sleeping: BTreeMap::new(), started: 0 };
        SimulatedClock { times: Arc::new(Mutex::new(times)) }
    }

    /// Runs a future to its end on this thread. Its sleeps cost no time.
    pub fn block_on<F: Future>(&self, future: F) -> io::Result<F::Output> {
        let clock = self.clone();
        let runtime =
            tokio::runtime::Builder::new_current_thread().on_thread_park(move || clock.jump()).build()?;
        Ok(runtime.block_on(future))
    }

    /// Ends the sleep that ends first.
    fn jump(&self) {
        let woken = {
            let mut times = self.times();
            let first = times.sleeping.pop_first();
            first.map(|((end, _), waker)| {
                times.passed = times.passed.max(end);
                waker
            })
        };
        if let Some(waker) = woken {
            waker.wake();
        }
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        // No code panics while it holds the lock, so the data of a poisoned lock is intact.
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        let times = self.times();
        Timestamp(times.start.0.saturating_add(times.passed.as_millis() as u64))
    }

    fn monotonic(&self) -> Duration {
        self.times().passed
    }

    async fn sleep(&self, duration: Duration) {
        let sleep = {
            let mut times = self.times();
            times.started += 1;
            Sleep { clock: self.clone(), end: times.passed.saturating_add(duration), number: times.started }
        };
        sleep.await
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut times = self.clock.times();
        if times.passed >= self.end {
            return Poll::Ready(());
        }
        times.sleeping.insert((self.end, self.number), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let key = (self.end, self.number);
        self.clock.times().sleeping.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_end_in_the_order_of_their_ends_without_waiting() {
        let clock = SimulatedClock::starting_at(Timestamp(1_000));
        let ended = Arc::new(Mutex::new(Vec::new()));
        let sleeper = |seconds: u64| {
            let (clock, ended) = (clock.clone(), ended.clone());
            async move {
                clock.sleep(Duration::from_secs(seconds)).await;
                ended.lock().unwrap().push((seconds, clock.now()));
            }
        };
        let all = async {
            let background = tokio::spawn(sleeper(7_200));
            tokio::join!(sleeper(30), sleeper(3_600), sleeper(5));
            background.await.unwrap();
        };
        clock.block_on(all).unwrap();
        let expected = [5, 30, 3_600, 7_200].map(|seconds| (seconds, Timestamp(1_000 + 1_000 * seconds)));
        assert_eq!(*ended.lock().unwrap(), expected);
    }

    #[test]
    fn limit_that_is_not_reached_leaves_the_time_as_it_is() {
        let clock = SimulatedClock::starting_at(Timestamp(0));
        let work = async {
            tokio::select! {
                () = clock.sleep(Duration::from_secs(600)) => panic!("the limit came first"),
                () = clock.sleep(Duration::from_secs(1)) => {}
            }
        };
        clock.block_on(work).unwrap();
        assert_eq!(clock.monotonic(), Duration::from_secs(1));
    }
}
