//! What is pinned is neither deleted nor replaced, whatever the cause.

use super::{FILE, LOCAL};
use crate::project::{Project, Ran};

fn program(rest: &str) -> String {
    format!("import * as local from \"stead/local\";\n{rest}")
}

/// Applies one program; another command is refused with exit 13, says so, and touches nothing.
fn refused(before: &str, after: &str, arguments: &[&str]) -> Ran {
    let project = Project::with(&program(before));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(after));
    let there = project.everything();
    let ran = project.stead(arguments).ends(13);
    assert_eq!(project.everything(), there);
    ran
}

const TOKEN: &str = "const token = new local.RandomString({ length: 8 }, { id: \"token\", pinned: true });\n";

#[test]
fn a_change_that_replaces_is_refused() {
    let longer = TOKEN.replace("8", "9");
    for command in [&["up", "--yes"][..], &["plan"]] {
        let ran = refused(TOKEN, &longer, command);
        assert!(ran.stderr.contains("ST0414"), "{}", ran.stderr);
        assert!(ran.stderr.contains("a change of `length` forces it, and it is pinned"), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("set `pinned: false` on it, `stead up`, then change it"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn destroy_is_refused() {
    let ran = refused(TOKEN, TOKEN, &["destroy", "--yes"]);
    assert!(
        ran.stderr.contains("cannot delete dev:main:local.RandomString#token: it is pinned"),
        "{}",
        ran.stderr
    );
}

#[test]
fn being_dragged_into_a_replacement_is_refused() {
    let other = |path: &str| {
        format!("const other = new local.File({{ path: \"{path}\", content: \"\" }}, {{ id: \"o\" }});\n")
    };
    let with = TOKEN.replace("pinned: true", "pinned: true, replaceWith: other");
    let ran = refused(&format!("{}{with}", other("a")), &format!("{}{with}", other("b")), &["up", "--yes"]);
    assert!(ran.stderr.contains("cannot replace dev:main:local.RandomString#token"), "{}", ran.stderr);
}

#[test]
fn going_with_another_is_refused() {
    let around = "const around = new local.Directory({ path: \"d\" }, { id: \"d\" });\n";
    let inside = TOKEN.replace("pinned: true", "pinned: true, deletedWith: around");
    let moved = around.replace("path: \"d\"", "path: \"e\"");
    let ran = refused(&format!("{around}{inside}"), &format!("{moved}{inside}"), &["up", "--yes"]);
    assert!(ran.stderr.contains("it is pinned"), "{}", ran.stderr);
}

#[test]
fn rolling_back_and_forgetting_are_refused() {
    let project = Project::with(&program("new local.File({ path: \"a\", content: \"\" });\n"));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(TOKEN));
    project.stead(&["up", "--yes"]).ok();
    let forgotten = project.stead(&["state", "rm", "token", "--yes"]).ends(13);
    assert!(forgotten.stderr.contains("it is pinned"), "{}", forgotten.stderr);
    let gone = project.stead(&["stack", "rm", "--forget-resources", "--yes"]).ends(13);
    assert!(gone.stderr.contains("pinned"), "{}", gone.stderr);
    let back = project.stead(&["stack", "rollback", "run-1", "--yes"]).ends(13);
    assert!(back.stderr.contains("it is pinned"), "{}", back.stderr);
}

#[test]
fn to_unpin_and_to_destroy_are_two_runs() {
    let unpinned = TOKEN.replace("true", "false");
    // In one: replaced while the pin goes.
    let ran = refused(TOKEN, &unpinned.replace("8", "9"), &["up", "--yes"]);
    assert!(ran.stderr.contains("ST0414"), "{}", ran.stderr);
    // In one: deleted while the pin goes.
    let ran = refused(TOKEN, "", &["up", "--yes"]);
    assert!(ran.stderr.contains("ST0412"), "{}", ran.stderr);
    // In two.
    let project = Project::with(&program(TOKEN));
    project.stead(&["up", "--yes"]).ok();
    for next in [unpinned.as_str(), &unpinned.replace("8", "9"), ""] {
        project.write("main.ts", &program(next));
        project.stead(&["up", "--yes"]).ok();
    }
    assert_eq!(project.stead(&["state", "ls"]).ok(), "");
    assert!(!project.has(FILE));
}

#[test]
fn a_name_that_changes_with_the_unpinning_is_refused_before_anything_is_planned() {
    let file = |path: &str, pinned: bool| {
        format!("new local.File({{ path: \"{path}\", content: \"\" }}, {{ id: \"f\", pinned: {pinned} }});\n")
    };
    let ran = refused(&file("a", true), &file("b", false), &["up", "--yes"]);
    assert!(ran.stderr.contains("ST0413"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("replace"), "{}", ran.stdout);
}

#[test]
fn an_entry_that_somebody_removed_lets_it_go() {
    let project =
        Project::with(&program(&format!("{TOKEN}new local.KeyPair({{ path: \"k\" }}, {{ id: \"k\" }});\n")));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program("new local.KeyPair({ path: \"k\" }, { id: \"k\" });\n"));
    let text = project.read(FILE);
    let (start, end) =
        (text.find("      \"local.RandomString.token\"").unwrap(), text.rfind("\n    }").unwrap());
    project.write(FILE, &format!("{}{}", text[..start].trim_end().trim_end_matches(','), &text[end..]));
    let planned = project.stead(&["plan"]).ends(0);
    assert!(
        planned.stderr.contains("was pinned; its entry was removed from main.ts.pin.json"),
        "{}",
        planned.stderr
    );
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.KeyPair#k\n");
}

#[test]
fn a_lost_file_protects_what_state_remembers_and_comes_back() {
    let project = Project::with(&LOCAL.at_the_top());
    project.stead(&["up", "--yes"]).ok();
    let file = project.read(FILE);
    std::fs::remove_file(project.path(FILE)).unwrap();
    project.write("main.ts", &program(""));
    let there = project.everything();
    for command in [&["up", "--yes"][..], &["destroy", "--yes"]] {
        let refused = project.stead(command).ends(13);
        assert!(refused.stderr.contains("ST0418"), "{}", refused.stderr);
        assert!(refused.stderr.contains("stead pin restore"), "{}", refused.stderr);
    }
    assert_eq!(project.everything(), there);
    let restored = project.stead(&["pin", "restore"]).ok();
    assert_eq!(restored.matches("[+pin]").count(), 3, "{restored}");
    assert_eq!(project.read(FILE), file, "to the byte");
    assert!(project.stead(&["pin", "restore"]).ok().contains("Nothing to restore"));
    // With the program as it was, a lost file simply comes back.
    std::fs::remove_file(project.path(FILE)).unwrap();
    project.write("main.ts", &LOCAL.at_the_top());
    let done = project.stead(&["up", "--yes"]).ok();
    assert!(done.contains("[+pin]") && done.contains("Nothing to do"), "{done}");
    assert_eq!(project.read(FILE), file);
}

/// It would look as if somebody had taken the others out.
#[test]
fn a_lost_file_is_not_written_by_a_run_for_a_part() {
    let project = Project::with(&LOCAL.at_the_top());
    project.stead(&["up", "--yes"]).ok();
    std::fs::remove_file(project.path(FILE)).unwrap();
    let other = "new local.RandomString({ length: 4 }, { id: \"other\", pinned: true });\n";
    project.write("main.ts", &program(other));
    let partly = project.stead(&["up", "--yes", "--target-resource", "*other*"]);
    assert!(partly.code == 0 && partly.stderr.contains("it is lost"), "{}", partly.stderr);
    assert!(!project.path(FILE).exists());
    let refused = project.stead(&["up", "--yes"]).ends(13);
    assert!(refused.stderr.contains("ST0418"), "{}", refused.stderr);
}

#[test]
fn what_a_failed_run_made_is_pinned_although_the_file_has_no_entry_yet() {
    let first = "new local.RandomString({ length: 4 }, { id: \"first\", pinned: true });\n";
    let broken = "new local.Command({ create: \"exit 3\" }, { id: \"broken\" });\n";
    let project = Project::with(&program(first));
    project.stead(&["up", "--yes"]).ok();
    let before = project.read(FILE);
    project.write("main.ts", &program(&format!("{first}{TOKEN}{broken}")));
    let failed = project.stead(&["up", "--yes"]).ends(1);
    assert!(failed.stderr.contains("broken"), "{}", failed.stderr);
    assert_eq!(project.read(FILE), before, "only a run that went well writes it");

    project.write("main.ts", &program(first));
    for command in [&["up", "--yes"][..], &["plan"], &["destroy", "--yes"]] {
        let ran = project.stead(command).ends(13);
        assert!(ran.stderr.contains("the run that made it did not end well"), "{}", ran.stderr);
        assert!(ran.stderr.contains("stead up --update-pins"), "{}", ran.stderr);
    }
    project.stead(&["up", "--yes", "--update-pins"]).ok();
    assert!(!project.stead(&["state", "ls"]).ok().contains("#token"));

    // Once it was in the file, taking it out is what says that it may go.
    project.write("main.ts", &program(&format!("{first}{TOKEN}")));
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["pin", "rm", "local.RandomString.token"]).ok();
    project.write("main.ts", &program(first));
    project.stead(&["up", "--yes"]).ok();
}
