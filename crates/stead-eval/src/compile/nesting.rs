//! Limits the size and the nesting of a source file before it is parsed.
//!
//! Parser and visitors recurse over the syntax tree, and a tree that is too deep would overflow their stack. A tree is never deeper
//! than the tokens on the way to its deepest part, so the scanner counts tokens: those of each open bracket since the last
//! separator. It reads words, strings, templates, comments and regular expressions as the language does.

use oxc_semantic::Scoping;
use oxc_span::Span;
use stead_model::{Code, Diagnostic};

use crate::program::source_text::SourceText;

/// Maximum size of one source file, in bytes.
pub(crate) const MAX_SOURCE_BYTES: usize = 8 << 20;
/// Maximum number of tokens that can enclose or precede a token in one expression, type or statement.
pub(crate) const MAX_NESTED_TOKENS: usize = 5_000;
/// Maximum number of names that one scope declares. The engine searches them one by one.
pub(crate) const MAX_NAMES: usize = 20_000;

/// Returns an error if the file is too large or nested too deeply.
pub(crate) fn check(source: &SourceText) -> Option<Diagnostic> {
    let limits = "`docs/limits.md` lists the limits";
    if source.text.len() > MAX_SOURCE_BYTES {
        let size = source.text.len();
        let message =
            format!("the file has {size} bytes; a source file may have {} MiB", MAX_SOURCE_BYTES >> 20);
        let place = source.locate(Span::new(0, 0));
        let problem = Diagnostic::error(Code::EVALUATION_LIMIT, message).at(place.at, 0, "in this file");
        return Some(problem.help("move data into a JSON file, and read it with `readText`").help(limits));
    }
    let at = Scanner::new(&source.text).too_deep()?;
    let place = source.locate(Span::new(at as u32, at as u32 + 1));
    let message = format!("the code is nested deeper than {MAX_NESTED_TOKENS} tokens");
    let problem = Diagnostic::error(Code::EVALUATION_LIMIT, message);
    Some(
        problem
            .at(place.at, place.length, "too deep here")
            .help("divide it into several statements")
            .help(limits),
    )
}

/// Returns an error if a scope declares too many names.
pub(crate) fn crowded_scope(source: &SourceText, scoping: &Scoping) -> Option<Diagnostic> {
    let bindings = scoping.scope_descendants_from_root().map(|scope| scoping.get_bindings(scope));
    let crowded = bindings.into_iter().find(|bindings| bindings.len() > MAX_NAMES)?;
    let last = crowded.values().map(|symbol| scoping.symbol_span(*symbol)).max_by_key(|span| span.start)?;
    let place = source.locate(last);
    let message = format!("one scope declares {} names; it may declare {MAX_NAMES}", crowded.len());
    let problem = Diagnostic::error(Code::EVALUATION_LIMIT, message);
    Some(problem.at(place.at, place.length, "the last one is here").help("use a list or a map"))
}

/// Last token, as far as it decides how the next one is read.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// An operand ends: a name, a literal or a closing bracket.
    Operand,
    /// An operator, an opening bracket or a keyword: an operand must follow.
    Operator,
    /// A dot: the next word is a name.
    Dot,
    /// The header of `if`, `for`, `while` or `with` ends: a statement follows.
    Header,
    /// A closing brace ends a block or an operand.
    Brace,
}

/// Open bracket.
struct Open {
    /// Tokens before the bracket since the last separator, those of all outer brackets included.
    tokens: usize,
    kind: Bracket,
}

#[derive(Clone, Copy, PartialEq)]
enum Bracket {
    Plain,
    /// Parentheses of `if`, `for`, `while` and `with`.
    Header,
    /// Hole of a template, `${`.
    Hole,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Open>,
    /// Tokens since the last separator, those of all open brackets included.
    tokens: usize,
    last: Last,
    /// The last word was a keyword whose parentheses are followed by a statement.
    header: bool,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Scanner<'a> {
        let (open, last) = (Vec::new(), Last::Operator);
        Scanner { text: text.as_bytes(), at: 0, open, tokens: 0, last, header: false }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Returns the position where the limit is exceeded.
    fn too_deep(mut self) -> Option<usize> {
        let mut new_line = true;
        while self.at < self.text.len() {
            let start = self.at;
            match self.peek(0) {
                b'\n' | b'\r' => {
                    new_line = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' => {
                    self.at += 1;
                    continue;
                }
                b'/' if self.peek(1) == b'/' => self.line_comment(),
                b'/' if self.peek(1) == b'*' => self.comment(),
                byte => self.token(byte, new_line),
            }
            if self.tokens > MAX_NESTED_TOKENS {
                return Some(start);
            }
            new_line = false;
        }
        None
    }

    fn token(&mut self, byte: u8, new_line: bool) {
        let header = std::mem::take(&mut self.header);
        self.tokens += 1;
        match byte {
            b'"' | b'\'' => {
                self.string(byte);
                self.last = Last::Operand;
            }
            b'`' => {
                self.at += 1;
                self.template();
            }
            b'(' | b'[' | b'{' => {
                self.at += 1;
                if byte == b'{' && self.last == Last::Brace {
                    self.separate();
                }
                self.open(if header && byte == b'(' { Bracket::Header } else { Bracket::Plain });
            }
            b')' | b']' | b'}' => {
                self.at += 1;
                self.close(byte);
            }
            b';' | b',' => {
                self.at += 1;
                self.separate();
            }
            b'/' if matches!(self.last, Last::Operator | Last::Header) => self.regex(),
            b'.' if !self.peek(1).is_ascii_digit() => {
                self.at += 1;
                self.last = if self.peek(0) == b'.' { Last::Operator } else { Last::Dot };
            }
            b'+' | b'-' if self.peek(1) == byte => self.at += 2,
            b'!' if self.last == Last::Operand && self.peek(1) != b'=' => self.at += 1,
            _ if is_word(byte) => self.word(new_line),
            _ => {
                self.at += 1;
                self.last = Last::Operator;
            }
        }
    }

