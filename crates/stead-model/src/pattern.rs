//! Patterns over property paths, as `ignoreChanges` and `replaceOnChanges` take them.
//!
//! `tags.*.value`, `rules[*].port`, `env["A B"]`: written like a path, with `*` for any one segment. A pattern
//! covers the values it names and all values inside them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{PropertyPath, Segment};

/// One segment of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatternPart {
    Any,
    Key(String),
    Index(usize),
}

/// A pattern over the property paths of a resource. It keeps the text that it was parsed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    text: String,
    parts: Vec<PatternPart>,
}

/// The reason why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a property path: {problem}")]
pub struct PatternError {
    text: String,
    problem: &'static str,
}

impl PathPattern {
    pub fn of(parts: Vec<PatternPart>) -> PathPattern {
        let mut text = String::new();
        for part in &parts {
            match part {
                PatternPart::Any => text.push_str("[*]"),
                PatternPart::Index(index) => text.push_str(&format!("[{index}]")),
                PatternPart::Key(key) => {
                    let path = PropertyPath::of(key).to_string();
                    text.push_str(if text.is_empty() || path.starts_with('[') { "" } else { "." });
                    text.push_str(&path);
                }
            }
        }
        PathPattern { text, parts }
    }

    pub fn parts(&self) -> &[PatternPart] {
        &self.parts
    }

    /// Returns true if the pattern matches the path or a path around it.
    pub fn covers(&self, path: &PropertyPath) -> bool {
        self.parts.len() <= path.0.len() && self.parts.iter().zip(&path.0).all(|(part, step)| part.fits(step))
    }

    /// Returns true if the pattern may match a path inside this one.
    pub fn leads_through(&self, path: &PropertyPath) -> bool {
        path.0.len() < self.parts.len() && self.parts.iter().zip(&path.0).all(|(part, step)| part.fits(step))
    }
}

impl PatternPart {
    fn fits(&self, step: &Segment) -> bool {
        match (self, step) {
            (PatternPart::Any, _) => true,
            (PatternPart::Key(key), Segment::Key(name)) => key == name,
            (PatternPart::Index(index), Segment::Index(at)) => index == at,
            _ => false,
        }
    }
}

impl std::str::FromStr for PathPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<PathPattern, PatternError> {
        let problem = |problem| PatternError { text: text.to_owned(), problem };
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (part, left) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside).map_err(problem)?,
                None => {
                    let name = if parts.is_empty() { rest } else { rest.strip_prefix('.').unwrap_or("") };
                    let end = name.find(['.', '[', ']']).unwrap_or(name.len());
                    if end == 0 {
                        return Err(problem("a name is missing"));
                    }
                    (
                        if &name[..end] == "*" {
                            PatternPart::Any
                        } else {
                            PatternPart::Key(name[..end].to_owned())
                        },
                        &name[end..],
                    )
                }
            };
            parts.push(part);
            rest = left;
        }
        if parts.is_empty() {
            return Err(problem("it is empty"));
        }
        Ok(PathPattern { text: text.to_owned(), parts })
    }
}

/// Parses the text after `[` and returns the segment and the text after `]`.
fn bracket(inside: &str) -> Result<(PatternPart, &str), &'static str> {
    if inside.starts_with('"') {
        let mut texts = serde_json::Deserializer::from_str(inside).into_iter::<String>();
        let Some(Ok(key)) = texts.next() else { return Err("a quoted name does not end") };
        let after = &inside[texts.byte_offset()..];
        return after.strip_prefix(']').map(|rest| (PatternPart::Key(key), rest)).ok_or("a `]` is missing");
    }
    let (index, rest) = inside.split_once(']').ok_or("a `]` is missing")?;
    let part = match index {
        "*" => PatternPart::Any,
        digits => PatternPart::Index(
            digits.parse().map_err(|_| "only a number, a quoted name or `*` stands in brackets")?,
        ),
    };
    Ok((part, rest))
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for PathPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for PathPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &PropertyPath) -> bool {
        pattern.parse::<PathPattern>().unwrap().covers(path)
    }

    #[test]
    fn pattern_covers_the_named_path_and_all_paths_inside() {
        let path = PropertyPath::of("rules").index(2).key("a b");
        for pattern in ["rules", "rules[*]", "rules[2]", "rules.*", "*", "rules[2][\"a b\"]", "*[*].*"] {
            assert!(covers(pattern, &path), "{pattern}");
        }
        for pattern in ["rule", "rules[1]", "rules.2", "rules[*].a", "rules[2][\"a b\"].c"] {
            assert!(!covers(pattern, &path), "{pattern}");
        }
        assert!("rules[*].port".parse::<PathPattern>().unwrap().leads_through(&PropertyPath::of("rules")));
    }

    #[test]
    fn invalid_pattern_is_refused() {
        for text in ["", ".", "a..b", "a[", "a[x]", "a]", "a[\"b]", "a[\"b\"", "[]", "a."] {
            assert!(text.parse::<PathPattern>().is_err(), "{text}");
        }
    }
}
