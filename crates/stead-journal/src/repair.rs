//! Finds out what is left of a damaged stack, and puts a sound state in its place if a person says so.
//!
//! Nothing is deleted: the old head is kept as an object of its own, and snapshots and journals stay where
//! they are. A writer that is still at work is fenced first, as in any takeover.

use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Digest, Epoch, RunId, RunResult, Seq};
use stead_state::{
    Batch, FORMAT, FormatError, Head, Proposal, Record, RunRecord, Snapshot, State, Violation, Way, mend,
    verify,
};
use stead_store::{Expect, Key, Store, StoreError, Version};
use stead_world::World;

use crate::leave::{put_once, swap};
use crate::load::{Present, present};
use crate::{JournalError, StackKeys, is_dead};

/// So many earlier states are proposed at most.
const EARLIER: usize = 5;

/// What a look at a stack found, sound or not.
#[derive(Debug)]
pub struct Survey {
    /// What is wrong, in words; empty: nothing.
    pub problems: Vec<String>,
    pub violations: Vec<Violation>,
    /// What is recorded, as far as it can be read; a repair is compared with this.
    pub recorded: Option<Snapshot>,
    pub proposals: Vec<Proposal>,
    head: Option<Head>,
    /// The bytes of head, damaged or not.
    stored: Option<(Bytes, Version)>,
    last_epoch: Epoch,
}

impl Survey {
    fn of_nothing(head: Head, stored: Option<(Bytes, Version)>) -> Survey {
        let last_epoch = head.epoch;
        Survey {
            problems: Vec::new(),
            violations: Vec::new(),
            recorded: None,
            proposals: Vec::new(),
            head: Some(head),
            stored,
            last_epoch,
        }
    }

    pub fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.violations.is_empty()
    }

    /// The epochs in which a writer may still be at work. If head does not tell, a run may have been opened
    /// that has written nothing yet.
    fn to_fence(&self) -> Vec<Epoch> {
        match &self.head {
            Some(Head { owner: None, .. }) => Vec::new(),
            Some(head) => vec![head.epoch],
            None => vec![self.last_epoch, self.last_epoch.next()],
        }
    }
}

/// Looks at everything. Writes nothing.
pub async fn survey(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<Survey, JournalError> {
    let search = Search { store, keys };
    let stored = store.get(&keys.head()).await?.map(|found| (found.body, found.version));
    let mut problems = Vec::new();
    let head = match &stored {
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
        Some(head) => match present(store, keys, head).await? {
            Present::Stack(head) => Some(*head),
            // One that was removed on purpose is not brought back by a repair.
            Present::Nothing(head) => return Ok(Survey::of_nothing(*head, stored)),
            Present::Renamed { to, .. } => return Err(JournalError::Renamed { to }),
        },
        None => None,
    };
    let runs = search.runs().await?;
    let epochs = search.epochs().await?;
    let snapshots = search.snapshots().await?;
    if stored.is_none() && (!runs.is_empty() || !epochs.is_empty()) {
        problems.push(format!("{} is missing", keys.head()));
    }
    let base = match &head {
        Some(head) => search.base(head, &mut problems).await?,
        None => None,
    };
    let known = base.is_some();
    // Without a base that head vouches for, the newest sound snapshot has to do.
    let base = base.or_else(|| snapshots.iter().max_by_key(|found| found.age()).cloned());
    let rebuilt = match base {
        // Head tells where the journal goes on, but only after the snapshot that it refers to.
        Some(base) => Some(search.rebuild(base, head.as_ref().filter(|_| known), &epochs).await?),
        None => None,
    };
    problems.extend(rebuilt.iter().filter_map(|rebuilt| rebuilt.unreadable.clone()));
    let recorded = rebuilt.as_ref().filter(|_| known).map(|rebuilt| rebuilt.snapshot.clone());
    let violations = recorded.as_ref().map(verify).unwrap_or_default();
    let last_epoch = last(head.as_ref(), &runs, &epochs);
    let mut survey =
        Survey { problems, violations, recorded, proposals: Vec::new(), head, stored, last_epoch };
    if !survey.is_sound() {
        survey.proposals = propose(rebuilt, &snapshots);
    }
    Ok(survey)
}

/// Makes a proposal the state of the stack. Gives the digest of the snapshot that is stored now.
pub async fn repair(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    world: &World,
    survey: &Survey,
    proposal: &Proposal,
) -> Result<Digest, JournalError> {
    if let Some(owner) = survey.head.as_ref().and_then(|head| head.owner.as_ref())
        && !is_dead(world, owner)
    {
        return Err(JournalError::Held(Box::new(owner.clone())));
    }
    let violations = verify(&proposal.snapshot);
    if !violations.is_empty() {
        return Err(JournalError::Integrity(violations));
    }
    let search = Search { store, keys };
    let fenced = survey.to_fence();
    let epoch = fenced.iter().copied().max().max(Some(survey.last_epoch)).unwrap_or_default().next();
    let run = RunId(format!("run-{}", epoch.0));
    if let Some((bytes, _)) = &survey.stored {
        put_once(store, &keys.kept(&Digest::of(bytes)), bytes.clone()).await?;
    }
    let snapshot = Snapshot { run: Some(run.clone()), ..proposal.snapshot.clone() };
    let (bytes, digest) = snapshot.encode();
    put_once(store, &keys.snapshot(&digest), Bytes::from(bytes)).await?;
    world.crash_point("repair.after_snapshot");
    for old in fenced {
        search.seal(world, old, epoch).await?;
    }
    let head = Head {
        stack: snapshot.stack.clone(),
        epoch,
        owner: None,
        snapshot: Some(digest.clone()),
        base: epoch.next(),
        absent: None,
    };
    let expect = match &survey.stored {
        Some((_, version)) => Expect::Version(version.clone()),
        None => Expect::Absent,
    };
    swap(store, keys, &head, expect).await?;
    world.crash_point("repair.after_head");
    let now = world.clock.now().to_string();
    let record = RunRecord {
        format: FORMAT,
        run: run.clone(),
        command: "state repair".to_owned(),
        user: world.host.user.clone(),
        host: world.host.name.clone(),
        started: now.clone(),
        ended: now,
        result: RunResult::Succeeded,
        snapshot: digest.clone(),
    };
    put_once(store, &keys.history(&run), Bytes::from(record.encode())).await?;
    Ok(digest)
}

/// What is damaged, in words. What a newer stead wrote is not damaged, and not for this one to repair.
fn damage(key: &Key, error: FormatError) -> Result<String, JournalError> {
    match error {
        FormatError::Newer { .. } => Err(JournalError::Format { key: key.to_string(), source: error }),
        FormatError::Damaged { .. } => Ok(format!("{key}: {error}")),
    }
}

fn propose(rebuilt: Option<Rebuilt>, snapshots: &[Stored]) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    if let Some(Rebuilt { snapshot, folded, unreadable }) = rebuilt {
        if !verify(&snapshot).is_empty() {
            proposals.extend(mend(&snapshot));
        } else if snapshot.run.is_none() || unreadable.is_some() || folded > 0 {
            proposals.push(Proposal { way: Way::Rebuild { folded, unreadable }, snapshot });
        }
    }
    let mut earlier: Vec<&Stored> = snapshots.iter().filter(|found| found.run.is_some()).collect();
    earlier.sort_by_key(|found| std::cmp::Reverse(found.age()));
    for Stored { run, snapshot, .. } in earlier.into_iter().take(EARLIER) {
        if verify(snapshot).is_empty() {
            let run = run.as_ref().map(RunId::to_string).unwrap_or_default();
            proposals.push(Proposal { way: Way::History { run }, snapshot: snapshot.clone() });
        }
    }
    proposals
}

