//! Proof that an opened key is the one that sealed the values: the id that is derived from it, or a value that it opens.
//!
//! Ids were random in earlier versions, and a manager that authenticates nothing may answer with any key. **Invariant:** a key
//! without a proof never replaces a wrap of the ring.

use std::collections::BTreeMap;

use stead_model::KeyId;

use super::open::another_key;
use super::{MissingKey, UnlockedRing};
use crate::{DataKey, ManagerError, ManagerErrorClass};

impl UnlockedRing {
    /// Returns the keys that only the word of a manager says to be right.
    pub fn unproven(&self) -> impl Iterator<Item = &KeyId> {
        self.unproven.keys()
    }

    /// Returns a key that is proven.
    pub(super) fn proven(&self, id: &KeyId) -> Option<&DataKey> {
        self.keys.get(id).filter(|_| !self.unproven.contains_key(id))
    }

    /// Returns the ring after trials of its values: for each value the key that it names, and whether it opened.
    ///
    /// One value proves its key. An older key that opened none of its values is closed; fails if the current one opened none.
    pub fn proven_by(
        mut self,
        trials: impl IntoIterator<Item = (KeyId, bool)>,
    ) -> Result<UnlockedRing, ManagerError> {
        let mut found: BTreeMap<KeyId, bool> = BTreeMap::new();
        for (id, opened) in trials {
            *found.entry(id).or_default() |= opened;
        }
        for (id, opened) in found {
            let Some(manager) = self.unproven.remove(&id).filter(|_| !opened) else { continue };
            let reason = another_key(&manager, &id);
            if self.ring.current().is_some_and(|current| current.id == id) {
                return Err(reason);
            }
            self.keys.remove(&id);
            self.missing.push(MissingKey { id, reason });
        }
        let unproven = std::mem::take(&mut self.unproven);
        Ok(UnlockedRing { unproven, ..UnlockedRing::new(self.ring, &self.owner, self.keys, self.missing)? })
    }

    /// Fails if nothing proves the current key, which one more manager is to open.
    pub(super) fn require_proven_current(&self) -> Result<(), ManagerError> {
        let claimed = self.ring.current().and_then(|current| self.unproven.get_key_value(&current.id));
        let Some((id, manager)) = claimed else { return Ok(()) };
        let message = format!("{manager}: nothing shows that the key it gives is {id}");
        Err(ManagerError::new(ManagerErrorClass::WrongKey, message)
            .help("a rotation makes a new key, which can be checked"))
    }
}
