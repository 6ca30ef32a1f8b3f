//! Reads a stack without writing anything: head, snapshot, and the journal since that snapshot.

use std::sync::Arc;

use stead_model::{Digest, Epoch, Limits, Seq, StackId};
use stead_state::{Absent, Batch, Head, Record, Snapshot, State, VerifiedState, extent, verify};
use stead_store::{Key, Store, Version};

use crate::{JournalError, Spool, StackKeys};

/// A stack as it was read.
///
/// A run that was planned on this state passes `version` to [`open`](crate::open), which refuses it if the
/// stack changed.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// `None`: the stack does not exist yet.
    pub head: Option<Head>,
    pub version: ReadVersion,
    pub state: Arc<State>,
    /// Number of spooled answers included in `state`; the next run makes them durable.
    pub spooled_answers: usize,
}

/// Version of a stack as it was read, compared with the stored one when a run opens.
///
/// It consists of the head's version and the last journal record, because a run that has not ended appends to
/// the journal without changing the head.
#[derive(Clone, Debug, Default)]
pub struct ReadVersion {
    pub(crate) head: Option<Version>,
    pub(crate) last: Option<Digest>,
    /// The state, if the head's snapshot contains all of it: a run that opens on this version need not read
    /// it again.
    pub(crate) whole: Option<Arc<State>>,
}

impl PartialEq for ReadVersion {
    fn eq(&self, other: &ReadVersion) -> bool {
        self.head == other.head && self.last == other.last
    }
}

