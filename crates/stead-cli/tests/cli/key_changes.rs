//! Changes of keys and managers need one manager that opens, and a kill in the middle of them loses nothing.

use crate::crashes::POINTS;
use crate::project::Project;
use crate::team::{MAIN, PASSPHRASE, SECRET, Team};

/// A stack and a config file that the identity in `keys/ada.txt` opens, without a passphrase.
fn of_ada() -> (Team, String) {
    let team = Team::with(MAIN);
    let ada = team.keygen("keys/ada.txt");
    team.run(&["secrets", "add", &ada, "--name", "ada"], &[]).ok();
    let file = team.project.path("keys/ada.txt").to_str().unwrap().to_owned();
    let as_ada = [("STEAD_AGE_KEY_FILE", file.as_str())];
    team.set_secret(&as_ada).ok();
    team.run(&["up", "--yes"], &as_ada).ok();
    (team, file)
}

/// Asserts that state and config open with these variables, and that nothing is left to do.
fn assert_opens(project: &Project, variables: &[(&str, &str)], at: &str) {
    let plan = project.stead_with(variables, &["plan", "--exit-code"]);
    assert_eq!(plan.code, 0, "{at}: {}", plan.stderr);
    let shown = project.stead_with(variables, &["output", "token", "--raw", "--show-secrets", "--yes"]);
    assert_eq!(shown.ok(), SECRET, "{at}");
    let config = project.stead_with(variables, &["config", "get", "password", "--show-secrets", "--yes"]);
    assert_eq!(config.ok().trim_end(), SECRET, "{at}");
}

#[test]
fn rotation_killed_anywhere_leaves_everything_readable() {
    let (team, _) = of_ada();
    let mut killed = 0;
    for point in POINTS {
        for nth in 1..=4 {
            let project = Project::copy_of(team.project.folder());
            let file = project.path("keys/ada.txt").to_str().unwrap().to_owned();
            let as_ada = [("STEAD_AGE_KEY_FILE", file.as_str())];
            let at = format!("{point}:{nth}");
            let mut command = project.command(&["secrets", "rotate"]);
            let output = command.envs(as_ada).env("STEAD_CRASH_AT", &at).output().unwrap();
            if output.status.code() == Some(0) {
                break; // the run reaches the point fewer times
            }
            assert_eq!(output.status.code(), None, "{at}");
            killed += 1;
            assert_opens(&project, &as_ada, &at);
            project.stead_with(&as_ada, &["secrets", "rotate"]).ok();
            assert_opens(&project, &as_ada, &at);
        }
    }
    assert!(killed > 8, "only {killed} kills");
}

#[test]
fn removal_killed_anywhere_is_finished_by_the_same_command_and_then_the_old_key_opens_nothing_new() {
    let (team, ada_file) = of_ada();
    let bob = team.keygen("keys/bob.txt");
    team.run(&["secrets", "add", &bob, "--name", "bob"], &[("STEAD_AGE_KEY_FILE", &ada_file)]).ok();
    for at in [
        "run.open.after_head",
        "journal.append.after",
        "run.publish.after_snapshot",
        "run.publish.after_head",
    ] {
        let project = Project::copy_of(team.project.folder());
        let path = |name: &str| project.path(name).to_str().unwrap().to_owned();
        let (ada, bob) = (path("keys/ada.txt"), path("keys/bob.txt"));
        let (as_ada, as_bob) =
            ([("STEAD_AGE_KEY_FILE", ada.as_str())], [("STEAD_AGE_KEY_FILE", bob.as_str())]);
        let mut command = project.command(&["secrets", "remove", "ada"]);
        let output = command.envs(as_bob).env("STEAD_CRASH_AT", at).output().unwrap();
        assert_eq!(output.status.code(), None, "{at}");
        assert_opens(&project, &as_bob, at);
        project.stead_with(&as_bob, &["secrets", "remove", "ada"]).ok();
        assert_opens(&project, &as_bob, at);
        project
            .stead_with(&as_bob, &["config", "set", "--secret", "later", "written since the removal"])
            .ok();
        for command in [&["plan"][..], &["config", "get", "later", "--show-secrets", "--yes"]] {
            let locked = project.stead_with(&as_ada, command).ends(1);
            assert!(locked.stderr.contains("ST0703"), "{at}: {}", locked.stderr);
        }
    }
}

