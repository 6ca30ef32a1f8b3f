//! Modules of a program: which of them run, and the names that their resources get.

use crate::project::Project;

const NETWORK: &str = "import * as local from \"stead/local\";\n\
    export const vpc = new local.File({ path: \"vpc.txt\", content: \"10.0.0.0/8\" }, { id: \"vpc\" });\n";

#[test]
fn removing_the_last_use_of_an_import_deletes_nothing() {
    let subnet = "new local.File({ path: \"subnet.txt\", content: vpc.content }, { id: \"subnet\" });\n";
    let head = "import * as local from \"stead/local\";\nimport { vpc } from \"./network\";\n";
    let project = Project::with(&format!("{head}{subnet}"));
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
