//! The frame of every stored object: lines of JSON, of which the first states the format version.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stead_model::Digest;

use crate::FORMAT;

/// Why stored bytes cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("{what} is damaged at line {line}: {problem}")]
    Damaged { what: &'static str, line: usize, problem: String },
    #[error("{what} has format {found}; this stead reads up to {FORMAT}")]
    Newer { what: &'static str, found: u32 },
}

#[derive(serde::Deserialize)]
struct AnyHeader {
    format: u32,
}

/// Returns a value as one line of JSON.
pub(crate) fn line<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    append(&mut bytes, value);
    bytes
}

/// Appends a value as one line of JSON.
pub(crate) fn append<T: Serialize>(bytes: &mut Vec<u8>, value: &T) {
    // Cannot fail: the writer is memory, and the stored types have string keys and finite numbers only.
    let _ = serde_json::to_writer(&mut *bytes, value);
    bytes.push(b'\n');
}

/// The lines of an object, and the format that its first line states.
pub(crate) struct Lines<'a> {
    what: &'static str,
    pub format: u32,
    pub lines: Vec<&'a [u8]>,
}

impl<'a> Lines<'a> {
    /// Returns the only line. Fails if there are more.
    pub(crate) fn only(&self) -> Result<&'a [u8], FormatError> {
        match self.lines.as_slice() {
            [line] => Ok(line),
            lines => Err(damaged(self.what, lines.len(), "it has more than one line")),
        }
    }
}

/// Splits an object into its lines.
///
/// Fails if the format of the first line is newer than this build reads.
pub(crate) fn lines<'a>(what: &'static str, bytes: &'a [u8]) -> Result<Lines<'a>, FormatError> {
    let Some(body) = bytes.strip_suffix(b"\n") else {
        let problem = if bytes.is_empty() { "it is empty" } else { "it does not end with a newline" };
        return Err(damaged(what, 1, problem));
    };
    let lines: Vec<&[u8]> = body.split(|byte| *byte == b'\n').collect();
    Ok(Lines { what, format: check_format(what, lines[0])?, lines })
}

/// Returns the format of an object, by its first line. Refuses a newer one: callers check this before they parse the
/// object further.
pub(crate) fn check_format(what: &'static str, first: &[u8]) -> Result<u32, FormatError> {
    let AnyHeader { format } = parse(what, 1, first)?;
    match format {
        0 => Err(damaged(what, 1, "there is no format 0")),
        found if found > FORMAT => Err(FormatError::Newer { what, found }),
        known => Ok(known),
    }
}

/// Appends a last line with the digest of all lines before it, which makes every changed bit detectable.
pub fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = Digest::of(&bytes);
    append(&mut bytes, &digest);
    bytes
}

/// Returns the lines before the digest, or `None` if they are damaged or have no digest.
pub fn unseal(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.strip_suffix(b"\n")?.iter().rposition(|byte| *byte == b'\n')? + 1;
    let (body, digest) = bytes.split_at(end);
    (digest == line(&Digest::of(body))).then_some(body)
}

/// Returns the lines of a sealed object without the seal.
///
/// Fails if the digest in the seal is not that of the lines before it.
pub(crate) fn sealed_lines<'a>(what: &'static str, bytes: &'a [u8]) -> Result<Lines<'a>, FormatError> {
    let mut lines = lines(what, bytes)?;
    if unseal(bytes).is_none() {
        return Err(damaged(what, lines.lines.len(), "the digest does not match"));
    }
    lines.lines.pop();
    Ok(lines)
}

pub(crate) fn parse<T: DeserializeOwned>(
    what: &'static str,
    line: usize,
    bytes: &[u8],
) -> Result<T, FormatError> {
    // Validating the line once as UTF-8 is faster than validating each of its strings.
    let parsed = match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(bytes),
    };
    parsed.map_err(|error| damaged(what, line, &error.to_string()))
}

pub(crate) fn damaged(what: &'static str, line: usize, problem: &str) -> FormatError {
    FormatError::Damaged { what, line, problem: problem.to_owned() }
}
