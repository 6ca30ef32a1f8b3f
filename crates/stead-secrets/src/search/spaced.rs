//! Secrets with line breaks and other white space, as programs pass them on: trimmed, with other line ends, on one line, line by line.
//!
//! A secret of one line without white space has one spelling and no lines, and costs one look at its bytes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::SEARCHED;

/// Fewest bytes of a line that is searched for alone. A shorter one may be a word of many texts.
const LINE: usize = 16;

/// Returns the spellings of a secret that stand for it in every encoding: without white space at its ends, and with `\n` for `\r\n` as
/// well. A text that contains the whole secret contains these.
pub(super) fn spellings(secret: &str) -> BTreeSet<Cow<'_, str>> {
    let mut all = BTreeSet::from([Cow::Borrowed(trimmed(secret))]);
    if secret.contains("\r\n") {
        let unix = secret.replace("\r\n", "\n");
        all.insert(Cow::Owned(trimmed(&unix).to_owned()));
    }
    all
}

/// Returns the texts that programs make of the white space in a secret: without control characters, with a space for each line break, and
/// with one for each run of white space, as a shell passes on an unquoted variable.
pub(super) fn rewritten(secret: &str) -> BTreeSet<String> {
    let is_plain = |c: char| c == ' ' || !(c.is_whitespace() || c.is_control());
    if secret.chars().all(is_plain) && !secret.contains("  ") {
        return BTreeSet::new();
    }
    let in_shell = secret.split([' ', '\t', '\n']).filter(|word| !word.is_empty());
    let all = [
        secret.chars().filter(|c| !c.is_control()).collect::<String>(),
        secret.replace("\r\n", " ").replace(['\n', '\r'], " "),
        in_shell.collect::<Vec<_>>().join(" "),
        secret.split_whitespace().collect::<Vec<_>>().join(" "),
    ];
    all.iter().map(|text| text.trim().to_owned()).filter(|text| text.len() >= SEARCHED).collect()
}

/// Returns the lines of a secret of several lines that are long enough to be searched for alone.
///
/// The armour of a PEM file (`-----BEGIN …`) is none of them: it is the same for every key.
pub fn lines(secret: &[u8]) -> BTreeSet<&str> {
    let Ok(text) = str::from_utf8(secret) else { return BTreeSet::new() };
    let text = text.trim();
    if !text.contains(['\n', '\r']) {
        return BTreeSet::new();
    }
    let is_armour = |line: &str| line.starts_with("-----BEGIN ") || line.starts_with("-----END ");
    let lines = text.split(['\n', '\r']).map(str::trim);
    lines.filter(|line| line.len() >= LINE && !is_armour(line)).collect()
}

/// Returns the text without white space at its ends, unless the rest would be too short to be searched for.
fn trimmed(text: &str) -> &str {
    let trimmed = text.trim();
    if trimmed.len() < SEARCHED { text } else { trimmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_of_one_line_has_one_spelling_and_nothing_else() {
        for secret in ["correct-horse", "correct horse battery", "", "x"] {
            assert_eq!(spellings(secret).into_iter().collect::<Vec<_>>(), [secret]);
            assert!(rewritten(secret).is_empty() && lines(secret.as_bytes()).is_empty(), "{secret}");
        }
        assert_eq!(spellings("1234567\n").into_iter().collect::<Vec<_>>(), ["1234567\n"]);
    }

    #[test]
    fn lines_of_a_key_are_those_of_its_body() {
        let key = b"-----BEGIN RSA PRIVATE KEY-----\r\n  MIIEpAIBAAKCAQEA1234\r\nshort\r\n-----END RSA PRIVATE KEY-----\r\n";
        assert_eq!(lines(key).into_iter().collect::<Vec<_>>(), ["MIIEpAIBAAKCAQEA1234"]);
        assert!(lines(b"MIIEpAIBAAKCAQEA1234\n").is_empty());
    }
}
