//! Words of other tools, and the commands that they lead to.

use crate::project::Project;

const HEAD: &str = "import * as local from \"stead/local\";\n";

fn pet() -> Project {
    let program = format!(
        "{HEAD}const pet = new local.RandomPet({{ words: 2 }}, {{ id: \"pet\" }});\n\
         new local.File({{ path: \"a.txt\", content: pet.result }}, {{ id: \"a\" }});\n\
         export const result = pet.result;\nexport const list = [1, \"two\"];\nexport const size = 3;\n"
    );
    Project::only(&program)
}

#[test]
fn words_of_other_tools_do_the_same_as_those_of_stead() {
    let project = pet();
    assert_eq!(project.stead(&["preview"]).ok(), project.stead(&["plan"]).ok());
    project.stead(&["apply", "-auto-approve"]).ok();
    assert_eq!(project.stead(&["state", "list"]).ok(), project.stead(&["state", "ls"]).ok());
    assert_eq!(project.stead(&["version"]).ok(), project.stead(&["--version"]).ok());
    assert_eq!(project.stead(&["help", "apply"]).ok(), project.stead(&["up", "--help"]).ok());
    assert_eq!(project.stead(&["help"]).ok(), project.stead(&["--help"]).ok());
    let targeted = project.stead(&["plan", "-destroy", "-target=a"]).ok();
    assert_eq!(targeted, project.stead(&["plan", "--destroy", "--target-resource", "a"]).ok());
    assert!(targeted.contains("1 to delete"), "{targeted}");
}

#[test]
fn word_with_another_meaning_names_the_command_to_type() {
    let project = pet();
    let refused = project.stead(&["taint", "pet"]).ends(2);
    insta::assert_snapshot!(refused.stderr);
    let json = project.stead(&["plan", "-var-file=a.tfvars", "--json"]).ends(2);
    assert!(
        json.stdout.contains("\"kind\":\"problem\"") && json.stdout.contains("[config]"),
        "{}",
        json.stdout
    );
    let pulumi = project.stead(&["up", "--target", "dev:main:local.File#a"]).ends(2);
    assert!(pulumi.stderr.contains("`--target-resource PATTERN`"), "{}", pulumi.stderr);
    for words in [&["fmt"][..], &["validate"], &["show"], &["workspace"], &["stack", "select", "qa"]] {
        let refused = project.stead(words).ends(2);
        assert!(refused.stderr.contains("help: type `"), "{}", refused.stderr);
    }
}

#[test]
fn outputs_are_printed_for_people_programs_and_scripts() {
    let project = pet();
    let none = project.stead(&["output"]).ends(1);
    assert!(none.stderr.contains("there is no stack"), "{}", none.stderr);
    project.stead(&["up", "--yes"]).ok();
    let content = project.read("a.txt");
    assert_eq!(project.stead(&["output", "result", "--raw"]).ok(), content);
    assert_eq!(project.stead(&["output", "result"]).ok(), format!("\"{content}\"\n"));
    assert_eq!(project.stead(&["output", "-raw", "size"]).ok(), "3");
    let all = project.stead(&["output"]).ok();
    assert!(all.contains(&format!("result = {content}\n")) && all.contains("size"), "{all}");
    let json = project.stead(&["output", "list", "--json"]).ok();
    assert_eq!(json, "{\"v\":1,\"kind\":\"output\",\"name\":\"list\",\"value\":[1,\"two\"]}\n");
    assert!(project.stead(&["output", "--json"]).ok().contains("\"outputs\":{"));
    let wrong = project.stead(&["output", "reslut"]).ends(1);
    assert!(wrong.stderr.contains("did you mean \"result\"?"), "{}", wrong.stderr);
    assert!(project.stead(&["output", "list", "--raw"]).ends(2).stderr.contains("not a single value"));
}

