//! Tests of rings with toy managers: opening, rotation, one manager more and one less.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use stead_model::{Binding, Ciphertext, Crypter as _, KeyId, Keyring, RingKey, Unopened, Wrap};
use stead_world::World;

use super::{UnlockedRing, create, unlock};
use crate::cipher::{Cipher, from_base64, to_base64};
use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, SymmetricCrypter, WrapContext};

const PLACE: Binding<'static> = Binding(&["s", "u", "p"]);
const OWNER: &str = "stack:1";

/// A manager with a key of its own, which counts its answers.
struct Toy {
    name: &'static str,
    key: u8,
    down: Option<ManagerErrorClass>,
    /// Answers with this key instead of the wrapped one.
    false_key: Option<[u8; 32]>,
    assurance: Assurance,
    asked: AtomicUsize,
}

fn toy(name: &'static str, key: u8) -> Toy {
    let assurance = Assurance::Authenticated;
    Toy { name, key, down: None, false_key: None, assurance, asked: AtomicUsize::new(0) }
}

fn managers<const N: usize>(toys: [Toy; N]) -> Vec<Arc<dyn KeyManager>> {
    toys.into_iter().map(|toy| Arc::new(toy) as Arc<dyn KeyManager>).collect()
}

#[async_trait]
impl KeyManager for Toy {
    fn name(&self) -> &str {
        self.name
    }

    fn assurance(&self) -> Assurance {
        self.assurance
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let sealed = Cipher::new(&[self.key; 32]).seal([0; 12], key.expose(), &context.to_bytes());
        Ok(to_base64(&sealed.unwrap()))
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(class) = self.down {
            return Err(ManagerError::new(class, format!("{} is down", self.name)).help("wait"));
        }
        if let Some(key) = self.false_key {
            return Ok(DataKey::new(key));
        }
        let opened = Cipher::new(&[self.key; 32]).open(&from_base64(wrapped).unwrap(), &context.to_bytes());
        let wrong = ManagerError::new(ManagerErrorClass::WrongKey, format!("{} has another key", self.name));
        DataKey::from_slice(&opened.ok_or(wrong.clone())?).ok_or(wrong)
    }
}

async fn three_keys(world: &World) -> UnlockedRing {
    let both = managers([toy("a", 1), toy("b", 2)]);
    let first = create(OWNER, &both, world).await.unwrap();
    first.rotate(&both, world).await.unwrap().rotate(&both, world).await.unwrap()
}

#[tokio::test]
async fn any_manager_opens_every_key_of_the_ring() {
    let world = World::in_memory([]);
    let ring = three_keys(&world).await;
    assert_eq!(ring.ring().keys.len(), 3);
    let sealed = ring.crypter().seal(b"value", PLACE).unwrap();
    for only in [toy("a", 1), toy("b", 2)] {
        let opened = unlock(ring.ring(), OWNER, &managers([only])).await.unwrap();
        assert!(opened.missing().is_empty());
        assert_eq!(opened.crypter().open(&sealed, PLACE).unwrap(), b"value");
    }
    let text = serde_json::to_string(ring.ring()).unwrap();
    assert_eq!(&serde_json::from_str::<Keyring>(&text).unwrap(), ring.ring());
}

#[tokio::test]
async fn manager_that_opened_the_current_key_is_the_only_one_asked() {
    let ring = three_keys(&World::in_memory([])).await;
    let failing = Arc::new(Toy { down: Some(ManagerErrorClass::Unavailable), ..toy("a", 1) });
    let (working, spare) = (Arc::new(toy("b", 2)), Arc::new(toy("b2", 2)));
    let all: Vec<Arc<dyn KeyManager>> = vec![failing.clone(), working.clone(), spare.clone()];
    let opened = unlock(ring.ring(), OWNER, &all).await.unwrap();
    assert!(opened.missing().is_empty());
    let asked = |toy: &Toy| toy.asked.load(Ordering::Relaxed);
    assert_eq!((asked(&failing), asked(&working), asked(&spare)), (1, 3, 0));
}