/// Reads a stack and checks its integrity rules. Takes no lock; includes the records that a running run has
/// appended so far.
pub async fn load(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<Loaded, JournalError> {
    load_with_spool(&Spool { store: store.clone(), keys: keys.clone(), local: None }).await
}

/// Reads as [`load`] does, and includes answers that were spooled on this machine.
pub async fn load_with_spool(spool: &Spool) -> Result<Loaded, JournalError> {
    let Spool { store, keys, .. } = spool;
    loop {
        let stored = read_head(store, keys).await?;
        let version = stored.as_ref().map(|(_, version)| version.clone());
        match load_from(spool, stored).await {
            // A run that closes deletes the journals that its snapshot contains, also while they are read.
            Err(JournalError::JournalGap { .. })
                if version != read_head(store, keys).await?.map(|(_, version)| version) => {}
            loaded => return loaded,
        }
    }
}

async fn load_from(spool: &Spool, stored: Option<(Head, Version)>) -> Result<Loaded, JournalError> {
    let Spool { store, keys, .. } = spool;
    let absent = |head| Loaded {
        head: None,
        version: ReadVersion { head, ..ReadVersion::default() },
        state: Arc::new(empty_state()),
        spooled_answers: 0,
    };
    let (head, version) = match stored {
        None => return Ok(absent(None)),
        Some((head, version)) => match presence(store, keys, head).await? {
            Presence::Stack(head) => (*head, version),
            Presence::NoStack(_) => return Ok(absent(Some(version))),
            Presence::Renamed { to, .. } => return Err(JournalError::Renamed { to }),
        },
    };
    let mut state = State::from(read_base(store, keys, &head).await?);
    let mut last = None;
    for epoch in head.base.0..=head.epoch.0 {
        last = replay_epoch(store, keys, Epoch(epoch), &mut state).await?.previous;
    }
    let mut spooled_answers = 0;
    if state.pending().next().is_some() {
        let mut sound = VerifiedState::new(state).map_err(JournalError::Integrity)?;
        spooled_answers = spool.replay(&mut sound, &head).await?.len();
        state = sound.into_state();
    } else if head.base <= head.epoch {
        check(&state)?; // the base alone was checked when it was read
    }
    let state = Arc::new(state);
    let whole = (head.base > head.epoch && spooled_answers == 0).then(|| state.clone());
    let version = ReadVersion { head: Some(version), last, whole };
    Ok(Loaded { head: Some(head), version, state, spooled_answers })
}

fn empty_state() -> State {
    State::from(Snapshot::empty(StackId(String::new())))
}

/// Meaning of a stored head.
pub(crate) enum Presence {
    Stack(Box<Head>),
    /// There is no stack; a later one continues from this head's epoch.
    NoStack(Box<Head>),
    Renamed {
        to: String,
        at: Epoch,
    },
}

/// Tells whether a head stands for a stack.
///
/// A stack that is being renamed exists under its new keys as soon as the old head says `Renamed`.
pub(crate) async fn presence(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    head: Head,
) -> Result<Presence, JournalError> {
    let (from, at) = match &head.absent {
        None => return Ok(Presence::Stack(Box::new(head))),
        Some(Absent::Removed) => return Ok(Presence::NoStack(Box::new(head))),
        Some(Absent::Renamed { to, at }) => return Ok(Presence::Renamed { to: to.clone(), at: *at }),
        Some(Absent::Arriving { from, at }) => (from.clone(), *at),
    };
    let other = read_head(store, &keys.sibling(&from, &keys.target())).await?;
    let left = Absent::Renamed { to: keys.environment(), at };
    match other {
        Some((other, _)) if other.absent.as_ref() == Some(&left) => {
            Ok(Presence::Stack(Box::new(Head { absent: None, ..head })))
        }
        _ => Ok(Presence::NoStack(Box::new(head))),
    }
}

/// Reads the head of a stack, also of one that was removed or renamed. `None`: there was never a stack.
///
/// The head of a stack is its first object and is never deleted. Other objects without a head are therefore damage, and
/// not an empty stack, whose resources would all be created again.
pub async fn read_head(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
) -> Result<Option<(Head, Version)>, JournalError> {
    let Some(blob) = store.get(&keys.head()).await? else {
        return match has_objects(store, keys).await? {
            // A stack may have been created after the head was read.
            true if store.get(&keys.head()).await?.is_none() => {
                Err(JournalError::HeadMissing { key: keys.head().to_string() })
            }
            true => Box::pin(read_head(store, keys)).await,
            false => Ok(None),
        };
    };
    let head = Head::decode(&blob.body).map_err(|source| format_error(&keys.head(), source))?;
    Ok(Some((head, blob.version)))
}

/// Returns true if any snapshot, journal or run record is stored.
pub(crate) async fn has_objects(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<bool, JournalError> {
    for prefix in [keys.snapshots(), keys.histories(), keys.journals()] {
        if !store.list(&prefix).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads the snapshot that head refers to, and checks its limits and integrity rules.
pub(crate) async fn read_base(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    head: &Head,
) -> Result<Snapshot, JournalError> {
    let Some(digest) = &head.snapshot else { return Ok(Snapshot::empty(head.stack.clone())) };
    let key = keys.snapshot(digest);
    let blob = store.get(&key).await?.ok_or_else(|| JournalError::Missing { key: key.to_string() })?;
    let snapshot = Snapshot::decode(&blob.body, digest).map_err(|source| format_error(&key, source))?;
    if let Some(excess) = Limits::default().of_state().exceeded(&extent(&snapshot)) {
        return Err(JournalError::Limit { key: key.to_string(), excess });
    }
    match verify(&snapshot) {
        violations if violations.is_empty() => Ok(snapshot),
        violations => Err(JournalError::Integrity(violations)),
    }
}

/// End of an epoch's journal: the next free slot, and the digest that a batch in it must name as its
/// predecessor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    pub seq: Seq,
    pub previous: Option<Digest>,
    pub sealed: bool,
}

/// Replays an epoch's batches, in order, up to its seal or its first free slot.
///
/// Fails if there is a batch after a free slot: the batches of an epoch are written in order, so one was lost.
pub(crate) async fn replay_epoch(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    epoch: Epoch,
    state: &mut State,
) -> Result<Tail, JournalError> {
    let mut tail = Tail { seq: Seq(0), previous: None, sealed: false };
    loop {
        let key = keys.batch(epoch, tail.seq);
        let Some(blob) = store.get(&key).await? else {
            if !has_later_batch(store, keys, epoch, tail.seq).await? {
                return Ok(tail);
            }
            if store.get(&key).await?.is_none() {
                return Err(JournalError::JournalGap { key: key.to_string() });
            }
            continue; // the run is alive, and wrote this batch and the later one just now
        };
        let batch = Batch::decode(&blob.body).map_err(|source| format_error(&key, source))?;
        if batch.epoch != epoch || batch.seq != tail.seq || batch.previous != tail.previous {
            return Err(JournalError::BrokenChain { key: key.to_string() });
        }
        for record in &batch.records {
            let replayed = state.apply(record);
            replayed.map_err(|source| JournalError::Replay { key: key.to_string(), source })?;
        }
        tail.previous = Some(Digest::of(&blob.body));
        tail.seq = tail.seq.next();
        if batch.records.iter().any(|record| matches!(record, Record::Seal { .. })) {
            tail.sealed = true;
            return Ok(tail);
        }
    }
}

/// Returns true if the epoch has a batch after this slot.
async fn has_later_batch(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    epoch: Epoch,
    slot: Seq,
) -> Result<bool, JournalError> {
    let slot = keys.batch(epoch, slot);
    Ok(store.list(&keys.journal(epoch)).await?.iter().any(|key| *key > slot))
}

/// Returns the end of an epoch's journal without replaying it.
pub(crate) async fn tail_of(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    epoch: Epoch,
) -> Result<Tail, JournalError> {
    let (mut tail, mut last) = (Tail { seq: Seq(0), previous: None, sealed: false }, None);
    while let Some(blob) = store.get(&keys.batch(epoch, tail.seq)).await? {
        tail.previous = Some(Digest::of(&blob.body));
        tail.seq = tail.seq.next();
        last = Some(blob.body);
    }
    if let Some(bytes) = last {
        let batch = Batch::decode(&bytes).map_err(|source| format_error(&keys.journal(epoch), source))?;
        tail.sealed = batch.records.iter().any(|record| matches!(record, Record::Seal { .. }));
    }
    Ok(tail)
}

/// Returns the snapshot of a state that violates no integrity rule.
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
