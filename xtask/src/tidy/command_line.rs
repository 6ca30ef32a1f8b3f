//! Libraries contain no command-line syntax: a hint names an operation, and each front end phrases it (`stead_model::Hint`).
//!
//! The check reads the string literals of code that ships. Comments and tests may mention commands.

use super::source::{Finding, SourceFile};
use super::tokens::{Kind, Token, tokens, without_tests};

/// Crates that are front ends or tools, and may contain the syntax.
const FRONT_ENDS: &[&str] = &["stead-cli", "stead-trial"];

/// Libraries that still contain the syntax. The aim is an empty list.
const NOT_YET_CLEAN: &[&str] = &[];

/// Commands whose name after the word `stead` counts as syntax.
const COMMANDS: &[&str] = &[
    "compile", "destroy", "drift", "graph", "import", "init", "pin", "plan", "refresh", "rename", "rollback",
    "run", "serve", "stack", "state", "up",
];

/// Constant that may name a command: it is the recorded key of a mark, and part of the state format.
const RECORDED_KEY: &str = "STATE_PROTECT";

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut unclean = Vec::new();
    for file in files.iter().filter(|file| file.is_rust() && !file.is_test()) {
        let Some(name) = library(&file.path) else { continue };
        let found = findings_in(file);
        if NOT_YET_CLEAN.contains(&name) {
            unclean.extend((!found.is_empty()).then_some(name));
        } else {
            findings.extend(found);
        }
    }
    let present = |name: &str| files.iter().any(|file| library(&file.path) == Some(name));
    let clean = NOT_YET_CLEAN.iter().filter(|name| present(name) && !unclean.contains(*name));
    findings.extend(clean.map(|name| {
        Finding::whole(
            "xtask/src/tidy/command_line.rs",
            format!("`{name}` is clean: remove it from NOT_YET_CLEAN"),
        )
    }));
    findings
}

/// Returns the library crate that a path belongs to, if it is in its `src` folder.
fn library(path: &str) -> Option<&str> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    (rest.starts_with("src/") && !FRONT_ENDS.contains(&name)).then_some(name)
}

fn findings_in(file: &SourceFile) -> Vec<Finding> {
    let all = tokens(&file.text);
    let kept = without_tests(&all);
    let mut findings = Vec::new();
    for (at, token) in kept.iter().enumerate() {
        let Kind::Text(text) = token.kind else { continue };
        if let Some(syntax) = syntax_in(text).filter(|_| !is_recorded_key(&kept[..at])) {
            let message = format!("command-line syntax in a library: `{syntax}`; use `stead_model::Hint`");
            findings.push(file.finding(token.line, message));
        }
    }
    findings
}

/// Returns true if the tokens before a literal are `STATE_PROTECT: &str =`.
fn is_recorded_key(before: &[Token<'_>]) -> bool {
    before.iter().rev().take(5).any(|token| token.is_word(RECORDED_KEY))
}

/// Returns the first command or flag in a text.
fn syntax_in(text: &str) -> Option<String> {
    let is_lower = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
    let word = |text: &str| -> String {
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
    };
    for (at, _) in text.match_indices("stead ") {
        let (before, after) = (&text[..at], &text[at + "stead ".len()..]);
        let quoted = before.ends_with('`') && is_lower(after);
        let separate = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        if quoted || (separate && COMMANDS.contains(&word(after).as_str())) {
            return Some(format!("stead {}", word(after)));
        }
    }
    let flag = text.match_indices("`--").map(|(at, _)| &text[at + 1..]);
    flag.filter(|flag| is_lower(&flag[2..])).map(word).next()
}

#[cfg(test)]
mod tests {
    use super::super::source::{files, shown};
    use super::*;

    fn in_library(code: &str) -> Vec<String> {
        let all = files([("crates/stead-sample/src/a.rs", code)]);
        shown(&check(&all))
    }

    #[test]
    fn commands_and_flags_in_literals_are_found() {
        assert_eq!(
            in_library("fn f() { help(\"run `stead up` again\"); }"),
            [
                "crates/stead-sample/src/a.rs:1: command-line syntax in a library: `stead up`; use `stead_model::Hint`"
            ]
        );
        for text in ["then stead state rm", "with `--yes`", "`stead frobnicate`", "stead pin mv {from} {to}"]
        {
            assert_eq!(in_library(&format!("const A: &str = \"{text}\";")).len(), 1, "{text}");
        }
        assert_eq!(in_library("const A: &str = r#\"`--target`\"#;").len(), 1);
    }

    #[test]
    fn the_name_of_the_product_is_not_syntax() {
        for text in
            ["stead does not know it", "stead stacks up", "instead up", "a -- b", "`stead`", "--flag={x}"]
        {
            assert_eq!(in_library(&format!("const A: &str = \"{text}\";")), [""; 0], "{text}");
        }
    }

    #[test]
    fn comments_tests_and_the_recorded_key_are_exempt() {
        assert!(
            in_library("// `stead up`\n#[cfg(test)]\nmod tests { const A: &str = \"`stead up`\"; }")
                .is_empty()
        );
        assert!(in_library("pub const STATE_PROTECT: &str = \"stead state protect\";").is_empty());
        for path in ["crates/stead-cli/src/a.rs", "crates/stead-sample/tests/a.rs", "xtask/src/a.rs"] {
            assert!(check(&files([(path, "const A: &str = \"`stead up`\";")])).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_crate_that_became_clean_must_leave_the_list() {
        for name in NOT_YET_CLEAN {
            let path = format!("crates/{name}/src/a.rs");
            let found = shown(&check(&files([(&path, "fn f() {}")])));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(check(&files([(&path, "const A: &str = \"`stead up`\";")])).is_empty());
        }
    }
}
