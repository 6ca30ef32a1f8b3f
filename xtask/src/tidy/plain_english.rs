//! Doc comments are in plain English: the subject of a sentence is an item or a noun of the glossary, not a pronoun.
//!
//! The check counts the doc lines of a crate with a word such as *what* or *nobody*, and fails above a small share: such
//! a word is sometimes right, and a habit when it is frequent.

use std::collections::BTreeMap;

use super::source::{Finding, SourceFile};

const PRONOUNS: &[&str] = &["what", "who", "whoever", "nobody", "somebody", "something", "those"];

/// One line in this many may contain a pronoun: 2 %, rounded up.
const LINES_PER_PRONOUN: usize = 50;

/// Number of lines that a finding names.
const SHOWN: usize = 5;

/// Crates that are still above the limit. The aim is an empty list.
#[rustfmt::skip]
const NOT_YET_PLAIN: &[&str] = &[];

#[derive(Default)]
struct Tally<'a> {
    lines: usize,
    pronouns: Vec<(&'a str, usize)>,
}

impl Tally<'_> {
    fn limit(&self) -> usize {
        self.lines.div_ceil(LINES_PER_PRONOUN)
    }

    fn is_plain(&self) -> bool {
        self.pronouns.len() <= self.limit()
    }

    fn message(&self) -> String {
        let shown: Vec<String> =
            self.pronouns.iter().take(SHOWN).map(|(path, line)| format!("{path}:{line}")).collect();
        let (count, lines, limit) = (self.pronouns.len(), self.lines, self.limit());
        format!(
            "{count} of {lines} doc lines have a pronoun for a subject, of at most {limit}: {}",
            shown.join(", ")
        )
    }
}

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Tally<'_>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(name) = crate_of(&file.path) else { continue };
        let tally = crates.entry(name).or_default();
        for (number, line) in file.text.lines().enumerate() {
            let Some(doc) = doc_text(line) else { continue };
            tally.lines += 1;
            if has_pronoun(doc) {
                tally.pronouns.push((&file.path, number + 1));
            }
        }
    }
    let mut findings = Vec::new();
    for (name, tally) in crates {
        match (tally.is_plain(), NOT_YET_PLAIN.contains(&name)) {
            (true, true) => {
                let message = format!("`{name}` is plain: remove it from NOT_YET_PLAIN");
                findings.push(Finding::whole("xtask/src/tidy/plain_english.rs", message));
            }
            (false, false) => findings.push(Finding::whole(name, tally.message())),
            _ => {}
        }
    }
    findings
}

fn crate_of(path: &str) -> Option<&str> {
    match path.strip_prefix("crates/") {
        Some(rest) => rest.split('/').next(),
        None => path.starts_with("xtask/").then_some("xtask"),
    }
}

fn doc_text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
}

/// Returns true if a pronoun stands as a word of its own, followed by a space.
fn has_pronoun(doc: &str) -> bool {
    let doc = doc.to_ascii_lowercase();
    let mut words = doc.split_inclusive(' ').filter_map(|part| part.strip_suffix(' '));
    words.any(|word| {
        let last = word.rsplit(|c: char| !c.is_ascii_lowercase()).next().unwrap_or(word);
        PRONOUNS.contains(&last)
    })
}

#[cfg(test)]
mod tests {
    use super::super::source::{files, shown};
    use super::*;

    #[test]
    fn a_pronoun_is_found_as_a_word_of_its_own() {
        for doc in [
            " What is left.",
            " (those that stay)",
            " The run, who waits",
            " \"what it is\"",
            " so-what else",
        ] {
            assert!(has_pronoun(doc), "{doc}");
        }
        for doc in [" Whatever comes.", " whatnot else", " The somewhat better", " It says what", " thosef x"]
        {
            assert!(!has_pronoun(doc), "{doc}");
        }
    }

    #[test]
    fn a_crate_may_have_a_pronoun_in_two_percent_of_its_doc_lines() {
        let text = |plain: usize, pronouns: usize| {
            format!(
                "{}{}// what is this\n",
                "/// A line.\n".repeat(plain),
                "/// What it is.\n".repeat(pronouns)
            )
        };
        let found =
            |plain, pronouns| shown(&check(&files([("crates/stead-a/src/a.rs", &text(plain, pronouns))])));
        assert!(found(49, 1).is_empty() && found(49, 2).is_empty() && found(9, 1).is_empty());
        assert_eq!(
            found(8, 2),
            [
                "stead-a: 2 of 10 doc lines have a pronoun for a subject, of at most 1: crates/stead-a/src/a.rs:9, \
                 crates/stead-a/src/a.rs:10"
            ]
        );
        assert_eq!(found(98, 3).len(), 0);
        assert_eq!(found(97, 3).len(), 1);
    }

    #[test]
    fn a_crate_that_became_plain_must_leave_the_list() {
        for name in NOT_YET_PLAIN {
            let path =
                if *name == "xtask" { "xtask/a.rs".to_owned() } else { format!("crates/{name}/src/a.rs") };
            assert_eq!(check(&files([(&path, "//! A.\n")])).len(), 1, "{name}");
        }
    }
}
