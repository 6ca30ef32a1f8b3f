//! Escaped texts: JSON as several libraries write it, and URL encoding.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The choices that a JSON writer has.
#[derive(Clone, Copy)]
pub(super) struct JsonStyle {
    slash: Slash,
    /// Characters that are written as `\uXXXX` although they need not be.
    wide: Wide,
    case: Case,
}

#[derive(Clone, Copy, PartialEq)]
enum Slash {
    Plain,
    Escaped,
}

#[derive(Clone, Copy, PartialEq)]
enum Wide {
    None,
    /// Everything outside ASCII, as Python does.
    NonAscii,
    /// `<`, `>`, `&` and two line separators, as Go does.
    Html,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Case {
    Lower,
    Upper,
}

impl JsonStyle {
    /// The style of `serde_json` and `JSON.stringify`.
    pub(super) const PLAIN: JsonStyle =
        JsonStyle { slash: Slash::Plain, wide: Wide::None, case: Case::Lower };

    pub(super) const ALL: [JsonStyle; 12] = {
        let mut all = [JsonStyle::PLAIN; 12];
        let mut at = 0;
        while at < all.len() {
            all[at] = JsonStyle {
                slash: if at % 2 == 0 { Slash::Plain } else { Slash::Escaped },
                case: if at / 2 % 2 == 0 { Case::Lower } else { Case::Upper },
                wide: [Wide::None, Wide::NonAscii, Wide::Html][at / 4],
            };
            at += 1;
        }
        all
    };

    /// Returns true if the style may write the text in another way than every simpler style does.
    pub(super) fn matters_for(self, text: &str) -> bool {
        let has = |wanted: fn(char) -> bool| text.chars().any(wanted);
        let wide = match self.wide {
            Wide::None => true,
            Wide::NonAscii => !text.is_ascii(),
            Wide::Html => has(|c| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')),
        };
        let slash = self.slash == Slash::Plain || text.contains('/');
        let case = self.case == Case::Lower || self.wide != Wide::None || has(|c| c < ' ');
        wide && slash && case
    }

    /// Returns the first character of the text that the style may write in another way, and its position.
    fn first_escaped(self, text: &str) -> Option<(usize, char)> {
        let at = text.bytes().position(|byte| match byte {
            b'"' | b'\\' | 0..b' ' => true,
            b'/' => self.slash == Slash::Escaped,
            b'<' | b'>' | b'&' => self.wide == Wide::Html,
            // The first byte of a character: one that is passed over is passed over as a whole.
            0x80.. => self.wide != Wide::None,
            _ => false,
        })?;
        Some((at, text[at..].chars().next()?))
    }
}

/// Returns the text as it is between the quotes of a JSON string.
pub(super) fn json(text: &str, style: JsonStyle) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    let mut rest = text;
    // Whole stretches that are written as they are come over at once.
    while let Some((at, c)) = style.first_escaped(rest) {
        escaped.push_str(&rest[..at]);
        rest = &rest[at + c.len_utf8()..];
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\u{8}' => escaped.push_str("\\b"),
            '\u{c}' => escaped.push_str("\\f"),
            '/' if style.slash == Slash::Escaped => escaped.push_str("\\/"),
            '\0'..='\u{1f}' => units(&mut escaped, c, style.case),
            '\u{7f}'.. if style.wide == Wide::NonAscii && c != '\u{7f}' => units(&mut escaped, c, style.case),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if style.wide == Wide::Html => {
                units(&mut escaped, c, style.case);
            }
            plain => escaped.push(plain),
        }
    }
    escaped.push_str(rest);
    escaped
}

/// Appends a character as `\uXXXX`, or as two of them.
fn units(escaped: &mut String, c: char, case: Case) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = match case {
            Case::Lower => write!(escaped, "\\u{unit:04x}"),
            Case::Upper => write!(escaped, "\\u{unit:04X}"),
        };
    }
}

/// The choices that a URL encoder has.
#[derive(Clone, Copy)]
pub(super) struct UrlStyle {
    /// Characters besides letters and digits that are not encoded.
    plain: &'static [u8],
    space: &'static [u8],
    case: Case,
}

impl UrlStyle {
    const fn new(plain: &'static [u8], space: &'static [u8], case: Case) -> UrlStyle {
        UrlStyle { plain, space, case }
    }

