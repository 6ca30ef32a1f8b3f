//! Keeps the lints on clock, files, environment, processes, network and randomness switched on.
//!
//! Clippy does the work: `clippy.toml` lists the disallowed methods and types. This check only makes sure that no file but
//! the doors to the world allows these lints, and that no crate replaces `clippy.toml` by its own.

use super::source::{Finding, SourceFile};
use super::tokens::{tokens, without_tests};

/// Files that may allow the lints. Tests may as well.
const DOORS: &[&str] = &[
    // Sockets to services only in `src/real_http/sockets.rs`.
    "crates/stead-world/",
    "crates/stead-cli/src/wiring",
    // Sockets only.
    "crates/stead-server/src/net.rs",
    // Runs when the crate is built and does not ship.
    "crates/stead-eval/build.rs",
    // Drives real processes of the simulator, and does not ship.
    "crates/stead-trial/src/world/process",
    "crates/stead-trial/examples/",
    "crates/stead-cloud/examples/",
    "xtask/",
];

/// Words that switch the lints off when they occur in code, alone or as part of their group.
const LINTS: &[&str] = &["disallowed_methods", "disallowed_types"];
const GROUPS: &[&str] = &["all", "style"];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let bound = |file: &&SourceFile| !file.is_test() && !DOORS.iter().any(|door| file.path.starts_with(door));
    let mut findings: Vec<Finding> =
        files.iter().filter(|file| file.is_rust()).filter(bound).flat_map(findings_in).collect();
    findings.extend(files.iter().filter(|file| is_nested_config(&file.path)).map(|file| {
        Finding::whole(&*file.path, "only the clippy.toml at the root counts: this one would replace it")
    }));
    findings
}

fn is_nested_config(path: &str) -> bool {
    path.ends_with("/clippy.toml") || path.ends_with(".clippy.toml")
}

fn findings_in(file: &SourceFile) -> Vec<Finding> {
    let all = tokens(&file.text);
    let kept = without_tests(&all);
    let names = kept.windows(4).filter_map(|window| {
        let [clippy, first, second, lint] = window else { return None };
        let is_path = clippy.is_word("clippy") && first.is_sign(':') && second.is_sign(':');
        is_path.then(|| lint.word().map(|word| (word, lint.line)))?
    });
    names
        .filter(|(word, _)| LINTS.contains(word) || GROUPS.contains(word))
        .map(|(word, line)| {
            file.finding(line, format!("`clippy::{word}` may be allowed only in the doors to the world"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::source::{files, shown};
    use super::*;

    const ALLOW: &str = "//! A.\n#[allow(clippy::disallowed_methods, reason = \"x\")]\nfn f() {}\n";

    fn count(path: &str, text: &str) -> usize {
        check(&files([(path, text)])).len()
    }

    #[test]
    fn a_library_cannot_allow_the_lints() {
        assert_eq!(
            shown(&check(&files([("crates/stead-engine/src/a.rs", ALLOW)]))),
            [
                "crates/stead-engine/src/a.rs:2: `clippy::disallowed_methods` may be allowed only in the doors to the world"
            ]
        );
        for text in
            ["#![allow(clippy::disallowed_types)]", "#![allow(clippy::all)]", "#[expect(clippy::style)]"]
        {
            assert_eq!(count("crates/stead-cli/src/up.rs", text), 1, "{text}");
        }
        assert_eq!(count("crates/stead-engine/src/a.rs", "#[allow(clippy::too_many_lines)] fn f() {}"), 0);
    }

    #[test]
    fn doors_and_tests_can_allow_the_lints() {
        for path in [
            "crates/stead-world/src/lib.rs",
            "crates/stead-cli/src/wiring.rs",
            "crates/stead-cli/src/wiring/clock.rs",
            "crates/stead-cli/tests/cli/main.rs",
            "crates/stead-store/src/file/tests.rs",
            "xtask/src/main.rs",
        ] {
            assert_eq!(count(path, ALLOW), 0, "{path}");
        }
        let inline = "#[cfg(test)]\n#[allow(clippy::disallowed_types)]\nmod tests { use std::fs; }";
        assert_eq!(count("crates/stead-engine/src/a.rs", inline), 0);
    }

    #[test]
    fn a_crate_cannot_have_its_own_configuration() {
        assert_eq!(count("crates/stead-engine/clippy.toml", ""), 1);
        assert_eq!(count("crates/stead-engine/.clippy.toml", ""), 1);
        assert_eq!(count("clippy.toml", ""), 0);
    }
}
