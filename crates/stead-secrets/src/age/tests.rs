//! Tests of the manager for age and SSH keys: identities in all their places, encrypted keys, damage.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use stead_model::KeyId;
use stead_world::{Host, World};
use zeroize::Zeroizing;

use super::{AgeManager, new_identity};
use crate::{Ask, DataKey, KeyManager, ManagerErrorClass, Question, WrapContext, create, unlock};

// These keys were made for this test. The passphrase of the second is `opensesame`.
const ED: (&str, &str) = (include_str!("tests/ed.key"), include_str!("tests/ed.pub"));
const ENCRYPTED: (&str, &str) = (include_str!("tests/enc.key"), include_str!("tests/enc.pub"));
const RSA: (&str, &str) = (include_str!("tests/rsa.key"), include_str!("tests/rsa.pub"));

fn world(files: &[(&str, &str)], variables: &[(&str, &str)]) -> World {
    let files = files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec()));
    let mut world = World::in_memory(files);
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let home = Some(PathBuf::from("/home/ada"));
    world.host = Arc::new(Host { home, variables: variables.collect(), ..(*world.host).clone() });
    world
}

fn context(key: &str) -> WrapContext {
    WrapContext { owner: "stack:1".to_owned(), key: KeyId(key.to_owned()) }
}

struct Person {
    answer: Option<&'static str>,
    asked: AtomicUsize,
}

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: &Question) -> Option<Zeroizing<String>> {
        assert_eq!(question, &Question::SshKey { file: "/home/ada/.ssh/id_ed25519".into() });
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.answer.map(|text| Zeroizing::new(text.to_owned()))
    }
}

#[tokio::test]
async fn identity_is_found_in_each_of_its_places() {
    let identity = new_identity();
    let file = format!("# a comment\nAGE-PLUGIN-X\n{}\n\n{}\n", *new_identity().secret, *identity.secret);
    let places = [
        world(&[], &[("STEAD_AGE_KEY", &file)]),
        world(&[("/keys", &file)], &[("STEAD_AGE_KEY_FILE", "/keys")]),
        world(&[("/other", ""), ("/keys", &file)], &[("STEAD_AGE_KEY_FILE", "/other:/keys")]),
        world(&[("/home/ada/.config/stead/age.txt", &file)], &[]),
        world(&[("/home/ada/.config/sops/age/keys.txt", &file)], &[]),
    ];
    for world in places {
        let manager = AgeManager::new(&format!(" {}\n", identity.recipient), world, None).unwrap();
        assert_eq!(manager.name(), format!("age:{}", identity.recipient));
        let wrapped = manager.wrap(&DataKey::new([7; 32]), &context("k")).await.unwrap();
        assert!(!wrapped.contains(char::is_whitespace));
        assert_eq!(manager.unwrap(&wrapped, &context("k")).await.unwrap().expose(), &[7; 32]);
    }
}

#[tokio::test]
async fn missing_identity_another_recipient_and_damage_are_told_apart() {
    let (ada, bob) = (new_identity(), new_identity());
    let manager = |recipient: &str, world| AgeManager::new(recipient, world, None).unwrap();
    let of_ada = world(&[], &[("STEAD_AGE_KEY", &ada.secret)]);
    let wrapped =
        manager(&ada.recipient, of_ada.clone()).wrap(&DataKey::new([7; 32]), &context("k")).await.unwrap();
    let class = async |manager: AgeManager, text: &str, key: &str| {
        manager.unwrap(text, &context(key)).await.err().map(|failure| failure.class)
    };
    let none = class(manager(&ada.recipient, world(&[], &[])), &wrapped, "k").await;
    assert_eq!(none, Some(ManagerErrorClass::NotConfigured));
    let gone = world(&[], &[("STEAD_AGE_KEY_FILE", "/gone")]);
    assert_eq!(
        class(manager(&ada.recipient, gone), &wrapped, "k").await,
        Some(ManagerErrorClass::NotConfigured)
    );
    let of_bob = world(&[], &[("STEAD_AGE_KEY", &bob.secret)]);
    assert_eq!(
        class(manager(&bob.recipient, of_bob), &wrapped, "k").await,
        Some(ManagerErrorClass::WrongKey)
    );
    assert_eq!(
        class(manager(&ada.recipient, of_ada.clone()), &wrapped, "k2").await,
        Some(ManagerErrorClass::Damaged)
    );
    for text in ["", "?", "AAAA", &wrapped[..wrapped.len() - 4]] {
        let failed = class(manager(&ada.recipient, of_ada.clone()), text, "k").await;
        assert_eq!(failed, Some(ManagerErrorClass::Damaged), "{text}");
    }
    for at in (0..wrapped.len() * 8).step_by(5) {
        let mut flipped = wrapped.clone().into_bytes();
        flipped[at / 8] ^= 1 << (at % 8);
        let Ok(flipped) = String::from_utf8(flipped) else { continue };
        let failed = class(manager(&ada.recipient, of_ada.clone()), &flipped, "k").await;
        let told = matches!(failed, Some(ManagerErrorClass::Damaged | ManagerErrorClass::WrongKey));
        assert!(told, "{flipped}: {failed:?}");
    }
}

