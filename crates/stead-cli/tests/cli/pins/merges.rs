//! Pinfiles in version control: two branches pin, move and unpin, and git merges them.

use std::process::Command;

use super::FILE;
use crate::project::Project;

/// Ids of the pinned key pairs of a program, in order.
type Pinned<'a> = &'a [&'a str];

/// Result of a merge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MergeResult {
    /// Git merged by line, and the pinfile has the pins of the merged program.
    Merged,
    /// Git left a conflict, and stead reports it.
    Conflict,
}

fn program(ids: Pinned<'_>) -> String {
    let key = |id: &&str| {
        // Blocks far enough apart that git does not see neighbouring changes.
        let gap = "//\n".repeat(8);
        format!("{gap}new local.KeyPair({{ path: \"keys/{id}\" }}, {{ id: \"{id}\" }});\n")
    };
    format!("import * as local from \"stead/local\";\n{}", ids.iter().map(key).collect::<String>())
}

fn git(project: &Project, arguments: &[&str]) -> bool {
    let settings =
        ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
    let ran = Command::new("git")
        .args(settings)
        .args(arguments)
        .current_dir(project.path(""))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    ran.status.success()
}

fn commit(project: &Project, ids: Pinned<'_>) {
    project.write("main.ts", &program(ids));
    project.stead(&["compile", "--update-pins"]).ok();
    // Git merges only the pinfile; the merged program is an argument of the test.
    assert!(git(project, &["add", "-A", "."]) && git(project, &["commit", "-qm", "pins"]));
}

fn merge(base: Pinned<'_>, ours: Pinned<'_>, theirs: Pinned<'_>, merged: Pinned<'_>) -> MergeResult {
    let project = Project::with("");
    project.write(".gitignore", ".stead/\nmain.ts\n");
    assert!(git(&project, &["init", "-q"]));
    commit(&project, base);
    assert!(git(&project, &["checkout", "-qb", "theirs"]));
    commit(&project, theirs);
    assert!(git(&project, &["checkout", "-q", "main"]));
    commit(&project, ours);
    let merges = git(&project, &["merge", "-q", "--no-edit", "theirs"]);
    project.write("main.ts", &program(merged));
    let compiled = project.stead(&["compile"]);
    if !merges {
        let text = project.read(FILE);
        let line = text.lines().position(|line| line.starts_with("<<<<<<<")).unwrap() + 1;
        assert_eq!(compiled.code, 1, "{}", compiled.stderr);
        assert!(compiled.stderr.contains("ST0411"), "{}", compiled.stderr);
        assert!(
            compiled.stderr.contains(&format!("merge conflict markers at lines {line}, ")),
            "{}",
            compiled.stderr
        );
        return MergeResult::Conflict;
    }
    assert!(!compiled.ok().contains("pin]"), "the merged pinfile fits the merged program");
    MergeResult::Merged
}

#[test]
fn branches_that_pin_different_resources_merge_by_line() {
    let far = ["a", "c", "e", "g", "i"];
    let with = |more: &'static str| {
        let mut all = far.to_vec();
        all.push(more);
        all.sort_unstable();
        all
    };
    let both = |one: &'static str, two: &'static str| {
        let mut all = with(one);
        all.push(two);
        all.sort_unstable();
        all
    };
    // New pins in different gaps, in either order.
    for (one, two) in [("b", "d"), ("d", "b"), ("b", "f"), ("f", "d"), ("b", "h"), ("h", "d")] {
        let merged = both(one, two);
        assert_eq!(merge(&far, &with(one), &with(two), &merged), MergeResult::Merged, "{one} {two}");
    }
}

#[test]
fn removed_pin_and_added_pin_merge_by_line() {
    let base = ["a", "c", "e", "g"];
    assert_eq!(
        merge(&base, &["a", "b", "c", "e", "g"], &["a", "c", "g"], &["a", "b", "c", "g"]),
        MergeResult::Merged
    );
    assert_eq!(
        merge(&base, &["c", "e", "g"], &["a", "c", "e", "f", "g"], &["c", "e", "f", "g"]),
        MergeResult::Merged
    );
    assert_eq!(merge(&base, &["c", "e", "g"], &["a", "c", "g"], &["c", "g"]), MergeResult::Merged);
}

#[test]
fn same_pin_on_both_branches_merges_into_one() {
    let base = ["a", "c"];
    assert_eq!(merge(&base, &["a", "b", "c"], &["a", "b", "c"], &["a", "b", "c"]), MergeResult::Merged);
}

#[test]
fn merge_conflict_in_the_pinfile_is_reported_as_a_conflict() {
    // Two new pins at one position, two at the end, and two in an empty pinfile.
    for (base, ours, theirs) in [
        (&["a", "z"][..], &["a", "m", "z"][..], &["a", "n", "z"][..]),
        (&["a"], &["a", "y"], &["a", "z"]),
        (&[], &["a"], &["b"]),
    ] {
        assert_eq!(merge(base, ours, theirs, &[]), MergeResult::Conflict, "{ours:?} {theirs:?}");
    }
}
