//! Tests of the formats, field by field, with a known key.

use super::*;

/// RFC 8032, section 7.1, test 2.
const SEED: [u8; 32] = [
    0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b,
    0x8a, 0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb,
];
const PUBLIC: [u8; 32] = [
    0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc, 0x9c,
    0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c,
];

#[test]
fn public_key_matches_the_test_vector_of_the_standard() {
    assert_eq!(PublicKey::of(&SEED), PublicKey(PUBLIC));
}

#[test]
fn private_file_has_every_field_of_the_format() {
    for comment in ["", "a", "me@home", "someone with spaces and ü"] {
        let text = private_text(&SEED, 0x0102_0304, comment);
        let body = text.strip_prefix(BEGIN).unwrap().strip_suffix(END).unwrap();
        assert!(body.lines().all(|line| (1..=LINE).contains(&line.len())), "{comment}");
        let bytes = STANDARD.decode(body.replace('\n', "")).unwrap();
        let mut rest = bytes.strip_prefix(MAGIC).unwrap();
        assert_eq!(take(&mut rest), Some(b"none".as_slice()));
        assert_eq!(take(&mut rest), Some(b"none".as_slice()));
        assert_eq!(take(&mut rest), Some(b"".as_slice()));
        assert_eq!(take_number(&mut rest), Some(1));
        assert_eq!(PublicKey::from_blob(take(&mut rest).unwrap()), Some(PublicKey(PUBLIC)));
        let mut section = take(&mut rest).unwrap();
        assert!(rest.is_empty());
        assert_eq!(section.len() % 8, 0, "{comment}");
        assert_eq!(take_number(&mut section), Some(0x0102_0304));
        assert_eq!(take_number(&mut section), Some(0x0102_0304));
        assert_eq!(take(&mut section), Some(ALGORITHM.as_bytes()));
        assert_eq!(take(&mut section), Some(PUBLIC.as_slice()));
        assert_eq!(take(&mut section), Some([SEED, PUBLIC].concat().as_slice()));
        assert_eq!(take(&mut section), Some(comment.as_bytes()));
        assert!(section.iter().copied().eq((1u8..).take(section.len())), "{comment}");
    }
}

#[test]
fn public_line_round_trips() {
    let key = PublicKey(PUBLIC);
    for comment in ["", "me@home", "two words"] {
        let line = format!("{}\n", key.line(comment));
        assert_eq!(PublicKey::parse(&line), Some((key, comment)));
    }
    for bad in ["", "ssh-rsa AAAA", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-ed25519 ****"] {
        assert_eq!(PublicKey::parse(bad), None, "{bad}");
    }
}

#[test]
fn private_file_is_parsed_to_its_public_key_and_mark() {
    let text = private_text(&SEED, 7, "x");
    assert_eq!(
        PrivateKeyFile::parse(text.as_bytes()),
        Some(PrivateKeyFile { public: PublicKey(PUBLIC), mark: Some(7) })
    );
    for bad in ["", "-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----\n", "\u{1}"] {
        assert_eq!(PrivateKeyFile::parse(bad.as_bytes()), None);
    }
    for cut in 0..text.len() - 1 {
        assert_eq!(PrivateKeyFile::parse(&text.as_bytes()[..cut]), None, "{cut}");
    }
}

#[test]
fn encrypted_file_has_a_public_key_and_no_mark() {
    let mut whole = MAGIC.to_vec();
    for part in [b"aes256-ctr".as_slice(), b"bcrypt", b"salt and rounds"] {
        put(&mut whole, part);
    }
    whole.extend(1u32.to_be_bytes());
    put(&mut whole, &PublicKey(PUBLIC).blob());
    put(&mut whole, &[0xaa; 144]);
    let parsed = PrivateKeyFile::parse(armoured(&whole).as_bytes());
    assert_eq!(parsed, Some(PrivateKeyFile { public: PublicKey(PUBLIC), mark: None }));
}

#[test]
fn fingerprint_equals_that_of_ssh_keygen() {
    let line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINnmUF2Po5wkyz6srE18gL0NKWse9r7nrsxsYu7leVMb someone@example.net";
    let (key, comment) = PublicKey::parse(line).unwrap();
    assert_eq!(key.fingerprint(), "SHA256:CNjOlwcVKOLfIEheae7Jd/6vTZiGs+TBjtNlwzyXxUA");
    assert_eq!((key.line(comment).as_str(), comment), (line, "someone@example.net"));
}
