//! A text with a last line that is the digest of all before it: a changed bit never goes unseen.

use stead_model::Digest;

/// `text` ends with a newline.
pub(crate) fn seal(mut text: String) -> String {
    let seal = Digest::of(text.as_bytes());
    text.push_str(&format!("\"{seal}\"\n"));
    text
}

/// What was sealed; `None`: it is damaged, or no sealed text.
pub(crate) fn open(bytes: &[u8]) -> Option<&[u8]> {
    let bytes = bytes.strip_suffix(b"\n")?;
    let at = bytes.iter().rposition(|byte| *byte == b'\n')?;
    let (body, seal) = (&bytes[..=at], &bytes[at + 1..]);
    (seal == format!("\"{}\"", Digest::of(body)).as_bytes()).then_some(body)
}
