//! Values on one line, with control characters escaped.

use stead_model::{Input, Value};

/// Longer values are truncated; state and the JSON stream contain them in full.
const MAX_CHARS: usize = 80;

const UNKNOWN: &str = "(known after apply)";

pub fn value(value: &Value) -> String {
    shorten(printable(&value.to_json()))
}

pub fn input(input: &Input) -> String {
    let mut text = String::new();
    write_input(input, &mut text);
    shorten(printable(&text))
}

fn write_input(input: &Input, out: &mut String) {
    match input {
        Input::Known(value) => out.push_str(&value.to_json()),
        Input::Deferred(_) => out.push_str(UNKNOWN),
        Input::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_input(item, out);
            }
            out.push(']');
        }
        Input::Map(map) => {
            out.push('{');
            for (index, (key, item)) in map.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&Value::from(key.as_str()).to_json());
                out.push(':');
                write_input(item, out);
            }
            out.push('}');
        }
    }
}

/// Escapes control characters beyond ASCII, which JSON does not escape but a terminal obeys.
fn printable(text: &str) -> String {
    let is_control = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| if is_control(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() })
        .collect()
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}… ({} characters)", &text[..at], text.chars().count()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use stead_model::ExprId;

    use super::*;

    #[test]
    fn values_are_on_one_line_without_terminal_control_characters() {
        assert_eq!(value(&Value::from("a\nb\u{1b}[31m")), r#""a\nb\u001b[31m""#);
        assert_eq!(value(&Value::from("x\u{9b}31m\u{202e}")), r#""x\u009b31m\u202e""#);
        assert!(value(&Value::from("é".repeat(500))).ends_with("… (502 characters)"));
    }

    #[test]
    fn unknown_value_is_rendered_as_known_after_apply() {
        let list = Input::List(vec![Input::Known(Value::from(1)), Input::Deferred(ExprId(0))]);
        assert_eq!(input(&list), "[1,(known after apply)]");
    }
}
