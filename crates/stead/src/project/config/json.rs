//! A JSON file as settings, with the line of each key.

use stead_eval::config::{Given, Key, Origin, Setting};
use stead_model::{Code, Diagnostic, SourceRef, Value};

use crate::project::position;

/// Adds every value of a JSON object as a setting.
pub(super) fn settings(file: &str, text: &str, out: &mut Vec<Setting>) -> Result<(), Diagnostic> {
    let place = |line: usize, column: usize| SourceRef {
        file: file.to_owned(),
        line: line.max(1) as u32,
        column: column.max(1) as u32,
    };
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let full = error.to_string();
        let message = full.split(" at line ").next().unwrap_or(&full);
        let problem = Diagnostic::error(Code::BAD_CONFIG, format!("{file}: {message}"));
        problem.at(place(error.line(), error.column()), 1, "here")
    })?;
    if value.as_map().is_none() {
        let message = format!("{file}: a config file holds an object");
        return Err(Diagnostic::error(Code::BAD_CONFIG, message).at(place(1, 1), 1, "here"));
    }
    let mut scanner = Scanner { file, text, at: 0, out };
    scanner.value(None, 0);
    Ok(())
}

/// Walks over a valid JSON text.
struct Scanner<'a> {
    file: &'a str,
    text: &'a str,
    at: usize,
    out: &'a mut Vec<Setting>,
}

impl Scanner<'_> {
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or_default()
    }

    /// Reads one value; `from` is the position of its key.
    fn value(&mut self, key: Option<&Key>, from: usize) {
        let start = {
            self.peek();
            self.at
        };
        if self.peek() == b'{' {
            self.at += 1;
            let mut is_empty = true;
            while self.peek() == b'"' {
                is_empty = false;
                let (place, name) = (self.at, self.string());
                self.peek();
                self.at += 1;
                let inner = key.map_or_else(|| Key::of([name.as_str()]), |key| key.child(&name));
                self.value(Some(&inner), place);
                if self.peek() == b',' {
                    self.at += 1;
                }
            }
            self.at += 1;
            if !is_empty {
                return;
            }
        } else {
            self.skip();
        }
        let Some(key) = key else { return };
        let value: Value = serde_json::from_str(&self.text[start..self.at]).unwrap_or_default();
        let (line, column, _) = position(self.text, from..from);
        let origin = Origin::File(SourceRef { file: self.file.to_owned(), line, column });
        self.out.push(Setting { key: key.clone(), given: Given::Value(value), origin });
    }

    fn string(&mut self) -> String {
        let start = self.at;
        self.skip();
        serde_json::from_str(&self.text[start..self.at]).unwrap_or_default()
    }

    /// Moves behind a string, a list or a word.
    fn skip(&mut self) {
        let bytes = self.text.as_bytes();
        let (mut depth, mut quoted) = (0_usize, false);
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\\' if quoted => self.at += 1,
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth > 0 => depth -= 1,
                b',' | b'}' | b']' | b':' if depth == 0 => return,
                byte if byte.is_ascii_whitespace() && depth == 0 => return,
                _ => {}
            }
            self.at += 1;
            let closed = matches!(byte, b'"' | b']' | b'}');
            if depth == 0 && !quoted && closed {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn every_value_has_the_line_of_its_key() {
        let text = "{\n  \"a\": 1, \"b\\\"{\": [1, {\"x\": \"]\"}],\n  \"c\": {\n    \"d\": \"t\",\n    \"e\": {}\n  },\n \"f\": null }\n";
        let mut settings = Vec::new();
        super::settings("f.json", text, &mut settings).unwrap();
        let shown: Vec<String> = settings
            .iter()
            .map(|setting| match &setting.given {
                Given::Value(value) => {
                    format!("{:?}={} {}", setting.key.parts(), value.to_json(), setting.origin)
                }
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "[\"a\"]=1 f.json:2",
                "[\"b\\\"{\"]=[1,{\"x\":\"]\"}] f.json:2",
                "[\"c\", \"d\"]=\"t\" f.json:4",
                "[\"c\", \"e\"]={} f.json:5",
                "[\"f\"]=null f.json:7",
            ]
        );
        assert!(super::settings("f.json", "[]", &mut settings).is_err());
        assert_eq!(
            super::settings("f.json", "{\n \"a\": x}", &mut settings).unwrap_err().labels[0].place.line,
            2
        );
    }
}
