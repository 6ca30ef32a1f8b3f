//! Opens a run: bumps the epoch, seals older ones, folds what they left behind.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Digest, Epoch, RunId, StackId};
use stead_state::{Batch, Head, Owner, Record, Sound, State};
use stead_store::{Expect, Store, StoreError, Version};
use stead_world::{Claim, World};

use crate::leave::swap;
use crate::load::{Present, Seen, Tail, fold_epoch, last_record, present, read_base, read_head};
use crate::receipt::RECEIPT_MARGIN;
use crate::run::{Run, Started};
use crate::spool::{Machine, Place};
use crate::{JournalError, RECEIPT_VALIDITY, Spool, StackKeys};

/// What to do when somebody has the stack open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// Go on only if that process is certainly dead.
    IfDead,
    /// Fence it, whoever it is.
    Always,
}

/// How to open a stack.
pub struct Opening {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    pub world: World,
    /// The command that runs, for the history.
    pub command: String,
    /// Where this process keeps the file that shows it is alive.
    pub claims: PathBuf,
    /// What the caller has planned on; if there is anything else now, that is refused. `None`: whatever there is.
    pub planned_on: Option<Seen>,
    pub takeover: Takeover,
}

impl Opening {
    pub(crate) fn spool(&self) -> Spool {
        let machine = Some(Machine::new(&self.world, &self.claims));
        Spool { store: self.store.clone(), keys: self.keys.clone(), machine }
    }
}

pub async fn open(opening: Opening) -> Result<Run, JournalError> {
    let found = read_head(&opening.store, &opening.keys).await?;
    if let Some(planned_on) = &opening.planned_on
        && planned_on.head != found.as_ref().map(|(_, version)| version.clone())
    {
        return Err(match found.and_then(|(head, _)| head.owner) {
            Some(owner) if !is_dead(&opening.world, &owner) => JournalError::Held(Box::new(owner)),
            _ => JournalError::Moved,
        });
    }
    let (old, expect) = match found {
        None => (unborn(&opening.world)?, Expect::Absent),
        Some((head, version)) => match present(&opening.store, &opening.keys, head).await? {
            Present::Stack(head) => (*head, Expect::Version(version)),
            Present::Nothing(head) => (reborn(&opening.world, &head)?, Expect::Version(version)),
            Present::Renamed { to, .. } => return Err(JournalError::Renamed { to }),
        },
    };
    let epoch = old.epoch.next();
    match old.owner.as_ref().filter(|owner| !is_dead(&opening.world, owner)) {
        None => {}
        Some(_) if opening.takeover == Takeover::Always => relieve(&opening, &old, epoch).await?,
        Some(owner) => return Err(JournalError::Held(Box::new(owner.clone()))),
    }
    if let Some(planned_on) = &opening.planned_on
        && planned_on.last != last_record(&opening.store, &opening.keys, &old).await?
    {
        // Whoever held the stack wrote more before it died.
        return Err(JournalError::Moved);
    }
    let run = RunId(format!("run-{}", epoch.0));
    let (claim, path) = claim(&opening, &run).await?;
    let host = &opening.world.host;
    let owner = Owner {
        user: host.user.clone(),
        host: host.name.clone(),
        pid: host.pid,
        since: opening.world.clock.now().to_string(),
        run: run.clone(),
        claim: path.display().to_string(),
    };
    let head = Head { epoch, owner: Some(owner), ..old.clone() };
    let version = swap_head(&opening, &head, expect).await?;
    opening.world.crash_point("run.open.after_head");
    let (sound, answered) = recover(&opening, &old, epoch).await?;
    if let Some(owner) = old.owner.as_ref().filter(|owner| owner.host == opening.world.host.name) {
        // The dead owner's claim has told what it had to tell.
        let _ = opening.world.files.remove_file(std::path::Path::new(&owner.claim));
    }
    let state = match &opening.planned_on {
        Some(Seen { whole: Some(whole), .. }) if whole.pending().next().is_none() => whole.clone(),
        _ => Arc::new(sound.state().clone()),
    };
    let mut started = Started { opening, head, version, state, claim, claim_path: path };
    if old.base <= old.epoch || !answered.is_empty() {
        started.rebase().await?;
    }
    started.opening.spool().clear(answered).await;
    Ok(Run::start(started, sound))
}

