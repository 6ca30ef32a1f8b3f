//! Lower-case hexadecimal text of bytes.

/// Returns two digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Reads text that [`hex`] wrote, or returns `None` if it has an odd length or other characters than hex digits.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_hex_reads_the_text_of_hex_and_nothing_else() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
        assert_eq!(hex(&[0, 15, 255]), "000fff");
        for broken in ["0", "0g", "+1", "é"] {
            assert_eq!(from_hex(broken), None, "{broken}");
        }
    }
}
