//! A run: an open stack that takes records, and returns receipts and a new snapshot.

mod appender;
mod lease;
mod open;
mod publish;
mod recovery;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use stead_model::{Digest, OpId, RunId, RunResult, StackId};
use stead_state::{Head, Intent, Pending, Record, Snapshot, State, VerifiedState};
use stead_world::World;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::lifecycle::put_once;
use crate::load::check;
use crate::{JournalError, Receipt};

pub use lease::{LEASE_TIMEOUT, wait_for_lock};
pub use open::{OpenRequest, Takeover, is_dead, open};

use appender::{Appender, Submission};
use lease::Heartbeat;
use publish::HeldStack;

/// An open stack, shared by all steps of a run.
pub struct Run {
    pub(crate) held: HeldStack,
    queue: mpsc::UnboundedSender<Submission>,
    appender: JoinHandle<(State, Option<JournalError>)>,
    /// Next operation number; numbers are in the order in which `Begin` records enter the queue.
    next_op: Mutex<OpId>,
    since: String,
    _heartbeat: Heartbeat,
}

/// Acknowledgement of submitted records.
#[derive(Debug)]
pub struct Ack(oneshot::Receiver<Result<(), JournalError>>);

impl Ack {
    /// Waits until the records are durable.
    pub async fn durable(self) -> Result<(), JournalError> {
        // The appender answers every submission; a dropped sender means that it is gone.
        self.0.await.unwrap_or(Err(JournalError::Fenced))
    }
}

/// An intent that was submitted to the journal.
pub struct SubmittedIntent {
    pending: Pending,
    ack: Ack,
    written: Duration,
    journal: WeakQueue,
    world: World,
}

impl SubmittedIntent {
    /// Waits until the intent is durable. Returns its receipt and the intent as it was written.
    pub async fn receipt(self) -> Result<(Receipt, Intent), JournalError> {
        self.ack.durable().await?;
        self.world.crash_point("step.begin.durable");
        let receipt = Receipt::new(&self.pending, self.written, 1, self.journal);
        Ok((receipt, self.pending.intent))
    }
}

/// The journal's queue as long as its run is open.
#[derive(Clone, Debug)]
pub(crate) struct WeakQueue(mpsc::WeakUnboundedSender<Submission>);

impl WeakQueue {
    /// Returns the queue of a run that is closed.
    #[cfg(test)]
    pub(crate) fn closed() -> WeakQueue {
        WeakQueue(mpsc::unbounded_channel().0.downgrade())
    }

    /// Submits a record. The acknowledgement of a closed run is an error.
    pub(crate) fn submit(&self, record: Record) -> Ack {
        match self.0.upgrade() {
            Some(queue) => submit(&queue, vec![record]),
            None => Ack(oneshot::channel().1),
        }
    }
}

fn submit(queue: &mpsc::UnboundedSender<Submission>, records: Vec<Record>) -> Ack {
    let (durable, ack) = oneshot::channel();
    // If the appender is gone, the dropped sender tells the waiter.
    let _ = queue.send(Submission { records, durable });
    Ack(ack)
}

/// State and snapshot at the end of a run.
#[derive(Debug)]
pub struct ClosedRun {
    pub state: Arc<State>,
    pub snapshot: Digest,
}

impl Run {
    pub(crate) fn start(held: HeldStack, sound: VerifiedState) -> Run {
        let (queue, records) = mpsc::unbounded_channel();
        let OpenRequest { store, keys, world, .. } = &held.request;
        let crypter = held.request.crypter.clone();
        if !held.state.keyring().is_empty() {
            held.state.open_secrets(&crypter);
        }
        let appender = Appender::new(held.request.spool(), world.clone(), held.head.epoch, sound, crypter);
        let next_op = Mutex::new(held.state.next_op());
        let since = held.request.world.clock.now().to_string();
        let heartbeat = Heartbeat::start(store.clone(), keys.clone(), world.clone(), held.head.epoch);
        let appender = tokio::spawn(appender.run(records));
        Run { queue, appender, next_op, since, _heartbeat: heartbeat, held }
    }

    pub fn id(&self) -> RunId {
        RunId(format!("run-{}", self.held.head.epoch.0))
    }

    pub fn stack(&self) -> &StackId {
        &self.held.head.stack
    }

    /// Returns the state at the time the run opened, after recovery.
    pub fn base(&self) -> &State {
        &self.held.state
    }

