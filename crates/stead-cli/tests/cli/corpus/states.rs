//! Recorded states: they verify, export to the same text, plan as they did, and keep pins and marks.

use stead_model::{Name, Spelling};

use super::{NO_RESOURCES, PINFILE, assert_refused, case, declare, on};
use crate::project::Project;

/// A stack of the corpus.
struct Recorded {
    case: &'static str,
    environment: &'static str,
    /// Exit code of `plan --exit-code`: 0 nothing to do, 10 changes, 11 deletions, 15 an operation in doubt.
    plan: i32,
    /// Number of runs in the history.
    runs: usize,
}

const fn recorded(case: &'static str, environment: &'static str, plan: i32, runs: usize) -> Recorded {
    Recorded { case, environment, plan, runs }
}

/// Stacks without an open run.
const STACKS: &[Recorded] = &[
    recorded("doubt-recorded", "dev", 15, 1),
    recorded("leftovers", "dev", 11, 2),
    recorded("marks", "dev", 0, 4),
    recorded("marks", "locked", 0, 1),
    recorded("marks", "prod", 0, 1),
    recorded("marks", "prod:review", 0, 1),
    recorded("names", "dev", 0, 1),
    recorded("names", "prod", 0, 1),
    recorded("names", "prod:acme", 0, 1),
    recorded("names", "prod:eu.1", 0, 1),
    recorded("names-2", "dev", 0, 3),
    recorded("pins", "dev", 0, 1),
    recorded("pins-deep", "dev", 0, 1),
    recorded("pins-moved", "dev", 0, 2),
    recorded("pins-moved", "prod", 10, 1),
    recorded("pins-sections", "dev", 0, 1),
    recorded("pins-sections", "dev:blue", 0, 1),
    recorded("pins-sections", "prod", 0, 1),
    recorded("places-5", "dev", 0, 1),
    recorded("plans", "dev", 0, 1),
    recorded("renames", "dev", 0, 5),
    recorded("repaired", "dev", 0, 3),
    recorded("replaced", "dev", 0, 3),
    recorded("stacks", "again", 0, 4),
    recorded("stacks", "empty", 10, 0),
    recorded("stacks", "moved", 0, 2),
    recorded("stacks", "prod:acme", 0, 2),
    recorded("stacks", "source", 0, 2),
    recorded("stale-plan", "dev", 0, 2),
    recorded("taken-over", "dev", 0, 2),
    recorded("values", "dev", 0, 4),
    recorded("values", "prod", 0, 1),
];

/// Returns an export without what the version of stead and the format decide, and without the fields in `others`.
fn comparable(export: &str, others: &[&str]) -> serde_json::Value {
    let mut export: serde_json::Value = serde_json::from_str(export).unwrap();
    if export["format"].as_u64().unwrap() < 3 {
        respell(&mut export);
    }
    let fields = export.as_object_mut().unwrap();
    for key in ["digest", "stead", "format", "serial"].iter().chain(others) {
        fields.remove(*key);
    }
    for resource in fields["resources"].as_array_mut().unwrap() {
        resource.as_object_mut().unwrap().remove("version");
    }
    export
}

