//! Examines a stack that may be damaged, and proposes sound states to repair it with. Writes nothing.

use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Digest, Epoch, RunId, Seq};
use stead_state::{
    Batch, FormatError, Head, Proposal, Record, RepairMethod, RunRecord, Snapshot, State, Violation,
    propose_repairs, verify,
};
use stead_store::{Key, Store, Version};

use crate::load::{Presence, has_objects, presence};
use crate::{JournalError, StackKeys};

/// Most earlier states that are proposed.
const MAX_EARLIER: usize = 5;

/// Result of examining a stack.
#[derive(Debug)]
pub struct Survey {
    /// Damaged or missing objects, in words.
    pub problems: Vec<String>,
    pub violations: Vec<Violation>,
    /// The recorded state, as far as it can be read; repairs are compared with it.
    pub recorded: Option<Snapshot>,
    pub proposals: Vec<Proposal>,
    pub(super) head: Option<Head>,
    /// The bytes of head, damaged or not.
    pub(super) stored_head: Option<(Bytes, Version)>,
    pub(super) last_epoch: Epoch,
}

impl Survey {
    fn of_removed_stack(head: Head, stored_head: Option<(Bytes, Version)>) -> Survey {
        let last_epoch = head.epoch;
        Survey {
            problems: Vec::new(),
            violations: Vec::new(),
            recorded: None,
            proposals: Vec::new(),
            head: Some(head),
            stored_head,
            last_epoch,
        }
    }

    /// Returns true if nothing is damaged and no integrity rule is violated.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.violations.is_empty()
    }

    /// Returns the epochs in which a run may still be writing.
    ///
    /// Without a readable head, these include the epoch of a run that may have been opened and has written
    /// nothing yet.
    pub(super) fn epochs_to_fence(&self) -> Vec<Epoch> {
        match &self.head {
            Some(Head { owner: None, .. }) => Vec::new(),
            Some(head) => vec![head.epoch],
            None => vec![self.last_epoch, self.last_epoch.next()],
        }
    }
}

/// Examines the head, the snapshots, the journals and the history of a stack.
pub async fn survey(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<Survey, JournalError> {
    let search = Search { store, keys };
    let stored_head = store.get(&keys.head()).await?.map(|blob| (blob.body, blob.version));
    let mut problems = Vec::new();
    let head = match &stored_head {
        Some((bytes, _)) => match Head::decode(bytes) {
            Ok(head) => Some(head),
            Err(error) => {
                problems.push(damage(&keys.head(), error)?);
                None
            }
        },
        None => None,
    };
    let head = match head {
        Some(head) => match presence(store, keys, head).await? {
            Presence::Stack(head) => Some(*head),
            // A repair does not bring back a stack that was removed on purpose.
            Presence::NoStack(head) => return Ok(Survey::of_removed_stack(*head, stored_head)),
            Presence::Renamed { to, .. } => return Err(JournalError::Renamed { to }),
        },
        None => None,
    };
    let runs = search.runs().await?;
    let epochs = search.epochs().await?;
    let snapshots = search.snapshots().await?;
    if stored_head.is_none() && has_objects(store, keys).await? {
        problems.push(JournalError::HeadMissing { key: keys.head().to_string() }.to_string());
    }
    let base = match &head {
        Some(head) => search.base(head, &mut problems).await?,
        None => None,
    };
    let has_recorded_base = base.is_some();
    // Without a base that head refers to, the newest readable snapshot takes its place.
    let base = base.or_else(|| snapshots.iter().max_by_key(|stored| stored.age()).cloned());
    let rebuilt = match base {
        // Head says which epochs follow its own snapshot, and nothing about other snapshots.
        Some(base) => Some(search.rebuild(base, head.as_ref().filter(|_| has_recorded_base), &epochs).await?),
        None => None,
    };
    problems.extend(rebuilt.iter().filter_map(|rebuilt| rebuilt.unreadable.clone()));
    let recorded = rebuilt.as_ref().filter(|_| has_recorded_base).map(|rebuilt| rebuilt.snapshot.clone());
    let violations = recorded.as_ref().map(verify).unwrap_or_default();
    let last_epoch = last_epoch(head.as_ref(), &runs, &epochs);
    let mut survey =
        Survey { problems, violations, recorded, proposals: Vec::new(), head, stored_head, last_epoch };
    if !survey.is_sound() {
        survey.proposals = propose(rebuilt, &snapshots);
    }
    Ok(survey)
}

/// Describes a damaged object. An object that a newer version of stead wrote is an error: this version cannot
/// repair it.
fn damage(key: &Key, error: FormatError) -> Result<String, JournalError> {
    match error {
        FormatError::Newer { .. } => Err(JournalError::Format { key: key.to_string(), source: error }),
        FormatError::Damaged { .. } => Ok(format!("{key}: {error}")),
    }
}

/// Returns the proposals: the rebuilt state, and the states at the end of earlier runs.
fn propose(rebuilt: Option<Rebuilt>, snapshots: &[StoredSnapshot]) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    if let Some(Rebuilt { snapshot, replayed, unreadable }) = rebuilt {
        if !verify(&snapshot).is_empty() {
            proposals.extend(propose_repairs(&snapshot));
        } else if snapshot.run.is_none() || unreadable.is_some() || replayed > 0 {
            proposals
                .push(Proposal { method: RepairMethod::Rebuild { folded: replayed, unreadable }, snapshot });
        }
    }
    let mut earlier: Vec<&StoredSnapshot> = snapshots.iter().filter(|stored| stored.run.is_some()).collect();
    earlier.sort_by_key(|stored| std::cmp::Reverse(stored.age()));
    for StoredSnapshot { run, snapshot } in earlier.into_iter().take(MAX_EARLIER) {
        if verify(snapshot).is_empty() {
            let run = run.as_ref().map(RunId::to_string).unwrap_or_default();
            proposals.push(Proposal { method: RepairMethod::History { run }, snapshot: snapshot.clone() });
        }
    }
    proposals
}

