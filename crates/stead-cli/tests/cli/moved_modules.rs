//! A module or a class that moved: one suggestion, one rename, and no change of a real resource.

use crate::project::Project;

const MAIN: &str = "import { env } from \"stead\";\nimport * as local from \"stead/local\";\nimport { vpc, subnets } from \"./network\";\n\
    new local.File({ path: `${env}/main.txt`, content: `uses ${vpc.output}` }, { id: \"user\" });\n\
    export const first = subnets[0].output;\n";

const NETWORK: &str = "import { Resource, env } from \"stead\";\nimport * as local from \"stead/local\";\n\
    class Subnet extends Resource {\n  readonly data: local.Data;\n  constructor(id: string) {\n    super(id);\n    \
    this.data = new local.Data({ value: id }, { id: \"data\" });\n    \
    new local.File({ path: `${env}/${id}.txt`, content: this.data.output });\n  }\n}\n\
    export const vpc = new local.Data({ value: \"10.0.0.0/8\" }, { id: \"vpc\" });\n\
    new local.Data({ value: 1 });\nnew local.Data({ value: 2 });\n\
    export const subnets = [new Subnet(\"one\"), new Subnet(\"two\")].map((subnet) => subnet.data);\n";

/// A project whose module `network` is applied in `dev` and `prod`, and was moved to `lib/network` since.
fn moved() -> Project {
    let project = Project::with(MAIN);
    project.write("network.ts", NETWORK);
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    std::fs::remove_file(project.path("network.ts")).unwrap();
    project.write("lib/network.ts", NETWORK);
    project.write("main.ts", &MAIN.replace("./network", "./lib/network"));
    project
}

#[test]
fn module_that_moved_into_a_folder_is_one_rename() {
    let project = moved();
    insta::assert_snapshot!(project.stead(&["plan", "--suggest-renames"]).ok(), @r"
    certain: all 7 resources in it have the same types, ids and scopes, inputs and sources
        stead rename 'dev:network' 'dev:lib.network' -e dev
    ");
    let before = project.all_files();
    let stopped = project.stead(&["up", "--yes"]).ends(1);
    assert!(stopped.stderr.contains("ST0303"), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("7 resources look like they were renamed"), "{}", stopped.stderr);
    assert_eq!(stopped.stderr.matches("stead rename ").count(), 1, "{}", stopped.stderr);
    assert_eq!(project.all_files(), before, "nothing was changed");

    let renamed = project.stead(&["rename", "dev:network", "dev:lib.network", "--yes"]).ends(0);
    assert_eq!(renamed.stdout.lines().count(), 7, "{}", renamed.stdout);
    let elsewhere =
        "The stack prod still has 7 old names: `stead rename 'prod:network' 'prod:lib.network' -e prod`";
    assert!(renamed.stderr.contains(elsewhere), "{}", renamed.stderr);
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    let names = project.stead(&["state", "ls"]).ok();
    assert!(names.contains("dev:lib.network/Subnet#one:local.File\n"), "{names}");
    project.stead(&["rename", "prod:network", "prod:lib.network", "--yes", "-e", "prod"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code", "-e", "prod"]).code, 0);
}

#[test]
fn accepted_move_of_a_module_changes_no_real_resource() {
    let project = moved();
    let plan = project.stead(&["plan", "--accept-moves"]).ok();
    assert!(
        plan.contains("7 to rename") && !plan.contains("to create") && !plan.contains("to update"),
        "{plan}"
    );
    project.stead(&["up", "--yes", "--accept-moves"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn rename_of_a_module_takes_the_reading_that_the_program_declares() {
    let project = moved();
    let to = "dev:network:local.Data#vpc → dev:lib.network:local.Data#vpc\n";
    for (old, new) in [
        ("dev:network", "dev:lib/network"),
        ("network", "lib.network"),
        ("dev:network", "dev:lib%2Fnetwork"),
        ("network", "lib/network"),
    ] {
        let dry = project.stead(&["rename", old, new, "--dry-run"]).ok();
        assert!(dry.contains(to), "{old} {new}: {dry}");
    }
    let wrong = project.stead(&["rename", "dev:network", "dev:lib.net", "--dry-run"]).ends(0);
    let offered = "It declares all of them there: `stead rename 'dev:network' 'dev:lib.network' -e dev`";
    assert!(wrong.stderr.contains(offered), "{}", wrong.stderr);
    project.stead(&["rename", "network", "lib/network", "--yes"]).ok();
    // Every spelling names the recorded resource.
    for name in
        ["dev:lib%2Fnetwork:local.Data#vpc", "lib/network:local.Data#vpc", "lib.network:local.Data#vpc"]
    {
        let shown = project.stead(&["state", "show", name]).ok();
        assert!(shown.starts_with("dev:lib.network:local.Data#vpc\n"), "{name}: {shown}");
        let found = project.stead(&["plan", "--target-resource", name]).ends(0);
        assert!(!found.stderr.contains("ST0304"), "{name}: {}", found.stderr);
    }
}

#[test]
fn name_with_two_readings_is_refused_with_both() {
    let project = Project::only("import \"./lib/net\";\nimport \"./lib.net\";\nexport {};\n");
    let data = "import * as local from \"stead/local\";\nnew local.Data({ value: 1 }, { id: \"x\" });\n";
    project.write("lib/net.ts", data);
    project.write("lib.net.ts", data);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(
        project.stead(&["state", "ls"]).ok(),
        "dev:lib%2Enet:local.Data#x\ndev:lib.net:local.Data#x\n"
    );
    let refused = project.stead(&["state", "protect", "lib.net:local.Data#x"]).ends(1);
    for name in ["dev:lib%2Enet:local.Data#x", "dev:lib.net:local.Data#x"] {
        assert!(refused.stderr.contains(name), "{}", refused.stderr);
        project.stead(&["state", "protect", name]).ok();
    }
}
