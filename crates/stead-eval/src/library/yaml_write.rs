//! Writes YAML in block style. A value known only after apply is written as JSON, which is YAML too.

use std::fmt::Write as _;

use stead_model::{ExprId, Value};

use super::yaml::plain;

/// Data whose objects keep their order, with unknown values in it.
pub(crate) enum Text {
    Value(Value),
    Unknown(ExprId),
    List(Vec<Text>),
    Map(Vec<(String, Text)>),
}

/// Returns the text, split at the unknown values: one more part than unknowns.
pub(crate) fn write(tree: &Text) -> (Vec<String>, Vec<ExprId>) {
    let mut writer = Writer { parts: vec![String::new()], unknowns: Vec::new() };
    writer.node(tree, 0);
    writer.push("\n");
    (writer.parts, writer.unknowns)
}

struct Writer {
    parts: Vec<String>,
    unknowns: Vec<ExprId>,
}

impl Writer {
    fn push(&mut self, text: &str) {
        if let Some(last) = self.parts.last_mut() {
            last.push_str(text);
        }
    }

    fn line(&mut self, depth: usize) {
        self.push("\n");
        self.push(&"  ".repeat(depth));
    }

    /// Writes a value whose first line starts at the current position; further lines are indented by `depth`.
    fn node(&mut self, tree: &Text, depth: usize) {
        match tree {
            Text::Value(value) => self.value(value, depth),
            Text::Unknown(id) => {
                self.unknowns.push(*id);
                self.parts.push(String::new());
            }
            Text::List(items) if items.is_empty() => self.push("[]"),
            Text::Map(entries) if entries.is_empty() => self.push("{}"),
            Text::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.line(depth);
                    }
                    self.push("- ");
                    self.node(item, depth + 1);
                }
            }
            Text::Map(entries) => {
                for (index, (key, item)) in entries.iter().enumerate() {
                    if index > 0 {
                        self.line(depth);
                    }
                    self.push(&scalar(key));
                    self.push(":");
                    self.after_key(item, depth);
                }
            }
        }
    }

    fn after_key(&mut self, item: &Text, depth: usize) {
        let is_block = match item {
            Text::List(items) => !items.is_empty(),
            Text::Map(entries) => !entries.is_empty(),
            Text::Value(Value::List(items)) => !items.is_empty(),
            Text::Value(Value::Map(map)) => !map.is_empty(),
            _ => false,
        };
        if is_block {
            self.line(depth + 1)
        } else {
            self.push(" ")
        }
        self.node(item, depth + 1);
    }

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => match block(text, depth) {
                Some(block) => self.push(&block),
                None => self.push(&scalar(text)),
            },
            Value::List(items) => {
                let items = items.iter().map(|item| Text::Value(item.clone())).collect();
                self.node(&Text::List(items), depth);
            }
            Value::Map(map) => {
                let entries =
                    map.iter().map(|(key, item)| (key.to_string(), Text::Value(item.clone()))).collect();
                self.node(&Text::Map(entries), depth);
            }
            scalar => self.push(&scalar.to_json()),
        }
    }
}

/// Returns a text of several lines as a literal block, if the block keeps every character.
fn block(text: &str, depth: usize) -> Option<String> {
    let body = text.trim_end_matches('\n');
    let usable = |letter: char| {
        letter == '\n'
            || (!letter.is_control()
                && letter != '\u{feff}'
                && letter != '\u{85}'
                && letter != '\u{2028}'
                && letter != '\u{2029}')
    };
    let fits = body.contains('\n') && !body.starts_with([' ', '\n']) && body.chars().all(usable);
    if !fits || body.lines().any(|line| line.trim().is_empty() && !line.is_empty()) {
        return None;
    }
    let end = text.len() - body.len();
    let mut out = match end {
        0 => "|-".to_owned(),
        1 => "|".to_owned(),
        _ => "|+".to_owned(),
    };
    let indent = "  ".repeat(depth.max(1));
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            let _ = write!(out, "{indent}{line}");
        }
    }
    // The line break that ends the value is written by the next line.
    out.push_str(&"\n".repeat(end.saturating_sub(1)));
    Some(out)
}

/// Returns a string as it is if every reader takes it for that string, else in double quotes.
fn scalar(text: &str) -> String {
    let first = |letter: char| letter.is_alphanumeric() || "_/.".contains(letter);
    let inner = |letter: char| letter.is_alphanumeric() || " _-/.@+=,()$%*&!".contains(letter);
    let safe = text.starts_with(first)
        && text.chars().all(inner)
        && !text.ends_with(' ')
        && !text.starts_with("...")
        && matches!(plain(text), Some(Value::String(_)))
        && !looks_like_yaml_1_1(text);
    if safe { text.to_owned() } else { Value::from(text).to_json() }
}

/// Returns true for text that older readers take for a boolean, a number or a date.
fn looks_like_yaml_1_1(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let word = matches!(lower.as_str(), "y" | "n" | "yes" | "no" | "on" | "off");
    word || text.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && !text.contains(|c: char| c.is_ascii_alphabetic())
        || text.starts_with("0x")
        || text.starts_with("0o")
        || text.starts_with("0b")
}
