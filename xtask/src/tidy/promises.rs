//! `docs/promises.md` names a test for each promise. The test must exist.
//!
//! A test is named as `crate::module::name`, or by its bare name. Tests are sentences, so a bare name has at least two
//! underscores; shorter words in backticks are not tests.

use super::source::{Finding, SourceFile};
use super::tokens::{Token, tokens};

const PAGE: &str = "docs/promises.md";

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let tests: Vec<(&str, &str)> = files
        .iter()
        .filter(|file| file.is_rust())
        .flat_map(|file| tests_in(&file.text).into_iter().map(|name| (name, file.path.as_str())))
        .collect();
    let mut findings = Vec::new();
    for (number, line) in page.text.lines().enumerate() {
        for test in code_spans(line).filter_map(named_test) {
            if !tests.iter().any(|(name, path)| *name == test.name && test.may_stand_in(path)) {
                let place = test.folder.map(|folder| format!(" in {folder}")).unwrap_or_default();
                findings.push(page.finding(number + 1, format!("there is no test `{}`{place}", test.name)));
            }
        }
    }
    findings
}

struct NamedTest<'a> {
    name: &'a str,
    /// Folder of the crate, if the page names the crate.
    folder: Option<String>,
}

impl NamedTest<'_> {
    fn may_stand_in(&self, path: &str) -> bool {
        self.folder.as_ref().is_none_or(|folder| path.starts_with(folder))
    }
}

fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn named_test(span: &str) -> Option<NamedTest<'_>> {
    let is_snake = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c == '_' || c == '-' || c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    let is_sentence = |name: &str| name.matches('_').count() >= 2 && !name.contains('-');
    let parts: Vec<&str> = span.split("::").collect();
    let (name, place) = parts.split_last()?;
    if !parts.iter().all(|part| is_snake(part)) {
        return None;
    }
    let first = place.first().map(|first| first.replace('_', "-"));
    let folder = match first.as_deref() {
        Some("xtask") => Some("xtask/".to_owned()),
        Some(name) if name.starts_with("stead-") => Some(format!("crates/{name}/")),
        _ => None,
    };
    (folder.is_some() || is_sentence(name)).then_some(NamedTest { name, folder })
}

/// Returns the functions with an attribute that ends in `test`: `#[test]`, `#[tokio::test]`, in a macro or not.
fn tests_in(text: &str) -> Vec<&str> {
    let tokens = tokens(text);
    let mut names = Vec::new();
    let mut is_test = false;
    for (at, token) in tokens.iter().enumerate() {
        if token.is_sign('#') {
            is_test |= attribute_names_a_test(&tokens[at + 1..]);
        } else if token.is_word("fn") {
            if is_test {
                names.extend(tokens.get(at + 1).and_then(Token::word));
            }
            is_test = false;
        }
    }
    names
}

fn attribute_names_a_test(tokens: &[Token<'_>]) -> bool {
    let path = tokens.iter().skip(1).take_while(|token| !token.is_sign(']') && !token.is_sign('('));
    tokens.first().is_some_and(|token| token.is_sign('['))
        && path.last().and_then(Token::word).is_some_and(|word| word == "test")
}

#[cfg(test)]
mod tests {
    use super::super::source::{files, shown};
    use super::*;

    const CODE: &str = "#[test]\nfn nothing_is_lost() {}\n#[tokio::test(flavor = \"x\")]\n#[allow(a)]\nasync fn \
                        short() {}\nfn not_a_test_at_all() {}";

    fn found(page: &str) -> Vec<String> {
        shown(&check(&files([(PAGE, page), ("crates/stead-state/src/a.rs", CODE)])))
    }

    #[test]
    fn tests_that_exist_are_fine_by_bare_name_and_by_path() {
        let page = "`nothing_is_lost`, `stead_state::a::tests::nothing_is_lost`, `stead-state::a::short`";
        assert!(found(page).is_empty(), "{:?}", found(page));
    }

    #[test]
    fn a_test_that_does_not_exist_is_found_with_its_line() {
        assert_eq!(
            found("a\n`nothing_is_ever_lost`"),
            ["docs/promises.md:2: there is no test `nothing_is_ever_lost`"]
        );
        assert_eq!(found("`not_a_test_at_all`").len(), 1);
    }

    #[test]
    fn a_path_must_name_the_crate_that_has_the_test() {
        assert_eq!(found("`stead_engine::tests::nothing_is_lost`").len(), 1);
        assert_eq!(found("`stead_state::a::gone`").len(), 1);
    }

    #[test]
    fn other_words_in_backticks_are_ignored() {
        assert!(
            found("`head`, `kill -9`, `prevent_delete`, `Provider::delete`, `std::fs`, `.ci/run`").is_empty()
        );
    }

    #[test]
    fn no_page_is_no_finding() {
        assert!(check(&[]).is_empty());
    }
}
