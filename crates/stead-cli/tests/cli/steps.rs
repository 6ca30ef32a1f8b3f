//! Lines of a plan besides its steps: look-ups, drift, unchanged resources, likely renames.

use crate::project::Project;

const HEAD: &str = "import * as local from \"stead/local\";\n";

fn file(id: &str, content: &str) -> String {
    format!("new local.File({{ path: \"{id}.txt\", content: \"{content}\" }}, {{ id: \"{id}\" }});\n")
}

#[test]
fn drift_is_shown_like_steps_with_its_own_exit_code() {
    let project = Project::only(&format!("{HEAD}{}{}", file("a", "one"), file("b", "one")));
    project.stead(&["up", "--yes"]).ok();
    project.write("a.txt", "outside");
    let plan = ["plan", "--refresh", "--exit-code", "--unchanged"];
    let seen = project.stead(&plan).ends(12);
    insta::assert_snapshot!(seen.stdout);
    let json = project.stead(&["plan", "--refresh", "--json"]).ok();
    let drift = json.lines().find(|line| line.contains("\"kind\":\"drift\"")).unwrap();
    assert!(drift.contains("\"action\":\"refresh\"") && drift.contains("\"gone\":false"), "{drift}");
    assert!(drift.contains("\"path\":[\"content\"]") || drift.contains("content"), "{drift}");
    let same = project.stead(&["plan", "--unchanged", "--json"]).ok();
    assert_eq!(same.lines().filter(|line| line.contains("\"kind\":\"same\"")).count(), 2, "{same}");

    project.write("main.ts", &format!("{HEAD}{}{}", file("a", "two"), file("b", "one")));
    assert_eq!(project.stead(&plan).code, 10, "the program changed too");
    project.write("main.ts", &format!("{HEAD}{}", file("a", "one")));
    assert_eq!(project.stead(&plan).code, 11, "a resource would be deleted");
    project.write("main.ts", &format!("{HEAD}{}{}", file("a", "outside"), file("b", "one")));
    assert_eq!(project.stead(&plan).code, 12, "only the record differs");
    project.stead(&["refresh", "--yes"]).ok();
    assert_eq!(project.stead(&plan).code, 0);
}

#[test]
fn looked_up_resource_is_shown_and_never_changed() {
    let project = Project::with("");
    project.write("motd.txt", "welcome\n");
    let path = project.path("motd.txt");
    let motd = format!(
        "{HEAD}const motd = local.File.get({:?});\nnew local.File({{ path: \"copy.txt\", content: motd.content }}, {{ id: \"copy\" }});\n",
        "motd.txt"
    );
    project.write("main.ts", &motd);
    let plan = project.stead(&["plan"]).ok();
    let read =
        "? read local.File \"motd.txt\"\n    because the program looks it up; stead does not manage it\n";
    assert!(plan.starts_with(read), "{plan}");
    let json = project.stead(&["plan", "--json"]).ok();
    assert!(
        json.lines().any(|line| line.contains("\"kind\":\"read\"") && line.contains("motd.txt")),
        "{json}"
    );
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "welcome\n");
}

#[test]
fn resources_that_look_alike_are_listed_and_stop_the_run() {
    let data = |ids: &[&str]| {
        let lines = ids.iter().map(|id| format!("new local.Data({{ value: 1 }}, {{ id: \"{id}\" }});\n"));
        format!("{HEAD}{}", lines.collect::<String>())
    };
    let project = Project::only(&data(&["a", "b"]));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &data(&["c", "d"]));
    for moves in [&["up", "--yes"][..], &["up", "--yes", "--accept-moves"]] {
        let stopped = project.stead(moves).ends(1);
        insta::assert_snapshot!("resources_that_look_alike", stopped.stderr);
    }
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.Data#a\ndev:main:local.Data#b\n");
    project.stead(&["rename", "a", "c", "--yes"]).ok();
    project.stead(&["rename", "b", "d", "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    project.write("main.ts", &data(&["e", "f"]));
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.Data#e\ndev:main:local.Data#f\n");
}

#[test]
fn scope_rename_has_a_dry_run_and_combines_with_an_edit() {
    let scoped = |class: &str, content: &str| {
        format!(
            "import {{ Resource }} from \"stead\";\n{HEAD}class {class} extends Resource {{\n  constructor() {{\n    \
             super();\n    {}    {}  }}\n}}\nnew {class}();\n",
            file("a", content),
            file("b", "same")
        )
    };
    let project = Project::only(&scoped("Site", "one"));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &scoped("Web", "two"));
    let before = project.stead(&["state", "ls"]).ok();
    let dry = project.stead(&["rename", "dev:main/Site", "dev:main/Web", "--dry-run"]).ok();
    assert_eq!(
        dry,
        "dev:main/Site:local.File#a → dev:main/Web:local.File#a\n\
         dev:main/Site:local.File#b → dev:main/Web:local.File#b\n"
    );
    assert_eq!(project.stead(&["state", "ls"]).ok(), before, "nothing was changed");
    project.stead(&["rename", "dev:main/Site", "dev:main/Web", "--yes"]).ok();
    let up = project.stead(&["up", "--yes"]).ok();
    assert!(up.contains("1 to update, 1 unchanged"), "{up}");
    assert_eq!(project.read("a.txt"), "two");
}

#[test]
fn import_of_a_missing_file_names_the_export_command() {
    let project = Project::with("");
    let refused = project.stead(&["stack", "import", "nowhere.json"]).ends(1);
    assert!(
        refused.stderr.contains("help: `stead stack export -e dev > FILE` makes such a file"),
        "{}",
        refused.stderr
    );
}