/// Returns the newest epoch that head, history and journals mention.
fn last_epoch(head: Option<&Head>, runs: &[RunRecord], epochs: &[Epoch]) -> Epoch {
    let ran = runs.iter().map(|record| epoch_of(&record.run));
    head.map(|head| head.epoch).into_iter().chain(ran).chain(epochs.iter().copied()).max().unwrap_or_default()
}

/// Returns the epoch of a run, which is part of its id.
pub(crate) fn epoch_of(run: &RunId) -> Epoch {
    Epoch(run.as_str().trim_start_matches("run-").parse().unwrap_or_default())
}

/// A readable snapshot, and the run that ended with it.
#[derive(Clone, Debug)]
struct StoredSnapshot {
    snapshot: Snapshot,
    run: Option<RunId>,
}

impl StoredSnapshot {
    /// Returns a key that sorts snapshots by age: operation numbers grow through the life of a stack.
    fn age(&self) -> (u64, u64) {
        (self.snapshot.next_op.0, self.run.as_ref().map(epoch_of).unwrap_or_default().0)
    }

    /// Returns the first epoch that the snapshot does not contain, if that is known.
    fn next_epoch(&self) -> Option<Epoch> {
        self.run.as_ref().map(|run| epoch_of(run).next())
    }
}

/// A snapshot with the journal after it replayed.
struct Rebuilt {
    snapshot: Snapshot,
    /// Number of replayed records.
    replayed: usize,
    /// Where and why the replay stopped early.
    unreadable: Option<String>,
}

/// Reads the objects of a stack, damaged or not.
struct Search<'a> {
    store: &'a Arc<dyn Store>,
    keys: &'a StackKeys,
}

