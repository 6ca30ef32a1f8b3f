//! Percent-encoding as AWS signs it: every byte but letters, digits, `-`, `.`, `_` and `~` is escaped.

/// Appends the encoded form of bytes. Bytes of `kept` stay as they are.
pub(crate) fn push_escaped(out: &mut String, bytes: &[u8], kept: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) || kept.contains(byte) {
            out.push(char::from(*byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Returns the encoded form of a text.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text.as_bytes(), b"");
    out
}

/// Decodes `%41`. A `%` without two hexadecimal digits stays as it is.
pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes
            .get(at + 1..at + 3)
            .filter(|code| bytes[at] == b'%' && code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        plain.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    plain
}

/// Returns the body of a form, with its fields in the given order.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
    fields.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_bytes_are_escaped_with_capital_digits() {
        assert_eq!(escaped("a b/ü~*"), "a%20b%2F%C3%BC~%2A");
        assert_eq!(form(&[("A", "1 2"), ("B", "&")]), "A=1%202&B=%26");
    }

    #[test]
    fn decoding_reverses_encoding_and_keeps_other_text() {
        assert_eq!(unescaped("a%20b%2f%"), b"a b/%");
        assert_eq!(unescaped("%zz%4"), b"%zz%4");
    }

    proptest::proptest! {
        #[test]
        fn every_text_survives_encoding(text: String) {
            proptest::prop_assert_eq!(unescaped(&escaped(&text)), text.into_bytes());
        }
    }
}
