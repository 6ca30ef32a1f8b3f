//! Renames, imports, partial runs and rollbacks.

use crate::project::Project;

fn file(id: &str, path: &str, content: &str) -> String {
    format!("new local.File({{ path: \"{path}\", content: \"{content}\" }}, {{ id: \"{id}\" }});\n")
}

fn program(files: &[(&str, &str, &str)]) -> String {
    let lines: String = files.iter().map(|(id, path, content)| file(id, path, content)).collect();
    format!("import * as local from \"stead/local\";\n{lines}")
}

#[test]
fn likely_rename_stops_the_run_until_the_printed_command_is_run() {
    let project = Project::only(&program(&[("old", "a.txt", "one")]));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(&[("new", "a.txt", "one")]));
    let stopped = project.stead(&["up", "--yes"]);
    assert_eq!(stopped.code, 1);
    assert!(stopped.stderr.contains("ST0303"), "{}", stopped.stderr);
    let command = "stead rename 'dev:main:local.File#old' 'dev:main:local.File#new'";
    assert!(stopped.stderr.contains(command), "{}", stopped.stderr);
    assert_eq!(project.read("a.txt"), "one");
    insta::assert_snapshot!(project.stead(&["plan", "--suggest-renames"]).ok(), @r"
    certain: `path` identifies the same real resource
        stead rename 'dev:main:local.File#old' 'dev:main:local.File#new' -e dev
    ");

    let dry = project.stead(&["rename", "dev:main:local.File#old", "dev:main:local.File#new", "--dry-run"]);
    assert_eq!(dry.ok(), "dev:main:local.File#old → dev:main:local.File#new\n");
    project.stead(&["rename", "old", "new", "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.File#new\n");
}

#[test]
fn accept_moves_renames_and_no_moves_deletes_and_creates() {
    let project = Project::only(&program(&[("old", "a.txt", "one")]));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(&[("new", "a.txt", "two")]));
    insta::assert_snapshot!(project.stead(&["plan", "--accept-moves"]).ok(), @r#"
    shop · environment dev · target local

    > rename main:local.File#old → main:local.File#new  main.ts:2:1
        because it looks the same, and certain moves are applied

    ~ update main:local.File#new  main.ts:2:1
        because `content` changed
        content: "one" → "two"

    1 to update, 1 to rename, 0 unchanged
    "#);
    project.stead(&["up", "--yes", "--accept-moves"]).ok();
    assert_eq!(project.read("a.txt"), "two");
    project.write("main.ts", &program(&[("other", "b.txt", "two")]));
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    assert!(!project.has("a.txt") && project.has("b.txt"));
}

#[test]
fn scope_is_renamed_as_a_whole() {
    let scoped = |class: &str| {
        format!(
            "import {{ Resource }} from \"stead\";\nimport * as local from \"stead/local\";\n\
             class {class} extends Resource {{\n  constructor() {{\n    super();\n    \
             new local.File({{ path: \"a.txt\", content: \"1\" }}, {{ id: \"a\" }});\n    \
             new local.File({{ path: \"b.txt\", content: \"2\" }}, {{ id: \"b\" }});\n  }}\n}}\nnew {class}();\n"
        )
    };
    let project = Project::with(&scoped("Site"));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &scoped("Web"));
    project.stead(&["rename", "dev:main/Site", "dev:main/Web", "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    let taken = project.stead(&["rename", "dev:main/Web:local.File#a", "dev:main/Web:local.File#b", "--yes"]);
    assert_eq!(taken.code, 1);
    assert!(taken.stderr.contains("ST0307"), "{}", taken.stderr);
}

#[test]
fn existing_resource_is_imported_and_its_declaration_printed() {
    let project = Project::with("import * as local from \"stead/local\";\n");
    project.write("there.txt", "here already\n");
    let imported = project.stead(&["import", "local.File", "kept", "there.txt", "--yes"]).ok();
    let at = imported.find("new local.File(").unwrap();
    let declaration = &imported[at..];
    insta::assert_snapshot!(declaration, @r#"
    new local.File({
      content: "here already\n",
      mode: "0644",
      path: "there.txt",
    }, { id: "kept" });
    "#);
    project.write("main.ts", &format!("import * as local from \"stead/local\";\n{declaration}"));
    let declared = project.stead(&["up", "--yes"]).ok();
    assert!(declared.contains("it was imported, and the program declares it now"), "{declared}");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    assert_eq!(project.read("there.txt"), "here already\n");
    let missing = project.stead(&["import", "local.File", "other", "nowhere.txt", "--yes"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("ST0306"), "{}", missing.stderr);
}

#[test]
fn partial_run_touches_only_targeted_resources() {
    let project = Project::only(&program(&[("a", "a.txt", "1"), ("b", "b.txt", "1")]));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(&[("a", "a.txt", "2"), ("b", "b.txt", "2")]));
    let shown = project.stead(&["up", "--yes", "--target-resource", "a"]).ok();
    assert!(shown.contains("1 to update, 1 left alone"), "{shown}");
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("2".to_owned(), "1".to_owned()));
    let nothing = project.stead(&["up", "--yes", "--target-resource", "c"]);
    assert_eq!(nothing.code, 1);
    assert!(nothing.stderr.contains("ST0304"), "{}", nothing.stderr);
    project.stead(&["destroy", "--yes", "--exclude", "a"]).ok();
    assert!(project.has("a.txt") && !project.has("b.txt"));
}

#[test]
fn rollback_restores_the_state_after_an_earlier_run() {
    let project = Project::with(&program(&[("a", "a.txt", "1")]));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(&[("a", "a.txt", "2"), ("b", "b.txt", "2")]));
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["stack", "rollback", "run-1", "--yes"]).ok();
    assert_eq!(project.read("a.txt"), "1");
    assert!(!project.has("b.txt"));
    assert_eq!(project.stead(&["stack", "rollback", "run-9", "--yes"]).code, 1);
}

