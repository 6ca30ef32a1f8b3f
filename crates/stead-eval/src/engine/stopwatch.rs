//! Processor time of an evaluation: ends programs that the count of steps does not end in time.
//!
//! A step is a branch or a call. A program whose steps call costly built-ins, such as products of huge integers or a short
//! search that backtracks, would run for minutes before the count ends it. **Invariant:** the time decides only whether a
//! program is stopped, never what it declares.

use std::cell::Cell;
use std::time::Duration;

use crate::ProcessorClock;

/// Bytes that are allocated between two looks at the clock.
const WATCHED_BYTES: usize = 64 << 10;
/// Number of bytes as which a small allocation counts.
const SMALLEST: usize = 64;

/// Processor time that is left for an evaluation.
pub(crate) struct Stopwatch {
    /// `None` limits nothing.
    clock: Option<ProcessorClock>,
    limit: Duration,
    end: Cell<Duration>,
    expired: Cell<bool>,
    /// Bytes allocated since the last look at the clock.
    allocated: Cell<usize>,
}

impl Stopwatch {
    pub(crate) fn start(clock: Option<ProcessorClock>, limit: Duration) -> Stopwatch {
        let watch = Stopwatch {
            clock,
            limit,
            end: Cell::default(),
            expired: Cell::default(),
            allocated: Cell::default(),
        };
        watch.restart();
        watch
    }

    /// Gives the thread that calls it the whole time again.
    pub(crate) fn restart(&self) {
        self.end.set(self.clock.map_or(Duration::MAX, |clock| clock().saturating_add(self.limit)));
        self.expired.set(false);
    }

    /// Looks at the clock, and returns true if the time is over.
    pub(crate) fn look(&self) -> bool {
        if let Some(clock) = self.clock
            && clock() > self.end.get()
        {
            self.expired.set(true);
        }
        self.expired.get()
    }

    /// Returns true if an earlier look found the time over.
    pub(crate) fn has_expired(&self) -> bool {
        self.expired.get()
    }

    /// Counts an allocation, and looks at the clock after enough of them.
    pub(crate) fn count_allocation(&self, size: usize) {
        let allocated = self.allocated.get().saturating_add(size.max(SMALLEST));
        self.allocated.set(allocated);
        if allocated >= WATCHED_BYTES {
            self.allocated.set(0);
            self.look();
        }
    }
}
