//! Saved plans: they apply to the state that they were made on, and to no other.

use super::{case, on};
use crate::project::{Project, Ran};

/// Version that made the saved plans. Other versions refuse them, as documented.
const MADE_BY: &str = "0.1.0";

/// Applies a saved plan. Returns `None` if another version of stead made the plan, and this version refused it.
fn apply(project: &Project, environment: &str, plan: &str) -> Option<String> {
    let applied = up(project, environment, plan);
    if env!("CARGO_PKG_VERSION") == MADE_BY {
        return Some(applied.ok());
    }
    let refused = applied.ends(1);
    assert!(refused.stderr.contains("ST0608") && refused.stderr.contains(MADE_BY), "{}", refused.stderr);
    None
}

fn up(project: &Project, environment: &str, plan: &str) -> Ran {
    let file = project.path(&format!("plans/{plan}.plan"));
    on(project, environment, &["up", file.to_str().unwrap(), "--yes"])
}

/// Returns the names of an environment's resources, without the environment.
fn names(project: &Project, environment: &str) -> Vec<String> {
    let listed = on(project, environment, &["state", "ls"]).ok();
    listed.lines().map(|line| line.replacen(&format!("{environment}:"), "", 1)).collect()
}

const BEFORE: [&str; 5] = [
    "main:local.Data#number",
    "main:local.File#goes",
    "main:local.File#old",
    "main:local.File#stays",
    "main:local.RandomString#token",
];

const AFTER: [&str; 5] = [
    "main:local.Data#number",
    "main:local.File#made",
    "main:local.File#stays",
    "main:local.RandomString#token",
    "main/Group#group:local.File#new",
];

#[test]
fn saved_plans_apply_to_their_state() {
    let project = case("plans");
    let Some(applied) = apply(&project, "dev", "everything") else { return };
    assert!(
        applied.contains("1 to create, 1 to update, 1 to replace, 1 to rename, 1 to delete"),
        "{applied}"
    );
    assert_eq!(names(&project, "dev"), AFTER);
    assert_eq!(project.read("out/dev/stays.txt"), "changed");
    assert_eq!(project.read("out/dev/made.txt"), "8");
    assert!(!project.has("out/dev/goes.txt"));
}

#[test]
fn saved_plans_apply_with_the_flags_they_were_made_with() {
    let project = case("plans");
    if apply(&project, "dev", "retained").is_some() {
        assert_eq!(names(&project, "dev"), AFTER);
        assert_eq!(project.read("out/dev/goes.txt"), "goes", "the deletion policy was retain");
    }
    let project = case("plans");
    if apply(&project, "dev", "part").is_some() {
        assert_eq!(names(&project, "dev"), BEFORE);
        assert_eq!(project.read("out/dev/stays.txt"), "changed", "it was selected");
    }
    let project = case("plans");
    if let Some(applied) = apply(&project, "dev", "nothing") {
        assert!(applied.contains("5 unchanged"), "{applied}");
    }
}

#[test]
fn saved_plans_create_a_new_stack() {
    let project = case("plans");
    if apply(&project, "fresh", "fresh").is_some() {
        assert_eq!(names(&project, "fresh"), AFTER);
        assert_eq!(names(&project, "dev"), BEFORE);
    }
}

#[test]
fn saved_plans_keep_the_pins_they_were_made_with() {
    if let Some(applied) = apply(&case("pins"), "dev", "nothing") {
        assert!(applied.contains("5 unchanged"), "{applied}");
    }
    let project = case("pins-moved");
    if apply(&project, "prod", "prod-moves").is_some() {
        assert_eq!(names(&project, "prod"), ["main/Store:local.RandomString#token"]);
    }
}

#[test]
fn saved_plans_are_refused_for_another_state_or_environment() {
    for (name, environment, plan) in [("stale-plan", "dev", "late"), ("plans", "prod", "everything")] {
        let project = case(name);
        let before = project.all_files();
        let refused = up(&project, environment, plan).ends(1);
        assert!(refused.stderr.contains("ST0608"), "{name}: {}", refused.stderr);
        assert_eq!(project.all_files(), before, "{name}");
    }
}