#[tokio::test]
async fn ssh_keys_open_what_was_wrapped_for_them() {
    for ((secret, public), file) in [(ED, "id_ed25519"), (RSA, "id_rsa")] {
        let world = world(&[(&format!("/home/ada/.ssh/{file}"), secret)], &[]);
        let manager = AgeManager::new(public, world, None).unwrap();
        assert!(manager.name().starts_with("age:ssh-") && !manager.name().contains("test"));
        let wrapped = manager.wrap(&DataKey::new([7; 32]), &context("k")).await.unwrap();
        assert_eq!(manager.unwrap(&wrapped, &context("k")).await.unwrap().expose(), &[7; 32]);
    }
    let other = world(&[("/home/ada/.ssh/id_ed25519", ED.0)], &[]);
    let manager = AgeManager::new(ENCRYPTED.1, other, None).unwrap();
    let wrapped = manager.wrap(&DataKey::new([7; 32]), &context("k")).await.unwrap();
    let failure = manager.unwrap(&wrapped, &context("k")).await.err().unwrap();
    assert_eq!(failure.class, ManagerErrorClass::NotConfigured);
}

#[tokio::test]
async fn passphrase_of_an_ssh_key_is_asked_for_once() {
    let world = world(&[("/home/ada/.ssh/id_ed25519", ENCRYPTED.0)], &[]);
    let managers = |answer| {
        let person = Arc::new(Person { answer, asked: AtomicUsize::new(0) });
        let manager = AgeManager::new(ENCRYPTED.1, world.clone(), Some(person.clone())).unwrap();
        (person, [Arc::new(manager) as Arc<dyn KeyManager>])
    };
    let (person, manager) = managers(Some("opensesame"));
    let ring = create("stack:1", &manager, &world).await.unwrap().rotate(&manager, &world).await.unwrap();
    let opened = unlock(ring.ring(), "stack:1", &manager).await.unwrap();
    assert!(opened.missing().is_empty());
    assert_eq!(person.asked.load(Ordering::Relaxed), 1);
    for (answer, class) in
        [(Some("wrong"), ManagerErrorClass::WrongKey), (None, ManagerErrorClass::NotConfigured)]
    {
        let failure = unlock(ring.ring(), "stack:1", &managers(answer).1).await.err().unwrap();
        assert_eq!(failure.class, class, "{failure}");
    }
}

#[test]
fn text_that_is_no_recipient_is_refused_and_a_secret_key_is_not_repeated() {
    for text in ["", "age1", "ada", "ssh-ed25519", "ssh-dss AAAA", "ssh-rsa AAAA"] {
        let failure = AgeManager::new(text, world(&[], &[]), None).err().unwrap();
        assert_eq!(failure.class, ManagerErrorClass::NotConfigured);
    }
    let secret = new_identity().secret;
    let failure = AgeManager::new(&secret, world(&[], &[]), None).err().unwrap();
    assert!(!failure.message.contains(&secret[20..]));
}
