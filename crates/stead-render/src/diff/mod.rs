//! Differences of two values as lines: keys of objects, elements of lists, lines of text, parts of long strings.
//!
//! **Invariant:** the lines of two different values differ. Parts that are left out are equal on both sides, or are
//! replaced by a digest.

mod json_text;
mod list;
mod sequence;
mod string;
mod text;
mod yaml;

#[cfg(test)]
mod tests;

use stead_model::PropertyPath;

pub(crate) use sequence::{Op, sequence};

use crate::node::Node;
use crate::visible::{self, cut};
use crate::{Detail, Style};

/// Number of characters of a differing part before it is cut.
pub(crate) const MAX_PART: usize = 400;

/// Number of lines of a new text before the rest is left out.
const MAX_SHOWN: usize = 6;

/// The side that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Title, context or count of unchanged parts; the same on both sides.
    Both,
    Old,
    New,
    /// Remark on the line before: its side ends without a newline.
    NoNewline,
    Moved,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Text(String),
    /// `label: old → new`
    Pair {
        label: String,
        old: String,
        new: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub depth: usize,
    pub sign: Sign,
    pub body: Body,
}

/// Compares values, and collects the lines.
pub(crate) struct Differ {
    detail: Detail,
    width: usize,
    pub lines: Vec<Line>,
}

impl Differ {
    pub(crate) fn new(style: &Style) -> Differ {
        Differ { detail: style.detail, width: style.width, lines: Vec::new() }
    }

    /// Adds the differences of two different values.
    pub(crate) fn compare(&mut self, depth: usize, path: &PropertyPath, old: &Node<'_>, new: &Node<'_>) {
        match (old, new) {
            (Node::List(old), Node::List(new)) => self.lists(depth, path, old, new),
            (Node::Map(a), Node::Map(b)) if !a.is_empty() && !b.is_empty() => self.maps(depth, path, a, b),
            _ => match (old.as_str(), new.as_str()) {
                (Some(old), Some(new)) => self.strings(depth, path, old, new),
                _ => self.scalars(depth, path, old, new),
            },
        }
    }

    /// Compares two objects key by key. Both list their keys in order.
    fn maps(
        &mut self,
        depth: usize,
        path: &PropertyPath,
        old: &[(&str, Node<'_>)],
        new: &[(&str, Node<'_>)],
    ) {
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        let mut unchanged = 0;
        loop {
            let next = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some((a, _)), Some((b, _))) => (a <= b, b <= a),
                (a, b) => (a.is_some(), b.is_some()),
            };
            let (a, b) = (old.next_if(|_| next.0), new.next_if(|_| next.1));
            match (a, b) {
                (Some((key, a)), Some((_, b))) if !a.is_same(b) => self.compare(depth, &path.key(key), a, b),
                (Some((key, a)), Some(_)) if self.detail == Detail::Full => {
                    self.push(depth, Sign::Both, format!("  {}: {}", path.key(key), a.text()));
                }
                (Some(_), Some(_)) => unchanged += 1,
                (Some((key, a)), None) => self.removed(depth, &path.key(key).to_string(), a),
                (None, Some((key, b))) => self.added(depth, &path.key(key).to_string(), b),
                (None, None) => break,
            }
        }
        if unchanged > 0 {
            let place = if path.0.is_empty() { String::new() } else { format!(" in {path}") };
            self.push(depth, Sign::Both, format!("… {unchanged} unchanged{place}"));
        }
    }

    pub(crate) fn removed(&mut self, depth: usize, label: &str, old: &Node<'_>) {
        self.pair(depth, label, self.cut(&old.text()), "(removed)".to_owned());
    }

    /// Adds the lines of a value without an older one.
    pub(crate) fn added(&mut self, depth: usize, label: &str, new: &Node<'_>) {
        match lines_of(new) {
            Some(text) => {
                self.push(depth, Sign::Both, format!("{label}: (new)"));
                self.block(depth + 1, Sign::New, text);
            }
            None => {
                let text = self.cut(&new.text());
                self.push(depth, Sign::Both, format!("{label}: {text} (new)"));
            }
        }
    }

    /// Adds the lines of a value by itself. The end of a long text is left out.
    pub(crate) fn shown(&mut self, depth: usize, label: &str, value: &Node<'_>) {
        let Some(text) = lines_of(value) else {
            let text = self.cut(&value.text());
            return self.push(depth, Sign::Both, format!("{label}: {text}"));
        };
        let lines: Vec<&str> = text.lines().collect();
        let some = if self.detail == Detail::Full { lines.len() } else { MAX_SHOWN };
        let count = lines.len();
        self.push(depth, Sign::Both, format!("{label}: {count} lines, {} characters", text.chars().count()));
        for line in lines.iter().take(some) {
            let line = self.cut(&visible::line(line));
            self.push(depth + 1, Sign::Both, format!("  {line}"));
        }
        if let Some(more) = count.checked_sub(some).filter(|more| *more > 0) {
            let digest = visible::digest(text);
            self.push(depth + 1, Sign::Both, format!("… {more} more lines, sha256 of all {digest}"));
        }
    }

    fn scalars(&mut self, depth: usize, path: &PropertyPath, old: &Node<'_>, new: &Node<'_>) {
        let (old, new) = (self.cut(&old.text()), self.cut(&new.text()));
        self.pair(depth, &path.to_string(), old, new);
    }

    /// Adds two texts on one line, or on two lines if they do not fit.
    fn pair(&mut self, depth: usize, label: &str, old: String, new: String) {
        let length = label.chars().count() + old.chars().count() + new.chars().count() + 5;
        // Two secrets with one text are told to differ on one line.
        if length <= self.room(depth) || old == new {
            self.lines.push(Line {
                depth,
                sign: Sign::Both,
                body: Body::Pair { label: label.to_owned(), old, new },
            });
        } else {
            self.push(depth, Sign::Both, format!("{label}:"));
            self.push(depth + 1, Sign::Old, old);
            self.push(depth + 1, Sign::New, new);
        }
    }

    fn push(&mut self, depth: usize, sign: Sign, text: String) {
        self.lines.push(Line { depth, sign, body: Body::Text(text) });
    }

    /// Returns the number of characters that fit on a line.
    fn room(&self, depth: usize) -> usize {
        self.width.saturating_sub(4 + 2 * depth).max(20)
    }

    fn cut(&self, text: &str) -> String {
        cut(text, self.limit())
    }

    fn limit(&self) -> usize {
        if self.detail == Detail::Full { usize::MAX } else { MAX_PART }
    }
}

/// Returns the text of a string with several lines.
fn lines_of<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.as_str().filter(|text| text.trim_end_matches('\n').contains('\n'))
}
