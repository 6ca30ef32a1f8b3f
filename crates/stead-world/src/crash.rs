//! Named points in shipped code at which a test may end the process.

use std::sync::atomic::{AtomicU32, Ordering};

/// Called at every crash point.
pub trait CrashPoints: Send + Sync {
    fn reach(&self, point: &'static str);
}

/// Ignores crash points, as production does.
pub struct NoCrash;

impl CrashPoints for NoCrash {
    fn reach(&self, _point: &'static str) {}
}

/// Ends the process, as `kill -9` would, when a point is reached for the n-th time.
pub struct AbortAt {
    point: String,
    remaining: AtomicU32,
}

impl AbortAt {
    /// Parses `point` or `point:n`.
    pub fn parse(text: &str) -> AbortAt {
        let (point, count) = text.split_once(':').unwrap_or((text, "1"));
        AbortAt { point: point.to_owned(), remaining: AtomicU32::new(count.parse().unwrap_or(1)) }
    }
}

impl CrashPoints for AbortAt {
    fn reach(&self, point: &'static str) {
        if point == self.point && self.remaining.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    }
}