#[tokio::test]
async fn failure_combines_the_answers_of_all_managers() {
    let ring = three_keys(&World::in_memory([])).await;
    let down = || Toy { down: Some(ManagerErrorClass::Unavailable), ..toy("a", 1) };
    let failure = unlock(ring.ring(), OWNER, &managers([down(), toy("b", 9)])).await.err().unwrap();
    assert_eq!(failure.class, ManagerErrorClass::Unavailable);
    assert!(failure.message.contains("a is down; b has another key"), "{failure}");
    assert_eq!(failure.help.len(), 1);
    let failure = unlock(ring.ring(), OWNER, &managers([toy("b", 9)])).await.err().unwrap();
    assert_eq!((failure.class, failure.message.as_str()), (ManagerErrorClass::WrongKey, "b has another key"));
    let failure = unlock(ring.ring(), OWNER, &managers([toy("c", 1)])).await.err().unwrap();
    assert_eq!(failure.class, ManagerErrorClass::NotConfigured);
    assert!(failure.message.contains("wrapped by a, b"), "{failure}");
    let failure = unlock(ring.ring(), "stack:2", &managers([toy("a", 1)])).await.err().unwrap();
    assert_eq!(failure.class, ManagerErrorClass::WrongKey);
    let failure = unlock(&Keyring::default(), OWNER, &managers([toy("a", 1)])).await.err().unwrap();
    assert_eq!(failure.class, ManagerErrorClass::NotConfigured);
}

#[tokio::test]
async fn older_key_that_does_not_open_locks_its_values_and_survives_a_rotation() {
    let world = World::in_memory([]);
    let first = create(OWNER, &managers([toy("a", 1)]), &world).await.unwrap();
    let old = first.crypter().seal(b"old", PLACE).unwrap();
    let mut ring = first.rotate(&managers([toy("a", 1)]), &world).await.unwrap().ring().clone();
    ring.keys[0].wraps[0].manager = "gone".to_owned();
    let opened = unlock(&ring, OWNER, &managers([toy("a", 1)])).await.unwrap();
    assert_eq!(opened.missing()[0].id, ring.keys[0].id);
    assert!(matches!(opened.crypter().open(&old, PLACE), Err(Unopened::Locked(_))));
    let rotated = opened.rotate(&managers([toy("b", 2)]), &world).await.unwrap();
    assert_eq!(rotated.ring().keys[0], ring.keys[0]);
    assert_eq!(rotated.missing(), opened.missing());
    let added = opened.add(&managers([toy("b", 2)])[0]).await.unwrap();
    assert_eq!(added.ring().keys[0], ring.keys[0]);
}

#[tokio::test]
async fn added_manager_opens_old_and_new_values() {
    let world = World::in_memory([]);
    let ring = create(OWNER, &managers([toy("a", 1)]), &world).await.unwrap();
    let ring = ring.rotate(&managers([toy("a", 1)]), &world).await.unwrap();
    let sealed = ring.crypter().seal(b"value", PLACE).unwrap();
    let added = ring.add(&managers([toy("b", 2)])[0]).await.unwrap();
    assert_eq!(added.ring().current().unwrap().id, ring.ring().current().unwrap().id);
    let again = added.add(&managers([toy("b", 2)])[0]).await.unwrap();
    assert_eq!(again.ring(), added.ring());
    let opened = unlock(added.ring(), OWNER, &managers([toy("b", 2)])).await.unwrap();
    assert!(opened.missing().is_empty());
    assert_eq!(opened.crypter().open(&sealed, PLACE).unwrap(), b"value");
}

#[tokio::test]
async fn removed_manager_opens_nothing_that_is_written_afterwards() {
    let world = World::in_memory([]);
    let before = three_keys(&world).await;
    let after = before.remove("b", &managers([toy("a", 1), toy("b", 2)]), &world).await.unwrap();
    let written = after.crypter().seal(b"new", PLACE).unwrap();
    assert!(unlock(after.ring(), OWNER, &managers([toy("b", 2)])).await.is_err());
    let kept = unlock(before.ring(), OWNER, &managers([toy("b", 2)])).await.unwrap();
    assert!(matches!(kept.crypter().open(&written, PLACE), Err(Unopened::NoSuchKey(_))));
    let names = after.ring().keys.iter().flat_map(|key| &key.wraps).map(|wrap| wrap.manager.as_str());
    assert!(names.into_iter().all(|name| name == "a"));
    let last = after.remove("a", &managers([toy("a", 1)]), &world).await.err().unwrap();
    assert_eq!(last.class, ManagerErrorClass::NotConfigured);
}

/// The ring is stored first, then each value is sealed again. A kill between two of these writes leaves one of the states below.
#[tokio::test]
async fn rotation_that_is_killed_anywhere_leaves_everything_readable() {
    let world = World::in_memory([]);
    let manager = || managers([toy("a", 1)]);
    let old = create(OWNER, &manager(), &world).await.unwrap();
    let plain: Vec<String> = (0..5).map(|n| format!("value {n}")).collect();
    let seal = |ring: &UnlockedRing, text: &String| ring.crypter().seal(text.as_bytes(), PLACE).unwrap();
    let before: Vec<Ciphertext> = plain.iter().map(|text| seal(&old, text)).collect();
    let new = old.rotate(&manager(), &world).await.unwrap();
    let after: Vec<Ciphertext> = plain.iter().map(|text| seal(&new, text)).collect();
    let mut states = vec![(old.ring().clone(), before.clone())];
    for written in 0..=plain.len() {
        let values = [&after[..written], &before[written..]].concat();
        states.push((new.ring().clone(), values));
    }
    for (ring, values) in states {
        let opened = unlock(&ring, OWNER, &manager()).await.unwrap().crypter();
        for (value, text) in values.iter().zip(&plain) {
            assert_eq!(opened.open(value, PLACE).unwrap(), text.as_bytes());
        }
    }
}

