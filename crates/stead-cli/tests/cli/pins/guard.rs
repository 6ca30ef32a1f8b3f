//! Pinned resources are neither deleted nor replaced, whatever the cause.

use super::{FILE, LOCAL};
use crate::project::{Project, Ran};

fn program(rest: &str) -> String {
    format!("import * as local from \"stead/local\";\n{rest}")
}

/// Applies one program, and asserts that a command on the next one is refused with exit 13 and changes no file.
fn refused(before: &str, after: &str, arguments: &[&str]) -> Ran {
    let project = Project::with(&program(before));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(after));
    let files = project.all_files();
    let ran = project.stead(arguments).ends(13);
    assert_eq!(project.all_files(), files);
    ran
}

const TOKEN: &str = "const token = new local.RandomString({ length: 8 }, { id: \"token\", pinned: true });\n";

#[test]
fn replacing_a_pinned_resource_is_refused() {
    let longer = TOKEN.replace("8", "9");
    for command in [&["up", "--yes"][..], &["plan"]] {
        let ran = refused(TOKEN, &longer, command);
        assert!(ran.stderr.contains("ST0414"), "{}", ran.stderr);
        assert!(ran.stderr.contains("a change of `length` forces it, and it is pinned"), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("set `pinned: false` on it, `stead up -e dev`, then change it"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn destroying_a_pinned_resource_is_refused() {
    let ran = refused(TOKEN, TOKEN, &["destroy", "--yes"]);
    assert!(
        ran.stderr.contains("cannot delete dev:main:local.RandomString#token: it is pinned"),
        "{}",
        ran.stderr
    );
}

#[test]
fn replacing_a_pinned_resource_with_another_is_refused() {
    let other = |path: &str| {
        format!("const other = new local.File({{ path: \"{path}\", content: \"\" }}, {{ id: \"o\" }});\n")
    };
    let with = TOKEN.replace("pinned: true", "pinned: true, replaceWith: other");
    let ran = refused(&format!("{}{with}", other("a")), &format!("{}{with}", other("b")), &["up", "--yes"]);
    assert!(ran.stderr.contains("cannot replace dev:main:local.RandomString#token"), "{}", ran.stderr);
}

#[test]
fn deleting_a_pinned_resource_with_its_container_is_refused() {
    let around = "const around = new local.Directory({ path: \"d\" }, { id: \"d\" });\n";
    let inside = TOKEN.replace("pinned: true", "pinned: true, deletedWith: around");
    let moved = around.replace("path: \"d\"", "path: \"e\"");
    let ran = refused(&format!("{around}{inside}"), &format!("{moved}{inside}"), &["up", "--yes"]);
    assert!(ran.stderr.contains("it is pinned"), "{}", ran.stderr);
}

#[test]
fn rollback_and_removal_from_state_of_a_pinned_resource_are_refused() {
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
fn unpinning_and_deleting_need_two_runs() {
    let unpinned = TOKEN.replace("true", "false");
    // One run that unpins and replaces.
    let ran = refused(TOKEN, &unpinned.replace("8", "9"), &["up", "--yes"]);
    assert!(ran.stderr.contains("ST0414"), "{}", ran.stderr);
    // One run that unpins and deletes.
    let ran = refused(TOKEN, "", &["up", "--yes"]);
    assert!(ran.stderr.contains("ST0412"), "{}", ran.stderr);
    // Two runs.
    let project = Project::only(&program(TOKEN));
    project.stead(&["up", "--yes"]).ok();
    for next in [unpinned.as_str(), &unpinned.replace("8", "9"), ""] {
        project.write("main.ts", &program(next));
        project.stead(&["up", "--yes"]).ok();
    }
    assert_eq!(project.stead(&["state", "ls"]).ok(), "");
    assert!(!project.has(FILE));
}

#[test]
fn change_of_a_frozen_value_while_unpinning_is_refused_before_planning() {
    let file = |path: &str, pinned: bool| {
        format!("new local.File({{ path: \"{path}\", content: \"\" }}, {{ id: \"f\", pinned: {pinned} }});\n")
    };
    let ran = refused(&file("a", true), &file("b", false), &["up", "--yes"]);
    assert!(ran.stderr.contains("ST0413"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("replace"), "{}", ran.stdout);
}

#[test]
fn removing_an_entry_by_hand_ends_no_pin() {
    let project =
        Project::only(&program(&format!("{TOKEN}new local.KeyPair({{ path: \"k\" }}, {{ id: \"k\" }});\n")));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program("new local.KeyPair({ path: \"k\" }, { id: \"k\" });\n"));
    let text = project.read(FILE);
    let (start, end) =
        (text.find("      \"local.RandomString.token\"").unwrap(), text.rfind("\n    }").unwrap());
    project.write(FILE, &format!("{}{}", text[..start].trim_end().trim_end_matches(','), &text[end..]));
    // The file and the program agree, so a compilation has nothing against it. State still has the pin.
    LOCAL.run(&project, &["compile"]).ok();
    for command in [&["plan"][..], &["up", "--yes"], &["destroy", "--yes"]] {
        let refused = project.stead(command).ends(13);
        assert!(refused.stderr.contains("the pinfile has no entry for it"), "{}", refused.stderr);
        assert!(refused.stderr.contains("stead pin rm local.RandomString.token"), "{}", refused.stderr);
        assert!(refused.stderr.contains("stead pin restore"), "{}", refused.stderr);
    }
    project.stead(&["pin", "rm", "local.RandomString.token"]).ok();
    let planned = project.stead(&["plan"]).ends(0);
    assert!(planned.stderr.contains("was pinned; its pin is released"), "{}", planned.stderr);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.KeyPair#k\n");
}

#[test]
fn lost_pinfile_keeps_recorded_pins_in_force_and_is_restored() {
    let project = Project::with(&LOCAL.at_the_top());
    project.stead(&["up", "--yes"]).ok();
    let file = project.read(FILE);
    std::fs::remove_file(project.path(FILE)).unwrap();
    project.write("main.ts", &program(""));
    let files = project.all_files();
    for command in [&["up", "--yes"][..], &["destroy", "--yes"]] {
        let refused = project.stead(command).ends(13);
        assert!(refused.stderr.contains("ST0418"), "{}", refused.stderr);
        assert!(refused.stderr.contains("stead pin restore"), "{}", refused.stderr);
    }
    assert_eq!(project.all_files(), files);
    let restored = project.stead(&["pin", "restore"]).ok();
    assert_eq!(restored.matches("[+pin]").count(), 3, "{restored}");
    assert_eq!(project.read(FILE), file, "to the byte");
    assert!(project.stead(&["pin", "restore"]).ok().contains("Nothing to restore"));
    // The unchanged program writes a lost pinfile again.
    std::fs::remove_file(project.path(FILE)).unwrap();
    project.write("main.ts", &LOCAL.at_the_top());
    let done = project.stead(&["up", "--yes"]).ok();
    assert!(done.contains("[+pin]") && done.contains("Nothing to do"), "{done}");
    assert_eq!(project.read(FILE), file);
}

#[test]
fn lost_pinfile_that_a_partial_run_writes_ends_no_pin() {
    let project = Project::with(&LOCAL.at_the_top());
    project.stead(&["up", "--yes"]).ok();
    std::fs::remove_file(project.path(FILE)).unwrap();
    let other = "new local.RandomString({ length: 4 }, { id: \"other\", pinned: true });\n";
    project.write("main.ts", &program(other));
    project.stead(&["up", "--yes", "--target-resource", "*other*"]).ok();
    assert!(project.read(FILE).contains("local.RandomString.other"));
    for command in [&["up", "--yes"][..], &["destroy", "--yes"]] {
        let refused = project.stead(command).ends(13);
        assert!(refused.stderr.contains("stead pin rm local.KeyPair.cool-key"), "{}", refused.stderr);
    }
}

#[test]
fn resource_of_a_failed_run_is_pinned_before_the_pinfile_has_an_entry() {
    let first = "new local.RandomString({ length: 4 }, { id: \"first\", pinned: true });\n";
    let broken = "new local.Command({ create: \"exit 3\" }, { id: \"broken\" });\n";
    let project = Project::with(&program(first));
    project.stead(&["up", "--yes"]).ok();
    let before = project.read(FILE);
    project.write("main.ts", &program(&format!("{first}{TOKEN}{broken}")));
    let failed = project.stead(&["up", "--yes"]).ends(1);
    assert!(failed.stderr.contains("broken"), "{}", failed.stderr);
    assert_eq!(project.read(FILE), before, "only a successful run writes the pinfile");

    project.write("main.ts", &program(first));
    for command in [&["up", "--yes"][..], &["plan"], &["destroy", "--yes"]] {
        let ran = project.stead(command).ends(13);
        assert!(ran.stderr.contains("the pinfile has no entry for it"), "{}", ran.stderr);
        assert!(ran.stderr.contains("stead pin rm local.RandomString.token"), "{}", ran.stderr);
    }
    project.stead(&["up", "--yes", "--update-pins"]).ok();
    assert!(!project.stead(&["state", "ls"]).ok().contains("#token"));

    // A released pin that the program has again is a pin again.
    project.write("main.ts", &program(&format!("{first}{TOKEN}")));
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["pin", "rm", "local.RandomString.token"]).ok();
    project.write("main.ts", &program(first));
    project.stead(&["up", "--yes"]).ok();
}

#[test]
fn release_does_not_count_while_the_program_pins_the_resource() {
    let project = Project::only(&program(TOKEN));
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["pin", "rm", "local.RandomString.token"]).ok();
    let refused = project.stead(&["destroy", "--yes"]).ends(13);
    assert!(refused.stderr.contains("set `pinned: false` on it"), "{}", refused.stderr);
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.RandomString#token\n");
    // Without the program, the release decides.
    project.stead(&["destroy", "--yes", "--without-program"]).ok();
}
