//! Sample texts for regular expressions, as schemas use them: literals, classes, groups, alternatives and repetitions.

use std::iter::Peekable;
use std::str::Chars;

/// Returns a text for an expression, made of the characters of a label where the expression leaves a choice. Of several
/// alternatives, takes the one with this number. `None` if the expression uses more than the common parts. The text may
/// still not match: the caller checks it.
pub(crate) fn sample(expression: &str, label: &str, alternative: usize) -> Option<String> {
    let mut parser = Parser { rest: expression.chars().peekable(), alternative };
    let node = parser.alternatives()?;
    if parser.rest.next().is_some() {
        return None;
    }
    let mut text = String::new();
    node.write(label, &mut text);
    Some(text)
}

/// Length of a label above which repetitions are used, once for each such length.
const LONG: usize = 64;

enum Node {
    Literal(char),
    /// Characters that a class allows, or forbids.
    Class(Class),
    Sequence(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

struct Class {
    ranges: Vec<(char, char)>,
    /// Classes inside this one.
    inner: Vec<Class>,
    negated: bool,
}

impl Class {
    fn allows(&self, c: char) -> bool {
        let named = self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&c));
        (named || self.inner.iter().any(|class| class.allows(c))) != self.negated
    }

    /// Returns a character of the class, preferring plain ones.
    fn first(&self) -> Option<char> {
        let plain = ('a'..='z').chain('0'..='9').chain('A'..='Z').chain(' '..='~');
        plain.into_iter().find(|c| self.allows(*c)).or_else(|| self.ranges.first().map(|(first, _)| *first))
    }
}

impl Node {
    fn write(&self, label: &str, text: &mut String) {
        match self {
            Node::Literal(c) => text.push(*c),
            Node::Class(class) => {
                let chosen = label.chars().rev().find(|c| class.allows(*c)).or_else(|| class.first());
                text.extend(chosen);
            }
            Node::Sequence(nodes) => nodes.iter().for_each(|node| node.write(label, text)),
            Node::Repeat(node, least, most) => {
                let most = most.unwrap_or(usize::MAX);
                if let Node::Class(class) = &**node {
                    let fitting: Vec<char> = label.chars().filter(|c| class.allows(*c)).collect();
                    // The end of a label tells it from others.
                    let fitting = &fitting[fitting.len().saturating_sub(most)..];
                    text.extend(fitting);
                    let fill = fitting.last().copied().or_else(|| class.first());
                    (fitting.len()..*least).for_each(|_| text.extend(fill));
                } else {
                    // A long label asks for a long text.
                    let times = (*least).max(label.len() / LONG).min(most);
                    (0..times).for_each(|_| node.write(label, text));
                }
            }
        }
    }
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    alternative: usize,
}

