//! Reads YAML 1.2 with the core schema: `no` is a string, `0o7` a number, a key is a string.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use stead_model::{Number, Value};

use super::Tree;

/// Error with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) message: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Largest number of values that aliases may repeat. A small text can repeat a value exponentially often.
const MOST_REPEATED: usize = 100_000;
const MAX_DEPTH: usize = stead_model::MAX_NESTING;

/// Reads all documents of a text.
pub(crate) fn read_all(text: &str) -> Result<Vec<Tree>, YamlError> {
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: Vec::new(), repeated: 0 };
    let mut documents = Vec::new();
    loop {
        match reader.next()? {
            (Event::DocumentStart(_), _) => {
                let first = reader.next()?;
                documents.push(reader.node(first, 0)?.0);
                reader.anchors.clear();
            }
            (Event::StreamEnd, _) => return Ok(documents),
            _ => {}
        }
    }
}

/// Reads the only document of a text; an empty text is null.
pub(crate) fn read(text: &str) -> Result<Tree, YamlError> {
    let mut all = read_all(text)?;
    match all.len() {
        0 => Ok(Tree::Value(Value::Null)),
        1 => Ok(all.remove(0)),
        _ => {
            let message = "the text has several documents; use `yaml.parseAll`".to_owned();
            Err(YamlError { message, line: 1, column: 1 })
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    /// Values with an anchor, by its number, with the number of values in them.
    anchors: Vec<(usize, Tree, usize)>,
    repeated: usize,
}

type Spanned<'a> = (Event<'a>, Span);

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Spanned<'a>, YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(scan_error(&error)),
            None => Err(YamlError { message: "the text ends too early".to_owned(), line: 1, column: 1 }),
        }
    }

    /// Reads one value, and returns it with the number of values in it.
    fn node(&mut self, (event, span): Spanned<'a>, depth: usize) -> Result<(Tree, usize), YamlError> {
        if depth > MAX_DEPTH {
            return Err(at(span, format!("the text is nested deeper than {MAX_DEPTH} levels")));
        }
        let (anchor, tree, count) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, Tree::Value(scalar(&text, style, tag.as_deref(), span)?), 1)
            }
            Event::SequenceStart(anchor, tag) => {
                check_tag(tag.as_deref(), "seq", span)?;
                let (items, count) = self.sequence(depth)?;
                (anchor, Tree::List(items), count)
            }
            Event::MappingStart(anchor, tag) => {
                check_tag(tag.as_deref(), "map", span)?;
                let (entries, count) = self.mapping(depth)?;
                (anchor, Tree::Map(entries), count)
            }
            _ => return Err(at(span, "a value is missing".to_owned())),
        };
        if anchor > 0 {
            self.anchors.push((anchor, tree.clone(), count));
        }
        Ok((tree, count))
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(Tree, usize), YamlError> {
        let found = self.anchors.iter().rev().find(|(known, ..)| *known == anchor);
        let Some((_, tree, count)) = found.cloned() else {
            return Err(at(span, "the alias has no anchor before it".to_owned()));
        };
        self.repeated += count;
        if self.repeated > MOST_REPEATED {
            return Err(at(span, format!("aliases repeat more than {MOST_REPEATED} values")));
        }
        Ok((tree, count))
    }

    fn sequence(&mut self, depth: usize) -> Result<(Vec<Tree>, usize), YamlError> {
        let (mut items, mut count) = (Vec::new(), 1);
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok((items, count)),
                event => {
                    let (item, more) = self.node(event, depth + 1)?;
                    items.push(item);
                    count += more;
                }
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<(Vec<(String, Tree)>, usize), YamlError> {
        let (mut entries, mut count) = (Vec::new(), 1);
        let mut keys = std::collections::HashSet::new();
        loop {
            let event = match self.next()? {
                (Event::MappingEnd, _) => return Ok((entries, count)),
                event => event,
            };
            let span = event.1;
            let (key, _) = self.node(event, depth + 1)?;
            let key = key_text(&key).ok_or_else(|| at(span, "a key must be a scalar".to_owned()))?;
            if !keys.insert(key.clone()) {
                return Err(at(span, format!("the key `{key}` appears twice")));
            }
            let event = self.next()?;
            let (value, more) = self.node(event, depth + 1)?;
            entries.push((key, value));
            count += more;
        }
    }
}

