//! The one task that writes the journal: many records an append, one append in flight.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use stead_model::{CopyRef, Digest, Epoch, OpId, Seq};
use stead_state::{Batch, Intent, Outcome, Record, Refused, Sound, Spooled, State};
use stead_store::{ErrorClass, Expect, Store, StoreError};
use stead_world::World;
use tokio::sync::{mpsc, oneshot};

use crate::{JournalError, Spool, StackKeys};

/// More than this many records go into the next append.
const MAX_RECORDS: usize = 1000;

/// How often an append is attempted when the store fails in a way that may pass.
const ATTEMPTS: u32 = 4;

/// As above, when the append holds what providers answered, however hopeless it looks: about three seconds.
const ATTEMPTS_WITH_ANSWERS: u32 = 6;

/// Whether an append holds what nobody could tell again.
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

/// Records on their way, which become durable together or not at all, and whoever waits for that.
pub(crate) struct Submission {
    pub records: Vec<Record>,
    pub durable: oneshot::Sender<Result<(), JournalError>>,
}

pub(crate) struct Appender {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    pub world: World,
    pub epoch: Epoch,
    pub sound: Sound,
    pub spool: Spool,
    seq: Seq,
    previous: Option<Digest>,
    /// The idempotency keys of the operations under way, and what they are about.
    under_way: HashMap<OpId, (String, CopyRef)>,
    /// After a failure nothing is appended any more: what the journal says must stay true.
    broken: Option<JournalError>,
}

/// How much of a batch became durable before something went wrong.
struct Stuck {
    durable: usize,
    error: JournalError,
}

