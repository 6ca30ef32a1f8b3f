//! Marks of every level: refused deletions, retained resources, and their messages.

use crate::project::Project;

const TWO: &str = r#"import * as local from "stead/local";
import { Resource } from "stead";
class Web extends Resource {
  constructor() {
    super("web", { annotations: { "local/prevent-delete": "false" } });
    new local.File({ path: "page", content: "x" }, { id: "page" });
  }
}
new Web();
new local.File({ path: "db", content: "data" }, { id: "db" });
"#;

const LEVELS: &str = r#"project = "shop"

[marks]
deletion-policy = "Retain"

[env.prod.marks]
prevent-delete = true

[namespace.blue.marks]
"local/prevent-delete" = false
"#;

fn project(toml: &str) -> Project {
    let project = Project::only(TWO);
    project.write("stead.toml", toml);
    project
}

#[test]
fn nearest_level_decides_and_is_shown_with_file_and_line() {
    let project = project(LEVELS);
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    insta::assert_snapshot!(project.stead(&["policy", "explain", "db", "-e", "prod"]).ok());
    insta::assert_snapshot!(project.stead(&["policy", "explain", "page", "-e", "prod"]).ok());
    insta::assert_snapshot!(project.stead(&["destroy", "--yes", "-e", "prod"]).ends(13).stderr);
    assert_eq!(project.read("db"), "data");
    let blue =
        project.stead(&["policy", "explain", "db", "-e", "prod", "--namespace", "blue", "--json"]).ok();
    assert!(blue.contains(r#""holds":{"preventDelete":false,"deletionPolicy":"retain"}"#), "{blue}");
    assert!(
        project
            .stead(&["policy", "explain", "bd", "-e", "prod"])
            .ends(1)
            .stderr
            .contains("did you mean \"db\"?")
    );
}

#[test]
fn lock_overrules_nearer_levels() {
    let project = project("project = \"shop\"\n[marks]\nprevent-delete-lock = true\n");
    project.stead(&["up", "--yes"]).ok();
    let refused = project.stead(&["destroy", "--yes"]).ends(13).stderr;
    assert!(refused.contains("prevent-delete-lock on project \"shop\", stead.toml:3"), "{refused}");
    assert!(refused.contains("#page"), "{refused}");
}

#[test]
fn invalid_mark_stops_the_run() {
    let shown: Vec<String> = [
        ("project = \"shop\"\n[env.other.marks]\nprevent-delete = \"yes\"\n", TWO, 2),
        ("project = \"shop\"\n[marks]\ndeletion-polcy = \"retain\"\n", TWO, 2),
        ("project = \"shop\"\n[marks]\n\"s3/deletion-policy\" = \"snapshot\"\n", TWO, 2),
        (
            LEVELS,
            &TWO.replace(
                "id: \"db\"",
                "id: \"db\", protect: false, annotations: { \"local/prevent-delete\": true }",
            ),
            1,
        ),
        (LEVELS, &TWO.replace("\"false\"", "\"no\""), 1),
    ]
    .into_iter()
    .map(|(toml, main, code)| {
        let project = project(toml);
        project.write("main.ts", main);
        project.stead(&["up", "--yes"]).ends(code).stderr
    })
    .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn mark_for_an_unknown_service_gives_a_warning() {
    let project = project("project = \"shop\"\n[marks]\n\"rdss/deletion-policy\" = \"retain\"\n");
    insta::assert_snapshot!(project.stead(&["plan"]).ends(0).stderr);
}

#[test]
fn retained_resources_are_reported_listed_and_imported_again() {
    let project = project(LEVELS);
    project.stead(&["up", "--yes"]).ok();
    insta::assert_snapshot!(project.stead(&["destroy", "--yes", "--parallel", "1"]).ends(0).stderr);
    assert_eq!((project.read("db"), project.read("page")), ("data".into(), "x".into()));
    let listed = project.stead(&["state", "retained"]).ok();
    insta::assert_snapshot!(listed);
    let plan = project.stead(&["plan"]).ends(13).stderr;
    assert!(plan.contains("#db, which was kept by run-2 and still exists"), "{plan}");
    let import = listed.lines().find(|line| line.contains("stead import") && line.contains("#db")).unwrap();
    let words: Vec<&str> = import.split_whitespace().skip(1).map(|word| word.trim_matches('\'')).collect();
    project.stead(&[&words[..], &["--yes"]].concat()).ok();
    let left = project.stead(&["state", "retained", "--json"]).ok();
    assert!(left.contains("#page") && !left.contains("#db"), "{left}");
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.File#db\n");
}

#[test]
fn no_create_overwrites_a_retained_resource() {
    let file = |id: &str, options: &str, inputs: &str| {
        format!(
            "import * as local from \"stead/local\";\n\
             new local.File({{ path: \"f\"{inputs} }}, {{ id: \"{id}\"{options} }});\n"
        )
    };
    let other = file("x", "", ", content: \"other\", overwrite: true");
    let project = Project::only(&file("f", ", deletionPolicy: \"retain\"", ", content: \"kept\""));
    project.stead(&["up", "--yes"]).ok();
    // In the run that retains it.
    project.write("main.ts", &other);
    for command in [&["plan", "--no-moves"][..], &["up", "--yes", "--no-moves"]] {
        let refused = project.stead(command).ends(13).stderr;
        assert!(refused.contains("ST0320") && refused.contains("stead rename"), "{refused}");
        assert_eq!(project.read("f"), "kept");
    }
    // In a later run.
    project.write("main.ts", "export const nothing = 1;\n");
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &other);
    let refused = project.stead(&["up", "--yes"]).ends(13).stderr;
    assert!(refused.contains("which was kept by run-2 and still exists"), "{refused}");
    assert_eq!(project.read("f"), "kept");
    let import = refused.lines().find_map(|line| line.split_once("stead import ")).unwrap().1;
    let words: Vec<&str> = import.split_whitespace().map(|word| word.trim_matches('\'')).collect();
    project.stead(&[&["import"], &words[..], &["--yes"]].concat()).ok();
    assert_eq!(project.stead(&["state", "retained"]).ok(), "");
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("f"), "other");
    // Nothing is kept where nothing is.
    project.write("main.ts", &file("x", ", deletionPolicy: \"retain\"", ", content: \"other\""));
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
    std::fs::remove_file(project.path("f")).unwrap();
    project.stead(&["up", "--yes"]).ok();
}

#[test]
fn protect_needs_no_program_and_no_program_removes_the_protection() {
    let project = Project::with(TWO);
    project.stead(&["up", "--yes"]).ok();
    std::fs::remove_file(project.path("main.ts")).unwrap();
    assert_eq!(project.stead(&["state", "protect", "db"]).ok(), "Protected dev:main:local.File#db.\n");
    project.stead(&["state", "protect", "db"]).ok();
    insta::assert_snapshot!(project.stead(&["destroy", "--yes", "--without-program"]).ends(13).stderr);
    project.write("main.ts", &TWO.replace("id: \"db\"", "id: \"db\", preventDelete: false"));
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["destroy", "--yes"]).code, 13);
    assert_eq!(project.stead(&["state", "rm", "db", "--yes"]).code, 13);
    assert_eq!(project.stead(&["stack", "rm", "--forget-resources", "--yes"]).code, 13);
    project.stead(&["state", "unprotect", "db"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
    assert!(!project.has("db"));
}

#[test]
fn unprotect_keeps_and_reports_the_mark_of_the_program() {
    let project = Project::with(&TWO.replace("id: \"db\"", "id: \"db\", preventDelete: true"));
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["state", "protect", "db"]).ok();
    let reported = project.stead(&["state", "unprotect", "db"]).ends(0).stderr;
    insta::assert_snapshot!(reported);
    assert_eq!(project.stead(&["destroy", "--yes"]).code, 13);
}

