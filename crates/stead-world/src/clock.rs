//! Time. Wall time is only shown to people; decisions use the monotonic clock.

use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

/// Wall time in milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub u64);

#[async_trait]
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    /// Returns the time since a fixed point in this process; never decreases.
    fn monotonic(&self) -> Duration;
    async fn sleep(&self, duration: Duration);
}

pub struct RealClock {
    start: Instant,
}

impl RealClock {
    pub fn start() -> RealClock {
        RealClock { start: Instant::now() }
    }
}

#[async_trait]
impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(since.as_millis() as u64)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Returns the processor time that the calling thread has used, or zero where the system does not tell.
pub fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(used).unwrap_or_default()
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

impl fmt::Display for Timestamp {
    /// RFC 3339, to the second.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1000;
        let (year, month, day) = civil(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// The date of a day counted from 1970-01-01, by 400-year eras that start on a 1 March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_print_as_rfc_3339() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Timestamp(951_782_400_000).to_string(), "2000-02-29T00:00:00Z");
        assert_eq!(Timestamp(1_799_999_999_999).to_string(), "2027-01-15T07:59:59Z");
    }
}
