//! Tests of the passphrase manager, with the full cost of stretching.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use stead_model::{KeyId, Keyring, RingKey, Wrap};
use stead_world::{Host, World};
use zeroize::Zeroizing;

use super::{PassphraseManager, PassphraseSource};
use crate::{Ask, DataKey, KeyManager, ManagerErrorClass, Question, WrapContext, create, unlock};

fn world(variables: &[(&str, &str)]) -> World {
    let mut world =
        World::in_memory([("/pass".into(), b"two\n\n".to_vec()), ("/empty".into(), b"\n".to_vec())]);
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    world.host = Arc::new(Host { variables: variables.collect(), ..(*world.host).clone() });
    world
}

fn given(text: &str, ring: &Keyring) -> PassphraseManager {
    PassphraseManager::new(PassphraseSource::Given(Zeroizing::new(text.to_owned())), ring, world(&[]))
}

fn context(key: &str) -> WrapContext {
    WrapContext { owner: "stack:1".to_owned(), key: KeyId(key.to_owned()) }
}

struct Person {
    answers: Vec<Option<&'static str>>,
    asked: AtomicUsize,
    expected: Question,
}

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: &Question) -> Option<Zeroizing<String>> {
        assert_eq!(question, &self.expected);
        let answer = self.answers[self.asked.fetch_add(1, Ordering::Relaxed)];
        answer.map(|text| Zeroizing::new(text.to_owned()))
    }
}

#[tokio::test]
async fn right_passphrase_opens_and_wrong_passphrase_damage_and_another_key_do_not() {
    let manager = given("one", &Keyring::default());
    let (first, second) = (DataKey::new([1; 32]), DataKey::new([2; 32]));
    let wrapped = manager.wrap(&first, &context("k1")).await.unwrap();
    let other = manager.wrap(&second, &context("k2")).await.unwrap();
    assert_eq!(wrapped.split(':').collect::<Vec<_>>()[..3], other.split(':').collect::<Vec<_>>()[..3]);
    assert!(wrapped.starts_with("p1:1000000:") && !wrapped.contains(char::is_whitespace));

    let wrong = given("two", &Keyring::default()).unwrap(&wrapped, &context("k1")).await.err().unwrap();
    assert_eq!(wrong.class, ManagerErrorClass::WrongKey);

    let reader = given("one", &Keyring::default());
    assert_eq!(reader.unwrap(&wrapped, &context("k1")).await.unwrap().expose(), &[1; 32]);
    // The passphrase is proven now, so whatever does not open is damaged. No further stretching makes this quick.
    let moved = reader.unwrap(&other, &context("k1")).await.err().unwrap();
    assert_eq!(moved.class, ManagerErrorClass::Damaged);
    let start = wrapped.rfind(':').unwrap() + 1;
    for at in start * 8..wrapped.len() * 8 {
        let mut flipped = wrapped.clone().into_bytes();
        flipped[at / 8] ^= 1 << (at % 8);
        let Ok(flipped) = String::from_utf8(flipped) else { continue };
        let failure = reader.unwrap(&flipped, &context("k1")).await.err().unwrap();
        assert_eq!(failure.class, ManagerErrorClass::Damaged, "{flipped}");
    }
}

#[tokio::test]
async fn cost_outside_the_limits_is_refused_before_any_stretching() {
    let manager = given("one", &Keyring::default());
    let rest = "AAAAAAAAAAAAAAAAAAAAAA==:AAAA";
    let costs =
        ["0", "1", "599999", "100000001", "4294967295", "99999999999", "-1", "+1000000", "01000000", ""];
    for cost in costs {
        let failure = manager.unwrap(&format!("p1:{cost}:{rest}"), &context("k")).await.err().unwrap();
        assert_eq!(failure.class, ManagerErrorClass::Damaged, "{cost}");
    }
    for text in
        ["", "p1", "p2:1000000:AAAA:AAAA", "p1:1000000:AAAA:AAAA", "p1:1000000:AAAAAAAAAAAAAAAAAAAAAA==:?"]
    {
        let failure = manager.unwrap(text, &context("k")).await.err().unwrap();
        assert_eq!(failure.class, ManagerErrorClass::Damaged, "{text}");
    }
}

