//! Shape of a Rust file: it opens with its purpose, has a readable length, and has no unfinished code.

use std::path::Path;

use super::source::{Finding, SourceFile};
use super::tokens::{Token, tokens};

const MAX_LINES: usize = 600;

/// Module names without meaning.
const MEANINGLESS_NAMES: &[&str] = &["utils", "util"];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    files.iter().filter(|file| file.is_rust()).flat_map(findings_in).collect()
}

fn findings_in(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !file.text.starts_with("//! ") {
        findings.push(file.finding(1, "open the file with `//!` lines: its purpose, and its invariants"));
    }
    let lines = file.text.lines().count();
    if lines > MAX_LINES {
        findings.push(
            file.finding(MAX_LINES + 1, format!("{lines} lines of at most {MAX_LINES}: split the file")),
        );
    }
    if let Some(name) = MEANINGLESS_NAMES.iter().find(|name| is_called(&file.path, name)) {
        findings
            .push(file.finding(1, format!("`{name}` has no meaning: name the module after its contents")));
    }
    let tokens = tokens(&file.text);
    for (at, token) in tokens.iter().enumerate() {
        if let Some(message) = unfinished(&tokens[at..]) {
            findings.push(file.finding(token.line, message));
        }
    }
    findings
}

fn is_called(path: &str, name: &str) -> bool {
    Path::new(path).with_extension("").iter().any(|part| part == name)
}

fn unfinished(tokens: &[Token<'_>]) -> Option<String> {
    match tokens {
        [hash, open, word, ..] if hash.is_sign('#') && open.is_sign('[') && word.is_word("ignore") => {
            Some("an ignored test proves nothing: fix it or remove it".to_owned())
        }
        [word, bang, open, ..] if bang.is_sign('!') && !open.is_sign('=') => {
            let name = word.word().filter(|name| ["todo", "unimplemented"].contains(name))?;
            Some(format!("`{name}!` is not an implementation"))
        }
        [keyword, word, ..] if keyword.is_word("mod") => {
            let name = word.word().filter(|name| MEANINGLESS_NAMES.contains(name))?;
            Some(format!("`mod {name}` has no meaning: name the module after its contents"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::files;
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&files([(path, text)])).len()
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert_eq!(count("a.rs", "//! Adds.\nfn f() {}\n"), 0);
        for text in ["", "fn f() {}\n", "// Adds.\n", "\n//! Adds.\n", "//!\n"] {
            assert_eq!(count("a.rs", text), 1, "{text:?}");
        }
        assert_eq!(count("a.ts", "let x = 1;\n"), 0);
    }

    #[test]
    fn a_file_has_at_most_six_hundred_lines() {
        let lines = |n: usize| format!("//! Long.\n{}", "\n".repeat(n - 1));
        assert_eq!(count("a.rs", &lines(600)), 0);
        assert_eq!(count("a.rs", &lines(601)), 1);
    }

    #[test]
    fn unfinished_code_is_found() {
        for code in ["#[ignore] fn f() {}", "#[ignore = \"slow\"]", "todo!()", "unimplemented!(\"x\")"] {
            assert_eq!(count("a.rs", &format!("//! A.\n{code}")), 1, "{code}");
        }
        for code in ["// todo!()", "const A: &str = \"#[ignore]\";", "if todo != 1 {}", "fn ignore() {}"] {
            assert_eq!(count("a.rs", &format!("//! A.\n{code}")), 0, "{code}");
        }
    }

    #[test]
    fn module_names_without_meaning_are_found() {
        assert_eq!(count("crates/a/src/utils.rs", "//! A.\n"), 1);
        assert_eq!(count("crates/a/src/utils/b.rs", "//! A.\n"), 1);
        assert_eq!(count("a.rs", "//! A.\nmod utils;"), 1);
        assert_eq!(count("crates/a/src/utilisation.rs", "//! A.\n"), 0);
    }
}