impl Search<'_> {
    async fn runs(&self) -> Result<Vec<RunRecord>, JournalError> {
        let mut runs = Vec::new();
        for key in self.store.list(&self.keys.histories()).await? {
            let blob = self.store.get(&key).await?;
            runs.extend(blob.and_then(|blob| RunRecord::decode(&blob.body).ok()));
        }
        Ok(runs)
    }

    /// Returns the epochs that have a journal, in order.
    async fn epochs(&self) -> Result<Vec<Epoch>, JournalError> {
        let keys = self.store.list(&self.keys.journals()).await?;
        let epoch = |key: &Key| key.segments().nth(4)?.parse().ok().map(Epoch);
        let mut epochs: Vec<Epoch> = keys.iter().filter_map(epoch).collect();
        epochs.dedup();
        Ok(epochs)
    }

    /// Returns every snapshot whose digest is that of its key.
    async fn snapshots(&self) -> Result<Vec<StoredSnapshot>, JournalError> {
        let mut snapshots = Vec::new();
        for key in self.store.list(&self.keys.snapshots()).await? {
            let Some(blob) = self.store.get(&key).await? else { continue };
            let digest = Digest::of(&blob.body);
            let Ok(snapshot) = Snapshot::decode(&blob.body, &digest) else { continue };
            if key != self.keys.snapshot(&digest) {
                continue;
            }
            snapshots.push(StoredSnapshot { run: snapshot.run.clone(), snapshot });
        }
        Ok(snapshots)
    }

    /// Returns the snapshot that head refers to, if it can be read.
    async fn base(
        &self,
        head: &Head,
        problems: &mut Vec<String>,
    ) -> Result<Option<StoredSnapshot>, JournalError> {
        let Some(digest) = &head.snapshot else {
            return Ok(Some(StoredSnapshot { snapshot: Snapshot::empty(head.stack.clone()), run: None }));
        };
        let key = self.keys.snapshot(digest);
        let Some(blob) = self.store.get(&key).await? else {
            problems.push(JournalError::Missing { key: key.to_string() }.to_string());
            return Ok(None);
        };
        match Snapshot::decode(&blob.body, digest) {
            Ok(snapshot) => Ok(Some(StoredSnapshot { run: snapshot.run.clone(), snapshot })),
            Err(error) => {
                problems.push(damage(&key, error)?);
                Ok(None)
            }
        }
    }

    /// Replays the journals that follow a snapshot, up to the first unreadable record or the first missing
    /// epoch. Later records apply to a state that is not known.
    async fn rebuild(
        &self,
        base: StoredSnapshot,
        head: Option<&Head>,
        epochs: &[Epoch],
    ) -> Result<Rebuilt, JournalError> {
        let first = head.map(|head| head.base).or(base.next_epoch());
        let mut rebuilt = Rebuilt { snapshot: base.snapshot, replayed: 0, unreadable: None };
        let mut state = State::from(rebuilt.snapshot.clone());
        let mut expected = first;
        for &epoch in epochs.iter().filter(|epoch| first.is_none_or(|first| **epoch >= first)) {
            if expected.is_some_and(|expected| epoch > expected) {
                break;
            }
            expected = Some(epoch.next());
            rebuilt.unreadable = self.replay(epoch, head, &mut state, &mut rebuilt.replayed).await?;
            if rebuilt.unreadable.is_some() {
                break;
            }
        }
        if rebuilt.replayed > 0 || rebuilt.unreadable.is_some() {
            state.mark_pending_in_doubt();
            let run = rebuilt.snapshot.run.clone();
            rebuilt.snapshot = state.snapshot(run);
        }
        Ok(rebuilt)
    }

    /// Replays an epoch's batches as far as they follow each other. Returns where and why it stopped early,
    /// if it did.
    async fn replay(
        &self,
        epoch: Epoch,
        head: Option<&Head>,
        state: &mut State,
        replayed: &mut usize,
    ) -> Result<Option<String>, JournalError> {
        let keys = self.store.list(&self.keys.journal(epoch)).await?;
        let mut previous = None;
        for (at, key) in keys.iter().enumerate() {
            let Some(blob) = self.store.get(key).await? else { continue };
            let batch = match Batch::decode(&blob.body) {
                Ok(batch) => batch,
                Err(error) => return Ok(Some(damage(key, error)?)),
            };
            let only_seal = batch.records.iter().all(|record| matches!(record, Record::Seal { .. }));
            if only_seal && keys.len() == 1 && head.is_none() {
                return Ok(None); // an epoch that a snapshot contains keeps only its seal
            }
            let slot = self.keys.batch(epoch, Seq(at as u64));
            if *key != slot {
                return Ok(Some(JournalError::JournalGap { key: slot.to_string() }.to_string()));
            }
            if batch.epoch != epoch || batch.seq.0 != at as u64 || batch.previous != previous {
                return Ok(Some(JournalError::BrokenChain { key: key.to_string() }.to_string()));
            }
            let already_begun =
                |record: &Record| matches!(record, Record::Begin { op, .. } if *op < state.next_op());
            if at == 0 && batch.records.iter().any(already_begun) {
                return Ok(None); // the snapshot already contains this epoch
            }
            let mut next = state.clone();
            for record in &batch.records {
                if let Err(error) = next.apply(record) {
                    return Ok(Some(format!("{key}: {error}")));
                }
            }
            *state = next;
            *replayed += batch.records.len() - usize::from(only_seal);
            previous = Some(Digest::of(&blob.body));
        }
        Ok(None)
    }
}
