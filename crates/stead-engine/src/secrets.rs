//! The data keys of a stack while an operation runs: opened once, and good until the process ends.
//!
//! **Invariants:** managers are asked only if a value is needed; a key that was opened stays open, also when its manager goes away; a
//! secret that does not open never reaches a provider.

use std::sync::{Arc, Mutex, PoisonError};

use stead_model::{
    Binding, Ciphertext, Crypter, KeyedDigest, Keyring, Map, NoKey, Resource, StackId, Unopened,
};
use stead_secrets::{
    DataKey, KeyManager, LockedCrypter, ManagerError, ManagerErrorClass, ProcessManager, UnlockedRing,
    create, unlock,
};
use stead_state::State;
use stead_world::World;

/// Finds the key managers of a stack.
pub trait KeySource: Send + Sync {
    /// Returns the managers that may open the ring of an environment. For an empty ring: the managers that wrap its first key.
    ///
    /// Managers that need no answer of a person come first.
    fn managers(&self, environment: &str, ring: &Keyring) -> Result<Vec<Arc<dyn KeyManager>>, ManagerError>;
}

/// Stands in where no manager is configured.
pub struct NoKeySource;

impl KeySource for NoKeySource {
    fn managers(&self, _: &str, _: &Keyring) -> Result<Vec<Arc<dyn KeyManager>>, ManagerError> {
        let message = "no key manager is configured";
        Err(ManagerError::new(ManagerErrorClass::NotConfigured, message))
    }
}

/// One manager for every stack, for stacks in memory.
pub struct OneManager(pub Arc<dyn KeyManager>);

impl KeySource for OneManager {
    fn managers(&self, _: &str, _: &Keyring) -> Result<Vec<Arc<dyn KeyManager>>, ManagerError> {
        Ok(vec![self.0.clone()])
    }
}

/// The data keys of one stack. Clones share them.
#[derive(Clone)]
pub struct StackSecrets {
    source: Arc<dyn KeySource>,
    current: Arc<CurrentKeys>,
}

impl StackSecrets {
    pub fn new(source: Arc<dyn KeySource>) -> StackSecrets {
        StackSecrets { source, current: Arc::new(CurrentKeys::default()) }
    }

    /// Returns secrets without any manager.
    pub fn none() -> StackSecrets {
        StackSecrets::new(Arc::new(NoKeySource))
    }

    /// Returns secrets whose keys a manager of this process wraps, for a stack in memory.
    pub fn in_memory() -> StackSecrets {
        let manager = ProcessManager::new("memory", &DataKey::new([0x5a; 32]));
        StackSecrets::new(Arc::new(OneManager(Arc::new(manager))))
    }

    /// Returns the secrets of another stack of the same project, none of them opened.
    #[must_use]
    pub(crate) fn of_another_stack(&self) -> StackSecrets {
        StackSecrets::new(self.source.clone())
    }

    pub fn source(&self) -> &Arc<dyn KeySource> {
        &self.source
    }

    /// Returns the crypter of the keys that are open now or later.
    pub fn crypter(&self) -> Arc<dyn Crypter> {
        self.current.clone()
    }

    /// Returns the opened ring.
    pub fn opened(&self) -> Option<UnlockedRing> {
        match &*self.current.keys() {
            Keys::Open(ring) => Some(ring.clone()),
            Keys::None | Keys::Locked(..) => None,
        }
    }

    /// Returns why the ring does not open, if that was tried.
    pub fn why_locked(&self) -> Option<ManagerError> {
        match &*self.current.keys() {
            Keys::Locked(_, why) => Some(why.clone()),
            Keys::None | Keys::Open(_) => None,
        }
    }

    /// Uses a ring that was made or changed, from here on.
    pub fn use_ring(&self, ring: UnlockedRing) {
        *self.current.keys() = Keys::Open(ring);
    }

    /// Opens the ring of a state and every secret in it. A stack without a key has no secrets.
    ///
    /// After a failure every secret of the state says why it is locked.
    pub async fn unlock(&self, environment: &str, state: &State) -> Result<(), ManagerError> {
        let ring = state.keyring();
        if ring.is_empty() {
            return Ok(());
        }
        let known = match &*self.current.keys() {
            Keys::Open(open) if open.ring() == ring => Some(Ok(())),
            Keys::Locked(closed, why) if closed == ring => Some(Err(why.clone())),
            _ => None,
        };
        let unlocked = match known {
            Some(known) => known,
            None => {
                let opened = self.open(environment, state).await;
                let unlocked = opened.as_ref().map(|_| ()).map_err(Clone::clone);
                *self.current.keys() = match opened {
                    Ok(open) => Keys::Open(open),
                    Err(why) => Keys::Locked(ring.clone(), why),
                };
                unlocked
            }
        };
        state.open_secrets(&self.crypter());
        unlocked
    }

