//! The trace of a life: a log of events, and the coverage marks reached on the way.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Events in order, and the coverage marks reached.
#[derive(Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<TraceEntries>>);

/// Content of a trace.
#[derive(Default)]
pub(crate) struct TraceEntries {
    pub lines: Vec<String>,
    pub reached: BTreeSet<String>,
    pub faults: usize,
    /// Crash points that were passed.
    pub points: BTreeSet<&'static str>,
}

impl Trace {
    pub(crate) fn entries(&self) -> MutexGuard<'_, TraceEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn log(&self, line: impl Into<String>) {
        self.entries().lines.push(line.into());
    }

    pub(crate) fn mark(&self, mark: impl Into<String>) {
        self.entries().reached.insert(mark.into());
    }
}
