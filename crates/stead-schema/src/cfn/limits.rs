//! Limits of a form besides its kind: lengths, ranges, counts, patterns, and members that need each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use stead_model::{Map, Number, Value};

/// Limits that a published schema sets for one value. An absent limit allows everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Length of a text, in characters.
    pub length: Span<u64>,
    /// Regular expression that a text must contain a match of.
    pub pattern: Option<Pattern>,
    pub range: Span<Number>,
    /// Number of elements of a list.
    pub items: Span<u64>,
    /// Number of members of an object.
    pub members: Span<u64>,
    /// Members that an object must also have, by the member that needs them.
    pub dependencies: BTreeMap<String, BTreeSet<String>>,
}

/// Limits on both sides, inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span<T> {
    pub least: Option<T>,
    pub most: Option<T>,
}

impl<T> Default for Span<T> {
    fn default() -> Span<T> {
        Span { least: None, most: None }
    }
}

impl Span<u64> {
    pub fn holds(&self, count: usize) -> bool {
        let count = count as u64;
        self.least.is_none_or(|least| count >= least) && self.most.is_none_or(|most| count <= most)
    }
}

impl Span<Number> {
    pub fn holds(&self, number: Number) -> bool {
        let number = number.as_f64();
        self.least.is_none_or(|least| number >= least.as_f64())
            && self.most.is_none_or(|most| number <= most.as_f64())
    }
}

impl<T: std::fmt::Display> Span<T> {
    /// Returns the limits for a message: "3 to 63", "at least 1", "at most 50".
    pub fn words(&self) -> String {
        match (&self.least, &self.most) {
            (Some(least), Some(most)) if least.to_string() == most.to_string() => format!("exactly {least}"),
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => "any number".to_owned(),
        }
    }
}

/// Regular expression of a schema, compiled at its first use.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    /// `None` for an expression that only other engines understand, such as one that looks ahead.
    compiled: OnceLock<Option<regex_lite::Regex>>,
}

/// Size of a compiled pattern above which it is not used: it would slow down every check.
const MAX_COMPILED: usize = 1 << 20;

impl Pattern {
    pub fn new(text: &str) -> Pattern {
        Pattern { text: text.to_owned(), compiled: OnceLock::new() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns false if the text certainly violates the pattern.
    pub fn allows(&self, text: &str) -> bool {
        let compile = || {
            let regex = regex_lite::RegexBuilder::new(&self.text).size_limit(MAX_COMPILED).build().ok();
            regex.filter(|_| !has_lost_anchor(&self.text))
        };
        self.compiled.get_or_init(compile).as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// Returns true for a `^` behind other characters, which some published expressions have: nothing matches them.
fn has_lost_anchor(text: &str) -> bool {
    let mut before = None;
    text.chars().any(|c| {
        let lost = c == '^' && !matches!(before, None | Some('(' | '|' | '[' | '\\' | ':'));
        before = Some(c);
        lost
    })
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Limits {
    /// Reads the limits of a node of a schema. Limits that make no sense are skipped.
    pub(crate) fn of(node: &Map) -> Limits {
        let count = |key: &str| node.get(key).and_then(Value::as_i64).and_then(|n| u64::try_from(n).ok());
        let number = |key: &str| match node.get(key) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        };
        let span = |least: &str, most: &str| Span {
            least: count(least).filter(|least| *least > 0),
            most: count(most),
        };
        let mut dependencies: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for key in ["dependencies", "dependentRequired"] {
            for (name, needs) in node.get(key).and_then(Value::as_map).into_iter().flatten() {
                let needs = needs.as_list().unwrap_or_default().iter().filter_map(Value::as_str);
                let needs: BTreeSet<String> = needs.map(str::to_owned).collect();
                if !needs.is_empty() {
                    dependencies.entry(name.to_string()).or_default().extend(needs);
                }
            }
        }
        Limits {
            length: span("minLength", "maxLength"),
            pattern: node.get("pattern").and_then(Value::as_str).map(Pattern::new),
            range: Span { least: number("minimum"), most: number("maximum") },
            items: span("minItems", "maxItems"),
            members: span("minProperties", "maxProperties"),
            dependencies,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_that_cannot_be_compiled_allows_every_text() {
        assert!(Pattern::new("^(?!x)").allows("x") && Pattern::new("(").allows(""));
        assert!(Pattern::new("^[a-z]+$").allows("abc") && !Pattern::new("^[a-z]+$").allows("a1"));
        assert!(Pattern::new("^a/^.{1,9}$").allows("a/b"), "nothing matches it");
        assert!(Pattern::new("b").allows("abc"), "a match anywhere is enough");
    }

    #[test]
    fn limits_are_told_in_words() {
        let span = |least, most| Span::<u64> { least, most }.words();
        assert_eq!(span(Some(3), Some(63)), "3 to 63");
        assert_eq!(
            (span(Some(1), None), span(None, Some(9))),
            ("at least 1".to_owned(), "at most 9".to_owned())
        );
        assert_eq!(span(Some(4), Some(4)), "exactly 4");
    }
}
