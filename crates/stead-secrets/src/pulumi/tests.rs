//! Tests of Pulumi's formats, with a vector that another program computed.

use stead_world::World;

use super::{PulumiCrypter, PulumiError};

/// Computed with Python's cryptography.
const STATE: &str = "v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==";

#[test]
fn state_opens_with_its_passphrase_and_no_other() {
    let crypter = PulumiCrypter::open(STATE, "password").unwrap();
    assert_eq!(crypter.state(), STATE);
    assert_eq!(PulumiCrypter::open(STATE, "passwort").err(), Some(PulumiError::WrongPassphrase));
    let token = STATE.split_once("=:").unwrap().1;
    assert_eq!(crypter.decrypt(token).unwrap().as_slice(), b"pulumi");
    let key =
        crate::passphrase::pbkdf2("password", &[0x7e, 0x8c, 0xc8, 0xe6, 0xee, 0x81, 0xd3, 0x7d], 1_000_000);
    assert_eq!(stead_model::hex(&*key), "7e700703e28b164e816cb939612c938b8dcf8f8a5237d02824cea3fb656b3a8b");
}

#[test]
fn new_state_and_values_are_read_again_and_damage_is_told() {
    let world = World::in_memory([]);
    let written = PulumiCrypter::create("", &world).unwrap();
    let read = PulumiCrypter::open(written.state(), "").unwrap();
    let value = written.encrypt("sëcret".as_bytes(), &world).unwrap();
    assert_ne!(value, written.encrypt("sëcret".as_bytes(), &world).unwrap());
    assert_eq!(read.decrypt(&value).unwrap().as_slice(), "sëcret".as_bytes());
    for at in 0..value.len() * 8 {
        let mut flipped = value.clone().into_bytes();
        flipped[at / 8] ^= 1 << (at % 8);
        let Ok(flipped) = String::from_utf8(flipped) else { continue };
        let failure = read.decrypt(&flipped).err().unwrap();
        assert!(matches!(failure, PulumiError::Damaged | PulumiError::NoValue), "{flipped}");
    }
}

#[test]
fn other_texts_are_no_state_and_no_value() {
    for text in [
        "",
        "v1:",
        "v1:AAAA:v1:AAAA:AAAA",
        "v2:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==",
    ] {
        assert_eq!(PulumiCrypter::open(text, "password").err(), Some(PulumiError::NoState), "{text}");
    }
}
