//! The paths that a Rust file mentions, with the trees of its `use` items written out.

use super::tokens::Token;

/// One mention of a path: `std::fs::read` in code, or a leaf of a `use` tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention<'a> {
    /// Ends with `*` for a glob; `self` at the end of a tree is left out.
    pub(crate) segments: Vec<&'a str>,
    pub(crate) line: usize,
    pub(crate) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Code,
    /// The name of a macro that is called.
    Macro,
    Use,
    /// `use … as other`.
    Renamed,
}

pub(crate) fn mentions<'a>(tokens: &[Token<'a>]) -> Vec<Mention<'a>> {
    let mut walk = Walk { tokens, at: 0, found: Vec::new() };
    while walk.at < tokens.len() {
        if walk.peek_word("use") {
            walk.at += 1;
            walk.tree(&[]);
        } else if tokens[walk.at].word().is_some() {
            walk.path();
        } else {
            walk.at += 1;
        }
    }
    walk.found
}

struct Walk<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    found: Vec<Mention<'a>>,
}

impl<'a> Walk<'_, 'a> {
    fn peek_word(&self, word: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.is_word(word))
    }

    fn peek_sign(&self, sign: char) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.is_sign(sign))
    }

    fn take_separator(&mut self) -> bool {
        let separator = self.peek_sign(':') && self.tokens.get(self.at + 1).is_some_and(|t| t.is_sign(':'));
        if separator {
            self.at += 2;
        }
        separator
    }

    /// `a::b::c` in code, as far as it goes on with plain words.
    fn path(&mut self) {
        let line = self.tokens[self.at].line;
        let mut segments = Vec::new();
        while let Some(word) = self.tokens.get(self.at).and_then(Token::word) {
            segments.push(word);
            self.at += 1;
            if !self.take_separator() {
                break;
            }
        }
        let place = if self.peek_sign('!') { Place::Macro } else { Place::Code };
        self.found.push(Mention { segments, line, place });
    }

    /// One branch of a `use` tree, below `prefix`.
    fn tree(&mut self, prefix: &[&'a str]) {
        let mut segments = prefix.to_vec();
        self.take_separator();
        while let Some(token) = self.tokens.get(self.at).copied() {
            if token.is_sign('{') {
                return self.branches(&segments);
            }
            self.at += 1;
            segments.push(if token.is_sign('*') { "*" } else { token.word().unwrap_or_default() });
            if self.take_separator() {
                continue;
            }
            let place = if self.peek_word("as") { Place::Renamed } else { Place::Use };
            if place == Place::Renamed {
                self.at += 2;
            }
            if segments.last() == Some(&"self") {
                segments.pop();
            }
            return self.found.push(Mention { segments, line: token.line, place });
        }
    }

    fn branches(&mut self, prefix: &[&'a str]) {
        self.at += 1;
        while self.at < self.tokens.len() && !self.peek_sign('}') {
            if self.peek_sign(',') {
                self.at += 1;
            } else {
                self.tree(prefix);
            }
        }
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn found(text: &str) -> Vec<(String, Place)> {
        mentions(&tokens(text)).into_iter().map(|m| (m.segments.join("::"), m.place)).collect()
    }

    #[test]
    fn a_use_tree_is_written_out() {
        let text = "use std::{fs::{self, File}, io as i, time::*};";
        let want = [
            ("std::fs", Place::Use),
            ("std::fs::File", Place::Use),
            ("std::io", Place::Renamed),
            ("std::time::*", Place::Use),
        ];
        assert_eq!(found(text), want.map(|(path, place)| (path.to_owned(), place)));
    }

    #[test]
    fn paths_in_code_are_found_wherever_they_stand() {
        let text = "let x: Vec<std::fs::File> = ::std::env::var(env!(\"A\"));";
        let paths: Vec<String> = found(text).into_iter().map(|(path, _)| path).collect();
        assert!(paths.contains(&"std::fs::File".to_owned()), "{paths:?}");
        assert!(paths.contains(&"std::env::var".to_owned()), "{paths:?}");
        assert!(found(text).contains(&("env".to_owned(), Place::Macro)));
    }
}
