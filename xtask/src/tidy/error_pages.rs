//! Each error code has a page in `docs/errors/`, and each page has a code in its title.

use super::source::{Finding, SourceFile};
use super::tokens::{Kind, tokens};

const CODES: &str = "crates/stead-model/src/codes.rs";
const PAGES: &str = "docs/errors/";

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let Some(source) = files.iter().find(|file| file.path == CODES) else {
        return vec![Finding::whole(CODES, "the file with the error codes is missing")];
    };
    let codes = codes_in(&source.text);
    let pages: Vec<(&str, &SourceFile)> = files
        .iter()
        .filter_map(|file| Some((file.path.strip_prefix(PAGES)?.strip_suffix(".md")?, file)))
        .filter(|(stem, _)| *stem != "README")
        .collect();
    let mut findings = Vec::new();
    for (code, line) in &codes {
        if !pages.iter().any(|(page, _)| page == code) {
            findings.push(source.finding(*line, format!("{code} has no page {PAGES}{code}.md")));
        }
    }
    for (stem, page) in pages {
        if !codes.iter().any(|(code, _)| *code == stem) {
            findings.push(Finding::whole(&*page.path, format!("{CODES} has no code {stem}")));
        } else if !is_titled(&page.text, stem) {
            findings.push(page.finding(1, format!("the first heading must be `# {stem}: …`")));
        }
    }
    findings
}

/// Returns all strings of the form `ST` and four digits that are assigned to a name, with their lines.
fn codes_in(text: &str) -> Vec<(&str, usize)> {
    let tokens = tokens(text);
    let assigned = tokens.windows(2).filter(|pair| pair[0].is_sign('='));
    assigned
        .filter_map(|pair| match pair[1].kind {
            Kind::Text(code) if is_code(code) => Some((code, pair[1].line)),
            _ => None,
        })
        .collect()
}

fn is_code(text: &str) -> bool {
    text.strip_prefix("ST")
        .is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_titled(text: &str, code: &str) -> bool {
    let heading = text.lines().find(|line| line.starts_with('#'));
    let title = heading.and_then(|heading| heading.strip_prefix(&format!("# {code}: ")));
    title.is_some_and(|title| !title.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::source::{files, shown};
    use super::*;

    const TWO: &str = "codes! {\n    A = \"ST0101\";\n    B = \"ST0102\";\n}\n// C = \"ST0103\"";

    #[test]
    fn codes_and_pages_that_match_are_fine() {
        let findings = check(&files([
            (CODES, TWO),
            ("docs/errors/ST0101.md", "# ST0101: a thing\n"),
            ("docs/errors/ST0102.md", "\n# ST0102: another\n"),
        ]));
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn a_code_without_a_page_is_found_where_it_is_declared() {
        let findings = check(&files([(CODES, TWO), ("docs/errors/ST0101.md", "# ST0101: a thing\n")]));
        assert_eq!(shown(&findings), [format!("{CODES}:3: ST0102 has no page docs/errors/ST0102.md")]);
    }

    #[test]
    fn a_page_without_a_code_is_found() {
        let findings = check(&files([(CODES, ""), ("docs/errors/ST0999.md", "# ST0999: gone\n")]));
        assert_eq!(shown(&findings).len(), 1);
    }

    #[test]
    fn a_page_must_be_titled_with_its_own_code() {
        for text in ["# ST0101: other\n", "no heading", "# ST0102\n", "## ST0102: low\n"] {
            let findings = check(&files([(CODES, "B = \"ST0102\";"), ("docs/errors/ST0102.md", text)]));
            assert_eq!(findings.len(), 1, "{text:?}");
        }
    }

    #[test]
    fn a_missing_list_of_codes_is_a_finding() {
        assert_eq!(check(&[]).len(), 1);
    }
}
