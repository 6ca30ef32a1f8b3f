//! What is wrong with JSON, without showing any of it: it may hold what nobody should see.

/// Where and what was expected, but never what was found.
pub(crate) fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(", expected ") {
        // `invalid type: string "…", expected a map at line 1 column 7`
        Some(at) if text.starts_with("invalid ") => format!("something is not of its type{}", &text[at..]),
        _ => text,
    }
}

/// A beginning of what somebody else wrote.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_not_shown() {
        for (text, shown) in [
            (r#""canary""#, "something is not of its type, expected a sequence at line 1 column 8"),
            (r#"["canary, expected x"]"#, "something is not of its type, expected u8 at line 1 column 21"),
            (r#"{"canary":1}"#, "something is not of its type, expected a sequence at line 1 column 0"),
            ("[1", "EOF while parsing a list at line 1 column 2"),
        ] {
            assert_eq!(problem(&serde_json::from_str::<Vec<u8>>(text).unwrap_err()), shown);
        }
        assert_eq!(shortened(&"ä".repeat(100)).chars().count(), 81);
    }
}
