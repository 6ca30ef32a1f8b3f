//! The file in version control: two branches pin, move and unpin, and git merges them.

use std::process::Command;

use super::FILE;
use crate::project::Project;

/// What a program pins: ids in order, each a key pair.
type Pinned<'a> = &'a [&'a str];

/// What comes of a merge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comes {
    /// Git merges by line, and the file says what the merged program pins.
    Together,
    /// Git does not know, and stead says so.
    Conflict,
}

fn program(ids: Pinned<'_>) -> String {
    let key = |id: &&str| {
        // A block of lines for each, far enough apart that git sees no neighbours.
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
    // Only the pinfile is merged here; what the programs come to is given.
    assert!(git(project, &["add", "-A", "."]) && git(project, &["commit", "-qm", "pins"]));
}

fn merge(base: Pinned<'_>, ours: Pinned<'_>, theirs: Pinned<'_>, merged: Pinned<'_>) -> Comes {
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
        return Comes::Conflict;
    }
    assert!(!compiled.ok().contains("pin]"), "the merged file is what the merged program pins");
    Comes::Together
}

#[test]
fn two_branches_that_pin_different_things_merge_by_line() {
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
    // In different gaps, whichever comes first.
    for (one, two) in [("b", "d"), ("d", "b"), ("b", "f"), ("f", "d"), ("b", "h"), ("h", "d")] {
        let merged = both(one, two);
        assert_eq!(merge(&far, &with(one), &with(two), &merged), Comes::Together, "{one} {two}");
    }
}

#[test]
fn a_pin_that_goes_and_one_that_comes_merge_too() {
    let base = ["a", "c", "e", "g"];
    assert_eq!(
        merge(&base, &["a", "b", "c", "e", "g"], &["a", "c", "g"], &["a", "b", "c", "g"]),
        Comes::Together
    );
    assert_eq!(
        merge(&base, &["c", "e", "g"], &["a", "c", "e", "f", "g"], &["c", "e", "f", "g"]),
        Comes::Together
    );
    assert_eq!(merge(&base, &["c", "e", "g"], &["a", "c", "g"], &["c", "g"]), Comes::Together);
}

#[test]
fn the_same_pin_on_both_branches_is_one() {
    let base = ["a", "c"];
    assert_eq!(merge(&base, &["a", "b", "c"], &["a", "b", "c"], &["a", "b", "c"]), Comes::Together);
}

#[test]
fn what_git_cannot_merge_is_called_a_conflict_and_not_bad_json() {
    // Two at one place, two at the end, and two first ones.
    for (base, ours, theirs) in [
        (&["a", "z"][..], &["a", "m", "z"][..], &["a", "n", "z"][..]),
        (&["a"], &["a", "y"], &["a", "z"]),
        (&[], &["a"], &["b"]),
    ] {
        assert_eq!(merge(base, ours, theirs, &[]), Comes::Conflict, "{ours:?} {theirs:?}");
    }
}
