//! JSON with places: what stands where, so that a mistake in a file can be pointed at.
//!
//! Strict: no comments, no key twice, nothing behind the end. Numbers and strings are read as `stead-model` reads them.

use stead_model::{Map, Value};

/// A piece of the text: where it starts, and how many characters it has on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) length: usize,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub spot: Spot,
    pub message: String,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub spot: Spot,
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
    pub spot: Spot,
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

    /// What it is, for a message.
    pub(crate) fn word(&self) -> &'static str {
        self.value().kind()
    }
}

pub(crate) fn map(members: &[Member]) -> Map {
    members.iter().map(|member| (member.key.clone(), member.value.value())).collect()
}

/// Deeper values than this are nobody's attributes.
const MAX_DEPTH: usize = 64;

pub(crate) fn parse(text: &str) -> Result<Tree, Mistake> {
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut reader = Reader { text, at: 0, lines };
    let tree = reader.value(0)?;
    reader.blank();
    match reader.rest().chars().next() {
        None => Ok(tree),
        Some(_) => Err(reader.mistake("something stands behind the end of the value")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where each line starts.
    lines: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn spot(&self, from: usize, to: usize) -> Spot {
        let line = self.lines.partition_point(|start| *start <= from);
        let start = line.checked_sub(1).and_then(|at| self.lines.get(at)).copied().unwrap_or_default();
        let column = self.text[start..from].chars().count() as u32 + 1;
        let length = self.text[from..to].lines().next().unwrap_or_default().chars().count();
        Spot { line: line as u32, column, length }
    }

    fn mistake(&self, message: impl Into<String>) -> Mistake {
        let length = self.rest().chars().next().filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8);
        Mistake { spot: self.spot(self.at, self.at + length), message: message.into() }
    }

    fn blank(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn take(&mut self, expected: char) -> bool {
        let taken = self.rest().starts_with(expected);
        self.at += if taken { expected.len_utf8() } else { 0 };
        taken
    }

    fn value(&mut self, depth: usize) -> Result<Tree, Mistake> {
        self.blank();
        if depth > MAX_DEPTH {
            return Err(self.mistake(format!("values are nested more than {MAX_DEPTH} deep")));
        }
        let from = self.at;
        let kind = match self.rest().chars().next() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Kind::Plain(Value::String(self.string()?.0)),
            Some(_) => Kind::Plain(self.word()?),
            None => return Err(self.mistake("the file ends before it is complete")),
        };
        Ok(Tree { spot: self.spot(from, self.at), kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, Mistake> {
        self.take('{');
        let mut members: Vec<Member> = Vec::new();
        let mut seen = std::collections::BTreeMap::new();
        loop {
            self.blank();
            if members.is_empty() && self.take('}') {
                return Ok(Kind::Object(members));
            }
            if !self.rest().starts_with('"') {
                return Err(self.mistake("a key in double quotes is expected here"));
            }
            let (key, spot) = self.string()?;
            if let Some(first) = seen.insert(key.clone(), spot.line) {
                return Err(Mistake {
                    spot,
                    message: format!("{key:?} is there twice; the first is on line {first}"),
                });
            }
            self.blank();
            if !self.take(':') {
                return Err(self.mistake(format!("a colon is expected behind {key:?}")));
            }
            let value = self.value(depth + 1)?;
            members.push(Member { key, spot, value });
            self.blank();
            match (self.take(','), self.take('}')) {
                (true, false) => {}
                (false, true) => return Ok(Kind::Object(members)),
                (true, true) => return Err(self.before("a key in double quotes is expected here")),
                (false, false) => return Err(self.mistake("a comma or `}` is expected here")),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Kind, Mistake> {
        self.take('[');
        let mut items = Vec::new();
        self.blank();
        if self.take(']') {
            return Ok(Kind::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blank();
            match (self.take(','), self.take(']')) {
                (true, false) => {}
                (false, true) => return Ok(Kind::List(items)),
                (true, true) => return Err(self.before("a value is expected here")),
                (false, false) => return Err(self.mistake("a comma or `]` is expected here")),
            }
        }
    }

    fn before(&self, message: &str) -> Mistake {
        Mistake { spot: self.spot(self.at - 1, self.at), message: message.to_owned() }
    }

    fn string(&mut self) -> Result<(String, Spot), Mistake> {
        let from = self.at;
        let mut escaped = false;
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                '\n' => break,
                '"' if !escaped => {
                    let token = &self.rest()[..=offset];
                    let text: String = serde_json::from_str(token)
                        .map_err(|_| self.mistake("this is no string that JSON knows"))?;
                    self.at += token.len();
                    return Ok((text, self.spot(from, self.at)));
                }
                _ => escaped = c == '\\' && !escaped,
            }
        }
        Err(self.mistake("a string does not end on its line"))
    }

    /// A number, `true`, `false` or `null`: without quotes and brackets there is nothing else.
    fn word(&mut self) -> Result<Value, Mistake> {
        let ends = |c: char| c.is_whitespace() || ",:{}[]\"".contains(c);
        let token = self.rest().split(ends).next().unwrap_or_default();
        let value = serde_json::from_str(token).map_err(|_| self.mistake("a value is expected here"))?;
        self.at += token.len();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stead_model::Number;

    use super::*;

    fn wrong(text: &str) -> String {
        let Mistake { spot, message } = parse(text).unwrap_err();
        format!("{}:{}+{} {message}", spot.line, spot.column, spot.length)
    }

    #[test]
    fn mistakes_have_their_place() {
        insta::assert_snapshot!(
            [
                "", "{", "{\n  \"a\": 1,\n}", "{\"a\" 1}", "{\"a\": 1 \"b\": 2}", "{\"a\": 1}\nx", "{\"a\": tru}",
                "{\"é\": 1, \"é\": 2}", "[1,]", "{\"a\": \"x\n\"}", "{a: 1}", "{\"a\": \"\\q\"}", "// no",
                "{\"a\": 1e999}", "[1, 01]", "{,}",
            ]
            .map(wrong)
            .join("\n"),
            @r#"
        1:1+0 the file ends before it is complete
        1:2+0 a key in double quotes is expected here
        3:1+1 a key in double quotes is expected here
        1:6+1 a colon is expected behind "a"
        1:9+1 a comma or `}` is expected here
        2:1+1 something stands behind the end of the value
        1:7+1 a value is expected here
        1:10+3 "é" is there twice; the first is on line 1
        1:4+1 a value is expected here
        1:7+1 a string does not end on its line
        1:2+1 a key in double quotes is expected here
        1:7+1 this is no string that JSON knows
        1:1+1 a value is expected here
        1:7+1 a value is expected here
        1:5+1 a value is expected here
        1:2+1 a key in double quotes is expected here
        "#
        );
    }

    #[test]
    fn values_may_be_nested_sixty_four_deep() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert!(parse(&nested(64)).is_ok(), "{open}");
            assert!(wrong(&nested(65)).ends_with("values are nested more than 64 deep"), "{open}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(|number| Value::Number(Number::Int(number))),
            any::<f64>().prop_filter_map("finite", |f| Number::from_f64(f).map(Value::Number)),
            any::<String>().prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
                proptest::collection::btree_map(any::<String>(), inner, 0..5).prop_map(Value::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_as_it_was(value in values()) {
            prop_assert_eq!(parse(&value.to_json()).unwrap().value(), value);
        }

        #[test]
        fn it_reads_what_serde_json_reads_and_nothing_else(text in "[\\[\\]{}:,\"a1\\\\ \n.e-]{0,12}") {
            // The one difference: a key that is there twice.
            let ours = parse(&text).map(|tree| tree.value());
            match serde_json::from_str::<Value>(&text) {
                Ok(theirs) => match ours {
                    Ok(ours) => prop_assert_eq!(ours, theirs),
                    Err(mistake) => prop_assert!(mistake.message.contains("twice"), "{:?}", mistake),
                },
                Err(_) => prop_assert!(ours.is_err(), "{:?}", ours),
            }
        }
    }
}