    /// Reads a name, keyword or number.
    fn word(&mut self, new_line: bool) {
        let start = self.at;
        let number = self.peek(0).is_ascii_digit() || self.peek(0) == b'.';
        while is_word(self.peek(0)) || (number && self.peek(0) == b'.') {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        let continues = CONTINUING.contains(&word);
        let starts_statement = match self.last {
            Last::Operand => new_line,
            Last::Brace => true,
            Last::Operator | Last::Dot | Last::Header => false,
        };
        if starts_statement && !continues {
            self.separate();
        }
        if self.last != Last::Dot && KEYWORDS.contains(&word) {
            self.header = HEADERS.contains(&word);
            self.last = Last::Operator;
        } else {
            self.last = Last::Operand;
        }
    }

    fn open(&mut self, kind: Bracket) {
        self.open.push(Open { tokens: self.tokens, kind });
        self.last = Last::Operator;
    }

    fn close(&mut self, byte: u8) {
        let Some(Open { tokens, kind }) = self.open.pop() else { return };
        self.tokens = tokens + 1;
        match kind {
            Bracket::Hole => self.template(),
            Bracket::Header => self.last = Last::Header,
            Bracket::Plain => self.last = if byte == b'}' { Last::Brace } else { Last::Operand },
        }
    }

    /// Starts a new statement or list item: the tokens before it do not enclose it.
    fn separate(&mut self) {
        self.tokens = self.open.last().map_or(0, |open| open.tokens) + 1;
        self.last = Last::Operator;
    }

    fn line_comment(&mut self) {
        while self.at < self.text.len() && self.peek(0) != b'\n' {
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        self.at += 2;
        while self.at < self.text.len() && !(self.peek(0) == b'*' && self.peek(1) == b'/') {
            self.at += 1;
        }
        self.at += 2;
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.text.len() && !matches!(self.peek(0), b'\n') && self.peek(0) != quote {
            self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }

    /// Reads a template from its start or from the end of a hole, up to its end or the next hole.
    fn template(&mut self) {
        while self.at < self.text.len() && self.peek(0) != b'`' {
            if self.peek(0) == b'$' && self.peek(1) == b'{' {
                self.at += 2;
                return self.open(Bracket::Hole);
            }
            self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        self.last = Last::Operand;
    }

    fn regex(&mut self) {
        let mut in_class = false;
        self.at += 1;
        while self.at < self.text.len() && self.peek(0) != b'\n' && (in_class || self.peek(0) != b'/') {
            match self.peek(0) {
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.last = Last::Operand;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'\\' | 0x80..)
}

/// Keywords that are followed by an operand, a block or a statement.
const KEYWORDS: &[&[u8]] = &[
    b"return",
    b"typeof",
    b"instanceof",
    b"in",
    b"of",
    b"new",
    b"delete",
    b"void",
    b"throw",
    b"case",
    b"do",
    b"else",
    b"await",
    b"yield",
    b"as",
    b"satisfies",
    b"extends",
    b"keyof",
    b"if",
    b"for",
    b"while",
    b"with",
];
const HEADERS: &[&[u8]] = &[b"if", b"for", b"while", b"with"];
/// Words that continue the statement before them.
const CONTINUING: &[&[u8]] =
    &[b"else", b"catch", b"finally", b"while", b"in", b"instanceof", b"of", b"as", b"satisfies", b"extends"];

#[cfg(test)]
mod tests {
    use super::*;

    fn deepest(text: &str) -> usize {
        let mut scanner = Scanner::new(text);
        let mut most = 0;
        while scanner.at < text.len() {
            match scanner.peek(0) {
                b'\n' | b' ' => scanner.at += 1,
                byte => {
                    let new_line = text[..scanner.at].ends_with('\n');
                    scanner.token(byte, new_line);
                    most = most.max(scanner.tokens);
                }
            }
        }
        most
    }

    #[test]
    fn tokens_of_one_expression_are_counted_and_separators_end_it() {
        assert_eq!(deepest(&"1+".repeat(100)), 200);
        assert_eq!(deepest(&"[".repeat(100)), 100);
        assert_eq!(deepest(&"a=>".repeat(100)), 300);
        assert_eq!(deepest(&"A<".repeat(100)), 200);
        assert_eq!(deepest(&"if(1)".repeat(100)), 300);
        assert_eq!(deepest(&"if(1)\n".repeat(100)), 300);
        assert!(deepest(&"if(1){}else ".repeat(100)) > 300);
        assert!(deepest(&"a.b.".repeat(100)) >= 400);
        assert!(deepest(&"[1],".repeat(100)) < 10);
        assert!(deepest(&"f(1, [2], {a: 3});\n".repeat(100)) < 20);
        assert!(deepest(&"f(1)\n".repeat(100)) < 10, "statements without semicolons");
        assert!(deepest(&"if (a) {\nb()\n}\n".repeat(100)) < 15, "blocks");
        assert!(deepest(&"const f = () => {}\nconst g = /[(]/\n".repeat(100)) < 15, "brackets in a regex");
        assert!(deepest(&"`(${a}(`;x = '(' + \"[\";".repeat(100)) < 15, "brackets in strings");
        assert!(deepest(&"if (x) /[(]/.test(y);".repeat(100)) < 20, "a regex after a header");
        assert!(deepest(&"x = a / b; y = (c) / d; z = e[0] / 2 / (1);".repeat(100)) < 20, "divisions");
    }
}