impl Appender {
    pub(crate) fn new(spool: Spool, world: World, epoch: Epoch, sound: Sound) -> Appender {
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
            seq: Seq(0),
            previous: None,
            under_way,
            broken: None,
        }
    }

    /// Runs until every sender is gone, then hands back the folded state.
    pub(crate) async fn run(
        mut self,
        mut queue: mpsc::UnboundedReceiver<Submission>,
    ) -> (State, Option<JournalError>) {
        while let Some(first) = queue.recv().await {
            // Let every step that is ready put its record in before the append starts.
            tokio::task::yield_now().await;
            let mut batch = vec![first];
            while batch.len() < MAX_RECORDS
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
        let answers = self.answers(&records);
        let result = match &self.broken {
            Some(error) => Err(Stuck { durable: 0, error: error.cause().clone() }),
            None => self.write(records, &starts, Answers::among(&answers)).await,
        };
        let Err(Stuck { durable, error }) = result else {
            waiting.into_iter().for_each(|waiter| drop(waiter.send(Ok(()))));
            return;
        };
        let mut kept = Vec::new();
        for (_, answer) in answers.into_iter().filter(|(at, _)| *at >= durable) {
            kept.push(self.spool.keep(answer, &error).await);
        }
        let before = self.broken.take().unwrap_or_else(|| error.clone());
        self.broken = Some(before.leaving(kept.clone()));
        let error = error.leaving(kept);
        let stuck = waiting.split_off(starts.partition_point(|start| *start < durable));
        // Whoever stopped waiting does not need to know.
        waiting.into_iter().for_each(|waiter| drop(waiter.send(Ok(()))));
        stuck.into_iter().for_each(|waiter| drop(waiter.send(Err(error.clone()))));
    }

    /// What providers said in these records, with each record's place among them.
    fn answers(&mut self, records: &[Record]) -> Vec<(usize, Spooled)> {
        let mut answers: Vec<(usize, Spooled)> = Vec::new();
        let mut answered = None;
        for (at, record) in records.iter().enumerate() {
            match record {
                Record::Begin { op, intent } => {
                    self.under_way.insert(*op, (intent.key().to_owned(), intent.copy()));
                }
                // Without an answer the operation stays in doubt, which is all that this one says.
                Record::End { outcome: Outcome::InDoubt { .. }, .. } => {}
                Record::End { op, outcome } => {
                    if let Some((key, copy)) = self.under_way.remove(op) {
                        let stack = self.sound.state().stack().clone();
                        let (epoch, op, outcome) = (self.epoch, *op, outcome.clone());
                        answers.push((at, Spooled { stack, epoch, op, key, outcome, inputs: None }));
                        answered = Some(copy);
                    }
                }
                // What was done only in part says so right after its end, and both are one answer.
                Record::Observed { copy, inputs: inputs @ Some(_), outputs: None }
                    if answered.as_ref() == Some(copy) =>
                {
                    if let Some((_, answer)) = answers.last_mut() {
                        answer.inputs.clone_from(inputs);
                    }
                }
                // A look settled it, and no provider's answer: without what was seen its end would be a lie, and
                // anybody can look again.
                Record::Observed { copy, .. } if answered.as_ref() == Some(copy) => {
                    answers.pop();
                    answered = None;
                }
                _ => {}
            }
        }
        answers
    }

    /// `starts`: where each submission begins.
    async fn write(
        &mut self,
        mut records: Vec<Record>,
        starts: &[usize],
        answers: Answers,
    ) -> Result<(), Stuck> {
        let key = self.keys.batch(self.epoch, self.seq);
        // A record that the rules refuse must not become durable, nor what belongs to it; those before may.
        let refused =
            records.iter().enumerate().find_map(|(at, record)| Some((at, self.sound.apply(record).err()?)));
        if let Some((at, _)) = &refused {
            let whole = starts.partition_point(|start| start <= at);
            records.truncate(whole.checked_sub(1).map_or(0, |last| starts[last]));
        }
        let durable = records.len();
        if durable > 0 {
            let written = self.put_batch(&key, records, answers).await;
            written.map_err(|error| Stuck { durable: 0, error })?;
        }
        let error = match refused {
            None => return Ok(()),
            Some((_, Refused::Replay(source))) => JournalError::Replay { key: key.to_string(), source },
            Some((_, Refused::Rules(violations))) => JournalError::WouldBreak(violations),
        };
        Err(Stuck { durable, error })
    }

    async fn put_batch(
        &mut self,
        key: &stead_store::Key,
        records: Vec<Record>,
        answers: Answers,
    ) -> Result<(), JournalError> {
        let write_id = self.world.entropy.uuid().map_err(JournalError::outside("draw a random number"))?;
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

    /// Puts the batch, and finds out what happened when the store cannot say: put again, and if the slot is
    /// taken then, what is in it is durable, and ours if it has our bytes.
    async fn put(&self, key: &stead_store::Key, bytes: &Bytes, answers: Answers) -> Result<(), JournalError> {
        let mut attempt = 1;
        loop {
            let error = match self.store.put(key, bytes.clone(), Expect::Absent).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { .. }) => return self.is_ours(key, bytes).await,
                Err(error) => error,
            };
            #[cfg(stead_planted)]
            if stead_world::planted::is("read-back-is-durable") && self.is_ours(key, bytes).await.is_ok() {
                return Ok(());
            }
            let last = match (answers, error.class()) {
                (Answers::Some, _) => ATTEMPTS_WITH_ANSWERS,
                (Answers::None, ErrorClass::Permanent) => 2,
                (Answers::None, _) => ATTEMPTS,
            };
            if attempt >= last {
                return Err(error.into());
            }
            self.world.clock.sleep(std::time::Duration::from_millis(50 << attempt)).await;
            attempt += 1;
        }
    }

    /// A batch carries a write id that no other has: equal bytes are ours.
    async fn is_ours(&self, key: &stead_store::Key, bytes: &Bytes) -> Result<(), JournalError> {
        #[cfg(stead_planted)]
        if stead_world::planted::is("conflict-taken-as-own") {
            return Ok(());
        }
        match self.store.get(key).await? {
            Some(found) if found.body == *bytes => Ok(()),
            _ => Err(JournalError::Fenced),
        }
    }
}
