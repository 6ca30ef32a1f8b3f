//! Splits Rust source into the few kinds of token that the checks need.
//!
//! Comments are dropped and a string is one token, so that no check mistakes text for code. It is less than a lexer:
//! operators come out sign by sign, and a number counts as a word.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    Word(&'a str),
    /// Text between the quotes of a string, with its escapes.
    Text(&'a str),
    Sign(char),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) line: usize,
}

impl<'a> Token<'a> {
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word(word)
    }

    pub(crate) fn is_sign(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }

    pub(crate) fn word(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }
}

pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut reader = Reader { rest: text, line: 1, tokens: Vec::new() };
    while let Some(next) = reader.rest.chars().next() {
        reader.step(next);
    }
    reader.tokens
}

/// Returns the tokens without items of test builds: after `#[cfg(test)]` one item, after `#![cfg(test)]` all.
pub(crate) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if starts_test_attribute(&tokens[at..], true) {
            break;
        }
        if starts_test_attribute(&tokens[at..], false) {
            at = end_of_item(tokens, at);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

fn starts_test_attribute(tokens: &[Token<'_>], inner: bool) -> bool {
    let open: &[char] = if inner { &['#', '!', '['] } else { &['#', '['] };
    let Some((signs, rest)) = tokens.split_at_checked(open.len()) else { return false };
    let words: Vec<&str> = rest.iter().take(6).filter_map(Token::word).collect();
    signs.iter().zip(open).all(|(token, sign)| token.is_sign(*sign))
        && (words.starts_with(&["cfg", "test"]) || words.starts_with(&["cfg", "all", "test"]))
}

/// Returns the position behind the item that the attribute at `start` belongs to.
fn end_of_item(tokens: &[Token<'_>], start: usize) -> usize {
    let mut at = start;
    while at < tokens.len() && tokens[at].is_sign('#') {
        at = end_of_group(tokens, at + 1);
    }
    while at < tokens.len() {
        match tokens[at].kind {
            Kind::Sign(';') => return at + 1,
            Kind::Sign('{') => return end_of_group(tokens, at),
            Kind::Sign('(' | '[') => at = end_of_group(tokens, at),
            // The end of the enclosing item: the attribute is on a field or a variant.
            Kind::Sign(')' | ']' | '}') => return at,
            _ => at += 1,
        }
    }
    at
}

/// Returns the position behind the bracket that closes the one at `open`.
fn end_of_group(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Sign('(' | '[' | '{') => depth += 1,
            Kind::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Reader<'a> {
    fn step(&mut self, next: char) {
        if self.rest.starts_with("//") {
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.block_comment();
        } else if next == '"' {
            self.take(1);
            self.string();
        } else if next == '\'' {
            self.character_or_lifetime();
        } else if next == '_' || next.is_alphanumeric() {
            self.word();
        } else {
            if !next.is_whitespace() {
                self.push(Kind::Sign(next));
            }
            self.take(next.len_utf8());
        }
    }

    fn push(&mut self, kind: Kind<'a>) {
        self.tokens.push(Token { kind, line: self.line });
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.take(2);
            } else {
                self.take(self.rest.chars().next().map_or(0, char::len_utf8));
            }
            if depth == 0 || self.rest.is_empty() {
                return;
            }
        }
    }

    /// Reads a string. The opening quote was taken already.
    fn string(&mut self) {
        let mut escaped = false;
        let end = self.rest.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        self.text(end, 1);
    }

    fn text(&mut self, end: Option<usize>, closing: usize) {
        let end = end.unwrap_or(self.rest.len());
        self.push(Kind::Text(&self.rest[..end]));
        self.take(end + closing);
    }

    fn character_or_lifetime(&mut self) {
        self.take(1);
        let mut ahead = self.rest.chars();
        match (ahead.next(), ahead.next()) {
            (Some('\\'), Some(escaped)) => {
                self.take(1 + escaped.len_utf8());
                self.take(self.rest.find('\'').map_or(0, |end| end + 1));
            }
            (Some(character), Some('\'')) => {
                self.take(character.len_utf8() + 1);
            }
            _ => {
                self.take(self.rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(0));
            }
        }
    }

    fn word(&mut self) {
        let end = self.rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(self.rest.len());
        let (word, behind) = self.rest.split_at(end);
        let hashes = behind.len() - behind.trim_start_matches('#').len();
        let quoted = behind[hashes..].starts_with('"');
        match word {
            "r" | "br" | "cr" if quoted => {
                self.take(end + hashes + 1);
                let closing = format!("\"{}", "#".repeat(hashes));
                self.text(self.rest.find(&closing), closing.len());
            }
            "b" | "c" if quoted && hashes == 0 => {
                self.take(end + 1);
                self.string();
            }
            // `r#type` is the word `type`.
            "r" if hashes == 1 => {
                self.take(end + 1);
            }
            _ => {
                self.push(Kind::Word(word));
                self.take(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).iter().filter_map(Token::word).collect()
    }

    #[test]
    fn comments_strings_and_characters_contain_no_words() {
        let text = r###"a // b
            /* c /* d */ e */ "f \" g" r#"h " i"# b"j" 'k' '\'' '"' '\u{1F600}' l"###;
        assert_eq!(words(text), ["a", "l"]);
    }

    #[test]
    fn lifetimes_and_raw_words_do_not_open_a_literal() {
        assert_eq!(words("fn f<'a>(x: &'a str) r#type \"x\""), ["fn", "f", "x", "str", "type"]);
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let text = "\"one\ntwo\"\n/* three\n*/ word";
        assert_eq!(tokens(text).last().map(|token| token.line), Some(4));
    }

    #[test]
    fn only_the_item_under_a_test_attribute_is_left_out() {
        let text = "#[cfg(test)] mod tests; use a; #[cfg(test)] #[allow(x)] mod t { fn f() { b } } fn c() {}
            #[cfg(all(test, unix))] fn d(x: [u8; 2]) {} #[cfg(not(test))] fn e() {}";
        let all = tokens(text);
        let kept: Vec<&str> = without_tests(&all).iter().filter_map(Token::word).collect();
        assert_eq!(kept, ["use", "a", "fn", "c", "cfg", "not", "test", "fn", "e"]);
    }

    #[test]
    fn a_file_under_an_inner_test_attribute_is_left_out() {
        assert!(without_tests(&tokens("#![cfg(test)] use a;")).is_empty());
    }
}