#[tokio::test]
async fn ring_with_many_keys_costs_one_stretching_and_one_question() {
    let world = world(&[]);
    let expected = Question::NewPassphrase { owner: "stack:1".to_owned() };
    let person = Arc::new(Person { answers: vec![Some("one")], asked: AtomicUsize::new(0), expected });
    let source = PassphraseSource::Asked(person.clone());
    let manager = Arc::new(PassphraseManager::new(source, &Keyring::default(), world.clone()));
    let managers: [Arc<dyn KeyManager>; 1] = [manager.clone()];
    let mut ring = create("stack:1", &managers, &world).await.unwrap();
    for _ in 0..3 {
        ring = ring.rotate(&managers, &world).await.unwrap();
    }
    assert_eq!(manager.memory.lock().await.stretched.len(), 1);
    assert_eq!(person.asked.load(Ordering::Relaxed), 1);

    let again = Arc::new(given("one", ring.ring()));
    let managers: [Arc<dyn KeyManager>; 1] = [again.clone()];
    let opened = unlock(ring.ring(), "stack:1", &managers).await.unwrap();
    assert!(opened.missing().is_empty());
    let rotated = opened.rotate(&managers, &world).await.unwrap();
    assert_eq!((rotated.ring().keys.len(), again.memory.lock().await.stretched.len()), (5, 1));
}

#[tokio::test]
async fn wrong_answer_of_a_person_is_forgotten_and_asked_for_again() {
    let wrapped =
        given("one", &Keyring::default()).wrap(&DataKey::new([1; 32]), &context("k")).await.unwrap();
    let expected = Question::Passphrase { owner: "stack:1".to_owned() };
    let answers = vec![Some("two"), None, Some("one")];
    let person = Arc::new(Person { answers, asked: AtomicUsize::new(0), expected });
    let source = PassphraseSource::Asked(person);
    let manager = PassphraseManager::new(source, &Keyring::default(), world(&[]));
    let mut classes = Vec::new();
    for _ in 0..3 {
        classes.push(manager.unwrap(&wrapped, &context("k")).await.err().map(|failure| failure.class));
    }
    let expected = [Some(ManagerErrorClass::WrongKey), Some(ManagerErrorClass::NotConfigured), None];
    assert_eq!(classes, expected);
}

#[tokio::test]
async fn wrong_passphrase_replaces_no_wrap_of_a_ring_unless_it_is_a_new_one() {
    let world = world(&[]);
    let first: [Arc<dyn KeyManager>; 1] = [Arc::new(given("one", &Keyring::default()))];
    let ring = create("stack:1", &first, &world).await.unwrap();
    let mistyped: [Arc<dyn KeyManager>; 1] = [Arc::new(given("onne", ring.ring()))];
    let failure = ring.rotate(&mistyped, &world).await.err().unwrap();
    assert_eq!(failure.class, ManagerErrorClass::WrongKey);
    let new: [Arc<dyn KeyManager>; 1] = [Arc::new(given("two", &Keyring::default()))];
    let changed = ring.rotate(&new, &world).await.unwrap();
    assert!(unlock(changed.ring(), "stack:1", &new).await.unwrap().missing().is_empty());
    assert!(unlock(changed.ring(), "stack:1", &first).await.is_err());
}

#[tokio::test]
async fn passphrase_is_found_in_the_variable_then_the_file_then_nowhere() {
    let question = Question::Passphrase { owner: "o".to_owned() };
    let get = async |variables: &[(&str, &str)]| {
        let world = world(variables);
        let found = PassphraseSource::find(&world, None).get(&world, &question).await;
        found.map(|text| text.to_string()).map_err(|failure| (failure.class, failure.message))
    };
    assert_eq!(
        get(&[("STEAD_PASSPHRASE", "one\n"), ("STEAD_PASSPHRASE_FILE", "/pass")]).await.unwrap(),
        "one\n"
    );
    assert_eq!(get(&[("STEAD_PASSPHRASE_FILE", "/pass")]).await.unwrap(), "two\n");
    for (variables, said) in [
        (vec![("STEAD_PASSPHRASE", "")], "STEAD_PASSPHRASE is empty"),
        (vec![("STEAD_PASSPHRASE_FILE", "/empty")], "/empty is empty"),
        (vec![("STEAD_PASSPHRASE_FILE", "/gone")], "/gone cannot be read"),
        (vec![], "no passphrase is set"),
    ] {
        let (class, message) = get(&variables).await.err().unwrap();
        assert_eq!(class, ManagerErrorClass::NotConfigured);
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn cheap_wraps_of_a_ring_do_not_set_the_cost_of_new_ones() {
    let ring = |cost: u32| {
        let data = format!("p1:{cost}:AAAAAAAAAAAAAAAAAAAAAA==:AAAA");
        let wraps = vec![Wrap { manager: "passphrase".to_owned(), data }];
        Keyring { keys: vec![RingKey { id: KeyId("k".to_owned()), wraps }] }
    };
    assert!(given("x", &ring(600_000)).preferred.is_none());
    assert_eq!(given("x", &ring(2_000_000)).preferred.unwrap().iterations, 2_000_000);
}
