//! Opening a ring: which manager is asked for which key, and the combined error if none of them opens it.

use std::collections::BTreeMap;
use std::sync::Arc;

use stead_model::{Keyring, RingKey};

use super::{MissingKey, UnlockedRing};
use crate::{DataKey, KeyManager, ManagerError, ManagerErrorClass, WrapContext};

/// Opens every key of a ring that one of the managers opens.
///
/// Managers are asked in their order, for the current key first; the one that opened it is the first to be asked for older keys.
/// A manager that failed is not asked again, unless only its wrapped key was damaged. Fails if no manager opens the current key,
/// with the answers of all.
pub async fn unlock(
    ring: &Keyring,
    owner: &str,
    managers: &[Arc<dyn KeyManager>],
) -> Result<UnlockedRing, ManagerError> {
    let Some(current) = ring.current() else {
        let message = format!("{owner} has no data key yet");
        return Err(ManagerError::new(ManagerErrorClass::NotConfigured, message));
    };
    let mut opening = Opening { owner, managers: managers.to_vec() };
    let key = opening.open(current).await?;
    let (mut keys, mut missing) = (BTreeMap::from([(current.id.clone(), key)]), Vec::new());
    for older in ring.keys.iter().rev().skip(1) {
        match opening.open(older).await {
            Ok(key) => drop(keys.insert(older.id.clone(), key)),
            Err(reason) => missing.push(MissingKey { id: older.id.clone(), reason }),
        }
    }
    UnlockedRing::new(ring.clone(), owner, keys, missing)
}

/// The managers that can still be asked, in the order in which they are asked.
struct Opening<'a> {
    owner: &'a str,
    managers: Vec<Arc<dyn KeyManager>>,
}

impl Opening<'_> {
    async fn open(&mut self, key: &RingKey) -> Result<DataKey, ManagerError> {
        let context = WrapContext { owner: self.owner.to_owned(), key: key.id.clone() };
        let mut failures = Vec::new();
        for manager in self.managers.clone() {
            for wrap in key.wraps.iter().filter(|wrap| wrap.manager == manager.name()) {
                match manager.unwrap(&wrap.data, &context).await {
                    Ok(opened) => {
                        self.managers.retain(|other| other.name() != manager.name());
                        self.managers.insert(0, manager);
                        return Ok(opened);
                    }
                    Err(failure) => failures.push((manager.name().to_owned(), failure)),
                }
            }
        }
        let failed = |name: &str| {
            failures
                .iter()
                .any(|(other, failure)| name == other && failure.class != ManagerErrorClass::Damaged)
        };
        self.managers.retain(|manager| !failed(manager.name()));
        Err(combine(self.owner, key, failures.into_iter().map(|(_, failure)| failure).collect()))
    }
}

/// Combines the answers of all managers into one error.
fn combine(owner: &str, key: &RingKey, mut failures: Vec<ManagerError>) -> ManagerError {
    match failures.as_slice() {
        [] => not_asked(owner, key),
        [_] => failures.remove(0),
        several => {
            let said: Vec<&str> = several.iter().map(|failure| failure.message.as_str()).collect();
            let message = format!("no manager opens the key {} of {owner}: {}", key.id, said.join("; "));
            let mut combined = ManagerError::new(class(several), message);
            for hint in failures.into_iter().flat_map(|failure| failure.help) {
                if !combined.help.contains(&hint) {
                    combined.help.push(hint);
                }
            }
            combined
        }
    }
}

/// Returns the class of the failure that a person would deal with first: a manager that may answer later, then one that was
/// asked and said no, then one that was not set up here.
fn class(failures: &[ManagerError]) -> ManagerErrorClass {
    use ManagerErrorClass::{Damaged, Denied, NoSuchKey, NotConfigured, Unavailable, WrongKey};
    let order = [Unavailable, Denied, WrongKey, NoSuchKey, Damaged];
    let found = order.into_iter().find(|class| failures.iter().any(|failure| failure.class == *class));
    found.unwrap_or(NotConfigured)
}

/// Returns the error of a key that none of the managers of this process wrapped.
fn not_asked(owner: &str, key: &RingKey) -> ManagerError {
    let wrapped: Vec<&str> = key.wraps.iter().map(|wrap| wrap.manager.as_str()).collect();
    let by = if wrapped.is_empty() { "no manager".to_owned() } else { wrapped.join(", ") };
    let message = format!("the key {} of {owner} is wrapped by {by}, which cannot be asked here", key.id);
    ManagerError::new(ManagerErrorClass::NotConfigured, message)
}