    pub(super) const ALL: [UrlStyle; 10] = [
        // `encodeURIComponent` of JavaScript.
        UrlStyle::new(b"-_.!~*'()", b"%20", Case::Upper),
        UrlStyle::new(b"-_.!~*'()", b"%20", Case::Lower),
        // The unreserved characters of RFC 3986.
        UrlStyle::new(b"-_.~", b"%20", Case::Upper),
        UrlStyle::new(b"-_.~", b"%20", Case::Lower),
        // The same for the path of a URL.
        UrlStyle::new(b"-_.~/", b"%20", Case::Upper),
        UrlStyle::new(b"-_.~/", b"%20", Case::Lower),
        // The fields of a form, and the same as Go and Python write them.
        UrlStyle::new(b"-_.*", b"+", Case::Upper),
        UrlStyle::new(b"-_.*", b"+", Case::Lower),
        UrlStyle::new(b"-_.~", b"+", Case::Upper),
        UrlStyle::new(b"-_.~", b"+", Case::Lower),
    ];
}

/// Returns the URL-encoded bytes.
pub(super) fn url(bytes: &[u8], style: UrlStyle) -> Vec<u8> {
    let digits = if style.case == Case::Lower { b"0123456789abcdef" } else { b"0123456789ABCDEF" };
    let is_encoded = |byte: &u8| !byte.is_ascii_alphanumeric() && !style.plain.contains(byte);
    let mut encoded = Vec::with_capacity(bytes.len() + 8);
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(is_encoded) {
        encoded.extend_from_slice(&rest[..at]);
        match rest[at] {
            b' ' => encoded.extend_from_slice(style.space),
            byte => encoded.extend_from_slice(&[
                b'%',
                digits[usize::from(byte >> 4)],
                digits[usize::from(byte & 15)],
            ]),
        }
        rest = &rest[at + 1..];
    }
    encoded.extend_from_slice(rest);
    encoded
}

/// Returns the styles that write the bytes in different ways.
pub(super) fn url_styles(bytes: &[u8]) -> impl Iterator<Item = UrlStyle> {
    let mut present = [false; 256];
    bytes.iter().for_each(|byte| present[usize::from(*byte)] = true);
    // Styles that agree about each byte agree about all of them.
    let each: Vec<u8> = (0..=u8::MAX).filter(|byte| present[usize::from(*byte)]).collect();
    let mut seen = BTreeSet::new();
    UrlStyle::ALL.into_iter().filter(move |style| seen.insert(url(&each, *style)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_style_of_json_is_that_of_serde_json() {
        let all: String = (0..0x3000).filter_map(char::from_u32).chain(['\u{1f600}']).collect();
        let written = serde_json::to_string(&all).unwrap();
        assert_eq!(json(&all, JsonStyle::PLAIN), written[1..written.len() - 1]);
        for style in JsonStyle::ALL {
            let read: String = serde_json::from_str(&format!("\"{}\"", json(&all, style))).unwrap();
            assert_eq!(read, all);
        }
    }

    #[test]
    fn style_that_does_not_matter_writes_what_a_simpler_one_writes() {
        for text in ["plain", "a/b", "ü/\u{2028}", "<&>", "\u{1}", "\u{1}/ü<", "\"\\\n", "日本\u{7f}"] {
            let written = |styles: &[JsonStyle]| -> std::collections::BTreeSet<String> {
                styles.iter().map(|style| json(text, *style)).collect()
            };
            let mattering: Vec<JsonStyle> =
                JsonStyle::ALL.into_iter().filter(|style| style.matters_for(text)).collect();
            assert_eq!(written(&mattering), written(&JsonStyle::ALL), "{text:?}");
        }
    }

    #[test]
    fn url_styles_that_are_left_out_write_what_another_one_writes() {
        for text in ["plain", "a b", "a/b", "~", "a\u{1}b", "ü", "x!(y)*", "a b/ü!~%", ""] {
            let written = |styles: &mut dyn Iterator<Item = UrlStyle>| -> BTreeSet<Vec<u8>> {
                styles.map(|style| url(text.as_bytes(), style)).collect()
            };
            let all = written(&mut UrlStyle::ALL.into_iter());
            assert_eq!(written(&mut url_styles(text.as_bytes())), all, "{text:?}");
            assert_eq!(url_styles(text.as_bytes()).count(), all.len(), "{text:?}");
        }
    }

    #[test]
    fn texts_are_url_encoded_as_browsers_do() {
        assert_eq!(url("a b/ü!~".as_bytes(), UrlStyle::ALL[0]), b"a%20b%2F%C3%BC!~");
        assert_eq!(url("a b/ü!~".as_bytes(), UrlStyle::ALL[7]), b"a+b%2f%c3%bc%21%7e");
    }
}