#[tokio::test]
async fn false_key_of_a_manager_is_told_at_once_and_the_next_manager_is_asked() {
    let ring = three_keys(&World::in_memory([])).await;
    let liar = || Toy { false_key: Some([9; 32]), ..toy("a", 1) };
    let failure = unlock(ring.ring(), OWNER, &managers([liar()])).await.err().unwrap();
    assert_eq!(failure.class, ManagerErrorClass::WrongKey);
    assert!(failure.message.contains("a: another key"), "{failure}");
    let opened = unlock(ring.ring(), OWNER, &managers([liar(), toy("b", 2)])).await.unwrap();
    assert!(opened.missing().is_empty() && opened.unproven().next().is_none());
}

/// Returns a ring of an earlier version, whose ids say nothing about their keys.
async fn random_ids() -> (Keyring, Vec<Ciphertext>) {
    let (ids, keys) = (["k1", "k2"], [DataKey::new([1; 32]), DataKey::new([2; 32])]);
    let mut ring = Keyring::default();
    let mut sealed = Vec::new();
    for (id, key) in ids.into_iter().zip(&keys) {
        let (id, manager) = (KeyId(id.to_owned()), toy("a", 1));
        let context = WrapContext { owner: OWNER.to_owned(), key: id.clone() };
        let wrap = Wrap { manager: "a".to_owned(), data: manager.wrap(key, &context).await.unwrap() };
        ring.keys.push(RingKey { id: id.clone(), wraps: vec![wrap] });
        sealed.push(SymmetricCrypter::new(id, key).seal(b"value", PLACE).unwrap());
    }
    (ring, sealed)
}

/// Opens a ring, and checks its keys with these values.
async fn checked(ring: &Keyring, toy: Toy, values: &[Ciphertext]) -> Result<UnlockedRing, ManagerError> {
    let ring = unlock(ring, OWNER, &managers([toy])).await.unwrap();
    let crypter = ring.crypter();
    let tried = values.iter().map(|text| (text.key().unwrap(), crypter.open(text, PLACE).is_ok()));
    ring.proven_by(tried.collect::<Vec<_>>())
}

#[tokio::test]
async fn key_without_a_derived_id_is_proven_by_the_values_that_it_opens() {
    let (ring, sealed) = random_ids().await;
    let claiming = || Toy { assurance: Assurance::Claimed, ..toy("a", 1) };
    let liar = || Toy { false_key: Some([2; 32]), ..claiming() };
    assert!(checked(&ring, claiming(), &sealed).await.unwrap().unproven().next().is_none());
    // The answer is the current key, whichever one is asked for.
    let opened = checked(&ring, liar(), &sealed).await.unwrap();
    assert_eq!(opened.missing()[0].id, ring.keys[0].id);
    assert_eq!(opened.missing()[0].reason.class, ManagerErrorClass::WrongKey);
    let liar = Toy { false_key: Some([9; 32]), ..claiming() };
    let failure = checked(&ring, liar, &sealed).await.err().unwrap();
    assert_eq!(failure.class, ManagerErrorClass::WrongKey);
    // A damaged value says nothing about the key of a manager that authenticates it.
    let damaged = [sealed[0].clone(), Ciphertext("s1:k2:AAAA".to_owned())];
    assert!(checked(&ring, toy("a", 1), &damaged).await.unwrap().missing().is_empty());
}

#[tokio::test]
async fn key_that_nothing_proves_keeps_its_wraps_and_is_wrapped_for_no_other_manager() {
    let (world, (ring, sealed)) = (World::in_memory([]), random_ids().await);
    let claiming = Toy { assurance: Assurance::Claimed, ..toy("a", 1) };
    let opened = checked(&ring, claiming, &[]).await.unwrap();
    assert_eq!(opened.unproven().count(), 2);
    assert_eq!(opened.crypter().open(&sealed[0], PLACE).unwrap(), b"value");
    let rotated = opened.rotate(&managers([toy("b", 2)]), &world).await.unwrap();
    assert_eq!(rotated.ring().keys[..2], ring.keys);
    let refused = opened.add(&managers([toy("b", 2)])[0]).await.err().unwrap();
    assert!(refused.message.contains("nothing shows"), "{refused}");
}