#[test]
fn change_of_the_passphrase_killed_anywhere_is_finished_by_the_same_command() {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    let both = [PASSPHRASE[0], ("STEAD_NEW_PASSPHRASE", "second passphrase")];
    let change = ["secrets", "change-manager", "passphrase", "passphrase"];
    for at in ["journal.append.after", "run.publish.after_head"] {
        let project = Project::copy_of(team.project.folder());
        let output = project.command(&change).envs(both).env("STEAD_CRASH_AT", at).output().unwrap();
        assert_eq!(output.status.code(), None, "{at}");
        assert_opens(&project, &both, at);
        project.stead_with(&both, &change).ok();
        assert_opens(&project, &[("STEAD_PASSPHRASE", "second passphrase")], at);
    }
}

#[test]
fn one_manager_is_enough_to_add_another_and_a_rotation_names_the_one_that_is_missing() {
    let team = Team::with(MAIN);
    let (ada, bob) = (team.keygen("keys/ada.txt"), team.keygen("keys/bob.txt"));
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    team.stead(&["secrets", "add", &ada, "--name", "ada"]).ok();
    let file = team.project.path("keys/ada.txt").to_str().unwrap().to_owned();
    let as_ada = [("STEAD_AGE_KEY_FILE", file.as_str())];
    // Ada has no passphrase. Her key opens the ring, and Bob's public key is all that a wrap for him needs.
    team.run(&["secrets", "add", &bob, "--name", "bob"], &as_ada).ok();
    let before = team.project.all_files();
    let refused = team.run(&["secrets", "rotate"], &as_ada).ends(1).stderr;
    assert!(
        refused.contains("wrapped for passphrase, too") && refused.contains("no passphrase is set"),
        "{refused}"
    );
    assert!(refused.contains("STEAD_PASSPHRASE") && refused.contains("stead secrets remove"), "{refused}");
    assert_eq!(team.project.all_files(), before);
    // With the passphrase alone, public keys need nothing.
    team.stead(&["secrets", "rotate"]).ok();
    assert_opens(&team.project, &as_ada, "after the rotation");
    team.run(&["secrets", "remove", "passphrase"], &as_ada).ok();
    team.run(&["secrets", "rotate"], &as_ada).ok();
    assert_opens(&team.project, &as_ada, "without the passphrase");
    team.assert_nothing_leaked();
}

/// Stacks and config files of `dev` and `prod`, whose recipients are Ada and Bob. Returns the files of their identities.
fn of_two_environments() -> (Team, String, String) {
    let team = Team::with(MAIN);
    let (ada, bob) = (team.keygen("keys/ada.txt"), team.keygen("keys/bob.txt"));
    let path = |name: &str| team.project.path(name).to_str().unwrap().to_owned();
    let (ada_file, bob_file) = (path("keys/ada.txt"), path("keys/bob.txt"));
    let as_ada = [("STEAD_AGE_KEY_FILE", ada_file.as_str())];
    team.run(&["secrets", "add", &ada, "--name", "ada"], &as_ada).ok();
    team.run(&["secrets", "add", &bob, "--name", "bob"], &as_ada).ok();
    let file = "local.File({ path: \"real/file.txt\", content: password }";
    team.project.write("main.ts", &MAIN.replace(file, "local.Data({ value: [password] }"));
    for environment in ["dev", "prod"] {
        team.run(&["config", "set", "--secret", "password", SECRET, "-e", environment], &as_ada).ok();
        team.run(&["up", "--yes", "-e", environment], &as_ada).ok();
    }
    (team, ada_file, bob_file)
}