    /// Returns the operations of earlier runs whose outcome is unknown.
    pub fn in_doubt(&self) -> Vec<Pending> {
        self.held.state.pending().cloned().collect()
    }

    /// Submits the intent of an operation; `intent` makes it from its idempotency key.
    ///
    /// Records become durable in the order in which they are submitted: with the receipt, every earlier
    /// record is durable too.
    pub fn begin(&self, intent: impl FnOnce(String) -> Intent) -> SubmittedIntent {
        let world = self.held.request.world.clone();
        let written = world.clock.monotonic();
        let mut next = self.next_op.lock().unwrap_or_else(PoisonError::into_inner);
        let op = *next;
        *next = op.next();
        let key = format!("{}-{}-{op}", self.stack(), self.held.head.epoch);
        let intent = intent(key);
        let at = Some(world.clock.now().0 / 1000);
        let ack = self.submit(Record::Begin { op, intent: intent.clone(), at });
        let pending = Pending { at, ..Pending::new(op, intent) };
        SubmittedIntent { pending, ack, written, journal: self.journal(), world }
    }

    /// Resumes an operation of an earlier run, with its old idempotency key.
    pub async fn resume(&self, pending: &Pending) -> Result<Receipt, JournalError> {
        let written = self.held.request.world.clock.monotonic();
        self.submit(Record::Resume { op: pending.op }).durable().await?;
        Ok(Receipt::new(pending, written, 2, self.journal()))
    }

    /// Returns the queue for receipts. It keeps no run open.
    fn journal(&self) -> WeakQueue {
        WeakQueue(self.queue.downgrade())
    }

    /// Submits a record, which takes effect once it is durable.
    pub fn submit(&self, record: Record) -> Ack {
        self.submit_together(vec![record])
    }

    /// Submits records that become durable together or not at all.
    pub fn submit_together(&self, records: Vec<Record>) -> Ack {
        submit(&self.queue, records)
    }

    /// Ends the run: writes the snapshot, the head and the run record.
    pub async fn close(self, result: RunResult) -> Result<ClosedRun, JournalError> {
        self.end(result, None).await
    }

    /// Ends the run with an imported state, which has to pass the same integrity rules.
    pub async fn close_with(self, imported: Snapshot) -> Result<ClosedRun, JournalError> {
        let (stack, transfers) = (self.stack().clone(), self.base().transfers().clone());
        let before = self.base().snapshot(None);
        let mut imported = Snapshot { stack, transfers, ..imported.succeeding(Some(&before)) };
        imported.seal(self.held.request.crypter.as_ref()).map_err(JournalError::Seal)?;
        self.end(RunResult::Succeeded, Some(State::from(imported))).await
    }

    /// Ends the run after a failure without writing, as a crash would. Returns the failure with every
    /// unrecorded answer.
    pub async fn abandon(self, failure: JournalError) -> JournalError {
        let Run { queue, appender, .. } = self;
        drop(queue);
        match appender.await {
            Ok((_, Some(unrecorded @ JournalError::Unrecorded { .. }))) => unrecorded,
            _ => failure,
        }
    }

    async fn end(self, result: RunResult, imported: Option<State>) -> Result<ClosedRun, JournalError> {
        let (mut held, since) = self.drain().await?;
        if let Some(imported) = imported {
            check(&imported)?;
            held.state = Arc::new(imported);
        }
        held.request.world.crash_point("run.close.before");
        let run = RunId(format!("run-{}", held.head.epoch.0));
        let head = Head { owner: None, base: held.head.epoch.next(), ..held.head.clone() };
        let base = held.head.snapshot.clone();
        let snapshot = held.publish(head, Some(run.clone())).await?;
        let record = held.record(run, since, result, base, snapshot.clone());
        let key = held.request.keys.history(&record.run);
        put_once(&held.request.store, &key, Bytes::from(record.encode())).await?;
        let state = held.release().await;
        Ok(ClosedRun { state, snapshot })
    }

    /// Stops the appender once every submitted record is durable.
    pub(crate) async fn drain(self) -> Result<(HeldStack, String), JournalError> {
        let Run { mut held, queue, appender, since, .. } = self;
        drop(queue);
        let (state, broken) = appender.await.map_err(|failed| JournalError::Io {
            action: "finish the journal",
            problem: failed.to_string(),
        })?;
        if let Some(error) = broken {
            return Err(error);
        }
        held.state = Arc::new(state);
        Ok((held, since))
    }
}