#[test]
fn flags_add_protection_and_are_the_weakest_deletion_policy() {
    let project = Project::with(TWO);
    project.stead(&["up", "--yes"]).ok();
    let refused = project.stead(&["destroy", "--yes", "--prevent-delete"]).ends(13).stderr;
    assert!(refused.contains("prevent-delete on the command line"), "{refused}");
    assert_eq!(project.stead(&["destroy", "--yes", "--deletion-policy", "abandon"]).code, 2);
    project.write("main.ts", &TWO.replace("id: \"db\"", "id: \"db\", deletionPolicy: \"delete\""));
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["destroy", "--yes", "--deletion-policy", "RETAIN"]).ok();
    assert!(!project.has("db") && project.has("page"), "the mark on the resource is nearer");
}

#[test]
fn saved_plan_applies_with_its_own_marks_and_flags_or_not_at_all() {
    let project = project(LEVELS);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", "export {};\n");
    let file = project.path("saved").display().to_string();
    project.stead(&["plan", "--out", &file]).ok();
    project.write("stead.toml", &LEVELS.replace("Retain", "delete"));
    let stale = project.stead(&["up", &file, "--yes"]).ends(1).stderr;
    assert!(stale.contains("the marks in stead.toml are not those it was made with"), "{stale}");
    assert_eq!(project.stead(&["up", &file, "--yes", "--prevent-delete"]).code, 2);
    project.write("stead.toml", &format!("# A line more.\n{LEVELS}"));
    project.stead(&["up", &file, "--yes"]).ok();
    assert_eq!(project.read("db"), "data");
    // A saved plan applies with the flags that it was made with.
    let project = Project::with(TWO);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", "export {};\n");
    let file = project.path("saved").display().to_string();
    project.stead(&["plan", "--out", &file, "--deletion-policy", "retain"]).ok();
    project.stead(&["up", &file, "--yes"]).ok();
    assert_eq!(project.read("db"), "data");
}

#[test]
fn retained_file_that_blocks_its_replacement_is_refused() {
    let program = |content: &str| {
        format!(
            "import * as local from \"stead/local\";\nnew local.File({{ path: \"db\", content: \"{content}\" }}, {{ id: \"db\", deletionPolicy: \"retain\", replaceOnChanges: \"content\" }});\n"
        )
    };
    let project = Project::with(&program("1"));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program("2"));
    insta::assert_snapshot!(project.stead(&["up", "--yes"]).ends(13).stderr);
    assert_eq!(project.read("db"), "1");
}