    /// Opens the secrets of a state that was loaded again, with the keys that are open by now.
    pub(crate) fn open_again(&self, state: &State) {
        let tried = !matches!(&*self.current.keys(), Keys::None);
        if tried {
            state.open_secrets(&self.crypter());
        }
    }

    async fn open(&self, environment: &str, state: &State) -> Result<UnlockedRing, ManagerError> {
        let ring = state.keyring();
        let managers = self.source.managers(environment, ring)?;
        let opened = unlock(ring, &owner(state.stack()), &managers).await?;
        if opened.unproven().next().is_none() {
            return Ok(opened);
        }
        let mut trials = Vec::new();
        state.try_secrets(opened.crypter().as_ref(), &mut |key, opens| trials.push((key, opens)));
        opened.proven_by(trials)
    }

    /// Makes the first key of a stack. Its ring is in use from here on, and must be recorded before the first secret is.
    pub async fn create(
        &self,
        environment: &str,
        stack: &StackId,
        world: &World,
    ) -> Result<Keyring, ManagerError> {
        let managers = self.source.managers(environment, &Keyring::default())?;
        let ring = create(&owner(stack), &managers, world).await?;
        let keyring = ring.ring().clone();
        self.use_ring(ring);
        Ok(keyring)
    }

    /// Checks that a first key can be made, and asks a person for a passphrase if one is needed, before a run holds the stack.
    pub(crate) async fn rehearse(&self, environment: &str, world: &World) -> Result<(), ManagerError> {
        let managers = self.source.managers(environment, &Keyring::default())?;
        create("a new stack", &managers, world).await.map(drop)
    }
}

/// Returns the owner that the keys of a stack are wrapped for.
pub(crate) fn owner(stack: &StackId) -> String {
    format!("stack:{}", stack.0)
}

#[derive(Default)]
enum Keys {
    #[default]
    None,
    Open(UnlockedRing),
    /// Why the ring does not open.
    Locked(Keyring, ManagerError),
}

/// The keys of the moment, as a crypter: a run opens before its first key is made.
#[derive(Default)]
struct CurrentKeys(Mutex<Keys>);

impl CurrentKeys {
    fn keys(&self) -> std::sync::MutexGuard<'_, Keys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&dyn Crypter) -> T) -> T {
        let crypter: Arc<dyn Crypter> = match &*self.keys() {
            Keys::None => Arc::new(NoKey),
            Keys::Open(ring) => ring.crypter(),
            Keys::Locked(_, why) => Arc::new(LockedCrypter::new(why.message.clone())),
        };
        work(crypter.as_ref())
    }
}

impl Crypter for CurrentKeys {
    fn seal(&self, plain: &[u8], binding: Binding<'_>) -> Result<Ciphertext, Unopened> {
        self.with(|crypter| crypter.seal(plain, binding))
    }

    fn open(&self, sealed: &Ciphertext, binding: Binding<'_>) -> Result<Vec<u8>, Unopened> {
        self.with(|crypter| crypter.open(sealed, binding))
    }

    fn digest(&self, plain: &[u8], binding: Binding<'_>) -> Result<KeyedDigest, Unopened> {
        self.with(|crypter| crypter.digest(plain, binding))
    }

    fn matches(&self, digest: &KeyedDigest, plain: &[u8], binding: Binding<'_>) -> Result<bool, Unopened> {
        self.with(|crypter| crypter.matches(digest, plain, binding))
    }
}

/// Returns the path of a secret that has a value which does not open, and why.
pub(crate) fn locked_in(values: &Map) -> Option<(String, Unopened)> {
    unrevealed(values, |why| !matches!(why, Unopened::NotKept))
}

/// Returns the path of a secret without a value: it does not open, or it was never kept.
pub(crate) fn missing_in(values: &Map) -> Option<(String, Unopened)> {
    unrevealed(values, |_| true)
}

fn unrevealed(values: &Map, counts: impl Fn(&Unopened) -> bool) -> Option<(String, Unopened)> {
    let mut found = None;
    for (key, value) in values.iter().filter(|(_, value)| value.has_secrets()) {
        let mut path = vec![key.as_str().to_owned()];
        value.each_secret(&mut path, &mut |secret, path| {
            if found.is_none()
                && let Err(why) = secret.reveal()
                && counts(&why)
            {
                found = Some((path.join("."), why));
            }
        });
    }
    found
}

/// Returns a sentence about a secret of a record that a provider would need and that does not open.
pub(crate) fn locked_record(resource: &Resource) -> Option<String> {
    let (path, why) = locked_in(&resource.inputs).or_else(|| locked_in(&resource.outputs))?;
    Some(format!("the secret `{path}` of {} cannot be opened: {why}", resource.name))
}
