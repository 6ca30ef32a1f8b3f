//! Property paths: vectors of segments, never joined strings. The text form is for messages only.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An index or a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Segment {
    Index(usize),
    Key(String),
}

/// A path into the properties of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PropertyPath(pub Vec<Segment>);

impl PropertyPath {
    pub fn of(key: &str) -> PropertyPath {
        PropertyPath(vec![Segment::Key(key.to_owned())])
    }

    pub fn key(&self, key: &str) -> PropertyPath {
        self.with(Segment::Key(key.to_owned()))
    }

    pub fn index(&self, index: usize) -> PropertyPath {
        self.with(Segment::Index(index))
    }

    /// Returns the property that the path starts with.
    pub fn root(&self) -> Option<&str> {
        match self.0.first() {
            Some(Segment::Key(key)) => Some(key),
            _ => None,
        }
    }

    fn with(&self, segment: Segment) -> PropertyPath {
        let mut segments = self.0.clone();
        segments.push(segment);
        PropertyPath(segments)
    }
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if is_identifier(key) => {
                    write!(f, "{}{key}", if position == 0 { "" } else { "." })?;
                }
                Segment::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

fn is_identifier(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with(|c: char| c.is_ascii_digit())
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_prints_as_a_program_writes_it() {
        let path = PropertyPath::of("rules").index(2).key("port").key("a-b");
        assert_eq!(path.to_string(), r#"rules[2].port["a-b"]"#);
    }
}
