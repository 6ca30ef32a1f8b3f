//! Invalid input: an error with its code, position and next step, and the exit code.

use crate::project::Project;

fn fails(main: &str, command: &str, code: i32) -> String {
    let project = Project::with(main);
    project.stead(&[command, "--yes"]).ends(code).stderr
}

#[test]
fn missing_project_command_and_confirmation_are_reported() {
    let nowhere = Project::empty();
    insta::assert_snapshot!(nowhere.stead(&["plan"]).ends(2).stderr);
    assert_eq!(nowhere.stead(&["frobnicate"]).code, 2);
    assert_eq!(nowhere.stead(&["--help"]).code, 0);
    let project = Project::with("import * as local from \"stead/local\";\nnew local.Data({ value: 1 });\n");
    insta::assert_snapshot!(project.stead(&["up"]).ends(2).stderr);
    assert!(!project.has(".stead"), "nothing was changed");
    assert!(project.stead(&["plan", "-t", "mars"]).ends(2).stderr.contains("there is: local"));
}

#[test]
fn error_in_stead_toml_is_shown_at_its_line() {
    let project = Project::with("");
    project.write("stead.toml", "project = \"shop\"\nentry = \"main.ts\"\n");
    insta::assert_snapshot!(project.stead(&["plan"]).ends(2).stderr);
}

#[test]
fn if_on_a_provisioned_value_shows_the_line() {
    let program = "import * as local from \"stead/local\";\nconst pet = new local.RandomPet({}, { id: \"pet\" });\nif (pet.result) {\n  new local.Data({ value: 1 });\n}\n";
    insta::assert_snapshot!(fails(program, "plan", 1));
}

#[test]
fn unknown_property_shows_the_line_and_the_nearest_name() {
    let program =
        "import * as local from \"stead/local\";\nnew local.File({ path: \"a\", contnt: \"x\" });\n";
    insta::assert_snapshot!(fails(program, "up", 1));
}

#[test]
fn syntax_error_and_exception_show_the_line() {
    insta::assert_snapshot!(fails("const a = ;\n", "plan", 1));
    insta::assert_snapshot!(fails("function f() {\n  throw new Error(\"no\");\n}\nf();\n", "plan", 1));
}

#[test]
fn misspelled_class_name_is_reported_with_the_nearest_one() {
    let program =
        "import * as local from \"stead/local\";\nnew local.Fiel({ path: \"a\", content: \"x\" });\n";
    let failed = fails(program, "plan", 1);
    assert!(failed.contains("`local.Fiel` is not a class; did you mean `local.File`?"), "{failed}");
    assert!(failed.contains("main.ts:2:"), "{failed}");
}

#[test]
fn duplicate_name_shows_both_declarations() {
    let program = "import * as local from \"stead/local\";\nnew local.Data({ value: 1 }, { id: \"x\" });\nnew local.Data({ value: 2 }, { id: \"x\" });\n";
    insta::assert_snapshot!(fails(program, "plan", 1));
}

#[test]
fn failed_step_is_reported_with_its_line_and_completed_steps_are_kept() {
    let project = Project::only(
        "import * as local from \"stead/local\";\nnew local.File({ path: \"ok.txt\", content: \"\" }, { id: \"ok\" });\nnew local.Command({ create: \"echo broken >&2; exit 3\" }, { id: \"bad\" });\n",
    );
    let failed = project.stead(&["up", "--yes", "--parallel", "1"]).ends(1);
    insta::assert_snapshot!(failed.untimed());
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.File#ok\n");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 10);
}

#[test]
fn blocked_folder_and_unwritable_path_are_reported() {
    let project = Project::only(
        "import * as local from \"stead/local\";\nnew local.File({ path: \"a/b.txt\", content: \"\" });\nnew local.File({ path: \"/proc/nothing/x\", content: \"\" });\n",
    );
    project.write("a", "a file");
    let failed = project.stead(&["up", "--yes", "--parallel", "1"]).ends(1);
    insta::assert_snapshot!(failed.untimed());
    assert_eq!(project.read("a"), "a file");
}

#[test]
fn prevent_delete_refuses_with_exit_13_and_changes_nothing() {
    let program = "import * as local from \"stead/local\";\nnew local.File({ path: \"db\", content: \"data\" }, { id: \"db\", preventDelete: true });\n";
    let project = Project::only(program);
    project.stead(&["up", "--yes"]).ok();
    insta::assert_snapshot!(project.stead(&["destroy", "--yes"]).ends(13).stderr);
    project.write("main.ts", &program.replace("path: \"db\"", "path: \"elsewhere\""));
    insta::assert_snapshot!(project.stead(&["up", "--yes"]).ends(13).stderr);
    assert_eq!(project.stead(&["plan"]).code, 13);
    assert_eq!(project.stead(&["state", "rm", "db", "--yes"]).code, 13);
    project.write("main.ts", "export {};");
    insta::assert_snapshot!(project.stead(&["up", "--yes"]).ends(13).stderr);
    assert_eq!(project.read("db"), "data");
}

#[test]
fn damaged_state_is_refused_with_exit_16_and_never_written() {
    let project = Project::with("import * as local from \"stead/local\";\nnew local.Data({ value: 1 });\n");
    project.stead(&["up", "--yes"]).ok();
    let head = ".stead/state/shop/dev/local/head";
    let whole = project.read(head);
    project.write(head, &whole.replacen("\"epoch\":1", "\"epoch\":2", 1));
    let before = project.all_files();
    for command in ["plan", "up", "destroy", "refresh"] {
        let refused = project.stead(&[command, "--yes"]).ends(16);
        assert!(refused.stderr.contains("ST0202"), "{}", refused.stderr);
    }
    assert_eq!(project.all_files(), before);
    project.write(head, "{\"format\":99}\n\"x\"\n");
    assert!(project.stead(&["plan"]).ends(16).stderr.contains("ST0203"));
}

#[test]
fn error_codes_are_explained() {
    let project = Project::empty();
    assert!(project.stead(&["explain", "st0104"]).ok().starts_with("# ST0104"));
    assert!(project.stead(&["explain", "ST0140"]).ends(2).stderr.contains("did you mean"));
}

#[test]
fn missing_entry_point_names_the_key_that_sets_it() {
    let project = Project::with("");
    std::fs::remove_file(project.path("main.ts")).unwrap();
    let missing = project.stead(&["plan"]).ends(1);
    assert!(missing.stderr.contains("`main` in stead.toml"), "{}", missing.stderr);
}

#[test]
fn known_type_without_a_provider_is_not_called_misspelt() {
    let project = Project::with("import { s3 } from \"stead/aws\";\nnew s3.Bucket({}, { id: \"b\" });\n");
    let refused = project.stead(&["plan"]).ends(1);
    assert!(
        refused.stderr.contains("this target can check aws.s3.Bucket, and cannot create it"),
        "{}",
        refused.stderr
    );
    assert!(!project.stead(&["explain", "ST0302"]).ok().contains("misspelt"));
}
