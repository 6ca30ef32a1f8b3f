//! Ed25519 keys in the two text formats of OpenSSH: unencrypted `openssh-key-v1`, and the public line.
//!
//! The private key is written and never read back; of an existing file only the public key and the mark are
//! read. Buffers that contained the private key are wiped.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use ed25519_dalek::SigningKey;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

const ALGORITHM: &str = "ssh-ed25519";
const MAGIC: &[u8] = b"openssh-key-v1\0";
const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
const END: &str = "-----END OPENSSH PRIVATE KEY-----\n";
const LINE: usize = 70;
/// Larger than the longest private section: a buffer that never grows leaves no copies in memory.
const ROOM: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey([u8; 32]);

impl PublicKey {
    pub(crate) fn of(seed: &[u8; 32]) -> PublicKey {
        PublicKey(SigningKey::from_bytes(seed).verifying_key().to_bytes())
    }

    /// Returns `ssh-ed25519 AAAA… comment`, without a line end.
    pub(crate) fn line(self, comment: &str) -> String {
        let key = STANDARD.encode(self.blob());
        if comment.is_empty() { format!("{ALGORITHM} {key}") } else { format!("{ALGORITHM} {key} {comment}") }
    }

    /// Returns the fingerprint as `ssh-keygen -l` shows it.
    pub(crate) fn fingerprint(self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(self.blob())))
    }

    /// Parses a public line. Returns the key and the comment.
    pub(crate) fn parse(text: &str) -> Option<(PublicKey, &str)> {
        let rest = text.trim_end_matches(['\n', '\r']).strip_prefix(ALGORITHM)?.strip_prefix(' ')?;
        let (key, comment) = rest.split_once(' ').unwrap_or((rest, ""));
        Some((PublicKey::from_blob(&STANDARD.decode(key).ok()?)?, comment))
    }

    fn blob(self) -> Vec<u8> {
        let mut blob = Vec::with_capacity(64);
        put(&mut blob, ALGORITHM.as_bytes());
        put(&mut blob, &self.0);
        blob
    }

    fn from_blob(blob: &[u8]) -> Option<PublicKey> {
        let mut rest = blob;
        let algorithm = take(&mut rest)?;
        let key = take(&mut rest)?;
        let fits = algorithm == ALGORITHM.as_bytes() && rest.is_empty();
        if fits { key.try_into().ok().map(PublicKey) } else { None }
    }
}

/// Returns the text of a private key file.
///
/// `mark` takes the place of a random number that OpenSSH writes twice to detect failed decryption; see
/// [`PrivateKeyFile`].
pub(crate) fn private_text(seed: &[u8; 32], mark: u32, comment: &str) -> Zeroizing<String> {
    let public = PublicKey::of(seed);
    let mut section = Zeroizing::new(Vec::with_capacity(ROOM + comment.len()));
    section.extend(mark.to_be_bytes());
    section.extend(mark.to_be_bytes());
    put(&mut section, ALGORITHM.as_bytes());
    put(&mut section, &public.0);
    let mut pair = Zeroizing::new([0; 64]);
    pair[..32].copy_from_slice(seed);
    pair[32..].copy_from_slice(&public.0);
    put(&mut section, pair.as_slice());
    put(&mut section, comment.as_bytes());
    // Padding to a multiple of 8 bytes: 1, 2, 3 …
    for filler in (1u8..).take((8 - section.len() % 8) % 8) {
        section.push(filler);
    }

    let mut whole = Zeroizing::new(Vec::with_capacity(2 * ROOM + comment.len()));
    whole.extend(MAGIC);
    put(&mut whole, b"none"); // cipher
    put(&mut whole, b"none"); // key derivation
    put(&mut whole, b""); // its options
    whole.extend(1u32.to_be_bytes());
    put(&mut whole, &public.blob());
    put(&mut whole, &section);
    armoured(&whole)
}

fn armoured(bytes: &[u8]) -> Zeroizing<String> {
    let encoded = Zeroizing::new(STANDARD.encode(bytes));
    let mut text = Zeroizing::new(String::with_capacity(2 * ROOM + encoded.len() * 2));
    text.push_str(BEGIN);
    for (position, character) in encoded.chars().enumerate() {
        if position > 0 && position % LINE == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text.push('\n');
    text.push_str(END);
    text
}

/// The parts of a private key file that are not secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrivateKeyFile {
    pub(crate) public: PublicKey,
    /// `None` if the file is encrypted.
    pub(crate) mark: Option<u32>,
}

impl PrivateKeyFile {
    /// Parses a file; `None` if it is not an OpenSSH file with one Ed25519 key.
    pub(crate) fn parse(text: &[u8]) -> Option<PrivateKeyFile> {
        let text = std::str::from_utf8(text).ok()?;
        let body = text.trim().strip_prefix(BEGIN.trim())?.strip_suffix(END.trim())?;
        let mut encoded = Zeroizing::new(String::with_capacity(body.len()));
        encoded.extend(body.chars().filter(|character| !character.is_ascii_whitespace()));
        let bytes = Zeroizing::new(STANDARD.decode(encoded.as_bytes()).ok()?);
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let cipher = take(&mut rest)?;
        let (_derivation, _options) = (take(&mut rest)?, take(&mut rest)?);
        let keys = take_number(&mut rest)?;
        let public = PublicKey::from_blob(take(&mut rest)?)?;
        let mut section = take(&mut rest)?;
        let mark = if cipher == b"none" { take_number(&mut section) } else { None };
        (keys == 1).then_some(PrivateKeyFile { public, mark })
    }
}

/// Writes a string in SSH format: its length, then its bytes.
fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}

fn take<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_number(from)? as usize;
    let (taken, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(taken)
}

fn take_number(from: &mut &[u8]) -> Option<u32> {
    let (number, rest) = from.split_first_chunk::<4>()?;
    *from = rest;
    Some(u32::from_be_bytes(*number))
}

#[cfg(test)]
mod tests;
