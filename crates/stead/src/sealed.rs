//! Sealed text: its last line is the digest of all lines before it, so that every damage is found.

use stead_model::Digest;

/// Appends the digest. `text` ends with a newline.
pub fn seal(mut text: String) -> String {
    let seal = Digest::of(text.as_bytes());
    text.push_str(&format!("\"{seal}\"\n"));
    text
}

/// Returns the text before the digest, or `None` if the text is damaged or has no digest.
pub fn open(bytes: &[u8]) -> Option<&[u8]> {
    let bytes = bytes.strip_suffix(b"\n")?;
    let at = bytes.iter().rposition(|byte| *byte == b'\n')?;
    let (body, seal) = (&bytes[..=at], &bytes[at + 1..]);
    (seal == format!("\"{}\"", Digest::of(body)).as_bytes()).then_some(body)
}
