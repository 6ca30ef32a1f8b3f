//! Bugs that are put in on purpose: each one in the code is in the list, each in the list is in the code, and nothing
//! but the trial of them turns them on.

use std::collections::BTreeSet;

use super::source::{Finding, SourceFile};

const LIST: &str = "crates/stead-trial/src/teeth.rs";
const TURNS_THEM_ON: &str = "xtask/src/trial.rs";

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let Some(list) = files.iter().find(|file| file.path == LIST) else { return Vec::new() };
    let listed: BTreeSet<&str> = list.text.lines().filter_map(entry).collect();
    let (mut findings, mut planted) = (Vec::new(), BTreeSet::new());
    for file in files.iter().filter(|file| !file.path.starts_with("xtask/src/tidy/")) {
        for (number, line) in file.text.lines().enumerate() {
            for bug in line.split("planted::is(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                planted.insert(bug.to_owned());
                if !listed.contains(bug) {
                    findings
                        .push(file.finding(number + 1, format!("the planted bug `{bug}` is not in {LIST}")));
                }
            }
            let on = line.contains("--cfg stead_planted\"") || line.contains("rustc-cfg=stead_planted");
            if on && file.path != TURNS_THEM_ON {
                findings
                    .push(file.finding(number + 1, format!("only {TURNS_THEM_ON} turns planted bugs on")));
            }
        }
    }
    let missing = listed.iter().filter(|bug| !planted.contains(**bug));
    findings.extend(missing.map(|bug| Finding::whole(LIST, format!("`{bug}` is planted nowhere"))));
    findings
}

/// The name in a line of the list.
fn entry(line: &str) -> Option<&str> {
    line.strip_prefix("    (\"")?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::super::source::shown;
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn list_and_code_say_the_same() {
        let list = file(LIST, "    (\"a-bug\", \"what it does\"),\n    (\"gone\", \"nothing\"),\n");
        let code = file("crates/x/src/a.rs", "if planted::is(\"a-bug\") {}\nif planted::is(\"new\") {}\n");
        let config = file(".cargo/config.toml", "rustflags = [\"--cfg stead_planted\"]\n");
        let found = shown(&check(&[list, code, config]));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|finding| finding.contains("`new` is not in")), "{found:?}");
        assert!(found.iter().any(|finding| finding.contains("`gone` is planted nowhere")), "{found:?}");
        assert!(found.iter().any(|finding| finding.contains("turns planted bugs on")), "{found:?}");
    }
}
