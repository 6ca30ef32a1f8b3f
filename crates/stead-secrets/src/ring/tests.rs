//! Tests of rings with toy managers: opening, rotation, one manager more and one less.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use stead_model::{Binding, Ciphertext, Crypter as _, Keyring, Unopened};
use stead_world::World;

use super::{UnlockedRing, create, unlock};
use crate::cipher::{Cipher, from_base64, to_base64};
use crate::{DataKey, KeyManager, ManagerError, ManagerErrorClass, WrapContext};

const PLACE: Binding<'static> = Binding(&["s", "u", "p"]);
const OWNER: &str = "stack:1";

/// A manager with a key of its own, which counts its answers.
struct Toy {
    name: &'static str,
    key: u8,
    down: Option<ManagerErrorClass>,
    asked: AtomicUsize,
}

fn toy(name: &'static str, key: u8) -> Toy {
    Toy { name, key, down: None, asked: AtomicUsize::new(0) }
}

fn managers<const N: usize>(toys: [Toy; N]) -> Vec<Arc<dyn KeyManager>> {
    toys.into_iter().map(|toy| Arc::new(toy) as Arc<dyn KeyManager>).collect()
}

#[async_trait]
impl KeyManager for Toy {
    fn name(&self) -> &str {
        self.name
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
