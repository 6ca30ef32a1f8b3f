//! A stack that this process has open: records go in, receipts and a new snapshot come out.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use stead_model::{Digest, OpId, RunId, RunResult, StackId};
use stead_state::{FORMAT, Head, Intent, Pending, Record, RunRecord, Snapshot, Sound, State};
use stead_store::Version;
use stead_world::{Claim, World};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::appender::{Appender, Submission};
use crate::lease::Heartbeat;
use crate::leave::put_once;
use crate::load::check;
use crate::{JournalError, Opening, Receipt};

/// What `open` hands over.
pub(crate) struct Started {
    pub opening: Opening,
    pub head: Head,
    pub version: Version,
    pub state: Arc<State>,
    pub claim: Box<dyn Claim>,
    pub claim_path: PathBuf,
}

/// An open stack. Steps share it; the last one to be done closes it.
pub struct Run {
    pub(crate) started: Started,
    queue: mpsc::UnboundedSender<Submission>,
    appender: JoinHandle<(State, Option<JournalError>)>,
    /// Numbers are given out in the order in which records enter the queue.
    next_op: Mutex<OpId>,
    since: String,
    _heartbeat: Heartbeat,
}

/// Resolves when a record is durable.
pub struct Ack(oneshot::Receiver<Result<(), JournalError>>);

impl Ack {
    pub async fn durable(self) -> Result<(), JournalError> {
        // The appender answers everything it takes; a lost answer means that it is gone.
        self.0.await.unwrap_or(Err(JournalError::Fenced))
    }
}

/// An intent on its way to the disk.
pub struct Begun {
    op: OpId,
    intent: Intent,
    ack: Ack,
    written: Duration,
    world: World,
}

impl Begun {
    /// The receipt, once the intent is durable, and the intent as it was written.
    pub async fn receipt(self) -> Result<(Receipt, Intent), JournalError> {
        #[cfg(stead_planted)]
        if stead_world::planted::is("receipt-before-durable") {
            return Ok((Receipt::new(self.op, self.intent.key().to_owned(), self.written, 1), self.intent));
        }
        self.ack.durable().await?;
        self.world.crash_point("step.begin.durable");
        let receipt = Receipt::new(self.op, self.intent.key().to_owned(), self.written, 1);
        Ok((receipt, self.intent))
    }
}

/// What a run left behind.
#[derive(Debug)]
pub struct Closed {
    pub state: Arc<State>,
    pub snapshot: Digest,
}

impl Run {
    pub(crate) fn start(started: Started, sound: Sound) -> Run {
        let (queue, records) = mpsc::unbounded_channel();
        let Opening { store, keys, world, .. } = &started.opening;
        let appender = Appender::new(started.opening.spool(), world.clone(), started.head.epoch, sound);
        let next_op = Mutex::new(started.state.next_op());
        #[cfg(stead_planted)]
        let next_op =
            if stead_world::planted::is("operation-reused") { Mutex::new(OpId(1)) } else { next_op };
        let since = started.opening.world.clock.now().to_string();
        let heartbeat = Heartbeat::start(store.clone(), keys.clone(), world.clone(), started.head.epoch);
        let appender = tokio::spawn(appender.run(records));
        Run { queue, appender, next_op, since, _heartbeat: heartbeat, started }
    }

    pub fn id(&self) -> RunId {
        RunId(format!("run-{}", self.started.head.epoch.0))
    }

    pub fn stack(&self) -> &StackId {
        &self.started.head.stack
    }

    /// The state as it was when the run opened, recovery included.
    pub fn base(&self) -> &State {
        &self.started.state
    }

    /// Operations of earlier runs whose end nobody knows.
    pub fn in_doubt(&self) -> Vec<Pending> {
        self.started.state.pending().cloned().collect()
    }

    /// Writes down what is about to be done. `intent` gets the idempotency key.
    ///
    /// Records are durable in the order in which they are submitted: when the receipt is there, so is
    /// every record that was submitted before it.
    pub fn begin(&self, intent: impl FnOnce(String) -> Intent) -> Begun {
        let world = self.started.opening.world.clone();
        let written = world.clock.monotonic();
        let mut next = self.next_op.lock().unwrap_or_else(PoisonError::into_inner);
        let op = *next;
        *next = op.next();
        let key = format!("{}-{}-{op}", self.stack(), self.started.head.epoch);
        #[cfg(stead_planted)]
        let key = if stead_world::planted::is("key-reused") { self.stack().to_string() } else { key };
        let intent = intent(key);
        let ack = self.submit(Record::Begin { op, intent: intent.clone() });
        Begun { op, intent, ack, written, world }
    }

