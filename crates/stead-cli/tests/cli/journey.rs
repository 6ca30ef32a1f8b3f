//! Journey of a new user, from `init` to `destroy`.

use crate::project::Project;

const TWO_FILES: &str = r#"
import * as local from "stead/local";
const a = new local.File({ path: "a.txt", content: "one" }, { id: "a" });
new local.File({ path: "b.txt", content: `after ${a.sha256}` }, { id: "b" });
export const size = a.size;
"#;

#[test]
fn new_project_is_planned_applied_and_destroyed() {
    let project = Project::empty();
    insta::assert_snapshot!(project.stead(&["init", "shop"]).ok());
    for module in ["stead.d.ts", "stead/local.d.ts", "stead/aws.d.ts", "stead/test.d.ts"] {
        assert!(project.has(&format!(".stead/types/{module}")), "{module}");
    }
    let before = project.all_files();
    insta::assert_snapshot!(project.stead(&["plan"]).ok());
    assert_eq!(project.all_files(), before, "plan writes nothing");

    let up = project.stead(&["up", "--yes"]).ok();
    assert!(up.contains("Done: 2 created."), "{up}");
    assert!(up.contains("queue  = https://sqs.us-east-1.amazonaws.com/000000000000/"), "{up}");

    let before = project.all_files();
    let again = project.stead(&["up", "--yes"]).ok();
    assert!(
        again.starts_with("Nothing to do: the recorded state of 2 resources matches the program."),
        "{again}"
    );
    assert_eq!(project.all_files(), before, "an empty plan changes no file");

    project.stead(&["destroy", "--yes"]).ok();
    assert_eq!(project.stead(&["import", "--list", "AWS::S3::Bucket"]).ok(), "");
    assert!(project.stead(&["destroy", "--yes"]).ok().contains("Nothing to destroy"));
    assert_eq!(project.stead(&["state", "ls"]).ok(), "");
}

#[test]
fn init_does_not_overwrite() {
    let project = Project::only("export {};");
    let refused = project.stead(&["init"]).ends(2);
    assert!(refused.stderr.contains("ST0604"), "{}", refused.stderr);
    assert_eq!(project.read("main.ts"), "export {};");
}

#[test]
fn plan_shows_updates_replacements_and_deletions_with_reasons() {
    let project = Project::only(TWO_FILES);
    project.stead(&["up", "--yes"]).ok();
    project.write(
        "main.ts",
        r#"
import * as local from "stead/local";
const a = new local.File({ path: "a.txt", content: "two" }, { id: "a" });
new local.File({ path: "c.txt", content: `after ${a.sha256}` }, { id: "b" });
new local.Data({ value: [1, { deep: true }] }, { id: "d" });
export const size = a.size;
"#,
    );
    insta::assert_snapshot!(project.stead(&["plan"]).ok());
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 11);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("a.txt"), "two");
    assert!(project.read("c.txt").starts_with("after 3fc4ccfe"), "{}", project.read("c.txt"));
    assert!(!project.has("b.txt"));
    project.write(
        "main.ts",
        "import * as local from \"stead/local\";\nnew local.Data({ value: 1 }, { id: \"d\" });\n",
    );
    insta::assert_snapshot!(project.stead(&["plan"]).ok());
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.Data#d\n");
    assert!(!project.has("a.txt") && !project.has("c.txt"));
}

