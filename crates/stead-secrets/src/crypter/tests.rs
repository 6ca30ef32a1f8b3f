//! Tests of the crypters: fixed texts, keys and places told apart, changed bits.

use proptest::prelude::*;
use stead_model::{Binding, Ciphertext, Crypter, KeyId, KeyedDigest, Unopened};

use super::{BlindingCrypter, LockedCrypter, SymmetricCrypter};
use crate::DataKey;

const PLACE: Binding<'static> = Binding(&["stack", "uid", "password"]);

fn id(text: &str) -> KeyId {
    KeyId(text.to_owned())
}

fn crypter() -> SymmetricCrypter {
    SymmetricCrypter::new(id("k2"), &DataKey::new([2; 32])).with_older(id("k1"), &DataKey::new([1; 32]))
}

#[test]
fn texts_of_format_1_never_change() {
    // Computed with Python's hmac and cryptography.
    let sealed = crypter().seal(b"hunter2", PLACE).unwrap();
    assert_eq!(sealed.0, "s1:k2:NaytHR/xzWPwCxh3wXQN/XHN+gQUYxQCDec0rl0WO9YjE2k=");
    let digest = crypter().digest(b"hunter2", PLACE).unwrap();
    assert_eq!(digest.0, "d1:k2:LSjnKvpFOXjYXIXccmwYUeSYIWizadrGq45oFDbtrjo=");
}

#[test]
fn older_key_opens_its_values_and_new_values_name_the_current_key() {
    let old = SymmetricCrypter::new(id("k1"), &DataKey::new([1; 32]));
    let sealed = old.seal(b"value", PLACE).unwrap();
    assert_eq!(crypter().open(&sealed, PLACE).unwrap(), b"value");
    assert_eq!(crypter().seal(b"value", PLACE).unwrap().key(), Some(id("k2")));
    let digest = old.digest(b"value", PLACE).unwrap();
    assert!(crypter().matches(&digest, b"value", PLACE).unwrap());
    assert!(!crypter().matches(&digest, b"other", PLACE).unwrap());
}

#[test]
fn missing_key_locked_key_wrong_key_and_damage_are_told_apart() {
    let other = SymmetricCrypter::new(id("k9"), &DataKey::new([9; 32]));
    let sealed = other.seal(b"value", PLACE).unwrap();
    let digest = other.digest(b"value", PLACE).unwrap();
    assert_eq!(crypter().open(&sealed, PLACE), Err(Unopened::NoSuchKey(id("k9"))));
    assert_eq!(crypter().matches(&digest, b"value", PLACE), Err(Unopened::NoSuchKey(id("k9"))));
    let closed = crypter().with_closed(id("k9"), "the network is down");
    assert_eq!(closed.open(&sealed, PLACE), Err(Unopened::Locked("the network is down".to_owned())));
    let renamed = Ciphertext(sealed.0.replace("k9", "k1"));
    assert_eq!(crypter().open(&renamed, PLACE), Err(Unopened::Damaged));
    for broken in ["", "s1", "s1:k2", "s1:k2:", "s1:k2:AA==", "s1:k2:?", "v1:k2:AAAA", "s1:k2:k2:AAAA"] {
        assert_eq!(crypter().open(&Ciphertext(broken.to_owned()), PLACE), Err(Unopened::Damaged), "{broken}");
    }
    let doubled = Ciphertext(crypter().seal(b"value", PLACE).unwrap().0.replace("k2:", "k2:x:"));
    assert_eq!(crypter().open(&doubled, PLACE), Err(Unopened::Damaged));
    let short = KeyedDigest("d1:k2:AAAA".to_owned());
    assert_eq!(crypter().matches(&short, b"value", PLACE), Err(Unopened::Damaged));
}

#[test]
fn no_changed_bit_goes_unnoticed() {
    let sealed = crypter().seal("pässword".as_bytes(), PLACE).unwrap().0.into_bytes();
    for at in 0..sealed.len() * 8 {
        let mut flipped = sealed.clone();
        flipped[at / 8] ^= 1 << (at % 8);
        let Ok(flipped) = String::from_utf8(flipped) else { continue };
        let opened = crypter().open(&Ciphertext(flipped.clone()), PLACE);
        let expected = matches!(opened, Err(Unopened::Damaged | Unopened::NoSuchKey(_)));
        assert!(expected, "{flipped} opened");
        let in_the_key_id = (3..5).contains(&(at / 8));
        assert!(in_the_key_id || opened == Err(Unopened::Damaged), "{flipped}");
    }
}

#[test]
fn place_with_one_part_more_never_shares_the_nonce_of_a_longer_value() {
    let long = Binding(&["part"]).to_bytes();
    let nonce = |sealed: Ciphertext| sealed.0[6..22].to_owned();
    let apart = crypter().seal(b"", Binding(&["stack", "part"])).unwrap();
    let joined = crypter().seal(&long, Binding(&["stack"])).unwrap();
    assert_ne!(nonce(apart), nonce(joined));
    let apart = crypter().digest(b"", Binding(&["stack", "part"])).unwrap();
    assert_ne!(apart, crypter().digest(&long, Binding(&["stack"])).unwrap());
}

#[test]
fn locked_crypter_says_why_and_blinding_crypter_hides_everything() {
    let locked = LockedCrypter::new("no passphrase");
    let refused = Unopened::Locked("no passphrase".to_owned());
    let sealed = crypter().seal(b"value", PLACE).unwrap();
    assert_eq!(locked.open(&sealed, PLACE), Err(refused.clone()));
    assert_eq!(locked.seal(b"value", PLACE), Err(refused.clone()));
    assert_eq!(locked.digest(b"value", PLACE), Err(refused));
    assert_eq!(BlindingCrypter.seal(b"value", PLACE).unwrap().0, "[secret]");
    assert_eq!(BlindingCrypter.digest(b"value", PLACE).unwrap().0, "[secret]");
    assert!(BlindingCrypter.open(&sealed, PLACE).is_err());
}

proptest! {
    #[test]
    fn value_opens_at_its_place_and_nowhere_else(
        plain in prop::collection::vec(any::<u8>(), 0..200),
        here in prop::collection::vec("[a-c]{0,2}", 0..4),
        there in prop::collection::vec("[a-c]{0,2}", 0..4),
    ) {
        let parts: Vec<&str> = here.iter().map(String::as_str).collect();
        let sealed = crypter().seal(&plain, Binding(&parts)).unwrap();
        prop_assert_eq!(crypter().open(&sealed, Binding(&parts)).unwrap(), plain.clone());
        prop_assert_eq!(&crypter().seal(&plain, Binding(&parts)).unwrap(), &sealed);
        let elsewhere: Vec<&str> = there.iter().map(String::as_str).collect();
        if here != there {
            prop_assert_eq!(crypter().open(&sealed, Binding(&elsewhere)), Err(Unopened::Damaged));
            let digest = crypter().digest(&plain, Binding(&parts)).unwrap();
            prop_assert_eq!(crypter().matches(&digest, &plain, Binding(&elsewhere)), Ok(false));
        }
    }
}