    /// Takes up an operation of an earlier run again, with its old key.
    pub async fn resume(&self, pending: &Pending) -> Result<Receipt, JournalError> {
        let written = self.started.opening.world.clock.monotonic();
        self.submit(Record::Resume { op: pending.op }).durable().await?;
        Ok(Receipt::new(pending.op, pending.intent.key().to_owned(), written, 2))
    }

    /// Puts a record in line. It counts once the acknowledgement says so.
    pub fn submit(&self, record: Record) -> Ack {
        self.submit_together(vec![record])
    }

    /// Puts records in line that mean something only together: no crash leaves one without the others.
    pub fn submit_together(&self, records: Vec<Record>) -> Ack {
        let (durable, ack) = oneshot::channel();
        // If the appender is gone, the dropped sender tells the waiter.
        let _ = self.queue.send(Submission { records, durable });
        Ack(ack)
    }

    /// Ends the run: snapshot, head, history. The journal is the record until this is done.
    pub async fn close(self, result: RunResult) -> Result<Closed, JournalError> {
        self.end(result, None).await
    }

    /// Ends the run with a state from elsewhere instead of the one that was folded. It passes the same rules.
    pub async fn close_with(self, imported: Snapshot) -> Result<Closed, JournalError> {
        let (stack, transfers) = (self.stack().clone(), self.base().transfers().clone());
        let imported = Snapshot { stack, transfers, ..imported };
        self.end(RunResult::Succeeded, Some(State::from(imported))).await
    }

    /// Leaves the run as it is after a failure, as a crash would, and tells all that could not be recorded.
    pub async fn abandon(self, failure: JournalError) -> JournalError {
        let Run { queue, appender, .. } = self;
        drop(queue);
        match appender.await {
            Ok((_, Some(whole @ JournalError::Unrecorded { .. }))) => whole,
            _ => failure,
        }
    }

    async fn end(self, result: RunResult, imported: Option<State>) -> Result<Closed, JournalError> {
        let (mut started, since) = self.quiet().await?;
        if let Some(imported) = imported {
            check(&imported)?;
            started.state = Arc::new(imported);
        }
        started.opening.world.crash_point("run.close.before");
        let run = RunId(format!("run-{}", started.head.epoch.0));
        let head = Head { owner: None, base: started.head.epoch.next(), ..started.head.clone() };
        let snapshot = started.publish(head, Some(run.clone())).await?;
        let record = started.record(run, since, result, snapshot.clone());
        let key = started.opening.keys.history(&record.run);
        put_once(&started.opening.store, &key, Bytes::from(record.encode())).await?;
        let state = started.let_go().await;
        Ok(Closed { state, snapshot })
    }

    /// Waits until everything that was submitted is durable, and stops taking more.
    pub(crate) async fn quiet(self) -> Result<(Started, String), JournalError> {
        let Run { mut started, queue, appender, since, .. } = self;
        drop(queue);
        let (state, broken) = appender.await.map_err(|failed| JournalError::Outside {
            action: "finish the journal",
            problem: failed.to_string(),
        })?;
        if let Some(error) = broken {
            return Err(error);
        }
        started.state = Arc::new(state);
        Ok((started, since))
    }
}

impl Started {
    /// Gives the claim back. One that stays behind is unlocked and says nothing.
    pub(crate) async fn let_go(self) -> Arc<State> {
        let Started { opening, state, claim, claim_path, .. } = self;
        drop(claim);
        let _ = opening.world.with_files(move |files| files.remove_file(&claim_path)).await;
        state
    }

    pub(crate) fn record(
        &self,
        run: RunId,
        started: String,
        result: RunResult,
        snapshot: Digest,
    ) -> RunRecord {
        let world = &self.opening.world;
        RunRecord {
            format: FORMAT,
            run,
            command: self.opening.command.clone(),
            user: world.host.user.clone(),
            host: world.host.name.clone(),
            started,
            ended: world.clock.now().to_string(),
            result,
            snapshot,
        }
    }
}