#[test]
fn recorded_resources_are_listed_shown_and_exported() {
    let project = Project::only(TWO_FILES);
    let missing = project.stead(&["state", "ls"]).ends(1);
    assert!(missing.stderr.contains("ST0207"), "{}", missing.stderr);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.File#a\ndev:main:local.File#b\n");
    assert_eq!(project.stead(&["stack", "ls"]).ok(), "shop\tdev\tlocal\n");
    let shown = project.stead(&["state", "show", "b"]).ok();
    let uid = shown.lines().find(|line| line.contains("uid")).unwrap().to_owned();
    insta::assert_snapshot!(shown.replace(&uid, "  uid       [UID]"));
    let wrong = project.stead(&["state", "show", "bb"]).ends(1);
    assert!(wrong.stderr.contains("did you mean \"b\"?"), "{}", wrong.stderr);
    let export: serde_json::Value = serde_json::from_str(&project.stead(&["stack", "export"]).ok()).unwrap();
    assert_eq!(export["format"], 6);
    assert_eq!(export["resources"].as_array().unwrap().len(), 2);
    assert_eq!(export["outputs"]["size"], 3);
    assert_eq!(project.stead(&["state", "verify"]).ok(), "State is sound: 2 resources, 23 rules.\n");
    let history = project.stead(&["stack", "history"]).ok();
    assert!(history.starts_with("run-1\t") && history.contains("\tup\tSucceeded\tada@"), "{history}");
    let file = project.path("export.json");
    project.write("export.json", &project.stead(&["stack", "export"]).ok());
    project.stead(&["state", "verify", file.to_str().unwrap()]).ok();
    project.write("export.json", &project.read("export.json").replace("\"id\": \"a.txt\"", "\"id\": \"\""));
    let broken = project.stead(&["state", "verify", file.to_str().unwrap()]).ends(16);
    assert!(
        broken.stderr.contains("S04 dev:main:local.File#a: it exists and has no id"),
        "{}",
        broken.stderr
    );
}

