//! The one task that writes the journal: many records an append, one append in flight.

use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Digest, Epoch, Seq};
use stead_state::{Batch, Record, State};
use stead_store::{ErrorClass, Expect, Store, StoreError};
use stead_world::World;
use tokio::sync::{mpsc, oneshot};

use crate::{JournalError, StackKeys};

/// More than this many records go into the next append.
const MAX_RECORDS: usize = 1000;

/// How often an append is attempted when the store fails in a way that may pass.
const ATTEMPTS: u32 = 4;

/// A record on its way, and whoever waits for it to be durable.
pub(crate) struct Submission {
    pub record: Record,
    pub durable: oneshot::Sender<Result<(), JournalError>>,
}

pub(crate) struct Appender {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    pub world: World,
    pub epoch: Epoch,
    pub state: State,
    seq: Seq,
    previous: Option<Digest>,
    /// After a failure nothing is appended any more: what the journal says must stay true.
    broken: Option<JournalError>,
}

impl Appender {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        keys: StackKeys,
        world: World,
        epoch: Epoch,
        state: State,
    ) -> Appender {
        Appender { store, keys, world, epoch, state, seq: Seq(0), previous: None, broken: None }
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
        (self.state, self.broken)
    }

    async fn append(&mut self, submissions: Vec<Submission>) {
        let (records, waiting): (Vec<Record>, Vec<_>) =
            submissions.into_iter().map(|submission| (submission.record, submission.durable)).unzip();
        let result = match &self.broken {
            Some(error) => Err(error.clone()),
            None => self.write(records).await,
        };
        if let Err(error) = &result {
            self.broken = Some(error.clone());
        }
        for waiter in waiting {
            // Whoever stopped waiting does not need to know.
            let _ = waiter.send(result.clone());
        }
    }

    async fn write(&mut self, records: Vec<Record>) -> Result<(), JournalError> {
        // A record that the fold refuses is a fault of ours and must not become durable.
        let key = self.keys.batch(self.epoch, self.seq);
        let applied = records.iter().try_for_each(|record| self.state.apply(record));
        applied.map_err(|source| JournalError::Replay { key: key.to_string(), source })?;

        let write_id = self.world.entropy.uuid().map_err(JournalError::outside("draw a random number"))?;
        let batch =
            Batch { epoch: self.epoch, seq: self.seq, previous: self.previous.clone(), write_id, records };
        let bytes = Bytes::from(batch.encode());
        self.world.crash_point("journal.append.before");
        self.put(&key, &bytes).await?;
        self.world.crash_point("journal.append.after");
        self.previous = Some(Digest::of(&bytes));
        self.seq = self.seq.next();
        Ok(())
    }

    /// Puts the batch, and finds out what happened when the store cannot say: put again, and if the slot is
    /// taken then, what is in it is durable, and ours if it has our bytes.
    async fn put(&self, key: &stead_store::Key, bytes: &Bytes) -> Result<(), JournalError> {
        let mut attempt = 1;
        loop {
            let error = match self.store.put(key, bytes.clone(), Expect::Absent).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { .. }) => return self.is_ours(key, bytes).await,
                Err(error) => error,
            };
            let last = if error.class() == ErrorClass::Permanent { 2 } else { ATTEMPTS };
            if attempt >= last {
                return Err(error.into());
            }
            self.world.clock.sleep(std::time::Duration::from_millis(50 << attempt)).await;
            attempt += 1;
        }
    }

    /// A batch carries a write id that no other has: equal bytes are ours.
    async fn is_ours(&self, key: &stead_store::Key, bytes: &Bytes) -> Result<(), JournalError> {
        match self.store.get(key).await? {
            Some(found) if found.body == *bytes => Ok(()),
            _ => Err(JournalError::Fenced),
        }
    }
}
