//! Imports of exported files: complete or refused.

use crate::project::{Project, Ran};

const ONE: &str = r#"
import * as local from "stead/local";
new local.Data({ value: "v" }, { id: "a" });
"#;

#[test]
fn export_is_imported_into_another_environment() {
    let project = Project::only(ONE);
    project.stead(&["up", "--yes"]).ok();
    project.write("dev.json", &project.stead(&["stack", "export"]).ok());
    let file = project.path("dev.json").display().to_string();
    project.stead(&["stack", "import", &file, "--yes", "-e", "prod", "--from-another-stack"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code", "-e", "prod"]).code, 0);
}

#[test]
fn import_of_a_damaged_file_changes_nothing() {
    let project = Project::with(ONE);
    project.stead(&["up", "--yes"]).ok();
    let text = project.stead(&["stack", "export"]).ok();
    let file = project.path("bad.json").display().to_string();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (bad, message) in [
        (text[..text.len() / 2].to_owned(), "at line "),
        (text.replace("\"v\"", "\"w\""), "the digest does not match"),
        (text.replace("\"v\"", &deep), "recursion limit exceeded at line "),
        (text.replace("local.Data#a", "local.Data#\\u001b[2J"), "ST0202"),
    ] {
        project.write("bad.json", &bad);
        let before = project.all_files();
        let refused = project.stead(&["stack", "import", &file, "--yes"]).ends(16);
        assert!(refused.stderr.contains(message), "{message}: {}", refused.stderr);
        assert!(!refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
        assert!(project.all_files() == before, "{message}: a file was changed");
        assert_eq!(project.stead(&["state", "verify", &file]).code, 16);
    }
}

#[test]
fn chain_of_ten_thousand_resources_is_planned_and_shown() {
    let project = Project::only(
        "import * as local from \"stead/local\";\nlet v: unknown = 1;\nfor (let i = 0; i < 10000; i++) v = new local.Data({ value: v }).output;\n",
    );
    let plan = project.stead(&["plan"]).ok();
    assert!(plan.ends_with("10000 to create, 0 unchanged\n"), "{}", &plan[plan.len() - 200..]);
}

#[test]
fn imported_file_is_kept_until_the_program_declared_it_once() {
    let project = Project::with("export {};\n");
    project.write("f", "mine");
    project.stead(&["import", "local.File", "f", "f", "--yes"]).ok();
    for command in [&["plan"][..], &["up", "--yes"]] {
        let told = project.stead(command).ends(0);
        assert!(!told.stdout.contains("none is recorded"), "{}", told.stdout);
        let told = told.stderr;
        assert!(told.contains("local.File#f was imported and is not declared yet"), "{told}");
    }
    assert_eq!(project.read("f"), "mine");
    project.stead(&["destroy", "--yes"]).ok();
    assert_eq!(project.read("f"), "mine", "destroy forgets a resource that no program declared");

    project.stead(&["import", "local.File", "f", "f", "--yes"]).ok();
    let declared = "import * as local from \"stead/local\";\nnew local.File({ path: \"f\", content: \"mine\" }, { id: \"f\" });\n";
    project.write("main.ts", declared);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", "export {};\n");
    project.stead(&["up", "--yes"]).ok();
    assert!(!project.has("f"), "declared once, and removed from the program");
}

#[test]
fn destroy_says_that_an_undeclared_import_is_forgotten() {
    let project = Project::with("export {};\n");
    project.write("f", "theirs");
    project.stead(&["import", "local.File", "f", "f", "--yes"]).ok();
    let Ran { stdout, stderr, .. } = project.stead(&["destroy", "--yes"]).ends(0);
    let shown = format!("{stdout}{stderr}");
    assert!(shown.contains("it was imported and never declared: it is forgotten, not deleted"), "{shown}");
    assert!(!shown.contains("was declared at") && !shown.contains("`retain`"), "{shown}");
    assert_eq!(project.read("f"), "theirs");
}

#[test]
fn retained_file_comes_back_with_its_deletion_policy() {
    let program = "import * as local from \"stead/local\";\nnew local.File({ path: \"db\", content: \"data\" }, { id: \"db\", deletionPolicy: \"retain\" });\n";
    let project = Project::with(program);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", "export {};\n");
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["import", "local.File", "dev:main:local.File#db", "db", "--yes"]).ok();
    let shown = project.stead(&["state", "show", "db"]).ok();
    assert!(shown.contains("retain"), "{shown}");
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
    assert_eq!(project.read("db"), "data");
}

#[test]
fn retained_file_comes_back_with_its_deletion_policy_by_another_spelling_of_its_path() {
    let program = "import * as local from \"stead/local\";\nnew local.File({ path: \"db\", content: \"data\" }, { id: \"db\", deletionPolicy: \"retain\" });\n";
    let project = Project::with(program);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", "export {};\n");
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["import", "local.File", "again", "./db", "--yes"]).ok();
    assert!(project.stead(&["state", "show", "again"]).ok().contains("retain"));
    let retained = project.stead(&["state", "retained"]).ends(0);
    assert!(!retained.stdout.contains("#db"), "it is managed again: {}", retained.stdout);
}
