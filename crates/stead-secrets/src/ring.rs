//! Work on a ring of data keys: a new ring, opening one, rotation, one manager more, one manager less.
//!
//! Every change returns a new ring and leaves the old one as it was; the caller stores it. **Invariants:** a change never drops a
//! data key, so that a ring opens everything that an earlier ring opened; a new current key is wrapped for every manager or the
//! change fails; the ring is stored before the first value that is sealed with its new key.

mod open;
mod proof;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use stead_model::{Hint, KeyId, Keyring, NextStep, RingKey, Wrap};
use stead_world::World;

pub use open::unlock;

use crate::{DataKey, KeyManager, ManagerError, ManagerErrorClass, SymmetricCrypter, WrapContext};

/// A ring with its opened keys. They stay in memory until it is dropped, so that managers are asked once a run.
#[derive(Clone)]
pub struct UnlockedRing {
    ring: Keyring,
    owner: String,
    keys: BTreeMap<KeyId, DataKey>,
    missing: Vec<MissingKey>,
    /// Keys that only the word of a manager says to be right, with the manager.
    unproven: BTreeMap<KeyId, String>,
    crypter: Arc<SymmetricCrypter>,
}

/// A key of a ring that no manager opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKey {
    pub id: KeyId,
    pub reason: ManagerError,
}

/// Returns a ring with one new data key, wrapped for every manager.
pub async fn create(
    owner: &str,
    managers: &[Arc<dyn KeyManager>],
    world: &World,
) -> Result<UnlockedRing, ManagerError> {
    let (id, key) = new_key(world)?;
    let wrapped = wrap(owner, &id, &key, managers).await;
    let ring = Keyring { keys: vec![wrapped.map_err(|unwrapped| unwrapped.error)?] };
    UnlockedRing::new(ring, owner, [(id, key)].into(), Vec::new())
}

impl UnlockedRing {
    /// Joins a ring and its opened keys. Fails if the current key is not among them.
    fn new(
        ring: Keyring,
        owner: &str,
        keys: BTreeMap<KeyId, DataKey>,
        missing: Vec<MissingKey>,
    ) -> Result<UnlockedRing, ManagerError> {
        let current = ring.current().and_then(|current| Some((current.id.clone(), keys.get(&current.id)?)));
        let Some((current, key)) = current else {
            return Err(ManagerError::new(ManagerErrorClass::Damaged, format!("{owner} has no data key")));
        };
        let mut crypter = SymmetricCrypter::new(current.clone(), key);
        for (id, key) in keys.iter().filter(|(id, _)| **id != current) {
            crypter = crypter.with_older(id.clone(), key);
        }
        for key in &missing {
            crypter = crypter.with_closed(key.id.clone(), key.reason.message.clone());
        }
        let (owner, unproven, crypter) = (owner.to_owned(), BTreeMap::new(), Arc::new(crypter));
        Ok(UnlockedRing { ring, owner, keys, missing, unproven, crypter })
    }

    /// Returns the ring to store.
    pub fn ring(&self) -> &Keyring {
        &self.ring
    }

    /// Returns the crypter of the ring.
    pub fn crypter(&self) -> Arc<SymmetricCrypter> {
        self.crypter.clone()
    }

    /// Returns the older keys that no manager opened. Values that name them are locked.
    pub fn missing(&self) -> &[MissingKey] {
        &self.missing
    }

    /// Returns a ring with a new current key, in which every opened key is wrapped for exactly these managers.
    ///
    /// To remove a manager is to rotate without it: its key opens nothing that is written from then on. A key that could not be
    /// opened, or that nothing proves, keeps its wraps, because dropping them would lose the values that it opens. Every manager has to wrap: a public key
    /// needs nothing for that, a passphrase has to be given, and a service has to answer.
    pub async fn rotate(
        &self,
        managers: &[Arc<dyn KeyManager>],
        world: &World,
    ) -> Result<UnlockedRing, ManagerError> {
        let mut keys = Vec::with_capacity(self.ring.keys.len() + 1);
        for old in &self.ring.keys {
            keys.push(match self.proven(&old.id) {
                Some(key) => {
                    wrap(&self.owner, &old.id, key, managers).await.map_err(NotWrapped::in_rotation)?
                }
                None => old.clone(),
            });
        }
        let (id, key) = new_key(world)?;
        keys.push(wrap(&self.owner, &id, &key, managers).await.map_err(NotWrapped::in_rotation)?);
        let mut opened = self.keys.clone();
        opened.insert(id, key);
        self.changed(Keyring { keys }, opened)
    }

