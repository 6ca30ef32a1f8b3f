//! A pin ends by an explicit act only: no other section, branch, stack name, stack or earlier run ends one.

use super::FILE;
use crate::project::{Project, Ran};

const KEY: &str = "local.KeyPair.a";

/// Program with the pinned keys of these ids.
fn keys(ids: &[&str]) -> String {
    let key = |id: &&str| format!("new local.KeyPair({{ path: \"key-{id}\" }}, {{ id: \"{id}\" }});\n");
    format!("import * as local from \"stead/local\";\n{}", ids.iter().map(key).collect::<String>())
}

fn applied(ids: &[&str]) -> Project {
    let project = Project::with(&keys(ids));
    project.stead(&["up", "--yes"]).ok();
    project
}

/// Asserts that commands are refused with the ways out, and that the key of `a` stays.
fn assert_held(project: &Project, commands: &[&[&str]]) {
    for command in commands {
        let Ran { stderr, .. } = project.stead(command).ends(13);
        assert!(stderr.contains(&format!("stead pin rm {KEY}")), "{command:?}: {stderr}");
        assert!(project.has("key-a"), "{command:?}");
    }
}

const UP_AND_DESTROY: &[&[&str]] = &[&["plan"], &["up", "--yes"], &["destroy", "--yes"]];

#[test]
fn section_of_an_environment_without_the_entry_ends_no_pin() {
    let project = applied(&["a"]);
    let own = "    \"local:dev\": {\n      \"local.KeyPair.b\": { \"type\": \"local.KeyPair\" }\n    },\n    \"local\": {";
    project.write(FILE, &project.read(FILE).replacen("    \"local\": {", own, 1));
    project.write("main.ts", &keys(&["b"]));
    assert_held(&project, UP_AND_DESTROY);
    // An empty section says as little.
    project.write(FILE, "{\"version\":\"1\",\"pinned\":{\"local:dev\":{}}}");
    assert_held(&project, UP_AND_DESTROY);
    project.stead(&["pin", "rm", KEY]).ok();
    project.stead(&["up", "--yes"]).ok();
    assert!(!project.has("key-a") && project.has("key-b"));
}

#[test]
fn renamed_stack_keeps_its_pins() {
    let project = Project::with(&keys(&["a"]));
    project.write(FILE, "{\"version\":\"1\",\"pinned\":{\"local:dev\":{},\"local:prod\":{}}}");
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["stack", "rename", "prod", "--yes"]).ok();
    project.write("main.ts", &keys(&[]));
    assert_held(&project, &[&["up", "--yes", "-e", "prod"], &["destroy", "--yes", "-e", "prod"]]);
    project.stead(&["pin", "rm", KEY, "-e", "prod"]).ok();
    project.stead(&["destroy", "--yes", "-e", "prod"]).ok();
    assert!(!project.has("key-a"));
}

#[test]
fn resource_that_moved_to_another_stack_keeps_its_pin() {
    let project = applied(&["a"]);
    project
        .write(FILE, &project.read(FILE).replace("\"pinned\": {", "\"pinned\": {\n    \"local:prod\": {},"));
    let other = "import * as local from \"stead/local\";\nnew local.File({ path: \"f\", content: \"\" });\n";
    project.write("main.ts", other);
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    project.stead(&["state", "mv", "a", "--to-stack", "prod", "--yes"]).ok();
    project.write(FILE, "{\"version\":\"1\",\"pinned\":{\"local:prod\":{}}}");
    assert_held(&project, &[&["up", "--yes", "-e", "prod"], &["destroy", "--yes", "-e", "prod"]]);
}