fn last(head: Option<&Head>, runs: &[RunRecord], epochs: &[Epoch]) -> Epoch {
    let ran = runs.iter().map(|record| epoch_of(&record.run));
    head.map(|head| head.epoch).into_iter().chain(ran).chain(epochs.iter().copied()).max().unwrap_or_default()
}

/// Runs are called after their epochs.
fn epoch_of(run: &RunId) -> Epoch {
    Epoch(run.as_str().trim_start_matches("run-").parse().unwrap_or_default())
}

/// A snapshot that can be read, and the run that ended with it.
#[derive(Clone, Debug)]
struct Stored {
    snapshot: Snapshot,
    run: Option<RunId>,
}

impl Stored {
    /// Operations are numbered through the life of a stack: the newest snapshot has the highest number.
    fn age(&self) -> (u64, u64) {
        (self.snapshot.next_op.0, self.run.as_ref().map(epoch_of).unwrap_or_default().0)
    }

    /// The first epoch that it does not hold, if that can be told.
    fn next_epoch(&self) -> Option<Epoch> {
        self.run.as_ref().map(|run| epoch_of(run).next())
    }
}

/// A snapshot with what the journal says after it.
struct Rebuilt {
    snapshot: Snapshot,
    folded: usize,
    unreadable: Option<String>,
}

struct Search<'a> {
    store: &'a Arc<dyn Store>,
    keys: &'a StackKeys,
}