    /// Returns a ring in which one more manager wraps every opened key. An earlier wrap of the same manager is replaced.
    ///
    /// No other manager is asked: the one that opened the ring and the new one are enough.
    pub async fn add(&self, manager: &Arc<dyn KeyManager>) -> Result<UnlockedRing, ManagerError> {
        self.require_proven_current()?;
        let mut ring = self.ring.clone();
        for ring_key in &mut ring.keys {
            let Some(key) = self.proven(&ring_key.id) else { continue };
            let added = wrap(&self.owner, &ring_key.id, key, std::slice::from_ref(manager)).await;
            let added = added.map_err(|unwrapped| unwrapped.error)?;
            ring_key.wraps.retain(|wrap| wrap.manager != manager.name());
            ring_key.wraps.extend(added.wraps);
        }
        self.changed(ring, self.keys.clone())
    }

    /// Returns this ring after a change.
    fn changed(&self, ring: Keyring, keys: BTreeMap<KeyId, DataKey>) -> Result<UnlockedRing, ManagerError> {
        let changed = UnlockedRing::new(ring, &self.owner, keys, self.missing.clone())?;
        Ok(UnlockedRing { unproven: self.unproven.clone(), ..changed })
    }

    /// Returns a ring with a new current key that the named manager does not open, wrapped for the rest of `managers`.
    pub async fn remove(
        &self,
        name: &str,
        managers: &[Arc<dyn KeyManager>],
        world: &World,
    ) -> Result<UnlockedRing, ManagerError> {
        let remaining: Vec<_> = managers.iter().filter(|manager| manager.name() != name).cloned().collect();
        self.rotate(&remaining, world).await
    }
}

/// A key that one of its managers could not wrap.
struct NotWrapped {
    /// `None` if there is no manager at all.
    manager: Option<String>,
    error: ManagerError,
}

impl NotWrapped {
    /// Returns the error of a rotation, which may go on without the manager.
    fn in_rotation(self) -> ManagerError {
        let NotWrapped { manager, error } = self;
        let Some(manager) = manager else { return error };
        let message =
            format!("the new key must be wrapped for {manager}, too, and that failed: {}", error.message);
        ManagerError { message, ..error }.help(
            Hint::text("or go on without this manager: ")
                .then(NextStep::RemoveKeyManager)
                .and(" takes it away and makes a new key"),
        )
    }
}

/// Draws a data key. Its id is derived from it.
fn new_key(world: &World) -> Result<(KeyId, DataKey), ManagerError> {
    let mut key = DataKey::new([0; 32]);
    world.entropy.fill(key.expose_mut()).map_err(|error| {
        let message = format!("the system gives no random numbers: {error}");
        ManagerError::new(ManagerErrorClass::Unavailable, message)
    })?;
    Ok((key.id(), key))
}

/// Wraps a key for every manager. One manager that fails fails the whole: its holders would be locked out without a word.
async fn wrap(
    owner: &str,
    id: &KeyId,
    key: &DataKey,
    managers: &[Arc<dyn KeyManager>],
) -> Result<RingKey, NotWrapped> {
    if managers.is_empty() {
        let message = format!("{owner} has no key manager, so its secrets could not be opened again");
        let error = ManagerError::new(ManagerErrorClass::NotConfigured, message);
        return Err(NotWrapped { manager: None, error });
    }
    let context = WrapContext { owner: owner.to_owned(), key: id.clone() };
    let mut wraps: Vec<Wrap> = Vec::with_capacity(managers.len());
    for manager in managers {
        if wraps.iter().any(|wrap| wrap.manager == manager.name()) {
            continue;
        }
        let not_wrapped = |error| NotWrapped { manager: Some(manager.name().to_owned()), error };
        let data = manager.wrap(key, &context).await.map_err(not_wrapped)?;
        wraps.push(Wrap { manager: manager.name().to_owned(), data });
    }
    Ok(RingKey { id: id.clone(), wraps })
}
