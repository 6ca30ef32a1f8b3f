//! The only task that writes the journal: many records per append, one append in flight.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use stead_model::{CopyRef, Crypter, Digest, Epoch, OpId, Seq, Unopened};
use stead_state::{ApplyError, Batch, Intent, Outcome, Record, Spooled, State, VerifiedState};
use stead_store::{ErrorClass, Expect, Key, Store, StoreError};
use stead_world::World;
use tokio::sync::{mpsc, oneshot};

use crate::{JournalError, Spool, StackKeys};

/// Most submissions in one append; further ones go into the next.
const MAX_SUBMISSIONS: usize = 1000;

/// How often an append is attempted when the store fails with a transient error.
const ATTEMPTS: u32 = 4;

/// How often an append with provider answers is attempted, whatever the error: for about three seconds.
const ATTEMPTS_WITH_ANSWERS: u32 = 6;

/// Whether an append contains provider answers, which cannot be obtained a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answers {
    None,
    Some,
}

impl Answers {
    fn among(answers: &[(usize, Spooled)]) -> Answers {
        if answers.is_empty() { Answers::None } else { Answers::Some }
    }
}

/// Records that become durable together or not at all, and the channel that reports it.
pub(crate) struct Submission {
    pub records: Vec<Record>,
    pub durable: oneshot::Sender<Result<(), JournalError>>,
}

pub(crate) struct Appender {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    pub world: World,
    pub epoch: Epoch,
    pub sound: VerifiedState,
    pub spool: Spool,
    crypter: Arc<dyn Crypter>,
    seq: Seq,
    previous: Option<Digest>,
    /// The operations under way, each with its idempotency key and its resource.
    under_way: HashMap<OpId, (String, CopyRef)>,
    /// The first failure. After it nothing is appended any more, because later records depend on the lost
    /// ones.
    broken: Option<JournalError>,
}

/// Failure of an append, with the number of its records that are durable nevertheless.
struct AppendFailure {
    durable: usize,
    error: JournalError,
}

impl Appender {
    pub(crate) fn new(
        spool: Spool,
        world: World,
        epoch: Epoch,
        sound: VerifiedState,
        crypter: Arc<dyn Crypter>,
    ) -> Appender {
        let about = |intent: &Intent| (intent.key().to_owned(), intent.copy());
        let under_way = sound.state().pending().map(|pending| (pending.op, about(&pending.intent))).collect();
        let Spool { store, keys, .. } = spool.clone();
        Appender {
            store,
            keys,
            world,
            epoch,
            sound,
            spool,
            crypter,
            seq: Seq(0),
            previous: None,
            under_way,
            broken: None,
        }
    }

    /// Runs until every sender is dropped, then returns the state with all durable records applied.
    pub(crate) async fn run(
        mut self,
        mut queue: mpsc::UnboundedReceiver<Submission>,
    ) -> (State, Option<JournalError>) {
        while let Some(first) = queue.recv().await {
            // Let every step that is ready submit its record before the append starts.
            tokio::task::yield_now().await;
            let mut batch = vec![first];
            while batch.len() < MAX_SUBMISSIONS
                && let Ok(next) = queue.try_recv()
            {
                batch.push(next);
            }
            self.append(batch).await;
        }
        (self.sound.into_state(), self.broken)
    }

