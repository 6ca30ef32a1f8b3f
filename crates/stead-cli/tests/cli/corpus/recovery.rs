//! Runs that died: the next run replays the journal, repeats idempotent operations, and reports the others as in doubt.

use stead_model::Digest;
use stead_world::World;

use super::{case, on};
use crate::project::Project;

/// Copies a case whose run died. The owner of each listed stack becomes a dead process of this machine.
///
/// The runs died on a host named `corpus`, and only that host can tell that they are dead.
fn died_here(name: &str, environments: &[&str]) -> Project {
    let project = case(name);
    for environment in environments {
        let claim = format!("claim-{environment}");
        project.write(&claim, "");
        let path = format!("state/shop/{environment}/local/head");
        let head = project.read(&path);
        let (head, _) = head.split_once('\n').unwrap();
        let (before, after) = head.split_once("\"claim\":\"").unwrap();
        let (_, after) = after.split_once('"').unwrap();
        let host = format!("\"host\":\"{}\"", World::real().host.name);
        let before = before.replace("\"host\":\"corpus\"", &host);
        let head = format!("{before}\"claim\":\"{}\"{after}\n", project.path(&claim).display());
        let seal = Digest::of(head.as_bytes());
        project.write(&path, &format!("{head}\"{seal}\"\n"));
        on(&project, environment, &["state", "verify"]).ok();
    }
    project
}

#[test]
fn run_of_another_machine_holds_the_lock() {
    for name in ["dead-repeatable", "dead-create", "dead-update", "dead-delete", "spooled"] {
        let held = case(name).stead(&["up", "--yes"]).ends(14);
        assert!(held.stderr.contains("ST0204") && held.stderr.contains("ada on corpus"), "{}", held.stderr);
    }
}

#[test]
fn repeatable_operation_is_repeated_and_the_run_is_finished() {
    let project = died_here("dead-repeatable", &["dev"]);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("out/after.txt"), "again\n");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn operation_in_doubt_stops_the_next_run_until_it_is_resolved() {
    let created =
        ["--created", "by-hand", "--output", "stdout=", "--output", "stderr=", "--output", "exitCode=0"];
    let updated = ["--done", "--output", "stdout=", "--output", "stderr=", "--output", "exitCode=0"];
    for (name, resource, answer) in [
        ("dead-create", "dev:main:local.Command#migrate", &created[..]),
        ("dead-update", "dev:main:local.Command#migrate", &updated),
        ("dead-delete", "dev:main:local.Command#goes", &["--done"]),
    ] {
        let project = died_here(name, &["dev"]);
        for command in [&["up", "--yes"][..], &["plan"], &["destroy", "--yes"]] {
            let stopped = project.stead(command).ends(15);
            assert!(stopped.stderr.contains("ST0206"), "{name}: {}", stopped.stderr);
            assert!(stopped.stderr.contains(resource), "{name}: {}", stopped.stderr);
        }
        project.stead(&[&["state", "resolve", resource], answer].concat()).ok();
        project.stead(&["up", "--yes"]).ok();
        assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{name}");
    }
}

#[test]
fn recorded_operation_in_doubt_is_repeated_on_request() {
    let project = case("doubt-recorded");
    assert_eq!(project.stead(&["up", "--yes"]).code, 15);
    project.stead(&["state", "resolve", "migrate", "--retry"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn answer_in_the_spool_completes_its_operation() {
    let project = died_here("spooled", &["dev"]);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    assert_eq!(project.read("out/log"), "made\n", "the command ran once");
}

#[test]
fn seal_of_a_taken_over_epoch_stays() {
    let project = case("taken-over");
    let seal = "state/shop/dev/local/journal/0000000001/0000000002";
    let sealed = project.read(seal);
    assert!(sealed.contains("\"record\":\"seal\""), "{sealed}");
    project.write("main.ts", &project.read("main.ts").replace("value: 1", "value: 2"));
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read(seal), sealed);
}

#[test]
fn interrupted_move_between_stacks_is_finished_or_undone() {
    for (name, left) in [("dead-move-departed", 2), ("dead-move-arrived", 0)] {
        let project = died_here(name, &["dev", "prod"]);
        project.stead(&["refresh"]).ok();
        let count = |environment| on(&project, environment, &["state", "ls"]).ok().lines().count();
        assert_eq!((count("dev"), count("prod")), (left, 2 - left), "{name}");
    }
}

#[test]
fn interrupted_rename_leaves_the_stack_in_its_environment() {
    let project = died_here("dead-rename", &["dev"]);
    assert_eq!(project.stead(&["stack", "ls"]).ok(), "shop\tdev\tlocal\n");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    project.stead(&["stack", "rename", "prod", "--yes"]).ok();
    assert_eq!(on(&project, "prod", &["plan", "--exit-code"]).code, 0);
}
