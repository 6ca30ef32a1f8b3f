//! Opening a ring: which manager is asked for which key, and the combined error if none of them opens it.

use std::collections::BTreeMap;
use std::sync::Arc;

use stead_model::{KeyId, Keyring, RingKey};

use super::{MissingKey, UnlockedRing};
use crate::key::Identity;
use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, WrapContext};

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
    let mut opened = Opened::default();
    opened.insert(current, key);
    for older in ring.keys.iter().rev().skip(1) {
        match opening.open(older).await {
            Ok(key) => opened.insert(older, key),
            Err(reason) => opened.missing.push(MissingKey { id: older.id.clone(), reason }),
        }
    }
    let Opened { keys, missing, unproven } = opened;
    Ok(UnlockedRing { unproven, ..UnlockedRing::new(ring.clone(), owner, keys, missing)? })
}

/// The keys of a ring so far.
#[derive(Default)]
struct Opened {
    keys: BTreeMap<KeyId, DataKey>,
    missing: Vec<MissingKey>,
    unproven: BTreeMap<KeyId, String>,
}

impl Opened {
    fn insert(&mut self, ring_key: &RingKey, Answer { key, claimed_by }: Answer) {
        self.unproven.extend(claimed_by.map(|manager| (ring_key.id.clone(), manager)));
        self.keys.insert(ring_key.id.clone(), key);
    }
}

/// A key that a manager unwrapped.
struct Answer {
    key: DataKey,
    /// The manager, if only its word says that this is the key.
    claimed_by: Option<String>,
}

impl Answer {
    /// Compares a key with the id of the wrapped one.
    fn check(key: DataKey, id: &KeyId, manager: &dyn KeyManager) -> Result<Answer, ManagerError> {
        let claimed_by = match (key.identity(id), manager.assurance()) {
            (Identity::Other, _) => return Err(another_key(manager.name(), id)),
            (Identity::Untold, Assurance::Claimed) => Some(manager.name().to_owned()),
            (Identity::Same, _) | (Identity::Untold, Assurance::Authenticated) => None,
        };
        Ok(Answer { key, claimed_by })
    }
}

/// Returns the error of a manager that answers with another key.
pub(super) fn another_key(manager: &str, id: &KeyId) -> ManagerError {
    ManagerError::new(ManagerErrorClass::WrongKey, format!("{manager}: another key was given than {id}"))
}

/// The managers that can still be asked, in the order in which they are asked.
struct Opening<'a> {
    owner: &'a str,
    managers: Vec<Arc<dyn KeyManager>>,
}

impl Opening<'_> {
    async fn open(&mut self, key: &RingKey) -> Result<Answer, ManagerError> {
        let context = WrapContext { owner: self.owner.to_owned(), key: key.id.clone() };
        let mut failures = Vec::new();
        for manager in self.managers.clone() {
            for wrap in key.wraps.iter().filter(|wrap| wrap.manager == manager.name()) {
                let unwrapped = manager.unwrap(&wrap.data, &context).await;
                match unwrapped.and_then(|opened| Answer::check(opened, &key.id, manager.as_ref())) {
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
