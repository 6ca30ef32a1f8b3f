//! Opens a run: takes the lock, increments the epoch, and recovers the state that earlier runs left.

use std::path::PathBuf;
use std::sync::Arc;

use stead_model::{Crypter, RunId};
use stead_state::{Command, Head, Owner};
use stead_store::{Expect, Store, Version};
use stead_world::{Claim, World};

use super::publish::HeldStack;
use super::recovery::{fence_and_wait, recover, seal_as_read};
use crate::lifecycle::{first_head, next_head, swap_head};
use crate::load::{Presence, ReadVersion, presence, read_head};
use crate::{JournalError, LocalSpool, Run, Spool, StackKeys};

/// Behaviour of [`open`] when another run holds the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// Open the stack only if the process of that run is certainly dead.
    IfDead,
    /// Fence that run, dead or alive.
    Always,
}

/// Arguments of [`open`].
pub struct OpenRequest {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    pub world: World,
    /// The command, for the history.
    pub command: Command,
    /// Folder for the claim: the locked file that shows that this process is alive.
    pub claims: PathBuf,
    /// Version of the stack that the plan was made on; the run does not open on any other. `None`: any
    /// version.
    pub planned_on: Option<ReadVersion>,
    pub takeover: Takeover,
    /// Seals the secrets in the records of the run, and opens those of the state.
    pub crypter: Arc<dyn Crypter>,
}

impl OpenRequest {
    pub(crate) fn spool(&self) -> Spool {
        let local = Some(LocalSpool::new(&self.world, &self.claims));
        Spool { store: self.store.clone(), keys: self.keys.clone(), local }
    }
}

/// Opens a stack for a run.
///
/// Fails with `Held` if another run holds the stack, and with `StateChanged` if the stack is not the one that
/// `planned_on` names.
pub async fn open(request: OpenRequest) -> Result<Run, JournalError> {
    let (old, expect) = current_head(&request).await?;
    let epoch = old.epoch.next();
    match old.owner.as_ref().filter(|owner| !is_dead(&request.world, owner)) {
        None => {}
        Some(_) if request.takeover == Takeover::Always => fence_and_wait(&request, &old, epoch).await?,
        Some(owner) => return Err(JournalError::Held(Box::new(owner.clone()))),
    }
    if let Some(planned_on) = &request.planned_on {
        seal_as_read(&request, &old, planned_on, epoch).await?;
    }
    let run = RunId(format!("run-{}", epoch.0));
    let (claim, claim_path) = claim(&request, &run).await?;
    let host = &request.world.host;
    let owner = Owner {
        user: host.user.clone(),
        host: host.name.clone(),
        pid: host.pid,
        since: request.world.clock.now().to_string(),
        run: run.clone(),
        claim: claim_path.display().to_string(),
        command: Some(request.command.clone()),
    };
    let head = Head { epoch, owner: Some(owner), ..old.clone() };
    let version = take_head(&request, &head, expect).await?;
    request.world.crash_point("run.open.after_head");
    let (sound, spooled) = recover(&request, &old, epoch).await?;
    if let Some(owner) = old.owner.as_ref().filter(|owner| owner.host == request.world.host.name) {
        // Best effort: the dead owner's claim is no longer needed.
        let _ = request.world.files.remove_file(std::path::Path::new(&owner.claim));
    }
    let state = match &request.planned_on {
        Some(ReadVersion { whole: Some(whole), .. }) if whole.pending().next().is_none() => whole.clone(),
        _ => Arc::new(sound.state().clone()),
    };
    let mut held = HeldStack { request, head, version, state, claim, claim_path };
    if old.base <= old.epoch || !spooled.is_empty() {
        held.rebase(&old).await?;
    }
    held.request.spool().clear(spooled).await;
    Ok(Run::start(held, sound))
}

/// Reads the head to continue from, and the expectation for replacing it.
async fn current_head(request: &OpenRequest) -> Result<(Head, Expect), JournalError> {
    let stored = read_head(&request.store, &request.keys).await?;
    if let Some(planned_on) = &request.planned_on
        && planned_on.head != stored.as_ref().map(|(_, version)| version.clone())
    {
        return Err(match stored.and_then(|(head, _)| head.owner) {
            Some(owner) if !is_dead(&request.world, &owner) => JournalError::Held(Box::new(owner)),
            _ => JournalError::StateChanged,
        });
    }
    let Some((head, version)) = stored else { return Ok((first_head(&request.world)?, Expect::Absent)) };
    let head = match presence(&request.store, &request.keys, head).await? {
        Presence::Stack(head) => *head,
        Presence::NoStack(head) => next_head(&request.world, &head)?,
        Presence::Renamed { to, .. } => return Err(JournalError::Renamed { to }),
    };
    Ok((head, Expect::Version(version)))
}

/// Replaces the head with one that this run owns. Names the run that was faster, if one was.
async fn take_head(request: &OpenRequest, head: &Head, expect: Expect) -> Result<Version, JournalError> {
    match swap_head(&request.store, &request.keys, head, expect).await {
        Err(JournalError::StateChanged) => {
            match read_head(&request.store, &request.keys).await?.and_then(|(head, _)| head.owner) {
                Some(owner) => Err(JournalError::Held(Box::new(owner))),
                None => Err(JournalError::StateChanged),
            }
        }
        other => other,
    }
}

/// Returns true if the owner's process is certainly dead.
///
/// This can be told only on the same machine, where the system releases the claim of a dead process.
pub fn is_dead(world: &World, owner: &Owner) -> bool {
    owner.host == world.host.name
        && matches!(world.files.try_claim(std::path::Path::new(&owner.claim)), Ok(Some(_)))
}

/// Creates and locks the claim file of a run.
async fn claim(request: &OpenRequest, run: &RunId) -> Result<(Box<dyn Claim>, PathBuf), JournalError> {
    let unique = request.world.entropy.uuid().map_err(JournalError::io("draw a random number"))?;
    let folder = request.claims.clone();
    let name = format!("{run}-{unique}");
    request
        .world
        .with_files(move |files| {
            let path = files.absolute(&folder)?.join(name);
            files.ensure_private_folder(&folder)?;
            let claim = files.claim(&path)?;
            // After a power loss the file must exist, so that the next run can see that it is unlocked.
            for above in folder.ancestors().take(3).filter(|above| !above.as_os_str().is_empty()) {
                files.sync_folder(above)?;
            }
            Ok((claim, path))
        })
        .await
        .map_err(JournalError::io("show that this run is alive"))
}