/// Gives every text that is a name in the spelling of formats 1 and 2 the spelling of format 3.
fn respell(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => {
            if let Ok(name) = Name::parse_spelled(text, Spelling::Encoded) {
                *text = name.to_string();
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(respell),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(respell),
        _ => {}
    }
}

fn export_file(project: &Project, environment: &str) -> String {
    let file = project.path(&format!("exports/{}.json", environment.replace(':', ".")));
    file.to_str().unwrap().to_owned()
}

#[test]
fn recorded_states_verify_and_plan_as_they_did() {
    for Recorded { case: name, environment, plan, runs } in STACKS {
        let project = case(name);
        on(&project, environment, &["state", "verify"]).ok();
        let planned = on(&project, environment, &["plan", "--exit-code"]);
        assert_eq!(planned.code, *plan, "{name} {environment}:\n{}{}", planned.stdout, planned.stderr);
        let history = on(&project, environment, &["stack", "history"]).ok();
        assert_eq!(history.lines().count(), *runs, "{name} {environment}:\n{history}");
    }
}

#[test]
fn states_export_to_the_same_content() {
    for Recorded { case: name, environment, .. } in STACKS {
        let project = case(name);
        let kept = std::fs::read_to_string(export_file(&project, environment)).unwrap();
        let today = on(&project, environment, &["stack", "export"]).ok();
        assert_eq!(comparable(&today, &[]), comparable(&kept, &[]), "{name} {environment}");
    }
}

#[test]
fn exports_import_into_a_new_stack_and_plan_as_they_did() {
    for Recorded { case: name, environment, plan, .. } in STACKS {
        let project = case(name);
        std::fs::remove_dir_all(project.path("state")).unwrap();
        let file = export_file(&project, environment);
        declare(&project, environment);
        on(&project, environment, &["stack", "import", &file, "--yes"]).ok();
        let imported = on(&project, environment, &["stack", "export"]).ok();
        let kept = std::fs::read_to_string(&file).unwrap();
        assert_eq!(comparable(&imported, &["stack"]), comparable(&kept, &["stack"]), "{name} {environment}");
        let planned = on(&project, environment, &["plan", "--exit-code"]);
        assert_eq!(planned.code, *plan, "{name} {environment}:\n{}{}", planned.stdout, planned.stderr);
    }
}

#[test]
fn next_run_that_writes_migrates_a_stack_to_the_current_format() {
    let project = case("values");
    let format = |project: &Project| project.read("state/shop/dev/local/head")[..11].to_owned();
    on(&project, "dev", &["plan"]).ok();
    assert_eq!(format(&project), "{\"format\":1", "reading does not migrate");
    let name = on(&project, "dev", &["state", "ls"]).ok().lines().next().unwrap().to_owned();
    on(&project, "dev", &["state", "protect", &name]).ok();
    assert_eq!(format(&project), "{\"format\":6");
    let export: serde_json::Value =
        serde_json::from_str(&on(&project, "dev", &["stack", "export"]).ok()).unwrap();
    let version = |resource: &serde_json::Value| resource["version"].as_u64().unwrap_or_default();
    let versions: Vec<u64> = export["resources"].as_array().unwrap().iter().map(version).collect();
    assert!(versions[0] > 0 && versions[0] <= export["serial"].as_u64().unwrap(), "{versions:?}");
    assert!(versions[1..].iter().all(|version| *version == 0), "the other records are unchanged");
    on(&project, "dev", &["state", "verify"]).ok();
}

#[test]
fn names_of_earlier_formats_are_recorded_in_the_dotted_spelling_by_the_next_run() {
    for (name, dotted) in [
        ("names", "dev:lib.deep.zone%2Ev2:local.Data#eu.west-1"),
        ("names-2", "dev:zone%2Ev1:local.Data#here"),
    ] {
        let project = case(name);
        let pinned = project.has(PINFILE).then(|| project.read(PINFILE));
        let before = on(&project, "dev", &["state", "ls"]).ok();
        assert!(before.lines().any(|line| line == dotted), "{before}");
        on(&project, "dev", &["state", "protect", dotted]).ok();
        on(&project, "dev", &["state", "unprotect", dotted]).ok();
        assert_eq!(on(&project, "dev", &["state", "ls"]).ok(), before, "{name}");
        let planned = on(&project, "dev", &["plan", "--exit-code"]);
        assert_eq!(planned.code, 0, "{name}:\n{}{}", planned.stdout, planned.stderr);
        on(&project, "dev", &["up", "--yes"]).ok();
        assert_eq!(project.has(PINFILE).then(|| project.read(PINFILE)), pinned, "{name}");
    }
}

#[test]
fn exported_files_verify() {
    let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus")).unwrap();
    let exports = folders.filter_map(|case| std::fs::read_dir(case.unwrap().path().join("exports")).ok());
    let mut count = 0;
    let project = Project::with(NO_RESOURCES);
    for file in exports.flatten() {
        project.stead(&["state", "verify", file.unwrap().path().to_str().unwrap()]).ok();
        count += 1;
    }
    assert!(count >= STACKS.len());
}

#[test]
fn resources_are_found_as_recorded_by_a_refresh() {
    // The private key of `pins` is not in the corpus.
    for name in ["marks", "names", "pins-deep", "renames", "replaced", "values"] {
        let planned = case(name).stead(&["plan", "--refresh", "--exit-code"]);
        assert_eq!(planned.code, 0, "{name}:\n{}{}", planned.stdout, planned.stderr);
    }
}

#[test]
fn snapshots_of_earlier_runs_can_be_compared() {
    for (name, resource) in [("replaced", "main:local.Data#number"), ("values", "main:local.File#motd")] {
        let compared = case(name).stead(&["stack", "diff", "#1", "#2", "--exit-code"]).ends(10);
        assert!(compared.stdout.contains(&format!("~ {resource}\n")), "{}", compared.stdout);
    }
}

#[test]
fn recorded_aliases_find_resources_under_their_earlier_names() {
    let project = case("renames");
    let earlier = project.read("main.ts").replace("Web", "Site").replace("\"b2\"", "\"b\"").replace(
        "{ id: \"index\", aliases: [\"dev:main:local.File#home\", \"main:local.File#never\"] }",
        "{ id: \"home\" }",
    );
    project.write("main.ts", &earlier);
    let planned = project.stead(&["plan"]).ok();
    assert!(planned.contains("5 to rename, 1 unchanged"), "{planned}");
}

#[test]
fn condemned_copy_and_pending_replacement_are_finished_by_the_next_run() {
    let project = case("leftovers");
    project.write("out/allowed", "");
    project.stead(&["up", "--yes"]).ok();
    assert!(!project.has("out/first/a.txt") && project.has("out/second/a.txt"));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

/// Stacks with pins, and the number of pins in the section of the pinfile that serves each.
const PINNED: &[(&str, &str, usize)] = &[
    ("pins", "dev", 4),
    ("pins-deep", "dev", 8),
    ("pins-moved", "dev", 2),
    ("pins-sections", "dev", 1),
    ("pins-sections", "dev:blue", 1),
    ("pins-sections", "prod", 1),
];

#[test]
fn pinned_resources_are_kept_when_their_declarations_are_removed() {
    for (name, environment, pins) in PINNED {
        let project = case(name);
        project.write("main.ts", NO_RESOURCES);
        let refused = assert_refused(&project, environment, &["up", "--yes"]);
        assert_eq!(refused.stdout.matches("[-pin]").count(), *pins, "{name}: {}", refused.stdout);
        assert!(refused.stderr.contains("ST0412"), "{name}: {}", refused.stderr);
        let refused = assert_refused(&project, environment, &["destroy", "--yes"]);
        assert!(refused.stderr.contains("ST0414"), "{name}: {}", refused.stderr);
    }
}

#[test]
fn pinned_resources_are_kept_when_the_pinfile_is_lost() {
    for name in ["pins", "pins-deep"] {
        let project = case(name);
        let pinfile = project.read(PINFILE);
        std::fs::remove_file(project.path(PINFILE)).unwrap();
        project.write("main.ts", NO_RESOURCES);
        let refused = assert_refused(&project, "dev", &["up", "--yes"]);
        assert!(refused.stderr.contains("ST0418"), "{name}: {}", refused.stderr);
        project.stead(&["pin", "restore"]).ok();
        assert_eq!(project.read(PINFILE), pinfile, "{name}");
    }
}

#[test]
fn compiling_writes_the_same_pinfile() {
    for (name, environment, _) in PINNED {
        let project = case(name);
        let pinfile = project.read(PINFILE);
        on(&project, environment, &["compile"]).ok();
        assert_eq!(project.read(PINFILE), pinfile, "{name} {environment}");
    }
}

#[test]
fn recorded_marks_refuse_deletions() {
    let project = case("marks");
    for (environment, resource) in [
        ("dev", "dev:main:local.File#by.hand"),
        ("prod", "prod:main:local.File#log"),
        ("locked", "locked:main/Web#web:local.File#cache"),
        ("prod:review", "prod:review:main/Web#web:local.File#page"),
    ] {
        let refused = assert_refused(&project, environment, &["destroy", "--yes"]);
        assert!(refused.stderr.contains(resource), "{environment}: {}", refused.stderr);
    }
    project.write("main.ts", NO_RESOURCES);
    let refused = assert_refused(&project, "dev", &["up", "--yes"]);
    assert!(refused.stderr.contains("dev:main:local.File#db"), "{}", refused.stderr);
    let refused = assert_refused(&project, "dev", &["state", "rm", "by.hand", "--yes"]);
    assert!(refused.stderr.contains("ST0401"), "{}", refused.stderr);
}

#[test]
fn retained_resources_are_listed_and_imported_again() {
    let project = case("marks");
    let listed = project.stead(&["state", "retained", "--json"]).ok();
    assert_eq!(listed.lines().filter(|line| line.contains("out/dev/")).count(), 3, "{listed}");
    project.stead(&["import", "local.File", "dev:main:local.File#kept", "out/dev/kept.txt", "--yes"]).ok();
    assert!(!project.stead(&["state", "retained"]).ok().contains("#kept"));
}
