//! Text in which every character is visible, and in which two different texts never look alike.
//!
//! A cut leaves the number of characters and a digest behind, so that a cut text still differs from every other one.

use stead_model::{Digest, Value};

/// Glyph of a tab in a raw line.
const TAB: char = '⇥';

/// Returns the JSON string of a text, with every character escaped that a terminal hides or obeys.
pub(crate) fn quoted(text: &str) -> String {
    escaped(&Value::from(text).to_json())
}

/// Escapes hidden characters in JSON text. JSON writes a backslash twice, so that the escapes cannot be mistaken.
pub(crate) fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            c if !is_hidden(c) => out.push(c),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    out
}

/// Returns a line of text: as it is if every character is visible, else as a JSON string.
///
/// A tab is shown as a glyph. A line that starts like a quoted or a cut one, or has that glyph, is quoted.
pub(crate) fn line(text: &str) -> String {
    let plain = |c: char| c == '\t' || (c != TAB && !is_hidden(c));
    let raw = text.chars().all(plain) && !text.ends_with([' ', '\t']) && !text.starts_with(['"', '…']);
    if raw { text.replace('\t', &TAB.to_string()) } else { quoted(text) }
}

/// Returns true if every character is visible.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.contains(is_hidden)
}

/// Cuts a text of more than `limit` characters, and says what is left out.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((at, _)) => {
            let (count, digest) = (text.chars().count(), digest(text));
            format!("{}… ({count} characters, sha256 {digest})", &text[..at])
        }
    }
}

/// Returns the start of the SHA-256 of a text.
pub(crate) fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str().chars().take(8).collect()
}

/// Returns true for a character that a terminal does not show, shows as a plain space, or obeys.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_tabs_have_a_glyph() {
        assert_eq!(quoted("a\nb\u{1b}[31m"), r#""a\nb\u001b[31m""#);
        assert_eq!(quoted("x\u{9b}31m\u{202e}\u{e0001}"), r#""x\u009b31m\u202e\u{e0001}""#);
        assert_eq!(line("\tx y"), "⇥x y");
        for special in ["a ", "a\u{a0}b", "\"a\"", "…a", "⇥", "a\r", "e\u{301}"] {
            assert!(line(special).starts_with('"'), "{special:?}");
        }
    }

    #[test]
    fn cut_text_keeps_length_and_digest() {
        let (a, b) = (format!("{}a", "x".repeat(500)), format!("{}b", "x".repeat(500)));
        assert!(cut(&a, 80).starts_with("xxx") && cut(&a, 80).contains("… (501 characters, sha256 "));
        assert_ne!(cut(&a, 80), cut(&b, 80));
        assert_eq!(cut("short", 80), "short");
    }
}