#[test]
fn plan_of_a_destroy_shows_the_deletions_and_asks_the_guards() {
    let project = pet();
    project.stead(&["up", "--yes"]).ok();
    let before = project.all_files();
    let plan = project.stead(&["plan", "--destroy", "--exit-code"]).ends(11);
    assert!(plan.stdout.contains("2 to delete"), "{}", plan.stdout);
    project.stead(&["state", "protect", "a"]).ok();
    let protected = project.all_files();
    assert_ne!(before, protected);
    let refused = project.stead(&["plan", "--destroy"]).ends(13);
    assert!(
        refused.stdout.contains("2 to delete") && refused.stderr.contains("ST0401"),
        "{}",
        refused.stderr
    );
    assert_eq!(project.all_files(), protected, "nothing was written");
    project.stead(&["state", "unprotect", "a"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
    assert!(project.stead(&["plan", "--destroy", "--exit-code"]).ok().contains("Nothing to destroy"));
}

#[test]
fn named_resource_is_replaced_without_a_change_and_under_the_guards() {
    let project = pet();
    project.stead(&["up", "--yes"]).ok();
    let before = project.read("a.txt");
    let plan = project.stead(&["plan", "--replace", "a"]).ok();
    let plan = plan.replace(&before, "PET");
    insta::assert_snapshot!(plan);
    assert_eq!(project.stead(&["plan", "--replace", "a", "--exit-code"]).code, 11);
    project.stead(&["up", "--yes", "--replace", "dev:main:local.File#a"]).ok();
    assert_eq!(project.read("a.txt"), before, "the old file was deleted before the new one was made");
    let shown = project.stead(&["state", "show", "a"]).ok();
    assert!(shown.contains("generation 2"), "{shown}");
    project.stead(&["up", "--yes", "--replace", "pet", "--replace", "a"]).ok();
    assert!(project.stead(&["state", "show", "pet"]).ok().contains("generation 2"));
    project.stead(&["state", "protect", "pet"]).ok();
    let refused = project.stead(&["up", "--yes", "--replace", "pet"]).ends(13);
    assert!(refused.stderr.contains("the request asks for its replacement"), "{}", refused.stderr);
    let unknown = project.stead(&["plan", "--replace", "pte"]).ends(1);
    assert!(unknown.stderr.contains("did you mean \"pet\"?"), "{}", unknown.stderr);
}

#[test]
fn saved_plan_keeps_a_requested_replacement() {
    let project = pet();
    project.stead(&["up", "--yes"]).ok();
    let file = project.path("plan.out").display().to_string();
    project.stead(&["plan", "--replace", "a", "--out", &file]).ok();
    project.stead(&["up", &file, "--yes"]).ok();
    assert!(project.stead(&["state", "show", "a"]).ok().contains("generation 2"));
}

#[test]
fn value_inside_an_object_and_a_list_is_found_and_so_is_a_retained_resource() {
    let project = Project::only(&format!(
        "{HEAD}new local.Data({{ value: {{ rules: [{{ arn: \"arn:x:2\" }}] }} }}, {{ id: \"d\" }});\n\
         new local.File({{ path: \"f.txt\", content: \"f\" }}, {{ id: \"f\" }});\n"
    ));
    project.stead(&["up", "--yes"]).ok();
    let nested = project.stead(&["find", "arn:x:2"]).ok();
    assert!(nested.contains("local.Data#d") && nested.contains("rules[0].arn"), "{nested}");
    project.stead(&["state", "rm", "f", "--yes"]).ok();
    let retained = project.stead(&["find", "f.txt"]).ok();
    assert!(retained.contains("local.File#f") && retained.contains("retained"), "{retained}");
}

#[test]
fn resource_of_an_unfinished_create_is_found() {
    let project = Project::only(&format!(
        "{HEAD}new local.Command({{ create: \"exit 0\", environment: {{ A: \"marker-7\" }} }}, {{ id: \"c\" }});\n"
    ));
    project.crash(&["up", "--yes"], "step.call.after");
    let pending = project.stead(&["find", "marker-7"]).ok();
    assert!(
        pending.contains("local.Command#c") && pending.contains("of an unfinished operation"),
        "{pending}"
    );
}

#[test]
fn resource_is_found_by_id_value_and_path_in_every_stack() {
    let project = pet();
    project.write("stead.toml", "project = \"shop\"\n\n[env.prod]\n");
    project.stead(&["up", "--yes"]).ok();
    let content = project.read("a.txt");
    project.write("main.ts", &format!("{HEAD}new local.Data({{ value: \"arn:x:1\" }}, {{ id: \"d\" }});\n"));
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    let by_path = project.stead(&["find", "./a.txt"]).ok();
    insta::assert_snapshot!(by_path);
    let absolute = project.path("x/../a.txt").display().to_string();
    assert_eq!(project.stead(&["find", &absolute]).ok(), by_path);
    let by_output = project.stead(&["find", &content]).ok();
    assert!(
        by_output.contains("dev:main:local.RandomPet#pet") && by_output.contains("main.ts:2:13"),
        "{by_output}"
    );
    let elsewhere = project.stead(&["find", "arn:x:1"]).ok();
    assert!(elsewhere.contains("environment prod") && elsewhere.contains("found by output"), "{elsewhere}");
    let json = project.stead(&["find", "arn:x:1", "--json"]).ok();
    assert!(json.contains("\"kind\":\"found\"") && json.contains("\"environment\":\"prod\""), "{json}");
    let none = project.stead(&["find", "nowhere"]).ends(1);
    std::os::unix::fs::symlink(project.folder(), project.path("link")).unwrap();
    assert_eq!(project.stead(&["find", "link/a.txt"]).ok(), by_path);
    assert!(none.stderr.contains("2 stacks were searched"), "{}", none.stderr);
}
