//! Reads a stack without writing anything: head, snapshot, and the journal since.

use std::sync::Arc;

use stead_model::{Digest, Epoch, Limits, Seq, StackId};
use stead_state::{Absent, Batch, Head, Record, Snapshot, Sound, State, extent, verify};
use stead_store::{Key, Store, Version};

use crate::{JournalError, Spool, StackKeys};

/// A stack as it was read. Whoever acts on it names `version`, so that a change in between is noticed.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// `None`: the stack does not exist yet.
    pub head: Option<Head>,
    pub version: Seen,
    pub state: Arc<State>,
    /// How many answers it has that the journal did not take; the next run makes them durable.
    pub answered: usize,
}

/// What was read, to be told from what is there later: head, and how far the journal of a run had come that was not
/// closed. Such a run changes nothing in head until it ends, and it may die without.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub(crate) head: Option<Version>,
    pub(crate) last: Option<Digest>,
    /// The state that head's snapshot alone stands for, so that a run which opens on it need not read it again.
    pub(crate) whole: Option<Arc<State>>,
}

impl PartialEq for Seen {
    fn eq(&self, other: &Seen) -> bool {
        self.head == other.head && self.last == other.last
    }
}

/// Reads and checks. Takes no lock; what a run under way has appended so far is included.
pub async fn load(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<Loaded, JournalError> {
    load_with(&Spool { store: store.clone(), keys: keys.clone(), machine: None }).await
}

/// As `load`, and looks on this machine too for answers that the journal did not take.
pub async fn load_with(spool: &Spool) -> Result<Loaded, JournalError> {
    let Spool { store, keys, .. } = spool;
    let absent = |head| Loaded {
        head: None,
        version: Seen { head, ..Seen::default() },
        state: Arc::new(nothing()),
        answered: 0,
    };
    let (head, version) = match read_head(store, keys).await? {
        None => return Ok(absent(None)),
        Some((head, version)) => match present(store, keys, head).await? {
            Present::Stack(head) => (*head, version),
            Present::Nothing(_) => return Ok(absent(Some(version))),
            Present::Renamed { to, .. } => return Err(JournalError::Renamed { to }),
        },
    };
    let mut state = State::from(read_base(store, keys, &head).await?);
    let mut last = None;
    for epoch in head.base.0..=head.epoch.0 {
        last = fold_epoch(store, keys, Epoch(epoch), &mut state).await?.previous;
    }
    let mut answered = 0;
    if state.pending().next().is_some() {
        let mut sound = Sound::new(state).map_err(JournalError::Integrity)?;
        answered = spool.take(&mut sound, head.epoch).await?.len();
        state = sound.into_state();
    } else if head.base <= head.epoch {
        check(&state)?; // the base alone was checked when it was read
    }
    let state = Arc::new(state);
    let whole = (head.base > head.epoch && answered == 0).then(|| state.clone());
    let version = Seen { head: Some(version), last, whole };
    Ok(Loaded { head: Some(head), version, state, answered })
}

fn nothing() -> State {
    State::from(Snapshot::empty(StackId(String::new())))
}

/// What a head stands for.
pub(crate) enum Present {
    Stack(Box<Head>),
    /// No stack; the head's epoch still counts.
    Nothing(Box<Head>),
    Renamed {
        to: String,
        at: Epoch,
    },
}

/// A stack that is arriving is there from the moment in which the other one is not.
pub(crate) async fn present(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    head: Head,
) -> Result<Present, JournalError> {
    let (from, at) = match &head.absent {
        None => return Ok(Present::Stack(Box::new(head))),
        Some(Absent::Removed) => return Ok(Present::Nothing(Box::new(head))),
        Some(Absent::Renamed { to, at }) => return Ok(Present::Renamed { to: to.clone(), at: *at }),
        Some(Absent::Arriving { from, at }) => (from.clone(), *at),
    };
    let other = read_head(store, &keys.sibling(&from, &keys.target())).await?;
    let left = Absent::Renamed { to: keys.environment(), at };
    match other {
        Some((other, _)) if other.absent.as_ref() == Some(&left) => {
            Ok(Present::Stack(Box::new(Head { absent: None, ..head })))
        }
        _ => Ok(Present::Nothing(Box::new(head))),
    }
}

/// The head of a stack, if there is one; also of one that was removed or renamed.
pub async fn read_head(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
) -> Result<Option<(Head, Version)>, JournalError> {
    let Some(found) = store.get(&keys.head()).await? else { return Ok(None) };
    let head = Head::decode(&found.body).map_err(|source| format_error(&keys.head(), source))?;
    Ok(Some((head, found.version)))
}

pub(crate) async fn read_base(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    head: &Head,
) -> Result<Snapshot, JournalError> {
    let Some(digest) = &head.snapshot else { return Ok(Snapshot::empty(head.stack.clone())) };
    let key = keys.snapshot(digest);
    let found = store.get(&key).await?.ok_or_else(|| JournalError::Missing { key: key.to_string() })?;
    let snapshot = Snapshot::decode(&found.body, digest).map_err(|source| format_error(&key, source))?;
    if let Some(excess) = Limits::default().of_state().exceeded(&extent(&snapshot)) {
        return Err(JournalError::Limit { key: key.to_string(), excess });
    }
    match verify(&snapshot) {
        violations if violations.is_empty() => Ok(snapshot),
        violations => Err(JournalError::Integrity(violations)),
    }
}

/// Where the next append of an epoch goes, and what it must name as its predecessor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    pub seq: Seq,
    pub previous: Option<Digest>,
    pub sealed: bool,
}

/// Applies an epoch's batches, in order, up to its seal or its first free slot.
pub(crate) async fn fold_epoch(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    epoch: Epoch,
    state: &mut State,
) -> Result<Tail, JournalError> {
    let mut tail = Tail { seq: Seq(0), previous: None, sealed: false };
    loop {
        let key = keys.batch(epoch, tail.seq);
        let Some(found) = store.get(&key).await? else { return Ok(tail) };
        let batch = Batch::decode(&found.body).map_err(|source| format_error(&key, source))?;
        if batch.epoch != epoch || batch.seq != tail.seq || batch.previous != tail.previous {
            return Err(JournalError::BrokenChain { key: key.to_string() });
        }
        for record in &batch.records {
            let replayed = state.apply(record);
            replayed.map_err(|source| JournalError::Replay { key: key.to_string(), source })?;
        }
        tail.previous = Some(Digest::of(&found.body));
        tail.seq = tail.seq.next();
        if batch.records.iter().any(|record| matches!(record, Record::Seal { .. })) {
            tail.sealed = true;
            return Ok(tail);
        }
    }
}

/// The digest of the last record of the run that head names, if that run was not closed.
pub(crate) async fn last_record(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    head: &Head,
) -> Result<Option<Digest>, JournalError> {
    let (mut last, mut seq) = (None, Seq(0));
    if head.base <= head.epoch {
        while let Some(found) = store.get(&keys.batch(head.epoch, seq)).await? {
            last = Some(Digest::of(&found.body));
            seq = seq.next();
        }
    }
    Ok(last)
}

pub(crate) fn check(state: &State) -> Result<Snapshot, JournalError> {
    let snapshot = state.snapshot(None);
    match verify(&snapshot) {
        violations if violations.is_empty() => Ok(snapshot),
        violations => Err(JournalError::Integrity(violations)),
    }
}

pub(crate) fn format_error(key: &Key, source: stead_state::FormatError) -> JournalError {
    JournalError::Format { key: key.to_string(), source }
}
