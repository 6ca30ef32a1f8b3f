//! Keys: `/`-separated segments that are safe as file names and as object names everywhere.

use std::fmt;

/// Address of a blob. Segments contain only `[A-Za-z0-9._%+=@-]` and do not start with a dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a valid key")]
pub struct KeyError(String);

impl Key {
    /// Returns the key above all others, for `list`.
    pub fn root() -> Key {
        Key(String::new())
    }

    /// Returns the key below this one whose last segment is `text`, with unsafe characters percent-encoded.
    #[must_use]
    pub fn child(&self, text: &str) -> Key {
        let mut key = String::with_capacity(self.0.len() + text.len() + 16);
        key.push_str(&self.0);
        if !key.is_empty() {
            key.push('/');
        }
        for (position, byte) in text.bytes().enumerate() {
            let safe =
                byte.is_ascii_alphanumeric() || b"_+=@-".contains(&byte) || (byte == b'.' && position > 0);
            if safe {
                key.push(char::from(byte));
            } else {
                key.push_str(&format!("%{byte:02X}"));
            }
        }
        Key(key)
    }

    /// Parses a key that a store listed.
    pub fn parse(text: &str) -> Result<Key, KeyError> {
        let safe = |segment: &str| {
            !segment.is_empty()
                && !segment.starts_with('.')
                && segment.bytes().all(|b| b.is_ascii_alphanumeric() || b"._%+=@-".contains(&b))
        };
        if text.split('/').all(safe) { Ok(Key(text.to_owned())) } else { Err(KeyError(text.to_owned())) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the decoded segments.
    pub fn segments(&self) -> impl Iterator<Item = String> {
        self.0.split('/').map(decode)
    }

    pub fn is_below(&self, prefix: &Key) -> bool {
        prefix.0.is_empty() || self.0.strip_prefix(&prefix.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

fn decode(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        match rest.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[at + 3..];
            }
            None => {
                bytes.push(b'%');
                rest = &rest[at + 1..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_round_trips_as_a_segment() {
        for text in ["plain", "a/b", "..", ".hidden", "ü %", "prod:acme"] {
            let key = Key::root().child("x").child(text);
            assert_eq!(Key::parse(key.as_str()).unwrap(), key);
            assert_eq!(key.segments().last().unwrap(), text);
        }
        assert!(Key::parse("a//b").is_err());
        assert!(Key::parse("../a").is_err());
    }

    #[test]
    fn is_below_compares_whole_segments() {
        let key = Key::parse("a/bc").unwrap();
        assert!(key.is_below(&Key::root()));
        assert!(key.is_below(&Key::parse("a").unwrap()));
        assert!(!key.is_below(&Key::parse("a/b").unwrap()));
    }
}
