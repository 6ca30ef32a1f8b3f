//! Moves in programs, releases in state, and entries that every environment has applied.

use super::{FILE, LOCAL};
use crate::project::Project;

const BEFORE: &str = "import * as local from \"stead/local\";\n\
    new local.KeyPair({ path: `key-${env}` }, { id: \"CoolKey\" });\n\
    new local.File({ path: `note-${env}`, content: \"x\" }, { id: \"note\" });\n";
const AFTER: &str = "import * as local from \"stead/local\";\n\
    class Access extends Resource {\n\
    key = new local.KeyPair({ path: `key-${env}` });\n\
    note = new local.File({ path: `note-${env}`, content: \"x\" });\n}\n\
    const access = new Access();\n\
    move(\"local.KeyPair.CoolKey\", access.key);\nmove(\"main:local.File#note\", \"main/Access:local.File\");\n";
const OWN_SECTIONS: &str = "{\"version\":\"1\",\"pinned\":{\"local:dev\":{},\"local:prod\":{}}}";

fn with_env(program: &str) -> String {
    format!("import {{ Resource, env, move }} from \"stead\";\n{program}")
}

#[test]
fn moved_resources_stay_in_every_environment() {
    let project = Project::only(&with_env(BEFORE));
    project.write(FILE, OWN_SECTIONS);
    let environments = ["dev", "prod"];
    for environment in environments {
        LOCAL.run(&project, &["up", "--yes", "-e", environment]).ok();
    }
    let keys = environments.map(|environment| project.read(&format!("key-{environment}")));
    project.write("main.ts", &with_env(AFTER));
    for environment in environments {
        let done = LOCAL.run(&project, &["up", "--yes", "-e", environment]).ok();
        assert!(done.contains("2 to rename, 0 unchanged"), "{done}");
        assert!(done.contains("[-pin] local.KeyPair.CoolKey\n[+pin] local.KeyPair.Access_Key"), "{done}");
        // The call stays, and has no effect where it was applied.
        LOCAL.run(&project, &["plan", "--exit-code", "-e", environment]).ok();
    }
    assert_eq!(environments.map(|environment| project.read(&format!("key-{environment}"))), keys);
    assert_eq!(project.read(FILE).matches("\"originalPath\": \"local.KeyPair.CoolKey\"").count(), 2);
}

#[test]
fn move_to_a_resource_that_is_not_declared_is_refused() {
    let project = Project::with(&with_env(BEFORE));
    let wrong = format!("{}move(\"local.File.old\", \"main:local.File#note2\");\n", with_env(BEFORE));
    project.write("main.ts", &wrong);
    let refused = LOCAL.run(&project, &["plan"]).ends(1);
    assert!(refused.stderr.contains("ST0420") && refused.stderr.contains("main.ts:5"), "{}", refused.stderr);
    assert!(refused.stderr.contains("did you mean \"main:local.File#note\"?"), "{}", refused.stderr);
}

#[test]
fn released_pin_ends_in_state_and_its_entry_goes_once_every_environment_has_applied_it() {
    let program = "import * as local from \"stead/local\";\nimport { env } from \"stead\";\n\
        new local.RandomString({ length: 8 }, { id: \"t\", pinned: true });\n";
    let project = Project::with(program);
    for environment in ["dev", "prod"] {
        LOCAL.run(&project, &["up", "--yes", "-e", environment]).ok();
    }
    project.write("main.ts", "export const nothing = 1;\n");
    let released = LOCAL.run(&project, &["pin", "rm", "local.RandomString.t", "-e", "dev"]);
    assert!(released.stderr.contains("is no longer pinned in state"), "{}", released.stderr);
    let shown = LOCAL.run(&project, &["state", "show", "t", "--json", "-e", "dev"]).ok();
    assert!(!shown.contains("\"pinned\":true"), "{shown}");
    let shown = LOCAL.run(&project, &["state", "show", "t", "--json", "-e", "prod"]).ok();
    assert!(shown.contains("\"pinned\":true"), "{shown}");
    let waiting = LOCAL.run(&project, &["pin", "prune", "-e", "dev"]).ok();
    assert!(waiting.contains("not applied in prod"), "{waiting}");
    assert!(project.read(FILE).contains("\"released\": true"));
    for environment in ["dev", "prod"] {
        LOCAL.run(&project, &["up", "--yes", "-e", environment]).ok();
    }
    let done = LOCAL.run(&project, &["pin", "prune", "-e", "dev"]).ok();
    assert!(done.contains("removed  local.RandomString.t"), "{done}");
    assert!(!project.has(FILE), "the pinfile is empty");
}
