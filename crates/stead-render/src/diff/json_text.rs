//! Strings that contain JSON.

use stead_model::Value;

/// White space between the tokens of a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// No white space.
    Compact,
    /// One token a line, with this many spaces per level.
    Indented(usize),
    Other,
}

/// Returns the values of two texts if both are JSON objects or lists, and if the values differ.
pub(super) fn both(old: &str, new: &str) -> Option<(Value, Value)> {
    let parse = |text: &str| {
        text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str::<Value>(text).ok()).flatten()
    };
    let (a, b) = (parse(old)?, parse(new)?);
    let comparable = a != b && (a.as_list().is_some() == b.as_list().is_some());
    comparable.then_some((a, b))
}

/// Returns true if both texts spell every number as it is shown: `1e32` and `1.0` are shown as other texts.
pub(super) fn numbers_are_plain(old: &str, new: &str) -> bool {
    let is_plain = |number: &str| match serde_json::from_str::<Value>(number) {
        Ok(Value::Number(value)) => value.to_string() == number,
        _ => true,
    };
    let all = |text: &str| {
        let part_of_number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        outside_strings(text).split(|c| !part_of_number(c)).all(is_plain)
    };
    all(old) && all(new)
}

/// Returns a JSON text with a space instead of each character of a string.
fn outside_strings(text: &str) -> String {
    let (mut in_string, mut escape) = (false, false);
    let blanked = text.chars().map(|c| {
        let inside = in_string || c == '"';
        (in_string, escape) = match in_string {
            true => (escape || c != '"', c == '\\' && !escape),
            false => (c == '"', false),
        };
        if inside { ' ' } else { c }
    });
    blanked.collect()
}

pub(super) fn layout(text: &str) -> Layout {
    let (mut depth, mut indent, mut in_string, mut escape) = (0usize, None, false, false);
    let mut space = String::new();
    let mut previous = ' ';
    for c in text.chars() {
        if in_string {
            (in_string, escape) = (escape || c != '"', c == '\\' && !escape);
            continue;
        }
        if c.is_whitespace() {
            space.push(c);
            continue;
        }
        if matches!(c, '}' | ']') {
            depth = depth.saturating_sub(1);
        }
        match space.strip_prefix('\n') {
            None if space.is_empty() || (space == " " && previous == ':') => {}
            Some(spaces) if spaces.bytes().all(|byte| byte == b' ') => {
                let unit = spaces.len().checked_div(depth).unwrap_or_else(|| indent.unwrap_or(0));
                let first = indent.is_none() && depth == 0;
                if first || spaces.len() != unit * depth || indent.is_some_and(|indent| indent != unit) {
                    return Layout::Other;
                }
                indent = if depth == 0 { indent } else { Some(unit) };
            }
            _ => return Layout::Other,
        }
        if space == " " && indent.is_none() {
            return Layout::Other;
        }
        if matches!(c, '{' | '[') {
            depth += 1;
        }
        (in_string, previous) = (c == '"', c);
        space.clear();
    }
    match indent {
        _ if !space.is_empty() => Layout::Other,
        None => Layout::Compact,
        Some(indent) => Layout::Indented(indent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_plain_if_it_is_shown_as_it_is_spelled() {
        assert!(numbers_are_plain(r#"{"1e5":[1,-2.5,true,null]}"#, "[1e+32]"));
        for text in ["[1e32]", "[1.0]", "[1E5]", r#"{"a \" 1":-0.0}"#] {
            assert!(!numbers_are_plain("[]", text), "{text}");
        }
    }

    #[test]
    fn layout_of_json_text() {
        assert_eq!(layout(r#"{"a":[1,2],"b c":"x \" y"}"#), Layout::Compact);
        assert_eq!(layout("{\n  \"a\": [\n    1\n  ]\n}"), Layout::Indented(2));
        assert_eq!(layout("{\n    \"a\": {}\n}"), Layout::Indented(4));
        assert_eq!(layout(r#"{ "a": 1 }"#), Layout::Other);
        assert_eq!(layout("{}\n"), Layout::Other);
        assert_eq!(layout("[\n]"), Layout::Other);
    }
}
