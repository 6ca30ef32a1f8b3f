//! Pins of several environments on one target.

use super::{FILE, LOCAL};
use crate::project::Project;

const BY_ENVIRONMENT: &str = "import { env } from \"stead\";\nimport * as local from \"stead/local\";\n\
    new local.KeyPair({ path: `key-${env}` }, { id: \"k\" });\n";

#[test]
fn environments_with_different_frozen_values_have_their_own_sections() {
    let project = Project::with(BY_ENVIRONMENT);
    LOCAL.run(&project, &["up", "--yes", "-e", "dev"]).ok();
    // The shared section has the frozen value of dev; the plan for prod warns, and is refused: the key is dev's.
    let planned = LOCAL.run(&project, &["plan", "-e", "prod"]).ends(13);
    assert!(planned.stderr.contains("ST0430"), "{}", planned.stderr);
    assert!(planned.stderr.contains("ST0419"), "{}", planned.stderr);
    assert!(planned.stderr.contains("\"local:prod\": {}"), "{}", planned.stderr);
    let own = project.read(FILE).replacen("    \"local\": {", "    \"local:prod\": {},\n    \"local\": {", 1);
    project.write(FILE, &own);
    let done = LOCAL.run(&project, &["up", "--yes", "-e", "prod"]).ok();
    assert!(done.contains("[+pin] local.KeyPair.k"), "{done}");
    assert!(project.has("key-prod") && project.has("key-dev"));
    insta::assert_snapshot!(project.read(FILE), @r#"
    {
      "version": "1",
      "pinned": {
        "local": {
          "local.KeyPair.k": {
            "type": "local.KeyPair",
            "attributes": {
              "path": "key-dev"
            }
          }
        },
        "local:prod": {
          "local.KeyPair.k": {
            "type": "local.KeyPair",
            "attributes": {
              "path": "key-prod"
            }
          }
        }
      }
    }
    "#);
    for environment in ["dev", "prod"] {
        assert_eq!(LOCAL.run(&project, &["plan", "--exit-code", "-e", environment]).code, 0);
    }
}

#[test]
fn frozen_value_of_another_environment_replaces_no_resource() {
    let project = Project::with(BY_ENVIRONMENT);
    LOCAL.run(&project, &["up", "--yes", "-e", "prod"]).ok();
    std::fs::remove_file(project.path(FILE)).unwrap();
    LOCAL.run(&project, &["compile", "-e", "dev"]).ok();
    let refused = LOCAL.run(&project, &["up", "--yes", "-e", "prod"]).ends(13);
    assert!(refused.stderr.contains("ST0414"), "{}", refused.stderr);
    assert!(refused.stdout.contains("from the pinfile"), "{}", refused.stdout);
    assert!(project.has("key-prod") && !project.has("key-dev"));
}

#[test]
fn pinned_resource_moves_in_each_environment_with_one_pinfile() {
    let program =
        |id: &str| BY_ENVIRONMENT.replace("\"k\"", &format!("\"{id}\"")).replace("-${env}", "-${namespace}");
    let program = |id: &str| program(id).replace("{ env }", "{ namespace }");
    let project = Project::only(&program("k"));
    project.write(FILE, "{\"version\":\"1\",\"pinned\":{\"local:dev:a\":{},\"local:dev:b\":{}}}");
    for space in ["a", "b"] {
        LOCAL.run(&project, &["up", "--yes", "--namespace", space]).ok();
    }
    project.write("main.ts", &program("moved"));
    project.stead(&["pin", "mv", "local.KeyPair.k", "local.KeyPair.moved"]).ok();
    for space in ["a", "b"] {
        let done = LOCAL.run(&project, &["up", "--yes", "--namespace", space]).ok();
        assert!(done.contains("1 to rename, 0 unchanged"), "{done}");
    }
    assert_eq!(project.read(FILE).matches("\"originalPath\": \"local.KeyPair.k\"").count(), 2);
}

const GENERATED: &str = "import * as local from \"stead/local\";\n\
    const pet = new local.RandomPet({});\n\
    new local.File({ path: `${pet.result}.txt`, content: \"kept\" }, { id: \"note\", pinned: true });\n";

/// Returns the frozen path of the note in an environment.
fn frozen_in(project: &Project, environment: &str) -> Option<String> {
    let file: serde_json::Value = serde_json::from_str(&project.read(FILE)).unwrap();
    let entry = &file["pinned"]["local"]["local.File.note"];
    entry["environments"][environment]["path"].as_str().map(str::to_owned)
}

#[test]
fn generated_value_is_frozen_in_each_environment_and_survives_the_loss_of_state() {
    let project = Project::with(GENERATED);
    LOCAL.run(&project, &["compile", "-e", "dev"]).ok();
    assert!(project.read(FILE).contains("\"attributes\": {}"));
    for environment in ["dev", "prod"] {
        LOCAL.run(&project, &["up", "--yes", "-e", environment]).ok();
        assert!(project.has(&frozen_in(&project, environment).unwrap()));
    }
    let [dev, prod] = ["dev", "prod"].map(|environment| frozen_in(&project, environment).unwrap());
    assert_ne!(dev, prod);
    let before = project.read(FILE);
    for environment in ["dev", "prod"] {
        LOCAL.run(&project, &["plan", "--exit-code", "-e", environment]).ok();
        LOCAL.run(&project, &["up", "--yes", "-e", environment]).ok();
        LOCAL.run(&project, &["compile", "-e", environment]).ok();
    }
    assert_eq!(project.read(FILE), before);
    std::fs::remove_dir_all(project.path(".stead")).unwrap();
    let planned = LOCAL.run(&project, &["plan", "-e", "prod"]);
    assert!(planned.stdout.contains(&prod) && !planned.stdout.contains(&dev), "{}", planned.stdout);
}

#[test]
fn renamed_environment_takes_its_frozen_values_with_it() {
    let project = Project::with(GENERATED);
    LOCAL.run(&project, &["up", "--yes", "-e", "dev"]).ok();
    let path = frozen_in(&project, "dev").unwrap();
    LOCAL.run(&project, &["stack", "rename", "prod", "-e", "dev", "--yes"]).ok();
    assert_eq!((frozen_in(&project, "dev"), frozen_in(&project, "prod")), (None, Some(path.clone())));
    LOCAL.run(&project, &["plan", "--exit-code", "-e", "prod"]).ok();
    LOCAL.run(&project, &["stack", "new", "-e", "dev"]).ok();
    LOCAL.run(&project, &["up", "--yes", "-e", "dev"]).ok();
    assert_ne!(frozen_in(&project, "dev").unwrap(), path, "the new resource has a name of its own");
}

#[test]
fn resource_that_moves_to_another_stack_takes_its_frozen_values_with_it() {
    let project = Project::with(GENERATED);
    LOCAL.run(&project, &["up", "--yes", "-e", "dev"]).ok();
    let path = frozen_in(&project, "dev").unwrap();
    LOCAL.run(&project, &["stack", "new", "-e", "prod"]).ok();
    let moved = ["state", "mv", "note", "--to-stack", "prod", "-e", "dev", "--yes", "--with-dependencies"];
    LOCAL.run(&project, &moved).ok();
    assert_eq!((frozen_in(&project, "dev"), frozen_in(&project, "prod")), (None, Some(path)));
}
