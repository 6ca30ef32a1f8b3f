//! Count of the reads of real resources, for a display of their progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of reads, look-ups and lists: under way, and ended. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ReadCount(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    under_way: AtomicUsize,
    ended: AtomicUsize,
}

impl ReadCount {
    pub fn under_way(&self) -> usize {
        self.0.under_way.load(Ordering::Relaxed)
    }

    pub fn ended(&self) -> usize {
        self.0.ended.load(Ordering::Relaxed)
    }

    /// Counts reads as under way until the value is dropped, and as ended afterwards.
    pub fn begin(&self, reads: usize) -> ReadsUnderWay {
        self.0.under_way.fetch_add(reads, Ordering::Relaxed);
        ReadsUnderWay { count: self.clone(), reads }
    }
}

/// Reads that are under way.
#[must_use = "the reads end when this is dropped"]
pub struct ReadsUnderWay {
    count: ReadCount,
    reads: usize,
}

impl Drop for ReadsUnderWay {
    fn drop(&mut self) {
        self.count.0.under_way.fetch_sub(self.reads, Ordering::Relaxed);
        self.count.0.ended.fetch_add(self.reads, Ordering::Relaxed);
    }
}