#[test]
fn imported_export_gives_the_same_state() {
    let project = Project::only(TWO_FILES);
    project.stead(&["up", "--yes"]).ok();
    let exported = project.stead(&["stack", "export"]).ok();
    project.write("export.json", &exported);
    let file = project.path("export.json");
    let file = file.to_str().unwrap();
    std::fs::remove_dir_all(project.path(".stead")).unwrap();
    project.stead(&["stack", "import", file, "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "no change is planned");
    let (mut again, mut first): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(&project.stead(&["stack", "export"]).ok()).unwrap(),
        serde_json::from_str(&exported).unwrap(),
    );
    // The other stack has its own uuid, serial and versions, and the same resources.
    for export in [&mut again, &mut first] {
        export["serial"] = serde_json::Value::Null;
        for resource in export["resources"].as_array_mut().unwrap() {
            assert!(resource.as_object_mut().unwrap().remove("version").is_some());
        }
        export["stack"] = serde_json::Value::Null;
        export["digest"] = serde_json::Value::Null;
    }
    assert_eq!(again, first);
    let before = project.all_files();
    for damaged in [&exported[..exported.len() / 2], "", "{\"format\":3}", "[1]"] {
        project.write("bad.json", damaged);
        let bad = project.path("bad.json");
        assert_eq!(project.stead(&["stack", "import", bad.to_str().unwrap(), "--yes"]).code, 16, "{damaged}");
    }
    std::fs::remove_file(project.path("bad.json")).unwrap();
    assert_eq!(project.all_files(), before, "nothing is half-imported");
}

#[test]
fn state_rm_keeps_the_real_resource_and_refuses_one_with_dependents() {
    let project = Project::only(TWO_FILES);
    project.stead(&["up", "--yes"]).ok();
    let needed = project.stead(&["state", "rm", "a", "--yes"]).ends(1);
    assert!(needed.stderr.contains("dev:main:local.File#b"), "{}", needed.stderr);
    project.stead(&["state", "rm", "b", "--yes"]).ok();
    project.stead(&["state", "rm", "a", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok(), "");
    assert!(project.has("a.txt") && project.has("b.txt"));
}

#[test]
fn environments_do_not_share_resources() {
    let project = Project::with(
        "import { env } from \"stead\";\nimport * as local from \"stead/local\";\nnew local.File({ path: `${env}.txt`, content: \"\" });\n",
    );
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["up", "--yes", "-e", "prod", "--namespace", "acme"]).ok();
    assert!(project.has("dev.txt") && project.has("prod.txt"));
    assert_eq!(project.stead(&["stack", "ls"]).ok(), "shop\tdev\tlocal\nshop\tprod:acme\tlocal\n");
    project.stead(&["destroy", "--yes"]).ok();
    assert!(!project.has("dev.txt") && project.has("prod.txt"));
}

#[test]
fn drift_is_shown_recorded_and_reverted() {
    let project = Project::only(TWO_FILES);
    project.stead(&["up", "--yes"]).ok();
    project.write("a.txt", "meddled");
    std::fs::remove_file(project.path("b.txt")).unwrap();
    assert!(
        project.stead(&["plan"]).ok().starts_with("Nothing to do"),
        "plan reads no resource without --refresh"
    );
    insta::assert_snapshot!(project.stead(&["plan", "--refresh"]).ok());
    project.stead(&["up", "--yes", "--refresh"]).ok();
    assert_eq!(project.read("a.txt"), "one");
    assert!(project.has("b.txt"));
    assert_eq!(project.stead(&["plan", "--refresh", "--exit-code"]).code, 0);
    project.write("a.txt", "again");
    project.stead(&["refresh", "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 10);
}

#[test]
fn json_output_is_one_object_per_line() {
    let project = Project::only(TWO_FILES);
    let lines = project.stead(&["up", "--yes", "--json"]).ok();
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| {
            assert_eq!(line["v"], 1);
            let event = line["event"].as_str().map(|event| format!(":{event}")).unwrap_or_default();
            format!("{}{event}", line["kind"].as_str().unwrap())
        })
        .collect();
    insta::assert_snapshot!(kinds.join("\n"));
    let failed = project.stead(&["state", "show", "x", "--json"]).ends(1);
    let problem: serde_json::Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!((&problem["kind"], &problem["code"]), (&"problem".into(), &"ST0207".into()));
    assert_eq!(failed.stderr, "");
}

/// Copies the files of an example, without the folder `.stead` of earlier runs.
pub(crate) fn example(name: &str, files: &[&str]) -> Project {
    let project = Project::empty();
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    for file in files {
        project.write(file, &std::fs::read_to_string(example.join(file)).unwrap());
    }
    project
}

#[test]
fn local_example_is_applied_and_then_unchanged() {
    let project = example("local", &["stead.toml", "main.ts", "site.ts"]);
    let up = project.stead(&["up", "--yes"]).ends(0);
    assert!(up.stdout.contains("lines  = 4"), "{}", up.stdout);
    assert!(up.stderr.contains("created main:local.RandomPet#owner"), "progress is visible: {}", up.stderr);
    assert!(
        project.stead(&["up", "--yes"]).ok().starts_with("Nothing to do: the recorded state of 6 resources")
    );
}

pub(crate) const SHOP: [&str; 6] =
    ["stead.toml", "main.ts", "http.ts", "policies.ts", "lambda/orders.js", "shop.test.ts"];

#[test]
fn quickstart_is_a_shop_that_comes_up_changes_with_its_code_and_goes() {
    let project = example("quickstart", &SHOP);
    let up = project.stead(&["up", "--yes"]).ends(0);
    assert!(up.stdout.contains("Done: 14 created."), "{}", up.stdout);
    assert!(up.stdout.contains(".execute-api.us-east-1.amazonaws.com/orders"), "{}", up.stdout);
    let same = project.stead(&["plan", "--refresh", "--exit-code"]).ok();
    assert!(same.contains("14 resources are as declared"), "{same}");
    assert!(!project.has("main.ts.pin.json"), "sim keeps no pins");

    // A change of the file is an update of the function, and of nothing else.
    project.write("lambda/orders.js", &project.read("lambda/orders.js").replace("202", "201"));
    let planned = project.stead(&["plan"]).ok();
    assert!(planned.contains("1 to update, 13 unchanged"), "{planned}");
    assert!(planned.contains("Code.ZipFile"), "{planned}");
    assert!(project.stead(&["up", "--yes"]).ok().contains("Done: 1 updated."));
    assert!(project.stead(&["plan", "--exit-code"]).ok().starts_with("Nothing to do"));

    project.stead(&["destroy", "--yes"]).ok();
    for ty in ["AWS::S3::Bucket", "AWS::Lambda::Function", "AWS::ApiGatewayV2::Api", "AWS::SNS::Subscription"]
    {
        assert_eq!(project.stead(&["import", "--list", ty]).ok(), "", "{ty}");
    }
}

#[test]
fn tests_of_the_quickstart_pass_and_touch_nothing() {
    let project = example("quickstart", &SHOP);
    let before = project.all_files();
    let ran = project.stead(&["test", "--ci"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(project.all_files(), before);
}
