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
    /// Whatever the library reported, for a life whose secrets must not be in it.
    reported: Option<Vec<String>>,
}

impl TraceEntries {
    /// Keeps reports from here on, for `take_reported`.
    pub(crate) fn keep_reported(&mut self) {
        self.reported.get_or_insert_default();
    }

    /// Returns every report since the last call.
    pub(crate) fn take_reported(&mut self) -> Vec<String> {
        self.reported.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Trace {
    pub(crate) fn entries(&self) -> MutexGuard<'_, TraceEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn log(&self, line: impl Into<String>) {
        self.entries().lines.push(line.into());
    }

    /// Adds a report, if reports are kept.
    pub(crate) fn report(&self, text: impl FnOnce() -> String) {
        if let Some(reported) = &mut self.entries().reported {
            reported.push(text());
        }
    }

    pub(crate) fn mark(&self, mark: impl Into<String>) {
        self.entries().reached.insert(mark.into());
    }
}
