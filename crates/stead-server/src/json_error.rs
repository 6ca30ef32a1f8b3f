//! Error messages for JSON without its content, which may be secret.

/// Returns the position and the expected type, but never the value.
pub(crate) fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(", expected ") {
        // `invalid type: string "…", expected a map at line 1 column 7`
        Some(at) if text.starts_with("invalid ") => format!("a value has the wrong type{}", &text[at..]),
        _ => text,
    }
}

/// Returns the first characters of text from a request.
pub(crate) fn shortened(text: &str) -> String {
    const MAX: usize = 80;
    match text.char_indices().nth(MAX) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_messages_do_not_contain_the_json() {
        for (text, shown) in [
            (r#""canary""#, "a value has the wrong type, expected a sequence at line 1 column 8"),
            (r#"["canary, expected x"]"#, "a value has the wrong type, expected u8 at line 1 column 21"),
            (r#"{"canary":1}"#, "a value has the wrong type, expected a sequence at line 1 column 0"),
            ("[1", "EOF while parsing a list at line 1 column 2"),
        ] {
            assert_eq!(describe(&serde_json::from_str::<Vec<u8>>(text).unwrap_err()), shown);
        }
        assert_eq!(shortened(&"ä".repeat(100)).chars().count(), 81);
    }
}
