//! Modules of a program: which of them run, and the names that their resources get.

use crate::project::Project;

const NETWORK: &str = "import * as local from \"stead/local\";\n\
    export const vpc = new local.File({ path: \"vpc.txt\", content: \"10.0.0.0/8\" }, { id: \"vpc\" });\n";

#[test]
fn removing_the_last_use_of_an_import_deletes_nothing() {
    let subnet = "new local.File({ path: \"subnet.txt\", content: vpc.content }, { id: \"subnet\" });\n";
    let head = "import * as local from \"stead/local\";\nimport { vpc } from \"./network\";\n";
    let project = Project::only(&format!("{head}{subnet}"));
    project.write("network.ts", NETWORK);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &format!("{head}{}", subnet.replace("vpc.content", "\"10.0.0.0/8\"")));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    project.write("main.ts", head);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:network:local.File#vpc\n");
    assert!(project.has("vpc.txt") && !project.has("subnet.txt"));
    project.write("main.ts", "import type { vpc } from \"./network\";\n");
    let plan = project.stead(&["plan", "--exit-code"]);
    assert_eq!(plan.code, 11, "an import of types does not run the module: {}", plan.stdout);
}

#[test]
fn missing_file_behind_an_unused_import_stops_the_plan() {
    let project = Project::with("import { vpc } from \"./netwrok\";\n");
    project.write("network.ts", NETWORK);
    let failed = project.stead(&["plan"]);
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.contains("ST0102") && failed.stderr.contains("main.ts:1:21"), "{}", failed.stderr);
    assert!(failed.stderr.contains("did you mean `./network`?"), "{}", failed.stderr);
}

const SITE: &str = "import { Resource } from \"stead\";\nimport * as local from \"stead/local\";\n\
    export class Site extends Resource {\n  constructor(id: string, path: string) {\n    super(id);\n    new local.File({ path, content: path });\n  }\n}\n";

fn sites(second: &str) -> [(&'static str, String); 2] {
    let module = |id: &str, path: &str| {
        format!("import {{ Site }} from \"./site\";\nnew Site(\"{id}\", \"{path}\");\n")
    };
    [("a.ts", module("one", "a.txt")), ("b.ts", module(second, "b.txt"))]
}

#[test]
fn one_id_in_two_modules_is_refused_and_the_recorded_counter_is_renamed() {
    let project = Project::with("import \"./a\";\nimport \"./b\";\n");
    // Earlier versions recorded the files of two `Site#one` as if one had both.
    let both = "new local.File({ path: \"a.txt\", content: \"a.txt\" });\n    new local.File({ path: \"b.txt\", content: \"b.txt\" });";
    project.write("site.ts", &SITE.replace("new local.File({ path, content: path });", both));
    project.write("a.ts", &sites("one")[0].1);
    project.write("b.ts", "");
    project.stead(&["up", "--yes"]).ok();
    let recorded = "dev:site/Site#one:local.File\ndev:site/Site#one:local.File#2\n";
    assert!(project.stead(&["state", "ls"]).ok().contains(recorded));
    project.write("site.ts", SITE);
    for (path, text) in sites("one") {
        project.write(path, &text);
    }
    let refused = project.stead(&["plan"]);
    assert_eq!(refused.code, 1);
    for part in ["ST0105", "b.ts:2:1", "a.ts:2:1", "give one of the two another id"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    for (path, text) in sites("two") {
        project.write(path, &text);
    }
    let plan = project.stead(&["up", "--yes"]);
    let command = "stead rename 'dev:site/Site#one:local.File#2' 'dev:site/Site#two:local.File'";
    assert!(plan.stderr.contains(command), "{}", plan.stderr);
    assert!(project.has("a.txt") && project.has("b.txt"));
}

#[cfg(unix)]
#[test]
fn packages_behind_symbolic_links_are_found_and_a_link_out_of_the_project_is_refused() {
    let project = Project::with("import a from \"a\";\nexport const found = a;\n");
    let store = "node_modules/.pnpm/a@1.0.0/node_modules";
    project.write(&format!("{store}/a/package.json"), "{}");
    project.write(&format!("{store}/a/index.js"), "module.exports = [require('b'), __filename];\n");
    // Only the folder behind the link has `b` above it.
    project.write(&format!("{store}/b/package.json"), "{}");
    project.write(&format!("{store}/b/index.js"), "module.exports = 'b';\n");
    std::os::unix::fs::symlink(".pnpm/a@1.0.0/node_modules/a", project.path("node_modules/a")).unwrap();
    let graph = project.stead(&["graph", "--json"]).ok();
    assert!(graph.contains("/project/node_modules/.pnpm/a@1.0.0/node_modules/a/index.js"), "{graph}");

    let outside = Project::with("");
    outside.write("a/package.json", "{}");
    outside.write("a/index.js", "module.exports = 1;\n");
    std::fs::remove_file(project.path("node_modules/a")).unwrap();
    std::os::unix::fs::symlink(outside.path("a"), project.path("node_modules/a")).unwrap();
    let refused = project.stead(&["graph"]).ends(1);
    assert!(refused.stderr.contains("leads out of the project"), "{}", refused.stderr);
}

#[test]
fn process_env_has_the_granted_variables_also_in_a_saved_plan() {
    let main = "import * as local from \"stead/local\";\nconst { GREETING, OTHER } = process.env;\n\
        new local.File({ path: \"a.txt\", content: `${GREETING} ${OTHER}` }, { id: \"a\" });\n";
    let project = Project::only(main);
    let settings = project.read("stead.toml");
    project.write("stead.toml", &format!("{settings}\n[program]\nenvironment = [\"GREETING\", \"UNSET\"]\n"));
    let plan = project.path("the plan");
    let mut command = project.command(&["plan", "--out", plan.to_str().unwrap()]);
    project.ran(command.env("GREETING", "hello").env("OTHER", "x").output().unwrap()).ok();
    // The saved plan has the value of the first evaluation.
    let mut command = project.command(&["up", plan.to_str().unwrap(), "--yes"]);
    project.ran(command.env("GREETING", "changed").output().unwrap()).ok();
    assert_eq!(project.read("a.txt"), "hello undefined");
}
