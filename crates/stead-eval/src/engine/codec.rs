//! Base64 and digests for programs and assets.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for position in 0..4 {
            let sextet = (bits >> (18 - 6 * position)) as usize & 63;
            out.push(if position <= chunk.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    out
}

/// Decodes base64 as browsers do: white space is skipped and padding is optional. Returns `None` for other text.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text: Vec<u8> = text.bytes().filter(|byte| !b"\t\n\x0c\r ".contains(byte)).collect();
    let padded = text.len().is_multiple_of(4);
    let text = match text.as_slice() {
        [rest @ .., b'=', b'='] | [rest @ .., b'='] if padded => rest,
        whole => whole,
    };
    if text.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.chunks(4) {
        let mut bits = 0;
        for (position, byte) in chunk.iter().enumerate() {
            let sextet = ALPHABET.iter().position(|known| known == byte)?;
            bits |= (sextet as u32) << (18 - 6 * position);
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Some(out)
}

/// Returns base64 in the alphabet for URLs, without padding.
pub(crate) fn to_url_safe(base64: &str) -> String {
    base64.trim_end_matches('=').replace('+', "-").replace('/', "_")
}

/// Returns text of the alphabet for URLs in the usual alphabet; `None` if it has characters of the usual one.
pub(crate) fn from_url_safe(text: &str) -> Option<String> {
    (!text.contains(['+', '/'])).then(|| text.replace('-', "+").replace('_', "/"))
}

/// Returns a digest by the name that Node.js uses, or `None` for an unknown algorithm.
pub(crate) fn digest(bytes: &[u8], algorithm: &str) -> Option<Vec<u8>> {
    Some(match algorithm {
        "md5" => Md5::digest(bytes).to_vec(),
        "sha1" => Sha1::digest(bytes).to_vec(),
        "sha224" => Sha224::digest(bytes).to_vec(),
        "sha256" => Sha256::digest(bytes).to_vec(),
        "sha384" => Sha384::digest(bytes).to_vec(),
        "sha512" => Sha512::digest(bytes).to_vec(),
        _ => return None,
    })
}

/// Returns the code of RFC 2104, or `None` for an unknown algorithm.
pub(crate) fn hmac(key: &[u8], bytes: &[u8], algorithm: &str) -> Option<Vec<u8>> {
    let block = if matches!(algorithm, "sha384" | "sha512") { 128 } else { 64 };
    let mut padded = if key.len() > block { digest(key, algorithm)? } else { key.to_vec() };
    padded.resize(block, 0);
    let keyed = |mask: u8| padded.iter().map(move |byte| byte ^ mask);
    let inner = digest(&keyed(0x36).chain(bytes.iter().copied()).collect::<Vec<_>>(), algorithm)?;
    digest(&keyed(0x5c).chain(inner).collect::<Vec<_>>(), algorithm)
}

/// Returns a digest in hexadecimal, or `None` for an unknown algorithm.
pub(crate) fn hash(bytes: &[u8], algorithm: &str) -> Option<String> {
    Some(match algorithm {
        "md5" => hex(&Md5::digest(bytes)),
        "sha1" => hex(&Sha1::digest(bytes)),
        "sha256" => hex(&Sha256::digest(bytes)),
        "sha384" => hex(&Sha384::digest(bytes)),
        "sha512" => hex(&Sha512::digest(bytes)),
        _ => return None,
    })
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) use stead_model::hex;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_round_trips_and_accepts_the_input_that_browsers_accept() {
        for length in 0..10_u8 {
            let bytes: Vec<u8> = (0..length).map(|index| index.wrapping_mul(77)).collect();
            assert_eq!(from_base64(&to_base64(&bytes)), Some(bytes));
        }
        assert_eq!(to_base64(b"hello"), "aGVsbG8=");
        assert_eq!(from_base64(" aGVs\nbG8 ").as_deref(), Some(&b"hello"[..]));
        assert_eq!(from_base64("aGVsbG8==").as_deref(), None);
        assert_eq!(from_base64("a"), None);
        assert_eq!(from_base64("aG*s"), None);
    }

    #[test]
    fn digests_match_the_standard() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hash(b"", "sha256").as_deref(), Some(empty));
        assert_eq!(hash(b"", "sha512").map(|text| text.len()), Some(128));
        assert_eq!(hash(b"", "crc"), None);
        assert_eq!(hash(b"", "md5").as_deref(), Some("d41d8cd98f00b204e9800998ecf8427e"));
        assert_eq!(hash(b"", "sha1").as_deref(), Some("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
        let shown = |bytes: Option<Vec<u8>>| bytes.map(|bytes| hex(&bytes)).unwrap_or_default();
        assert_eq!(shown(digest(b"abc", "md5")), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(shown(digest(b"abc", "sha1")), "a9993e364706816aba3e25717850c26c9cd0d89d");
        // RFC 4231, case 2, and a key longer than a block.
        let code = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(shown(hmac(b"Jefe", b"what do ya want for nothing?", "sha256")), code);
        let long = hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First", "sha256");
        assert_eq!(shown(long), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }
}
