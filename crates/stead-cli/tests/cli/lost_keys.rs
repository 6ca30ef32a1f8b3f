//! Runs killed while an operation with a secret was under way: without the key, the operation stays in doubt.

use crate::team::{MAIN, PASSPHRASE, SECRET, Team};

/// The same resources without a secret in the program: only state has it.
const WITHOUT_SECRETS: &str = "export const shown = \"open\";\n";

/// Returns a project whose `up` was killed in the call that creates or updates the file.
fn killed(point: &str) -> Team {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    if point != "create" {
        team.stead(&["up", "--yes"]).ok();
        team.project.write("main.ts", &MAIN.replace("content: password", "content: `${password}!`"));
    }
    let mut command = team.project.command(&["up", "--yes"]);
    let ended = command.envs(PASSPHRASE.iter().copied()).env("STEAD_CRASH_AT", "step.call.before").output();
    assert_eq!(ended.unwrap().status.code(), None, "the run is killed");
    team
}

#[test]
fn operation_whose_secret_does_not_open_stays_in_doubt() {
    for point in ["create", "update"] {
        for keep_program in [true, false] {
            let team = killed(point);
            let program = team.project.read("main.ts");
            if !keep_program {
                team.project.write("main.ts", WITHOUT_SECRETS);
            }
            let before = team.project.all_files();
            let wrong = &[("STEAD_PASSPHRASE", "another one")][..];
            let missing = "no passphrase is set";
            for (command, variables, reason) in [
                (&["up", "--yes"][..], &[][..], missing),
                (&["plan"], &[], missing),
                (&["destroy", "--yes"], &[], missing),
                (&["refresh", "--yes"], &[], missing),
                (&["up", "--yes"], wrong, "is wrong"),
            ] {
                let said = team.run(command, variables).ends(15).stderr;
                assert!(said.contains("ST0206") && said.contains(&format!("the {point} of")), "{said}");
                assert!(said.contains("`content`") && said.contains(reason), "{said}");
                assert!(said.contains("STEAD_PASSPHRASE") && said.contains("state resolve"), "{said}");
            }
            let held = team.run(&["state", "resolve", "file", "--retry"], &[]).ends(15);
            assert!(held.stderr.contains("STEAD_PASSPHRASE"), "{}", held.stderr);
            let kept = |files: &[(std::path::PathBuf, Vec<u8>)]| -> Vec<_> {
                files.iter().filter(|(path, _)| path.ends_with("real/file.txt")).cloned().collect()
            };
            assert_eq!(kept(&team.project.all_files()), kept(&before), "nothing was sent");
            team.project.write("main.ts", &program);
            team.stead(&["up", "--yes"]).ok();
            assert!(team.project.read("real/file.txt").starts_with(SECRET));
            team.stead(&["plan", "--exit-code"]).ok();
            team.assert_nothing_leaked();
        }
    }
}

#[test]
fn doubt_without_a_key_is_explained() {
    let team = killed("create");
    let stopped = team.run(&["up", "--yes"], &[]).ends(15);
    insta::assert_snapshot!(stopped.stderr);
}

#[test]
fn word_of_a_person_needs_no_key_and_a_retry_works_with_it() {
    let team = killed("create");
    team.run(&["state", "resolve", "file", "--not-created"], &[]).ok();
    let locked = team.run(&["up", "--yes"], &[]).ends(1);
    assert!(locked.stderr.contains("ST0703"), "{}", locked.stderr);
    let team = killed("create");
    team.stead(&["state", "resolve", "file", "--retry"]).ok();
    assert_eq!(team.project.read("real/file.txt"), SECRET);
    team.assert_nothing_leaked();
}
