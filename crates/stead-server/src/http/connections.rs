//! Open connections, and the choice of the one that makes room for another.
//!
//! **Invariant:** a client that holds connections and sends nothing cannot keep a new one out. A connection whose review
//! is being decided is never closed for another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stead_world::Clock;
use tokio::sync::Notify;

/// All open connections.
pub(super) struct Connections {
    clock: Arc<dyn Clock>,
    limit: usize,
    open: Mutex<OpenConnections>,
    /// Signalled when a connection ends or becomes idle.
    changed: Notify,
}

#[derive(Default)]
struct OpenConnections {
    next: u64,
    all: BTreeMap<u64, Entry>,
}

struct Entry {
    phase: Phase,
    /// Time of the last change of phase.
    since: Duration,
    displaced: Arc<Notify>,
}

/// Phase of a connection, in the order in which connections make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// No request has been answered yet.
    New,
    /// Idle after an answer: an API server keeps such a connection for its next review.
    Idle,
    /// A review is being decided.
    Deciding,
}

/// Open connection; dropping it frees its place.
pub(super) struct Connection {
    id: u64,
    all: Arc<Connections>,
    displaced: Arc<Notify>,
}

impl Connections {
    pub(super) fn new(clock: Arc<dyn Clock>, limit: usize) -> Arc<Connections> {
        Arc::new(Connections { clock, limit, open: Mutex::default(), changed: Notify::new() })
    }

    /// Returns once a connection can be opened: there is a free place, or an idle connection that can be closed.
    pub(super) async fn room(&self) {
        loop {
            let changed = self.changed.notified();
            if self.has_room() {
                return;
            }
            changed.await;
        }
    }

    fn has_room(&self) -> bool {
        let open = self.lock();
        open.all.len() < self.limit || open.all.values().any(|entry| entry.phase != Phase::Deciding)
    }

    /// Adds a connection. If all places are taken, the connection that has been idle for the longest time ends, those
    /// without an answered request first.
    pub(super) fn open(self: &Arc<Connections>) -> Connection {
        let since = self.clock.monotonic();
        let displaced = Arc::new(Notify::new());
        let mut open = self.lock();
        if open.all.len() >= self.limit {
            let idle = open.all.iter().filter(|(_, entry)| entry.phase != Phase::Deciding);
            let idlest = idle.min_by_key(|(id, entry)| (entry.phase, entry.since, **id)).map(|(id, _)| *id);
            if let Some(entry) = idlest.and_then(|id| open.all.remove(&id)) {
                entry.displaced.notify_one();
            }
        }
        let id = open.next;
        open.next += 1;
        open.all.insert(id, Entry { phase: Phase::New, since, displaced: displaced.clone() });
        Connection { id, all: self.clone(), displaced }
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Returns once another connection has taken the place of this one.
    pub(super) async fn displaced(&self) {
        self.displaced.notified().await;
    }

    /// Marks the connection as deciding a review until the returned value is dropped.
    pub(super) fn decide(&self) -> Deciding<'_> {
        self.set(Phase::Deciding);
        Deciding(self)
    }

    /// Marks the connection as idle after an answer.
    pub(super) fn answered(&self) {
        self.set(Phase::Idle);
    }

    fn set(&self, phase: Phase) {
        let since = self.all.clock.monotonic();
        if let Some(entry) = self.all.lock().all.get_mut(&self.id) {
            (entry.phase, entry.since) = (phase, since);
        }
        self.all.changed.notify_waiters();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.lock().all.remove(&self.id);
        self.all.changed.notify_waiters();
    }
}

/// Review that is being decided.
pub(super) struct Deciding<'a>(&'a Connection);

impl Drop for Deciding<'_> {
    fn drop(&mut self) {
        self.0.answered();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(connections: &Connections) -> Vec<u64> {
        connections.lock().all.keys().copied().collect()
    }

    #[test]
    fn idlest_connection_makes_room_and_a_deciding_one_never_does() {
        let all = Connections::new(stead_world::World::real().clock, 3);
        let (answered, deciding, _silent) = (all.open(), all.open(), all.open());
        answered.answered();
        let review = deciding.decide();
        let _fourth = all.open();
        assert_eq!(ids(&all), [0, 1, 3], "the silent connection ends first");
        let _fifth = all.open();
        assert_eq!(ids(&all), [0, 1, 4], "then the next one without an answer");
        let kept = _fifth.decide();
        let _sixth = all.open();
        assert_eq!(ids(&all), [1, 4, 5], "then the idle one");
        let last = _sixth.decide();
        assert!(!all.has_room());
        drop(review);
        assert!(all.has_room());
        drop((kept, last));
    }
}
