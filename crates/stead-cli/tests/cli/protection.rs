//! Protection counts from the moment at which it is written, and no operation removes it in passing.

use crate::project::Project;

const FILE: &str = "import * as local from \"stead/local\";\nnew local.File({ path: \"db\", content: \"data\" }, { id: \"db\" });\n";

fn with_option(option: &str) -> String {
    FILE.replace("id: \"db\"", &format!("id: \"db\", {option}"))
}

#[test]
fn a_flag_lasts_one_run() {
    for flag in ["--prevent-delete", "--deletion-policy=retain"] {
        let project = Project::with(FILE);
        project.stead(&["up", "--yes", flag]).ok();
        let plan = project.stead(&["plan"]).ok();
        assert!(plan.contains("Nothing to do"), "{plan}");
        project.stead(&["destroy", "--yes"]).ok();
        assert!(!project.has("db"), "{flag} was for the first run only");
    }
}

#[test]
fn destroy_goes_by_the_marks_and_pins_of_the_program_although_no_run_applied_them() {
    for option in ["preventDelete: true", "pinned: true"] {
        let project = Project::with(FILE);
        project.stead(&["up", "--yes"]).ok();
        project.write("main.ts", &with_option(option));
        let refused = project.stead(&["destroy", "--yes"]).ends(13).stderr;
        assert!(refused.contains("local.File#db"), "{option}: {refused}");
        assert_eq!(project.read("db"), "data");
    }
}

#[test]
fn refusal_of_a_pin_that_only_the_program_has_names_its_place_and_the_way_out() {
    let project = Project::with(FILE);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &with_option("pinned: true"));
    let refused = project.stead(&["destroy", "--yes"]).ends(13).stderr;
    for part in ["the program declares it pinned by now", "main.ts:2:1", "remove `pinned` there"] {
        assert!(refused.contains(part), "{refused}");
    }
    assert!(!refused.contains("pin restore") && !refused.contains("last run"), "{refused}");
    project.write("main.ts", FILE);
    project.stead(&["destroy", "--yes"]).ok();
    assert!(!project.has("db"));
}

#[test]
fn destroy_keeps_a_file_that_the_program_retains_by_now() {
    let project = Project::with(FILE);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &with_option("deletionPolicy: \"retain\""));
    project.stead(&["destroy", "--yes"]).ok();
    assert_eq!(project.read("db"), "data");
    assert!(project.stead(&["state", "retained"]).ok().contains("#db"));
}

#[test]
fn a_program_of_today_never_lowers_the_recorded_protection() {
    let project = Project::with(&with_option("preventDelete: true"));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", FILE);
    assert_eq!(project.stead(&["destroy", "--yes"]).code, 13);
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
    assert!(!project.has("db"));
}

#[test]
fn destroy_without_a_program_that_evaluates_has_to_be_asked_for() {
    for program in [Some("import { } from \"./missing\";\nif (\n"), None] {
        let project = Project::with(FILE);
        project.stead(&["up", "--yes"]).ok();
        match program {
            Some(text) => project.write("main.ts", text),
            None => std::fs::remove_file(project.path("main.ts")).unwrap(),
        }
        let refused = project.stead(&["destroy", "--yes"]).ends(1).stderr;
        assert!(refused.contains("--without-program"), "{refused}");
        assert!(project.has("db"));
        project.stead(&["destroy", "--yes", "--without-program"]).ok();
        assert!(!project.has("db"));
    }
}

#[test]
fn rollback_never_removes_a_mark() {
    for option in ["preventDelete: true", "deletionPolicy: \"retain\"", "pinned: true"] {
        let project = Project::with(&FILE.replace("data", "old"));
        project.stead(&["up", "--yes"]).ok();
        project.write("main.ts", &with_option(option));
        project.stead(&["up", "--yes"]).ok();
        let told = project.stead(&["stack", "rollback", "run-1", "--yes"]).ends(0).stderr;
        assert!(told.contains("stays protected"), "{option}: {told}");
        assert_eq!(project.read("db"), "old");
        let code = project.stead(&["destroy", "--yes", "--without-program"]).code;
        assert_eq!(code, if option.contains("retain") { 0 } else { 13 });
        assert_eq!(project.read("db"), "old", "{option} holds after the rollback");
    }
}

#[test]
fn rollback_without_another_change_names_the_marks_that_stay() {
    let project = Project::with(FILE);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &with_option("preventDelete: true"));
    project.stead(&["up", "--yes"]).ok();
    let told = project.stead(&["stack", "rollback", "run-1", "--yes"]).ends(0);
    assert!(
        told.stdout.contains("Nothing to do") && told.stderr.contains("stays protected"),
        "{}",
        told.stderr
    );
}

#[test]
fn saved_plan_does_not_delete_a_file_that_the_program_protects_by_now() {
    for (option, code) in
        [("preventDelete: true", 13), ("deletionPolicy: \"retain\"", 13), ("pinned: true", 13)]
    {
        let project = Project::with(FILE);
        project.stead(&["up", "--yes"]).ok();
        project.write("main.ts", "export {};\n");
        let file = project.path("saved").display().to_string();
        project.stead(&["plan", "--out", &file]).ok();
        project.write("main.ts", &with_option(option));
        let refused = project.stead(&["up", &file, "--yes"]).ends(code).stderr;
        assert!(refused.contains("local.File#db"), "{option}: {refused}");
        assert_eq!(project.read("db"), "data");
    }
}

