//! Base64 of a secret that is a part of longer data.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

/// The alphabets of base64.
#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    Standard,
    UrlSafe,
}

impl Alphabet {
    pub(super) const ALL: [Alphabet; 2] = [Alphabet::Standard, Alphabet::UrlSafe];
}

/// Returns the characters that depend on the secret alone, if it begins `offset` bytes after a multiple of three. Also returns the
/// number of characters before and after them that contain bits of the secret and bits of its neighbours.
pub(super) fn inside(secret: &[u8], offset: usize, alphabet: Alphabet) -> (Vec<u8>, u8, u8) {
    let mut padded = Zeroizing::new(vec![0; offset]);
    padded.extend_from_slice(secret);
    let text = match alphabet {
        Alphabet::Standard => STANDARD_NO_PAD.encode(&*padded),
        Alphabet::UrlSafe => URL_SAFE_NO_PAD.encode(&*padded),
    };
    let text = Zeroizing::new(text.into_bytes());
    let bits = 8 * padded.len();
    let (first, end) = ((8 * offset).div_ceil(6), bits / 6);
    let shared = |shared: bool| u8::from(shared);
    let inside = text.get(first..end).unwrap_or_default().to_vec();
    (inside, shared(offset > 0), shared(!bits.is_multiple_of(6)))
}

/// Returns true if the byte is a character of one of the alphabets.
pub(super) fn is_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}
