//! Planted bugs: the code has none, each listed bug has a patch that applies, and each patch is of a listed bug.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::{Finding, SourceFile};
use super::tokens::{Kind, Token, tokens};
use crate::planted::{Apply, PATCHES, Patch, SWITCH, apply};

/// Folder with the source that lists the bugs, as `const BUGS`.
const SIMULATOR: &str = "crates/stead-trial/src/";

pub(crate) fn check(root: &Path, files: &[SourceFile]) -> Vec<Finding> {
    let patches = patches(files);
    let mut findings = code(files);
    findings.extend(names(files, &patches));
    findings.extend(apply(root, &patches, Apply::OnlyCheck).err().map(|it| Finding::whole(PATCHES, it)));
    findings
}

/// Returns the patches of the repository in the order in which they apply.
fn patches(files: &[SourceFile]) -> Vec<Patch> {
    let patch = |file: &SourceFile| {
        Some(Patch { name: Patch::name_of(&file.path)?.to_owned(), text: file.text.clone() })
    };
    let mut patches: Vec<Patch> = files.iter().filter_map(patch).collect();
    patches.sort();
    patches
}

/// Finds planted code outside the patches.
fn code(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_rust() && file.text.contains("planted")) {
        for window in tokens(&file.text).windows(4) {
            let asks = window[0].is_word("planted")
                && window[1..3].iter().all(|token| token.is_sign(':'))
                && window[3].is_word("is");
            if asks {
                findings.push(
                    file.finding(window[0].line, format!("a planted bug belongs in a patch, in {PATCHES}")),
                );
            }
        }
    }
    findings
}

/// Compares the list of bugs with the patches, and the name of each patch with the name that its code asks for.
fn names(files: &[SourceFile], patches: &[Patch]) -> Vec<Finding> {
    let source = files.iter().filter(|file| file.is_rust() && file.path.starts_with(SIMULATOR));
    let lists: BTreeMap<&str, &str> =
        source.flat_map(|file| listed(&file.text).into_iter().map(|bug| (bug, file.path.as_str()))).collect();
    let present: BTreeSet<&str> = patches.iter().map(|patch| patch.name.as_str()).collect();
    let mut findings = Vec::new();
    for (bug, list) in lists.iter().filter(|(bug, _)| !present.contains(*bug)) {
        findings.push(Finding::whole(*list, format!("the bug `{bug}` has no patch {PATCHES}{bug}.patch")));
    }
    for Patch { name, text } in patches.iter().filter(|patch| patch.name != SWITCH) {
        let path = format!("{PATCHES}{name}.patch");
        if !lists.contains_key(name.as_str()) {
            findings.push(Finding::whole(&*path, format!("`BUGS` in {SIMULATOR} does not list `{name}`")));
        }
        let asked = format!("planted::is(\"{name}\")");
        if !text.lines().any(|line| line.starts_with('+') && line.contains(&asked)) {
            findings.push(Finding::whole(&*path, format!("the patch does not add `{asked}`")));
        }
    }
    findings
}

/// Returns the names in the list of bugs: strings of one word. The other strings describe the bugs.
fn listed(text: &str) -> Vec<&str> {
    let tokens = tokens(text);
    let declared = |pair: &[Token<'_>]| pair[0].is_word("const") && pair[1].is_word("BUGS");
    let Some(start) = tokens.windows(2).position(declared) else { return Vec::new() };
    let list = tokens[start..].iter().take_while(|token| !token.is_sign(';'));
    list.filter_map(|token| match token.kind {
        Kind::Text(name) if !name.contains(' ') => Some(name),
        _ => None,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::source::{files, shown};
    use super::*;

    #[test]
    fn list_and_patches_have_the_same_names() {
        let list = "pub const BUGS: &[(&str, &str)] = &[\n    (\"a-bug\", \"loses a record\"),\n    (\"no-patch\", \"loses two records\"),\n];";
        let files = files([
            ("crates/stead-trial/src/bugs.rs", list),
            ("crates/stead-trial/planted/000-switch.patch", "+pub mod planted;\n"),
            ("crates/stead-trial/planted/a-bug.patch", "+if planted::is(\"a-bug\") {\n"),
            ("crates/stead-trial/planted/unlisted.patch", "+if planted::is(\"another\") {\n"),
        ]);
        let found = shown(&names(&files, &patches(&files)));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|finding| finding.contains("`no-patch` has no patch")), "{found:?}");
        assert!(found.iter().any(|finding| finding.contains("does not list `unlisted`")), "{found:?}");
        assert!(found.iter().any(|finding| finding.contains("does not add `planted::is(\"unlisted\")`")));
    }

    #[test]
    fn planted_code_outside_the_patches_is_found() {
        let files = files([
            ("crates/x/src/a.rs", "if stead_model::planted::is(\"a-bug\") {}\n"),
            ("crates/x/src/b.rs", "// planted::is\nlet text = \"planted::is\";\nfn planted() {}\n"),
        ]);
        let found = shown(&code(&files));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/x/src/a.rs:1: a planted bug belongs in a patch"), "{found:?}");
    }
}