#[test]
fn file_is_protected_under_another_id_with_another_spelling_of_its_path() {
    let old = FILE.replace("id: \"db\"", "id: \"old\"");
    for path in ["./db", "d/../db", "link/db"] {
        let project = Project::with(&old);
        project.stead(&["up", "--yes"]).ok();
        std::os::unix::fs::symlink(".", project.path("link")).unwrap();
        project.write("main.ts", "export {};\n");
        let saved = project.path("saved").display().to_string();
        project.stead(&["plan", "--out", &saved]).ok();
        let today = with_option("preventDelete: true").replace("id: \"db\"", "id: \"new\"");
        let today = today.replace("\"db\",", &format!("{path:?},")).replace("\"data\"", "\"new\"");
        project.write("main.ts", &today);
        for command in [&["destroy", "--yes"][..], &["up", &saved, "--yes"]] {
            let refused = project.stead(command).ends(13).stderr;
            assert!(refused.contains("local.File#old") && refused.contains("#new"), "{path}: {refused}");
            assert_eq!(project.read("db"), "data", "{path}");
        }
    }
}

const NAMES: &str = "import * as local from \"stead/local\";\n";

fn files(names: &str, options: &str) -> String {
    format!(
        "{NAMES}for (const x of {names}) new local.File({{ path: x + \".txt\", content: x }}, {{ {options} }});\n"
    )
}

#[test]
fn destroy_protects_a_sibling_whose_counter_the_program_shifted() {
    let project = Project::only(&files("[\"a\", \"b\", \"c\"]", ""));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &files("[\"b\", \"c\"]", "preventDelete: x == \"c\""));
    for target in [None, Some("dev:main:local.File#3")] {
        let target = target.map(|name| ["--target-resource", name]);
        let flags: Vec<&str> = target.iter().flatten().copied().collect();
        let refused = project.stead(&[&["destroy", "--yes"], &flags[..]].concat()).ends(13).stderr;
        assert!(refused.contains("local.File#3") && refused.contains("local.File#2"), "{refused}");
        assert!(refused.contains("both name the same real resource"), "{refused}");
    }
    let retained = "deletionPolicy: x == \"c\" ? \"retain\" : \"delete\"";
    project.write("main.ts", &files("[\"b\", \"c\"]", retained));
    project.stead(&["destroy", "--yes"]).ok();
    assert_eq!(project.read("c.txt"), "c");
    assert!(!project.has("a.txt") && !project.has("b.txt"), "the others are not protected");
}

#[test]
fn destroy_protects_a_resource_that_got_another_name_in_the_program() {
    let moved = "class H extends Resource { f = new local.File({ path: \"db\", content: \"data\" }, { id: \"f\" }) }\n";
    let in_scope = format!(
        "import {{ Resource }} from \"stead\";\n{NAMES}{moved}new H(\"h\", {{ preventDelete: true }});\n"
    );
    for renamed in [with_option("preventDelete: true").replace("id: \"db\"", "id: \"other\""), in_scope] {
        let project = Project::with(FILE);
        project.stead(&["up", "--yes"]).ok();
        project.write("main.ts", &renamed);
        let refused = project.stead(&["destroy", "--yes"]).ends(13).stderr;
        assert!(refused.contains("local.File#db") && refused.contains("It may be"), "{refused}");
        assert_eq!(project.read("db"), "data");
    }
}

#[test]
fn saved_plan_does_not_delete_a_sibling_that_the_program_protects_under_another_counter() {
    let project = Project::only(&files("[\"a\", \"b\", \"c\"]", ""));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &files("[\"a\", \"b\"]", ""));
    let file = project.path("saved").display().to_string();
    project.stead(&["plan", "--out", &file]).ok();
    project.write("main.ts", &files("[\"c\"]", "preventDelete: true"));
    let _ = project.stead(&["up", &file, "--yes"]).ends(13);
    assert_eq!(project.read("c.txt"), "c");
}

#[test]
fn rollback_keeps_the_values_of_siblings_whose_counters_shifted() {
    let strings = |names: &str| {
        format!(
            "{NAMES}export const all = {names}.map((x) => new local.RandomString({{ length: x }}).result);\n"
        )
    };
    let project = Project::only(&strings("[8, 9, 10]"));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &strings("[9, 10]"));
    project.stead(&["up", "--yes"]).ok();
    let outputs = |at: usize| {
        let all = project.stead(&["output", "all", "--json"]).ok();
        let all: serde_json::Value = serde_json::from_str(&all).unwrap();
        all["value"].as_array().unwrap()[at..].to_vec()
    };
    let before = outputs(0);
    project.stead(&["stack", "rollback", "run-1", "--yes"]).ok();
    let state: Vec<String> = before.iter().map(|value| value.as_str().unwrap().to_owned()).collect();
    let export = project.stead(&["stack", "export"]).ok();
    assert!(state.iter().all(|value| export.contains(value.as_str())), "{export}");
}
