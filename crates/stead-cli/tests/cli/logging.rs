//! `-v` and `STEAD_LOG`: log lines on stderr, without a value of a property.

use crate::project::Project;

const PROGRAM: &str = "import * as local from \"stead/local\";\n\
    new local.File({ path: \"note.txt\", content: \"canary-in-a-property\" }, { id: \"note\" });\n";

#[test]
fn log_is_off_by_default_and_has_names_but_no_values_with_the_flag() {
    let project = Project::with(PROGRAM);
    let quiet = project.stead(&["up", "--yes"]).ends(0);
    assert!(!quiet.stderr.contains("run opened"), "{}", quiet.stderr);
    project.write("main.ts", &PROGRAM.replace("canary", "second-canary"));
    let told = project.stead(&["up", "--yes", "-vvv"]).ends(0);
    for line in ["state loaded", "planned", "run opened", "step started", "run ended", "#note"] {
        assert!(told.stderr.contains(line), "{line}: {}", told.stderr);
    }
    let logged: Vec<&str> = told.stderr.lines().filter(|line| line.contains("stead_engine")).collect();
    assert!(!logged.is_empty());
    assert!(logged.iter().all(|line| !line.contains("canary")), "{logged:?}");
}
