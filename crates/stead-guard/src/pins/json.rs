//! A JSON parser that keeps the position of every value, for messages.
//!
//! It is strict: no comments, no duplicate keys, no text after the value. Numbers and strings are parsed by `serde_json`,
//! as in `stead-model`.

use stead_model::{Map, Value};

/// A position in the text, and the number of characters on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) length: usize,
}

/// An error with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    pub span: Span,
    pub message: String,
}

/// A value with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub span: Span,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Object(Vec<Member>),
    List(Vec<Tree>),
    Plain(Value),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub key: String,
    pub span: Span,
    pub value: Tree,
}

impl Tree {
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Plain(value) => value.clone(),
            Kind::List(items) => Value::List(items.iter().map(Tree::value).collect()),
            Kind::Object(members) => Value::Map(map(members)),
        }
    }

    /// Returns the kind of the value, for a message: `a list`.
    pub(crate) fn kind_name(&self) -> &'static str {
        self.value().kind()
    }
}

pub(crate) fn map(members: &[Member]) -> Map {
    members.iter().map(|member| (member.key.clone(), member.value.value())).collect()
}

/// The maximum depth of nested values.
const MAX_DEPTH: usize = 64;

pub(crate) fn parse(text: &str) -> Result<Tree, ParseError> {
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut reader = Reader { text, at: 0, lines };
    let tree = reader.value(0)?;
    reader.skip_blanks();
    match reader.rest().chars().next() {
        None => Ok(tree),
        Some(_) => Err(reader.error_at("unexpected text after the end of the value")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The offset of each line.
    lines: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span(&self, from: usize, to: usize) -> Span {
        let line = self.lines.partition_point(|start| *start <= from);
        let start = line.checked_sub(1).and_then(|at| self.lines.get(at)).copied().unwrap_or_default();
        let column = self.text[start..from].chars().count() as u32 + 1;
        let length = self.text[from..to].lines().next().unwrap_or_default().chars().count();
        Span { line: line as u32, column, length }
    }

    fn error_at(&self, message: impl Into<String>) -> ParseError {
        let length = self.rest().chars().next().filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8);
        ParseError { span: self.span(self.at, self.at + length), message: message.into() }
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn take(&mut self, expected: char) -> bool {
        let taken = self.rest().starts_with(expected);
        self.at += if taken { expected.len_utf8() } else { 0 };
        taken
    }

    fn value(&mut self, depth: usize) -> Result<Tree, ParseError> {
        self.skip_blanks();
        if depth > MAX_DEPTH {
            return Err(self.error_at(format!("values are nested more than {MAX_DEPTH} deep")));
        }
        let from = self.at;
        let kind = match self.rest().chars().next() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Kind::Plain(Value::from(self.string()?.0)),
            Some(_) => Kind::Plain(self.literal()?),
            None => return Err(self.error_at("unexpected end of file")),
        };
        Ok(Tree { span: self.span(from, self.at), kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, ParseError> {
        self.take('{');
        let mut members: Vec<Member> = Vec::new();
        let mut seen = std::collections::BTreeMap::new();
        loop {
            self.skip_blanks();
            if members.is_empty() && self.take('}') {
                return Ok(Kind::Object(members));
            }
            if !self.rest().starts_with('"') {
                return Err(self.error_at("expected a key in double quotes"));
            }
            let (key, span) = self.string()?;
            if let Some(first) = seen.insert(key.clone(), span.line) {
                return Err(ParseError {
                    span,
                    message: format!("duplicate key {key:?}; the first is on line {first}"),
                });
            }
            self.skip_blanks();
            if !self.take(':') {
                return Err(self.error_at(format!("expected a colon after {key:?}")));
            }
            let value = self.value(depth + 1)?;
            members.push(Member { key, span, value });
            self.skip_blanks();
            match (self.take(','), self.take('}')) {
                (true, false) => {}
                (false, true) => return Ok(Kind::Object(members)),
                (true, true) => return Err(self.before("expected a key in double quotes")),
                (false, false) => return Err(self.error_at("expected a comma or `}`")),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Kind, ParseError> {
        self.take('[');
        let mut items = Vec::new();
        self.skip_blanks();
        if self.take(']') {
            return Ok(Kind::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_blanks();
            match (self.take(','), self.take(']')) {
                (true, false) => {}
                (false, true) => return Ok(Kind::List(items)),
                (true, true) => return Err(self.before("expected a value")),
                (false, false) => return Err(self.error_at("expected a comma or `]`")),
            }
        }
    }

    /// Returns an error at the previous character.
    fn before(&self, message: &str) -> ParseError {
        ParseError { span: self.span(self.at - 1, self.at), message: message.to_owned() }
    }

    fn string(&mut self) -> Result<(String, Span), ParseError> {
        let from = self.at;
        let mut escaped = false;
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                '\n' => break,
                '"' if !escaped => {
                    let token = &self.rest()[..=offset];
                    let text: String =
                        serde_json::from_str(token).map_err(|_| self.error_at("invalid JSON string"))?;
                    self.at += token.len();
                    return Ok((text, self.span(from, self.at)));
                }
                _ => escaped = c == '\\' && !escaped,
            }
        }
        Err(self.error_at("the string does not end on this line"))
    }

    /// Reads a number, `true`, `false` or `null`.
    fn literal(&mut self) -> Result<Value, ParseError> {
        let ends = |c: char| c.is_whitespace() || ",:{}[]\"".contains(c);
        let token = self.rest().split(ends).next().unwrap_or_default();
        let value = serde_json::from_str(token).map_err(|_| self.error_at("expected a value"))?;
        self.at += token.len();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stead_model::Number;

    use super::*;

    fn error(text: &str) -> String {
        let ParseError { span, message } = parse(text).unwrap_err();
        format!("{}:{}+{} {message}", span.line, span.column, span.length)
    }

    #[test]
    fn errors_have_a_position() {
        insta::assert_snapshot!(
            [
                "", "{", "{\n  \"a\": 1,\n}", "{\"a\" 1}", "{\"a\": 1 \"b\": 2}", "{\"a\": 1}\nx", "{\"a\": tru}",
                "{\"é\": 1, \"é\": 2}", "[1,]", "{\"a\": \"x\n\"}", "{a: 1}", "{\"a\": \"\\q\"}", "// no",
                "{\"a\": 1e999}", "[1, 01]", "{,}",
            ]
            .map(error)
            .join("\n"),
            @r#"
        1:1+0 unexpected end of file
        1:2+0 expected a key in double quotes
        3:1+1 expected a key in double quotes
        1:6+1 expected a colon after "a"
        1:9+1 expected a comma or `}`
        2:1+1 unexpected text after the end of the value
        1:7+1 expected a value
        1:10+3 duplicate key "é"; the first is on line 1
        1:4+1 expected a value
        1:7+1 the string does not end on this line
        1:2+1 expected a key in double quotes
        1:7+1 invalid JSON string
        1:1+1 expected a value
        1:7+1 expected a value
        1:5+1 expected a value
        1:2+1 expected a key in double quotes
        "#
        );
    }

    #[test]
    fn values_may_be_nested_sixty_four_deep() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert!(parse(&nested(64)).is_ok(), "{open}");
            assert!(error(&nested(65)).ends_with("values are nested more than 64 deep"), "{open}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(|number| Value::Number(Number::Int(number))),
            any::<f64>().prop_filter_map("finite", |f| Number::from_f64(f).map(Value::Number)),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..5)
                    .prop_map(|map| Value::Map(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn printed_value_is_parsed_unchanged(value in values()) {
            prop_assert_eq!(parse(&value.to_json()).unwrap().value(), value);
        }

        #[test]
        fn text_is_parsed_exactly_if_serde_json_parses_it(text in "[\\[\\]{}:,\"a1\\\\ \n.e-]{0,12}") {
            // The only difference: duplicate keys.
            let ours = parse(&text).map(|tree| tree.value());
            match serde_json::from_str::<Value>(&text) {
                Ok(theirs) => match ours {
                    Ok(ours) => prop_assert_eq!(ours, theirs),
                    Err(error) => prop_assert!(error.message.contains("duplicate key"), "{:?}", error),
                },
                Err(_) => prop_assert!(ours.is_err(), "{:?}", ours),
            }
        }
    }
}