#[test]
fn branch_that_never_had_the_pin_does_not_end_it() {
    let project = applied(&["a"]);
    let first = project.read(FILE);
    // The other branch has its own program and its own pinfile.
    project.write("main.ts", &keys(&["b"]));
    project.write(FILE, &first.replace("local.KeyPair.a", "local.KeyPair.b").replace("key-a", "key-b"));
    let second = project.read(FILE);
    assert_held(&project, UP_AND_DESTROY);
    assert_eq!(project.read(FILE), second);
    assert_eq!(project.stead(&["state", "rm", "a", "--yes"]).code, 13);
    // `--keep-pinned` applies the rest and lists what it leaves.
    let kept = project.stead(&["up", "--yes", "--keep-pinned"]).ends(0);
    assert!(kept.stderr.contains("dev:main:local.KeyPair#a is pinned and stays as it is"), "{}", kept.stderr);
    assert!(project.has("key-a") && project.has("key-b"));
    assert_held(&project, UP_AND_DESTROY);
    // Both branches merged.
    project.write("main.ts", &keys(&["a", "b"]));
    project.stead(&["pin", "restore"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    assert!(project.read(FILE).contains(KEY) && project.read(FILE).contains("local.KeyPair.b"));
}

#[test]
fn kept_pins_stay_in_the_file_with_all_that_they_need() {
    let program = |rest: &str| format!("import * as local from \"stead/local\";\n{rest}");
    let both = "const d = new local.Directory({ path: \"d\" }, { id: \"d\" });\n\
        new local.File({ path: \"d/f\", content: \"\" }, { id: \"f\", pinned: true, dependsOn: [d] });\n\
        new local.File({ path: \"g\", content: \"\" }, { id: \"g\" });\n";
    let project = Project::with(&program(both));
    project.stead(&["up", "--yes"]).ok();
    let file = project.read(FILE);
    project.write("main.ts", &program(""));
    assert_eq!(project.stead(&["up", "--yes"]).code, 13);
    project.stead(&["up", "--yes", "--keep-pinned"]).ok();
    assert!(project.has("d/f") && !project.has("g"));
    assert_eq!(project.read(FILE), file);
    let nothing = project.stead(&["up", "--yes", "--keep-pinned"]).ends(0);
    assert!(nothing.stdout.contains("Nothing to do"), "{}", nothing.stdout);
    assert!(nothing.stderr.contains("stead pin rm local.File.f"), "{}", nothing.stderr);
}

#[test]
fn pin_that_only_the_file_has_is_kept() {
    let program = |options: &str, content: &str| {
        format!(
            "import * as local from \"stead/local\";\n\
             new local.File({{ path: \"f\", content: \"{content}\" }}, {{ id: \"f\"{options} }});\n\
             new local.File({{ path: \"g\", content: \"{content}\" }}, {{ id: \"g\" }});\n"
        )
    };
    let project = Project::with(&program("", "1"));
    project.stead(&["up", "--yes"]).ok();
    // The pin is compiled into the file and never applied, so that the record has none.
    project.write("main.ts", &program(", pinned: true", "1"));
    project.stead(&["compile"]).ok();
    let file = project.read(FILE);
    project.write(
        "main.ts",
        "import * as local from \"stead/local\";\nnew local.File({ path: \"h\", content: \"\" });\n",
    );
    let refused = project.stead(&["up", "--yes"]).ends(13);
    assert!(refused.stderr.contains("local.File.f"), "{}", refused.stderr);
    // Another declaration stands at the line of the removed one.
    assert!(!refused.stderr.contains("new local.File"), "{}", refused.stderr);
    assert!(project.has("f") && project.has("g") && !project.has("h"));
    project.stead(&["up", "--yes", "--keep-pinned"]).ok();
    assert!(project.has("f") && !project.has("g") && project.has("h"));
    assert_eq!(project.read(FILE), file);
}

#[test]
fn release_reaches_every_environment_through_the_file() {
    let program = |rest: &str| {
        format!("import {{ env }} from \"stead\";\nimport * as local from \"stead/local\";\n{rest}")
    };
    let token = "new local.RandomString({ length: 8 }, { id: \"t\", pinned: true });\n";
    let project = Project::only(&program(token));
    for environment in ["dev", "prod"] {
        project.stead(&["up", "--yes", "-e", environment]).ok();
    }
    project.write("main.ts", &program(""));
    let released = project.stead(&["up", "--yes", "--update-pins", "-e", "dev"]).ok();
    assert!(released.contains("[-pin] local.RandomString.t"), "{released}");
    let applied = project.stead(&["up", "--yes", "-e", "prod"]).ends(0);
    assert!(
        applied.stderr.contains("prod:main:local.RandomString#t was pinned; its pin is released"),
        "{}",
        applied.stderr
    );
    assert_eq!(project.stead(&["state", "ls", "-e", "prod"]).ok(), "");
}

#[test]
fn pin_that_another_environment_unpinned_is_named_where_it_ends() {
    let token = |pinned: bool| {
        format!(
            "import * as local from \"stead/local\";\n\
             new local.RandomString({{ length: 8 }}, {{ id: \"t\", pinned: {pinned} }});\n"
        )
    };
    let project = Project::with(&token(true));
    for environment in ["dev", "prod"] {
        project.stead(&["up", "--yes", "-e", environment]).ok();
    }
    project.write("main.ts", &token(false));
    for environment in ["dev", "prod"] {
        let done = project.stead(&["up", "--yes", "-e", environment]).ok();
        assert!(done.contains("[-pin] local.RandomString.t"), "{environment}: {done}");
        assert!(!project.has(FILE));
    }
    for environment in ["dev", "prod"] {
        project.stead(&["destroy", "--yes", "-e", environment]).ok();
    }
}

#[test]
fn rollback_to_before_a_pin_does_not_end_it() {
    let program = |options: &str| {
        format!(
            "import * as local from \"stead/local\";\nnew local.RandomString({{ length: 8 }}, {{ id: \"a\"{options} }});\n"
        )
    };
    let project = Project::with(&program(""));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(", pinned: true"));
    project.stead(&["up", "--yes"]).ok();
    let _ = project.stead(&["stack", "rollback", "run-1", "--yes"]);
    std::fs::remove_file(project.path(FILE)).unwrap();
    let refused = project.stead(&["destroy", "--yes"]).ends(13);
    assert!(refused.stderr.contains("stead pin rm local.RandomString.a"), "{}", refused.stderr);
}

#[test]
fn unpinned_resource_that_moved_is_named_by_its_first_path() {
    let project = applied(&["a"]);
    project.write("main.ts", &keys(&["b"]).replace("key-b", "key-a"));
    project.stead(&["pin", "mv", KEY, "local.KeyPair.b"]).ok();
    project.stead(&["up", "--yes"]).ok();
    project.write(
        "main.ts",
        &keys(&["b"]).replace("key-b", "key-a").replace("id: \"b\"", "id: \"b\", pinned: false"),
    );
    let done = project.stead(&["up", "--yes"]).ok();
    assert_eq!(super::pin_lines(&done, "[-pin]"), ["local.KeyPair.a (now local.KeyPair.b)"]);
    assert!(!project.has(FILE) && project.has("key-a"));
}
