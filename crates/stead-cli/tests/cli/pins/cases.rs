//! Pinned resources survive each kind of path change.

use super::{FILE, LOCAL, edit_keys, pin_lines};
use crate::project::Project;

/// Asserts that a pinned key survives a change of its path, after an edit of the pinfile.
fn assert_survives(before: &[(&str, &str)], after: &[(&str, &str)]) -> Project {
    let project = Project::with("");
    before.iter().for_each(|(file, text)| project.write(file, text));
    LOCAL.run(&project, &["up", "--yes"]).ok();
    let key = project.read("keys");
    after.iter().for_each(|(file, text)| project.write(file, text));
    let refused = LOCAL.run(&project, &["up", "--yes"]).ends(13);
    assert!(refused.stderr.contains("ST0412"), "{}", refused.stderr);
    assert_eq!(pin_lines(&refused.stdout, "[-pin]").len(), 1, "{}", refused.stdout);
    edit_keys(&project, &refused.stdout);
    let done = LOCAL.run(&project, &["up", "--yes"]).ok();
    assert!(done.contains("1 to rename, 1 unchanged"), "{done}");
    assert_eq!(project.read("keys"), key, "the key is unchanged");
    assert_eq!(LOCAL.run(&project, &["plan", "--exit-code"]).code, 0);
    project
}

fn keys(head: &str, id: &str) -> String {
    format!(
        "import * as local from \"stead/local\";\n{head}new local.KeyPair({{ path: \"keys\" }}, {{ {id} }});\n"
    )
}

#[test]
fn pinned_resource_survives_a_changed_id() {
    assert_survives(&[("main.ts", &keys("", "id: \"a\""))], &[("main.ts", &keys("", "id: \"b\""))]);
}

#[test]
fn pinned_resource_survives_a_move_into_another_class() {
    let class = |name: &str| {
        let make = "new local.KeyPair({ path: \"keys\" });";
        format!(
            "import {{ Resource }} from \"stead\";\nimport * as local from \"stead/local\";\n\
             class {name} extends Resource {{ key = {make} }}\nnew {name}();\n"
        )
    };
    assert_survives(&[("main.ts", &class("Old"))], &[("main.ts", &class("New"))]);
}

#[test]
fn pinned_resource_survives_other_paths_of_a_newer_version() {
    // Names in state stay the same; the pinfile has a path that this version does not generate.
    let project = Project::with(&keys("", "id: \"a\""));
    LOCAL.run(&project, &["up", "--yes"]).ok();
    let key = project.read("keys");
    project.write(FILE, &project.read(FILE).replace("local.KeyPair.a\"", "local.KeyPair.main-a-0001\""));
    let refused = LOCAL.run(&project, &["up", "--yes"]).ends(13);
    edit_keys(&project, &refused.stdout);
    let done = LOCAL.run(&project, &["up", "--yes"]).ok();
    assert!(done.contains("Nothing to do"), "{done}");
    assert_eq!(project.read("keys"), key);
    let paths = LOCAL.paths(&project);
    assert_eq!(paths, [("local.KeyPair.a".to_owned(), Some("local.KeyPair.main-a-0001".to_owned()))]);
}

#[test]
fn pinned_resource_survives_other_ids_in_a_newer_package() {
    let package = |id: &str| {
        format!(
            "import {{ Resource }} from \"stead\";\nimport * as local from \"stead/local\";\n\
             export class Vault extends Resource {{ key = new local.KeyPair({{ path: \"keys\" }}, {{ id: \"{id}\" }}); }}\n"
        )
    };
    let manifest = "{ \"name\": \"vault\", \"version\": \"1.0.0\", \"main\": \"index.ts\" }";
    let main = "import { Vault } from \"vault\";\nnew Vault(\"mine\");\n";
    let (index, json) = ("node_modules/vault/index.ts", "node_modules/vault/package.json");
    let before = [("main.ts", main), (json, manifest), (index, &package("key"))];
    assert_survives(&before, &[(index, &package("primary"))]);
}

#[test]
fn pinned_resource_moves_twice_before_another_environment_moves_once() {
    let project = Project::with(
        &keys("import { env } from \"stead\";\n", "id: \"a\"").replace("\"keys\"", "\"keys-\" + env"),
    );
    let sections = "{\"version\":\"1\",\"pinned\":{\"local:dev\":{},\"local:prod\":{}}}";
    project.write(FILE, sections);
    for environment in ["dev", "prod"] {
        LOCAL.run(&project, &["up", "--yes", "-e", environment]).ok();
    }
    let keys = ["dev", "prod"].map(|environment| project.read(&format!("keys-{environment}")));
    for (from, to) in [("a", "b"), ("b", "c")] {
        let program = project.read("main.ts").replace(&format!("id: \"{from}\""), &format!("id: \"{to}\""));
        project.write("main.ts", &program);
        project.stead(&["pin", "mv", &format!("local.KeyPair.{from}"), &format!("local.KeyPair.{to}")]).ok();
        let done = LOCAL.run(&project, &["up", "--yes", "-e", "dev"]).ok();
        assert!(done.contains("1 to rename"), "{done}");
    }
    let done = LOCAL.run(&project, &["up", "--yes", "-e", "prod"]).ok();
    assert!(done.contains("1 to rename"), "{done}");
    assert_eq!(keys, ["dev", "prod"].map(|environment| project.read(&format!("keys-{environment}"))));
}