/// Takes the pen from a writer that may be alive: after this it can neither write nor start a call.
///
/// Its epoch is sealed first, so that no receipt is younger than the seal, then all of them expire. Only then does
/// head change: whoever dies on the way leaves the stack to the old writer's name, and the next one waits again.
async fn relieve(opening: &Opening, old: &Head, by: Epoch) -> Result<(), JournalError> {
    fold_and_seal(opening, old, by).await?;
    opening.world.crash_point("run.open.relieved");
    #[cfg(stead_planted)]
    if stead_world::planted::is("takeover-does-not-wait") {
        return Ok(());
    }
    opening.world.clock.sleep(RECEIPT_VALIDITY + RECEIPT_MARGIN).await;
    Ok(())
}

/// Folds every epoch that the snapshot does not hold yet, then takes in the answers that their journals did not
/// take. Those are to be cleared once the state is durable.
async fn recover(opening: &Opening, old: &Head, by: Epoch) -> Result<(Sound, Vec<Place>), JournalError> {
    let mut sound = match opening.planned_on.as_ref().and_then(|seen| seen.whole.as_deref()) {
        // Head is the one that was read then, and so is the snapshot that it names. It was checked then.
        Some(whole) if whole.pending().next().is_none() => Sound::of_checked(whole.clone()),
        _ => {
            let mut state = fold_and_seal(opening, old, by).await?;
            state.orphan_pending();
            Sound::new(state).map_err(JournalError::Integrity)?
        }
    };
    let answered = opening.spool().take(&mut sound, old.epoch).await?;
    Ok((sound, answered))
}

/// The state that head stands for, with every epoch in it closed for good.
async fn fold_and_seal(opening: &Opening, old: &Head, by: Epoch) -> Result<State, JournalError> {
    let mut state = State::from(read_base(&opening.store, &opening.keys, old).await?);
    let last = old.epoch.0;
    #[cfg(stead_planted)]
    let last = last.saturating_sub(u64::from(stead_world::planted::is("epoch-off-by-one")));
    for epoch in old.base.0..=last {
        let sealed_on = state.clone();
        loop {
            let tail = fold_epoch(&opening.store, &opening.keys, Epoch(epoch), &mut state).await?;
            #[cfg(stead_planted)]
            if stead_world::planted::is("seal-skipped") {
                break;
            }
            if tail.sealed || seal(opening, Epoch(epoch), &tail, by).await? {
                break;
            }
            // The old writer was faster with that slot: what it wrote counts.
            state = sealed_on.clone();
        }
        opening.world.crash_point("run.open.after_seal");
    }
    Ok(state)
}

/// Occupies the next slot of an epoch. `false`: somebody else did.
async fn seal(opening: &Opening, epoch: Epoch, tail: &Tail, by: Epoch) -> Result<bool, JournalError> {
    let write_id = opening.world.entropy.uuid().map_err(JournalError::outside("draw a random number"))?;
    let batch = Batch {
        epoch,
        seq: tail.seq,
        previous: tail.previous.clone(),
        write_id,
        records: vec![Record::Seal { by }],
    };
    let key = opening.keys.batch(epoch, tail.seq);
    match opening.store.put(&key, Bytes::from(batch.encode()), Expect::Absent).await {
        Ok(_) => Ok(true),
        Err(StoreError::Conflict { .. }) => Ok(false),
        Err(other) => Err(other.into()),
    }
}

async fn swap_head(opening: &Opening, head: &Head, expect: Expect) -> Result<Version, JournalError> {
    match swap(&opening.store, &opening.keys, head, expect).await {
        Err(JournalError::Moved) => {
            match read_head(&opening.store, &opening.keys).await?.and_then(|(head, _)| head.owner) {
                Some(owner) => Err(JournalError::Held(Box::new(owner))),
                None => Err(JournalError::Moved),
            }
        }
        other => other,
    }
}

pub(crate) fn unborn(world: &World) -> Result<Head, JournalError> {
    let uuid = world.entropy.uuid().map_err(JournalError::outside("draw a random number"))?;
    // No epoch was ever open: the base is ahead of it.
    let stack = StackId(uuid);
    Ok(Head { stack, epoch: Epoch(0), owner: None, snapshot: None, base: Epoch(1), absent: None })
}

/// A new stack where one was: another uuid, and epochs that go on, so that old writers stay out.
pub(crate) fn reborn(world: &World, old: &Head) -> Result<Head, JournalError> {
    Ok(Head { epoch: old.epoch, base: old.epoch.next(), ..unborn(world)? })
}

