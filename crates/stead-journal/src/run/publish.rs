//! Publishing: stores a snapshot, makes head refer to it, and deletes the journals that it contains.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Digest, Epoch, RunId, RunResult};
use stead_state::{Command, FORMAT, Head, Owner, RunEnd, RunRecord, State};
use stead_store::{Expect, Version};
use stead_world::Claim;

use crate::lifecycle::{put_once, swap_head};
use crate::{JournalError, OpenRequest};

/// A stack that this process holds: the lock, the current head and the state.
pub(crate) struct HeldStack {
    pub request: OpenRequest,
    pub head: Head,
    pub version: Version,
    pub state: Arc<State>,
    pub claim: Box<dyn Claim>,
    pub claim_path: PathBuf,
}

impl HeldStack {
    /// Publishes the recovered state as the base of this epoch's journal. `old` is the head before this run opened: its
    /// owner, if there is one, was killed or relieved, and gets its run record now.
    pub(crate) async fn rebase(&mut self, old: &Head) -> Result<Digest, JournalError> {
        let head = Head { base: self.head.epoch, ..self.head.clone() };
        self.publish_with(head, None, old.owner.as_ref().map(|owner| (owner, old.snapshot.clone()))).await
    }

    /// Publishes the state: first the snapshot, then the head that refers to it. Then deletes the journals
    /// that the snapshot contains.
    pub(crate) async fn publish(&mut self, head: Head, run: Option<RunId>) -> Result<Digest, JournalError> {
        self.publish_with(head, run, None).await
    }

    /// Publishes, and writes the record of a killed run before its owner disappears from the head.
    async fn publish_with(
        &mut self,
        head: Head,
        run: Option<RunId>,
        killed: Option<(&Owner, Option<Digest>)>,
    ) -> Result<Digest, JournalError> {
        // Every record passed the rules when it was applied.
        let (bytes, digest) = self.state.snapshot(run).encode();
        let OpenRequest { store, keys, world, .. } = &self.request;
        put_once(store, &keys.snapshot(&digest), Bytes::from(bytes)).await?;
        world.crash_point("run.publish.after_snapshot");
        if let Some((owner, base)) = killed {
            let record = self.killed_run(owner, base, digest.clone());
            put_once(store, &keys.history(&record.run), Bytes::from(record.encode())).await?;
        }
        let head = Head { snapshot: Some(digest.clone()), ..head };
        let expect = Expect::Version(self.version.clone());
        self.version = match swap_head(store, keys, &head, expect).await {
            Err(JournalError::StateChanged) => return Err(JournalError::Fenced),
            other => other?,
        };
        world.crash_point("run.publish.after_head");
        let contained = self.head.base.0..head.base.0;
        self.head = head;
        for epoch in contained {
            // Best effort: the state is published, and a batch that stays is never read again.
            let _ = self.forget_journal(Epoch(epoch)).await;
        }
        Ok(digest)
    }

    /// Deletes the batches that the snapshot contains.
    ///
    /// The seal of an older epoch stays forever: a late writer must find its next slot taken.
    pub(crate) async fn forget_journal(&self, epoch: Epoch) -> Result<(), JournalError> {
        let OpenRequest { store, keys, .. } = &self.request;
        let mut batches = store.list(&keys.journal(epoch)).await?;
        let keeps_seal = epoch < self.head.epoch;
        if keeps_seal {
            batches.pop();
        }
        for key in batches {
            store.delete(&key).await?;
        }
        Ok(())
    }

    /// Releases the claim. A claim file that cannot be removed is unlocked and has no meaning.
    pub(crate) async fn release(self) -> Arc<State> {
        let HeldStack { request, state, claim, claim_path, .. } = self;
        drop(claim);
        let _ = request.world.with_files(move |files| files.remove_file(&claim_path)).await;
        state
    }

    /// Returns the run record of a run that never closed. The time of its end is not known; this is when it was found.
    fn killed_run(&self, owner: &Owner, base: Option<Digest>, snapshot: Digest) -> RunRecord {
        let Command { name, targets, options } =
            owner.command.clone().unwrap_or_else(|| Command::new("unknown"));
        RunRecord {
            format: FORMAT,
            run: owner.run.clone(),
            command: name,
            targets,
            options,
            user: owner.user.clone(),
            host: owner.host.clone(),
            started: owner.since.clone(),
            ended: self.request.world.clock.now().to_string(),
            result: RunEnd::Killed,
            base,
            snapshot,
        }
    }

    /// Returns the run record for the history. `base` is the snapshot that the run started from.
    pub(crate) fn record(
        &self,
        run: RunId,
        started: String,
        result: RunResult,
        base: Option<Digest>,
        snapshot: Digest,
    ) -> RunRecord {
        let world = &self.request.world;
        let Command { name, targets, options } = self.request.command.clone();
        RunRecord {
            format: FORMAT,
            run,
            command: name,
            targets,
            options,
            user: world.host.user.clone(),
            host: world.host.name.clone(),
            started,
            ended: world.clock.now().to_string(),
            result: result.into(),
            base,
            snapshot,
        }
    }
}
