//! Stacks that were renamed or removed.

use super::{case, declare, on};

#[test]
fn existing_stacks_are_listed() {
    let listed = case("stacks").stead(&["stack", "ls"]).ok();
    let environments: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(environments, ["again", "empty", "moved", "prod:acme", "source"]);
}

#[test]
fn renamed_stack_is_referred_to_by_its_old_environment_and_can_be_renamed_back() {
    let project = case("stacks");
    let moved = project.stead(&["up", "--yes"]).ends(1);
    assert!(moved.stderr.contains("ST0214") && moved.stderr.contains("prod:acme"), "{}", moved.stderr);
    on(&project, "prod:acme", &["stack", "rename", "dev", "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn new_stack_in_place_of_a_removed_one_continues_its_history() {
    let project = case("stacks");
    for (environment, runs) in [("qa", 3), ("forgotten", 2), ("purged", 0)] {
        let history = on(&project, environment, &["stack", "history"]).ok();
        assert_eq!(history.lines().count(), runs, "{environment}: {history}");
        assert_eq!(
            on(&project, environment, &["up", "--yes"]).code,
            2,
            "{environment}: removed, so not known"
        );
        declare(&project, environment);
        assert_eq!(on(&project, environment, &["state", "ls"]).code, 1, "{environment}");
        on(&project, environment, &["up", "--yes"]).ok();
        let history = on(&project, environment, &["stack", "history"]).ok();
        assert_eq!(history.lines().count(), runs + 1, "{environment}: {history}");
    }
}