/// Certain only on the same machine: the system lets go of a dead process's claim.
pub fn is_dead(world: &World, owner: &Owner) -> bool {
    #[cfg(stead_planted)]
    if stead_world::planted::is("living-taken-for-dead") {
        return true;
    }
    owner.host == world.host.name
        && matches!(world.files.try_claim(std::path::Path::new(&owner.claim)), Ok(Some(_)))
}

async fn claim(opening: &Opening, run: &RunId) -> Result<(Box<dyn Claim>, PathBuf), JournalError> {
    let unique = opening.world.entropy.uuid().map_err(JournalError::outside("draw a random number"))?;
    let folder = opening.claims.clone();
    let name = format!("{run}-{unique}");
    opening
        .world
        .with_files(move |files| {
            let path = files.absolute(&folder)?.join(name);
            files.ensure_folder(&folder)?;
            let claim = files.claim(&path)?;
            #[cfg(stead_planted)]
            if stead_world::planted::is("claim-not-synced") {
                return Ok((claim, path));
            }
            // If the power goes, the file must be there for the next run to see that nobody holds it.
            for above in folder.ancestors().take(3).filter(|above| !above.as_os_str().is_empty()) {
                files.sync_folder(above)?;
            }
            Ok((claim, path))
        })
        .await
        .map_err(JournalError::outside("show that this run is alive"))
}

impl Started {
    /// Stores the folded state and makes it the base of this epoch's journal.
    pub(crate) async fn rebase(&mut self) -> Result<Digest, JournalError> {
        let head = Head { base: self.head.epoch, ..self.head.clone() };
        self.publish(head, None).await
    }

    /// Snapshot first, then the head that refers to it, then away with the journals it replaces.
    pub(crate) async fn publish(&mut self, head: Head, run: Option<RunId>) -> Result<Digest, JournalError> {
        // Every record passed the rules when it was folded in.
        let (bytes, digest) = self.state.snapshot(run).encode();
        #[cfg(stead_planted)]
        self.publish_badly(&head, &digest).await?;
        let Opening { store, keys, world, .. } = &self.opening;
        match store.put(&keys.snapshot(&digest), Bytes::from(bytes), Expect::Absent).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => {} // the same bytes are there already
            Err(other) => return Err(other.into()),
        }
        world.crash_point("run.publish.after_snapshot");
        let head = Head { snapshot: Some(digest.clone()), ..head };
        let expect = Expect::Version(self.version.clone());
        self.version = match swap(store, keys, &head, expect).await {
            Err(JournalError::Moved) => return Err(JournalError::Fenced),
            other => other?,
        };
        world.crash_point("run.publish.after_head");
        let folded = self.head.base.0..head.base.0;
        self.head = head;
        for epoch in folded {
            // State is published; what cannot be removed now means nothing and does no harm.
            let _ = self.forget_journal(Epoch(epoch)).await;
        }
        Ok(digest)
    }

    /// What a careless author might have written first.
    #[cfg(stead_planted)]
    async fn publish_badly(&mut self, head: &Head, digest: &Digest) -> Result<(), JournalError> {
        let Opening { store, keys, world, .. } = &self.opening;
        if stead_world::planted::is("head-before-snapshot") {
            let head = Head { snapshot: Some(digest.clone()), ..head.clone() };
            let expect = Expect::Version(self.version.clone());
            self.version = store.put(&keys.head(), Bytes::from(head.encode()), expect).await?;
            world.crash_point("run.publish.after_head");
        }
        if stead_world::planted::is("journal-removed-first") {
            for epoch in self.head.base.0..head.base.0 {
                self.forget_journal(Epoch(epoch)).await?;
            }
        }
        Ok(())
    }

    /// Removes the batches that the snapshot holds now. Another's epoch keeps its seal for ever: a writer
    /// that wakes up late must still find its next slot taken.
    pub(crate) async fn forget_journal(&self, epoch: Epoch) -> Result<(), JournalError> {
        let Opening { store, keys, .. } = &self.opening;
        let mut batches = store.list(&keys.journal(epoch)).await?;
        let keeps_seal = epoch < self.head.epoch;
        #[cfg(stead_planted)]
        let keeps_seal = keeps_seal && !stead_world::planted::is("seal-removed");
        if keeps_seal {
            batches.pop();
        }
        for key in batches {
            store.delete(&key).await?;
        }
        Ok(())
    }
}