impl Parser<'_> {
    fn take(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    /// Parses alternatives, and keeps one that is not empty.
    fn alternatives(&mut self) -> Option<Node> {
        let mut all = vec![self.sequence()?];
        while self.take('|') {
            all.push(self.sequence()?);
        }
        all.retain(|node| !matches!(node, Node::Sequence(nodes) if nodes.is_empty()));
        let kept = if all.is_empty() { None } else { Some(all.swap_remove(self.alternative % all.len())) };
        Some(kept.unwrap_or(Node::Sequence(Vec::new())))
    }

    fn sequence(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        while let Some(c) = self.rest.peek().copied() {
            match c {
                '|' | ')' => break,
                '^' | '$' => drop(self.rest.next()),
                _ => {
                    let node = self.atom()?;
                    nodes.push(self.repeated(node)?);
                }
            }
        }
        Some(Node::Sequence(nodes))
    }

    fn atom(&mut self) -> Option<Node> {
        Some(match self.rest.next()? {
            '(' => {
                if self.take('?') && !self.take(':') {
                    // A flag, such as `(?i)`.
                    let flags = self.rest.by_ref().take_while(|c| *c != ')').all(|c| c.is_ascii_lowercase());
                    return flags.then_some(Node::Sequence(Vec::new()));
                }
                let node = self.alternatives()?;
                self.take(')').then_some(node)?
            }
            '[' => Node::Class(self.class()?),
            '.' => Node::Class(Class { ranges: vec![('\n', '\n')], inner: Vec::new(), negated: true }),
            '\\' => match self.escape()? {
                Escape::Literal(c) => Node::Literal(c),
                Escape::Class(class) => Node::Class(class),
                Escape::Boundary => Node::Sequence(Vec::new()),
            },
            c => Node::Literal(c),
        })
    }

    fn repeated(&mut self, node: Node) -> Option<Node> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.rest.next();
                let least = self.number().unwrap_or(0);
                let most = if self.take(',') { self.number() } else { Some(least) };
                self.rest.next_if_eq(&'}')?;
                self.take('?');
                return Some(Node::Repeat(Box::new(node), least, most));
            }
            _ => return Some(node),
        };
        self.rest.next();
        self.take('?');
        self.take('+');
        // An optional part belongs to every second alternative.
        let least = if most == Some(1) { self.alternative % 2 } else { least };
        Some(Node::Repeat(Box::new(node), least, most))
    }

    fn number(&mut self) -> Option<usize> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits.parse().ok()
    }

    fn class(&mut self) -> Option<Class> {
        let mut class = Class { ranges: Vec::new(), inner: Vec::new(), negated: self.take('^') };
        loop {
            let first = match self.rest.next()? {
                ']' if !class.ranges.is_empty() || !class.inner.is_empty() => return Some(class),
                '\\' => match self.escape()? {
                    Escape::Literal(c) => c,
                    Escape::Class(inner) => {
                        class.inner.push(inner);
                        continue;
                    }
                    Escape::Boundary => return None,
                },
                c => c,
            };
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && !matches!(ahead.next(), Some(']') | None);
            if !is_range {
                class.ranges.push((first, first));
                continue;
            }
            self.rest.next();
            let last = match self.rest.next()? {
                '\\' => match self.escape()? {
                    Escape::Literal(c) => c,
                    _ => return None,
                },
                c => c,
            };
            class.ranges.push((first, last));
        }
    }

    fn escape(&mut self) -> Option<Escape> {
        let class = |ranges: &[(char, char)], negated| {
            Some(Escape::Class(Class { ranges: ranges.to_vec(), inner: Vec::new(), negated }))
        };
        let (digit, space) = ([('0', '9')], [(' ', ' '), ('\t', '\r')]);
        let word = [('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
        let hex = |text: String| u32::from_str_radix(&text, 16).ok().and_then(char::from_u32);
        match self.rest.next()? {
            'd' => class(&digit, false),
            'D' => class(&digit, true),
            'w' => class(&word, false),
            'W' => class(&word, true),
            's' => class(&space, false),
            'S' => class(&space, true),
            'b' | 'B' | 'A' | 'z' | 'Z' => Some(Escape::Boundary),
            'n' => Some(Escape::Literal('\n')),
            'r' => Some(Escape::Literal('\r')),
            't' => Some(Escape::Literal('\t')),
            'u' => hex(self.rest.by_ref().take(4).collect()).map(Escape::Literal),
            'x' => hex(self.rest.by_ref().take(2).collect()).map(Escape::Literal),
            'p' | 'P' => None,
            c => Some(Escape::Literal(c)),
        }
    }
}

enum Escape {
    Literal(char),
    Class(Class),
    /// A place between two characters.
    Boundary,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_match_common_expressions() {
        for (expression, text) in [
            ("^[a-z][a-z0-9.-]{1,61}[a-z0-9]$", "enamee"),
            (r"^arn:aws[a-zA-Z-]*:iam::\d{12}:role\/.+$", "arn:awsname:iam::000000000000:role/name"),
            ("^(Enabled|Disabled)$", "Enabled"),
            (r"^sg-[0-9a-f]{8}$", "sg-aeeeeeee"),
            ("[^:]+", "name"),
        ] {
            assert_eq!(sample(expression, "name", 0).as_deref(), Some(text), "{expression}");
        }
        assert_eq!(sample(r"\p{L}", "name", 0), None);
        assert_eq!(sample("(?!x)y", "name", 0), None);
    }
}