#[test]
fn rotation_leaves_out_a_recipient_that_stead_toml_does_not_name_any_more() {
    let (team, ada_file, bob_file) = of_two_environments();
    let as_ada = [("STEAD_AGE_KEY_FILE", ada_file.as_str())];
    let as_bob = [("STEAD_AGE_KEY_FILE", bob_file.as_str())];
    let plan = team.run(&["plan", "-e", "prod"], &as_ada).ends(0);
    assert!(!plan.stderr.contains("does not name"), "{}", plan.stderr);
    let removed = team.run(&["secrets", "remove", "bob"], &as_ada).ends(0);
    assert!(
        removed.stderr.contains("-e prod") && removed.stderr.contains("--all-environments"),
        "{}",
        removed.stderr
    );
    // The stack of prod has a key of its own, which opens for Bob until it is rotated.
    for command in
        [&["secrets", "status", "-e", "prod"][..], &["plan", "-e", "prod"], &["up", "--yes", "-e", "prod"]]
    {
        let warned = team.run(command, &as_ada).ends(0).stderr;
        assert!(warned.contains("Warning") && warned.contains("does not name"), "{command:?}: {warned}");
    }
    team.run(&["stack", "export", "--show-secrets", "--yes", "-e", "prod"], &as_bob).ok();
    let rotated = team.run(&["secrets", "rotate", "-e", "prod"], &as_ada).ends(0);
    assert!(rotated.stderr.contains("is not wrapped for age:age1"), "{}", rotated.stderr);
    let locked = team.run(&["plan", "-e", "prod"], &as_bob).ends(1);
    assert!(locked.stderr.contains("ST0703"), "{}", locked.stderr);
    let plan = team.run(&["plan", "--exit-code", "-e", "prod"], &as_ada).ends(0);
    assert!(!plan.stderr.contains("does not name"), "{}", plan.stderr);
    assert!(
        !team.run(&["secrets", "status", "-e", "prod"], &as_ada).ends(0).stderr.contains("does not name")
    );
}

#[test]
fn change_for_all_environments_is_one_command() {
    let (team, ada_file, _) = of_two_environments();
    let as_ada = [("STEAD_AGE_KEY_FILE", ada_file.as_str())];
    let eve = team.keygen("keys/eve.txt");
    let eve_file = team.project.path("keys/eve.txt").to_str().unwrap().to_owned();
    let as_eve = [("STEAD_AGE_KEY_FILE", eve_file.as_str())];
    let added = team.run(&["secrets", "add", &eve, "--name", "eve", "--all-environments"], &as_ada).ends(0);
    for part in ["the stack of dev", "the stack of prod", "stead.dev.toml", "stead.prod.toml", "stead.toml"] {
        assert!(added.stdout.contains(part), "{part}: {}", added.stdout);
    }
    assert!(!added.stderr.contains("key of its own"), "{}", added.stderr);
    for environment in ["dev", "prod"] {
        team.run(&["stack", "export", "--show-secrets", "--yes", "-e", environment], &as_eve).ok();
        team.run(&["plan", "-e", environment], &as_eve).ok();
    }
    team.run(&["secrets", "remove", "eve", "--all-environments"], &as_ada).ok();
    assert!(!team.project.read("stead.toml").contains("eve"));
    for environment in ["dev", "prod"] {
        let locked = team.run(&["plan", "-e", environment], &as_eve).ends(1);
        assert!(locked.stderr.contains("ST0703"), "{}", locked.stderr);
        let plan = team.run(&["plan", "-e", environment], &as_ada).ends(0);
        assert!(!plan.stderr.contains("does not name"), "{}", plan.stderr);
    }
    // A key that does not open one of the stacks changes none of them.
    let before = team.project.all_files();
    let refused = team.run(&["secrets", "add", &eve, "--name", "eve", "--all-environments"], &as_eve).ends(1);
    assert!(refused.stderr.contains("Nothing was changed"), "{}", refused.stderr);
    assert_eq!(team.project.all_files(), before);
}

#[test]
fn removal_without_a_data_key_says_that_only_the_settings_changed() {
    let team = Team::with(MAIN);
    let ada = team.keygen("keys/ada.txt");
    team.stead(&["secrets", "add", &ada, "--name", "ada"]).ok();
    let removed = team.stead(&["secrets", "remove", "ada"]).ok();
    assert_eq!(removed, format!("Removed age:{ada}: stead.toml\n"));
}