/// Returns a key as a JavaScript object has it.
fn key_text(key: &Tree) -> Option<String> {
    match key {
        Tree::Value(Value::String(text)) => Some(text.to_string()),
        Tree::Value(Value::Null) => Some(String::new()),
        Tree::Value(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_json()),
        _ => None,
    }
}

fn check_tag(tag: Option<&Tag>, name: &str, span: Span) -> Result<(), YamlError> {
    match tag {
        Some(tag) if core_name(tag) != Some(name) => Err(unknown_tag(tag, span)),
        _ => Ok(()),
    }
}

/// Returns the name of a tag of the core schema, such as `str`; `!` alone means a string.
fn core_name(tag: &Tag) -> Option<&str> {
    let core = tag.handle == "tag:yaml.org,2002:" || tag.handle == "!!";
    core.then_some(tag.suffix.as_str())
}

fn unknown_tag(tag: &Tag, span: Span) -> YamlError {
    let shown = format!("{}{}", tag.handle, tag.suffix);
    at(span, format!("the tag `{shown}` has no meaning here; remove it, or read the file as text"))
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Value, YamlError> {
    let resolved = match tag {
        None if style == ScalarStyle::Plain => plain(text),
        None => Some(Value::from(text)),
        Some(tag) => match core_name(tag) {
            Some("str") => Some(Value::from(text)),
            Some("int" | "float") => plain(text).filter(|value| matches!(value, Value::Number(_))),
            Some("bool") => plain(text).filter(|value| matches!(value, Value::Bool(_))),
            Some("null") => plain(text).filter(|value| *value == Value::Null),
            _ if tag.handle.is_empty() && tag.suffix == "!" => Some(Value::from(text)),
            _ => return Err(unknown_tag(tag, span)),
        },
    };
    resolved.ok_or_else(|| at(span, format!("`{text}` is not a value that can be stored")))
}

/// Resolves a plain scalar by the core schema; `None` for NaN, infinity, and text that does not fit its tag.
pub(super) fn plain(text: &str) -> Option<Value> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return None,
        text => {
            let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
            if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
                return None;
            }
            if let Some(digits) = text.strip_prefix("0o").filter(|digits| is_all(digits, |c| c.is_digit(8))) {
                return radix(digits, 8);
            }
            if let Some(digits) =
                text.strip_prefix("0x").filter(|digits| is_all(digits, |c| c.is_ascii_hexdigit()))
            {
                return radix(digits, 16);
            }
            if is_all(unsigned, |c| c.is_ascii_digit()) {
                return whole(text);
            }
            if is_float(unsigned) {
                return text.parse().ok().and_then(Number::from_f64).map(Value::Number);
            }
            Value::from(text)
        }
    })
}

/// Returns an integer as the nearest double, which is all that a program can hold: a deferred call gives the same number.
fn whole(text: &str) -> Option<Value> {
    text.parse().ok().and_then(Number::from_f64).map(Value::Number)
}

fn radix(digits: &str, radix: u32) -> Option<Value> {
    let number = digits
        .chars()
        .try_fold(0.0, |sum, digit| Some(sum * f64::from(radix) + f64::from(digit.to_digit(radix)?)));
    number.and_then(Number::from_f64).map(Value::Number)
}

fn is_all(text: &str, accepts: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(accepts)
}

/// Returns true for `1.`, `.5`, `1.5e3`: digits with a point or an exponent.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((before, after)) => digits(before) && digits(after) && !(before.is_empty() && after.is_empty()),
        None => is_all(mantissa, |c| c.is_ascii_digit()),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        is_all(exponent.strip_prefix(['-', '+']).unwrap_or(exponent), |c| c.is_ascii_digit())
    });
    mantissa_fits && exponent_fits
}

fn at(span: Span, message: String) -> YamlError {
    YamlError { message, line: span.start.line().max(1) as u32, column: span.start.col() as u32 + 1 }
}

fn scan_error(error: &ScanError) -> YamlError {
    let marker = error.marker();
    YamlError {
        message: error.info().to_owned(),
        line: marker.line().max(1) as u32,
        column: marker.col() as u32 + 1,
    }
}