    async fn append(&mut self, submissions: Vec<Submission>) {
        let (mut records, mut starts, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for submission in submissions {
            starts.push(records.len());
            records.extend(submission.records);
            waiting.push(submission.durable);
        }
        let sealed = self.seal(&mut records);
        let answers = self.answers(&records);
        let result = match (&self.broken, sealed) {
            (Some(error), _) => Err(AppendFailure { durable: 0, error: error.cause().clone() }),
            (None, Err(why)) => Err(AppendFailure { durable: 0, error: JournalError::Seal(why) }),
            (None, Ok(())) => self.write(records, &starts, Answers::among(&answers)).await,
        };
        let Err(AppendFailure { durable, error }) = result else {
            waiting.into_iter().for_each(|waiter| drop(waiter.send(Ok(()))));
            return;
        };
        let mut unrecorded = Vec::new();
        for (_, answer) in answers.into_iter().filter(|(at, _)| *at >= durable) {
            unrecorded.push(self.spool.store_answer(answer, &error).await);
        }
        let first = self.broken.take().unwrap_or_else(|| error.clone());
        self.broken = Some(first.with_unrecorded(unrecorded.clone()));
        let error = error.with_unrecorded(unrecorded);
        let failed = waiting.split_off(starts.partition_point(|start| *start < durable));
        // A dropped receiver is no error: its owner stopped waiting.
        waiting.into_iter().for_each(|waiter| drop(waiter.send(Ok(()))));
        failed.into_iter().for_each(|waiter| drop(waiter.send(Err(error.clone()))));
    }

    /// Seals the secrets of all records, before anything else sees them.
    ///
    /// An answer that cannot be sealed keeps everything but its secrets.
    fn seal(&mut self, records: &mut [Record]) -> Result<(), Unopened> {
        let stack = self.sound.state().stack().clone();
        let mut sealed = Ok(());
        for record in records {
            if let Record::Begin { op, intent, .. } = record {
                self.under_way.insert(*op, (intent.key().to_owned(), intent.copy()));
            }
            let copy_of = |op: OpId| self.under_way.get(&op).map(|(_, copy)| copy.clone());
            if let Err(why) = record.seal(&stack, self.crypter.as_ref(), &copy_of) {
                record.forget_secrets();
                if !matches!(record, Record::End { .. }) {
                    sealed = Err(why);
                }
            }
        }
        sealed
    }

    /// Returns the provider answers among these records, each with the index of its record.
    fn answers(&mut self, records: &[Record]) -> Vec<(usize, Spooled)> {
        let mut answers: Vec<(usize, Spooled)> = Vec::new();
        let mut answered = None;
        for (at, record) in records.iter().enumerate() {
            match record {
                Record::Begin { op, intent, .. } => {
                    self.under_way.insert(*op, (intent.key().to_owned(), intent.copy()));
                }
                // In doubt is no answer: without this record the operation stays in doubt anyway.
                Record::End { outcome: Outcome::InDoubt { .. }, .. } => {}
                Record::End { op, outcome } => {
                    if let Some((key, copy)) = self.under_way.remove(op) {
                        let stack = self.sound.state().stack().clone();
                        let (epoch, op, outcome) = (self.epoch, *op, outcome.clone());
                        answers.push((at, Spooled { stack, epoch, op, key, outcome, inputs: None }));
                        answered = Some(copy);
                    }
                }
                // A partial result is an `End` followed by the real inputs; both are one answer.
                Record::Observed { copy, inputs: inputs @ Some(_), outputs: None, .. }
                    if answered.as_ref() == Some(copy) =>
                {
                    if let Some((_, answer)) = answers.last_mut() {
                        answer.inputs.clone_from(inputs);
                    }
                }
                // A read settled the operation, not an answer. The read can be repeated, and the `End` would
                // be wrong without the values that were read.
                Record::Observed { copy, .. } if answered.as_ref() == Some(copy) => {
                    answers.pop();
                    answered = None;
                }
                _ => {}
            }
        }
        answers
    }

    /// Applies the records to the state and appends them; `starts` are the indices at which submissions
    /// begin.
    ///
    /// If the rules refuse a record, only the submissions before its own become durable.
    async fn write(
        &mut self,
        mut records: Vec<Record>,
        starts: &[usize],
        answers: Answers,
    ) -> Result<(), AppendFailure> {
        let key = self.keys.batch(self.epoch, self.seq);
        let refused =
            records.iter().enumerate().find_map(|(at, record)| Some((at, self.sound.apply(record).err()?)));
        if let Some((at, _)) = &refused {
            let whole = starts.partition_point(|start| start <= at);
            records.truncate(whole.checked_sub(1).map_or(0, |last| starts[last]));
        }
        let durable = records.len();
        if durable > 0 {
            let written = self.put_batch(&key, records, answers).await;
            written.map_err(|error| AppendFailure { durable: 0, error })?;
        }
        let error = match refused {
            None => return Ok(()),
            Some((_, ApplyError::Replay(source))) => JournalError::Replay { key: key.to_string(), source },
            Some((_, ApplyError::Rules(violations))) => JournalError::RecordRefused(violations),
        };
        Err(AppendFailure { durable, error })
    }

    async fn put_batch(
        &mut self,
        key: &Key,
        records: Vec<Record>,
        answers: Answers,
    ) -> Result<(), JournalError> {
        let write_id = self.world.entropy.uuid().map_err(JournalError::io("draw a random number"))?;
        let batch =
            Batch { epoch: self.epoch, seq: self.seq, previous: self.previous.clone(), write_id, records };
        let bytes = Bytes::from(batch.encode());
        self.world.crash_point("journal.append.before");
        self.put(key, &bytes, answers).await?;
        self.world.crash_point("journal.append.after");
        self.previous = Some(Digest::of(&bytes));
        self.seq = self.seq.next();
        Ok(())
    }

    /// Puts the batch, with retries.
    ///
    /// After an error the batch may or may not be stored. A retry then finds the slot taken, and the batch is
    /// durable if the slot contains these bytes.
    async fn put(&self, key: &Key, bytes: &Bytes, answers: Answers) -> Result<(), JournalError> {
        let mut attempt = 1;
        loop {
            let error = match self.store.put(key, bytes.clone(), Expect::Absent).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { .. }) => return self.is_ours(key, bytes).await,
                Err(error) => error,
            };
            let attempts = match (answers, error.class()) {
                (Answers::Some, _) => ATTEMPTS_WITH_ANSWERS,
                (Answers::None, ErrorClass::Permanent) => 2,
                (Answers::None, _) => ATTEMPTS,
            };
            if attempt >= attempts {
                return Err(error.into());
            }
            self.world.clock.sleep(std::time::Duration::from_millis(50 << attempt)).await;
            attempt += 1;
        }
    }

    /// Succeeds if the slot contains these bytes. Each batch has a write id of its own, so equal bytes are
    /// this batch.
    async fn is_ours(&self, key: &Key, bytes: &Bytes) -> Result<(), JournalError> {
        match self.store.get(key).await? {
            Some(blob) if blob.body == *bytes => Ok(()),
            _ => Err(JournalError::Fenced),
        }
    }
}