#[test]
fn refresh_of_changed_resources_reads_no_others() {
    let project = Project::with(&program(&[("a", "a.txt", "1"), ("b", "b.txt", "1")]));
    project.stead(&["up", "--yes"]).ok();
    project.write("a.txt", "outside");
    project.write("b.txt", "outside");
    project.write("main.ts", &program(&[("a", "a.txt", "2"), ("b", "b.txt", "1")]));
    let shown = project.stead(&["plan", "--refresh=changed"]).ok();
    assert!(
        shown.contains("^ refresh main:local.File#a\n    because it was changed outside of stead"),
        "{shown}"
    );
    assert!(!shown.contains("File#b"), "{shown}");
    let all = project.stead(&["plan", "--refresh"]).ok();
    assert!(all.contains("^ refresh main:local.File#b"), "{all}");
}

#[test]
fn class_without_an_id_means_all_its_instances_which_keep_their_ids() {
    let site = |class: &str| {
        format!(
            "import {{ Resource }} from \"stead\";\nimport * as local from \"stead/local\";\n\
             class {class} extends Resource {{\n  constructor(id: string) {{\n    super(id);\n    \
             new local.Data({{ value: id }}, {{ id: \"a\" }});\n    new local.Data({{ value: id + 2 }}, {{ id: \"b\" }});\n  }}\n}}\n\
             new {class}(\"home\");\nnew {class}(\"shop\");\nnew local.Data({{ value: 0 }}, {{ id: \"alone\" }});\n"
        )
    };
    let project = Project::only(&site("Site"));
    project.stead(&["up", "--yes"]).ok();
    let before = project.all_files();
    let refused = project.stead(&["rename", "dev:main/Site", "dev:main/Web#one", "--yes"]).ends(1);
    insta::assert_snapshot!(refused.stderr, @r#"
    error[ST0207]: "dev:main/Site" has 2 instances, which cannot all get one id
     |
     = note: Nothing was changed.
     = help: did you mean "dev:main/Site#home"? 2 resources are in it
     = help: did you mean "dev:main/Site#shop"? 2 resources are in it

    For more on this, run `stead explain ST0207`.
    "#);
    let near = project.stead(&["rename", "dev:main/Site#hmoe", "dev:main/Web", "--yes"]).ends(1);
    assert!(near.stderr.contains("did you mean \"dev:main/Site#home\"?"), "{}", near.stderr);
    assert_eq!(project.all_files(), before, "nothing was changed");

    project.stead(&["rename", "dev:main/Site#home", "dev:main/Web#home", "--yes"]).ok();
    assert_eq!(project.stead(&["stack", "history"]).ok().lines().count(), 2, "one run renames all");
    project.write("main.ts", &site("Web"));
    let plan = project.stead(&["plan", "--accept-moves"]).ok();
    assert!(plan.contains("2 to rename, 3 unchanged"), "a renamed resource is not unchanged: {plan}");
    let renamed = project.stead(&["rename", "dev:main/Site", "dev:main/Web", "--yes"]).ok();
    insta::assert_snapshot!(renamed, @r"
    dev:main/Site#shop:local.Data#a → dev:main/Web#shop:local.Data#a
    dev:main/Site#shop:local.Data#b → dev:main/Web#shop:local.Data#b
    ");
    project.stead(&["rename", "main/Web", "main/Site", "--yes"]).ok();
    project.write("main.ts", &site("Site"));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "both instances were renamed");
}

/// A program of unnamed files, from a loop.
fn loop_of(files: &[&str], content: &str) -> String {
    let names: Vec<String> = files.iter().map(|name| format!("[\"{name}.txt\", \"{content}\"]")).collect();
    files_of(&names)
}

fn files_of(pairs: &[String]) -> String {
    format!(
        "import * as local from \"stead/local\";\nfor (const [path, content] of [{}]) {{\n  new local.File({{ path, content }});\n}}\n",
        pairs.join(", ")
    )
}

#[test]
fn unnamed_file_is_dropped_while_the_others_change() {
    let project = Project::with(&loop_of(&["a", "b", "c"], "1"));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &loop_of(&["b", "c"], "2"));
    let plan = project.stead(&["plan"]).ok();
    assert!(plan.contains("2 to update, 2 to rename, 1 to delete"), "{plan}");
    assert!(plan.contains("it has no `id`, and it names the same real resource"), "{plan}");
    project.stead(&["up", "--yes"]).ok();
    assert!(!project.has("a.txt"));
    assert_eq!((project.read("b.txt"), project.read("c.txt")), ("2".to_owned(), "2".to_owned()));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn unnamed_file_is_added_above_while_another_changes() {
    let pair = |path: &str, content: &str| format!("[\"{path}.txt\", \"{content}\"]");
    let project = Project::with(&files_of(&[pair("a", "1"), pair("b", "1")]));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &files_of(&[pair("new", "1"), pair("a", "2"), pair("b", "1")]));
    let done = project.stead(&["up", "--yes"]).ok();
    assert!(done.contains("1 to create, 1 to update"), "{done}");
    assert_eq!((project.read("new.txt"), project.read("a.txt")), ("1".to_owned(), "2".to_owned()));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn unnamed_resource_in_the_middle_goes_and_the_one_behind_it_stays() {
    let pets = |words: &[u8]| {
        let lines = words
            .iter()
            .enumerate()
            .map(|(at, words)| format!("const pet{at} = new local.RandomPet({{ words: {words} }});\n"));
        let last = words.len() - 1;
        let program = lines.collect::<String>();
        format!("import * as local from \"stead/local\";\n{program}export const last = pet{last}.result;\n")
    };
    let project = Project::with(&pets(&[2, 3, 4]));
    project.stead(&["up", "--yes"]).ok();
    let before = project.stead(&["output", "last"]).ok();
    project.write("main.ts", &pets(&[2, 4]));
    let plan = project.stead(&["plan"]).ok();
    assert!(plan.contains("1 to delete") && !plan.contains("replace"), "{plan}");
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["output", "last"]).ok(), before, "the real resource is the same");

    // Another number of words is not the same input.
    let one = |id: &str, words: u8| {
        format!(
            "import * as local from \"stead/local\";\nnew local.RandomPet({{ words: {words} }}, {{ id: \"{id}\" }});\n"
        )
    };
    let project = Project::with(&one("old", 3));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &one("new", 4));
    assert_eq!(project.stead(&["plan", "--suggest-renames"]).ok(), "No resource looks renamed.\n");
}