impl Search<'_> {
    async fn runs(&self) -> Result<Vec<RunRecord>, JournalError> {
        let mut runs = Vec::new();
        for key in self.store.list(&self.keys.histories()).await? {
            let found = self.store.get(&key).await?;
            runs.extend(found.and_then(|found| RunRecord::decode(&found.body).ok()));
        }
        Ok(runs)
    }

    /// The epochs whose journals are there, in order.
    async fn epochs(&self) -> Result<Vec<Epoch>, JournalError> {
        let keys = self.store.list(&self.keys.journals()).await?;
        let epoch = |key: &Key| key.segments().nth(4)?.parse().ok().map(Epoch);
        let mut epochs: Vec<Epoch> = keys.iter().filter_map(epoch).collect();
        epochs.dedup();
        Ok(epochs)
    }

    /// Every snapshot whose bytes are those that it was stored with.
    async fn snapshots(&self) -> Result<Vec<Stored>, JournalError> {
        let mut snapshots = Vec::new();
        for key in self.store.list(&self.keys.snapshots()).await? {
            let Some(found) = self.store.get(&key).await? else { continue };
            let digest = Digest::of(&found.body);
            let Ok(snapshot) = Snapshot::decode(&found.body, &digest) else { continue };
            if key != self.keys.snapshot(&digest) {
                continue;
            }
            snapshots.push(Stored { run: snapshot.run.clone(), snapshot });
        }
        Ok(snapshots)
    }

    /// The snapshot that head refers to, if it can be read.
    async fn base(&self, head: &Head, problems: &mut Vec<String>) -> Result<Option<Stored>, JournalError> {
        let Some(digest) = &head.snapshot else {
            return Ok(Some(Stored { snapshot: Snapshot::empty(head.stack.clone()), run: None }));
        };
        let key = self.keys.snapshot(digest);
        let Some(found) = self.store.get(&key).await? else {
            problems.push(format!("{key} is missing, and head refers to it"));
            return Ok(None);
        };
        match Snapshot::decode(&found.body, digest) {
            Ok(snapshot) => Ok(Some(Stored { run: snapshot.run.clone(), snapshot })),
            Err(error) => {
                problems.push(damage(&key, error)?);
                Ok(None)
            }
        }
    }

    /// Folds the journals that come after a snapshot over it, up to the first record that cannot be read,
    /// or the first epoch that is missing: what follows that speaks of another state.
    async fn rebuild(
        &self,
        base: Stored,
        head: Option<&Head>,
        epochs: &[Epoch],
    ) -> Result<Rebuilt, JournalError> {
        let first = head.map(|head| head.base).or(base.next_epoch());
        let mut rebuilt = Rebuilt { snapshot: base.snapshot, folded: 0, unreadable: None };
        let mut state = State::from(rebuilt.snapshot.clone());
        let mut expected = first;
        for &epoch in epochs.iter().filter(|epoch| first.is_none_or(|first| **epoch >= first)) {
            if expected.is_some_and(|expected| epoch > expected) {
                break;
            }
            expected = Some(epoch.next());
            rebuilt.unreadable = self.fold(epoch, &mut state, &mut rebuilt.folded).await?;
            if rebuilt.unreadable.is_some() {
                break;
            }
        }
        if rebuilt.folded > 0 || rebuilt.unreadable.is_some() {
            state.orphan_pending();
            let run = rebuilt.snapshot.run.clone();
            rebuilt.snapshot = state.snapshot(run);
        }
        Ok(rebuilt)
    }

    /// Folds an epoch's batches as far as they follow each other. `Some`: where and why it stopped early.
    async fn fold(
        &self,
        epoch: Epoch,
        state: &mut State,
        folded: &mut usize,
    ) -> Result<Option<String>, JournalError> {
        let keys = self.store.list(&self.keys.journal(epoch)).await?;
        let mut previous = None;
        for (at, key) in keys.iter().enumerate() {
            let Some(found) = self.store.get(key).await? else { continue };
            let batch = match Batch::decode(&found.body) {
                Ok(batch) => batch,
                Err(error) => return Ok(Some(damage(key, error)?)),
            };
            let only_seal = batch.records.iter().all(|record| matches!(record, Record::Seal { .. }));
            if only_seal && keys.len() == 1 {
                return Ok(None); // all that is left of an epoch that was folded long ago
            }
            if batch.epoch != epoch || batch.seq.0 != at as u64 || batch.previous != previous {
                return Ok(Some(format!("{key} does not follow the record before it")));
            }
            let begun_before =
                |record: &Record| matches!(record, Record::Begin { op, .. } if *op < state.next_op());
            if at == 0 && batch.records.iter().any(begun_before) {
                return Ok(None); // the snapshot holds this epoch already
            }
            let mut next = state.clone();
            for record in &batch.records {
                if let Err(error) = next.apply(record) {
                    return Ok(Some(format!("{key}: {error}")));
                }
            }
            *state = next;
            *folded += batch.records.len() - usize::from(only_seal);
            previous = Some(Digest::of(&found.body));
        }
        Ok(None)
    }

    /// Occupies the slot after the last one of an epoch, so that its writer finds it taken.
    async fn seal(&self, world: &World, epoch: Epoch, by: Epoch) -> Result<(), JournalError> {
        loop {
            let keys = self.store.list(&self.keys.journal(epoch)).await?;
            let last = match keys.last() {
                Some(key) => self.store.get(key).await?.map(|found| found.body),
                None => None,
            };
            let seq = keys.last().and_then(|key| key.segments().last()?.parse().ok());
            let seq = Seq(seq.map_or(0, |last: u64| last + 1));
            let write_id = world.entropy.uuid().map_err(JournalError::outside("draw a random number"))?;
            let previous = last.map(|bytes| Digest::of(&bytes));
            let batch = Batch { epoch, seq, previous, write_id, records: vec![Record::Seal { by }] };
            let key = self.keys.batch(epoch, seq);
            match self.store.put(&key, Bytes::from(batch.encode()), Expect::Absent).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { .. }) => {} // its writer was faster; the next slot then
                Err(other) => return Err(other.into()),
            }
        }
    }
}