#[test]
fn given_id_in_another_scope_with_other_properties_is_suggested_as_a_rename() {
    let scoped = |class: &str, value: u8| {
        format!(
            "import {{ Resource }} from \"stead\";\nimport * as local from \"stead/local\";\n\
             class {class} extends Resource {{\n  constructor() {{\n    super();\n    \
             new local.Data({{ value: {value} }}, {{ id: \"settings\" }});\n  }}\n}}\nnew {class}();\n"
        )
    };
    let project = Project::with(&scoped("Site", 1));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &scoped("Web", 2));
    let stopped = project.stead(&["up", "--yes"]).ends(1);
    assert!(stopped.stderr.contains("ST0303"), "{}", stopped.stderr);
    let command = "stead rename 'dev:main/Site:local.Data#settings' 'dev:main/Web:local.Data#settings'";
    assert!(stopped.stderr.contains(command), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("same type and id, in another scope"), "{}", stopped.stderr);
}

#[test]
fn swapped_ids_are_renamed_at_once_or_replaced_without_a_clash() {
    let before = program(&[("a", "x.txt", "one"), ("b", "y.txt", "two")]);
    let after = program(&[("a", "y.txt", "two"), ("b", "x.txt", "one")]);
    let project = Project::with(&before);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &after);
    let stopped = project.stead(&["up", "--yes"]).ends(1);
    assert!(stopped.stderr.contains("ST0303"), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("swapped names"), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("stead up --accept-moves -e dev"), "{}", stopped.stderr);
    let done = project.stead(&["up", "--yes", "--accept-moves"]).ok();
    assert!(done.contains("2 to rename"), "{done}");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);

    project.write("main.ts", &before);
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    assert_eq!((project.read("x.txt"), project.read("y.txt")), ("one".to_owned(), "two".to_owned()));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn file_with_the_path_of_a_removed_one_is_written_after_the_deletion() {
    let project = Project::with(&program(&[("old", "a.txt", "one")]));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(&[("new", "a.txt", "two")]));
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    assert_eq!(project.read("a.txt"), "two");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn file_in_place_of_a_removed_one_is_written_after_the_deletion_however_its_path_is_spelled() {
    let project = Project::only(&program(&[("old", "a.txt", "one")]));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(&[("new", "./a.txt", "two")]));
    let asked = project.stead(&["up", "--yes"]);
    assert!(asked.code != 0 && asked.stderr.contains("--no-moves"), "one file, two names: {}", asked.stderr);
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    assert_eq!(project.read("a.txt"), "two");
    // A key pair takes the place of the file, although their types differ.
    let pair = "import * as local from \"stead/local\";\nnew local.KeyPair({ path: \"./a.txt\" }, { id: \"key\" });\n";
    project.write("main.ts", pair);
    project.stead(&["up", "--yes"]).ok();
    assert!(project.has("a.txt.pub"));
}
