//! Secrets from config to state: keys, managers, and what is in the clear nowhere.

use crate::project::Project;
use crate::team::{MAIN, PASSPHRASE, SECRET, Team};

#[test]
fn secret_of_the_config_reaches_the_resource_and_is_shown_only_on_request() {
    let team = Team::with(MAIN);
    assert!(team.set_secret(PASSPHRASE).ok().contains("encrypted"));
    let file = team.project.read("stead.dev.toml");
    assert!(file.contains("password = { secret = \"s1:") && file.contains(" passphrase\" = \"p1:"), "{file}");
    assert_eq!(team.run(&["config", "ls"], &[]).ok(), "password = [secret]\n", "the list needs no key");
    assert_eq!(team.run(&["config", "get", "password"], &[]).ok(), "[secret]\n");
    team.stead(&["up", "--yes"]).ok();
    assert_eq!(team.project.read("real/file.txt"), SECRET);
    let shown = team.stead(&["output"]).ok();
    assert!(shown.contains("[secret]") && shown.contains("open"), "{shown}");
    assert!(team.stead(&["output", "token", "--json"]).ok().contains("\"[secret]\""));
    team.stead(&["plan", "--json"]).ok();
    team.stead(&["stack", "export"]).ok();
    team.stead(&["state", "show", "file"]).ok();
    team.assert_nothing_leaked();

    let refused = team.stead(&["output", "--show-secrets"]).ends(2);
    assert!(refused.stderr.contains("confirmation needed"), "{}", refused.stderr);
    let passphrase = [("STEAD_PASSPHRASE", "first passphrase")];
    let show = |arguments: &[&str]| {
        let mut command = team.project.command(arguments);
        team.project.ran(command.envs(passphrase).output().unwrap()).ok()
    };
    assert_eq!(show(&["output", "token", "--raw", "--show-secrets", "--yes"]), SECRET);
    assert_eq!(show(&["config", "get", "password", "--show-secrets", "--yes"]), format!("{SECRET}\n"));
    assert!(show(&["stack", "export", "--show-secrets", "--yes"]).contains("plaintext"));
    let history = team.stead(&["stack", "history"]).ok();
    assert!(history.contains("output --show-secrets") && history.contains("stack export --show-secrets"));
    team.assert_nothing_leaked();
}

#[test]
fn wrong_and_missing_passphrases_are_told_apart_and_change_nothing() {
    let team = Team::with(MAIN);
    let none = team.set_secret(&[]).ends(1);
    assert!(none.stderr.contains("ST0701") && none.stderr.contains("STEAD_PASSPHRASE"), "{}", none.stderr);
    assert!(!team.project.has("stead.dev.toml"));
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    team.project.write("main.ts", &MAIN.replace("file.txt", "moved.txt"));
    let before = team.project.all_files();
    let wrong = team.run(&["up", "--yes"], &[("STEAD_PASSPHRASE", "another one")]).ends(1);
    assert!(wrong.stderr.contains("is wrong") && wrong.stderr.contains("ST0703"), "{}", wrong.stderr);
    let missing = team.run(&["up", "--yes"], &[]).ends(1);
    assert!(
        missing.stderr.contains("no passphrase") && missing.stderr.contains("ST0703"),
        "{}",
        missing.stderr
    );
    let wrong = team.run(&["secrets", "rotate"], &[("STEAD_PASSPHRASE", "another one")]).ends(1);
    assert!(wrong.stderr.contains("is wrong"), "{}", wrong.stderr);
    let wrong = team.set_secret(&[("STEAD_PASSPHRASE", "another one")]).ends(1);
    assert!(wrong.stderr.contains("ST0703"), "{}", wrong.stderr);
    assert_eq!(team.project.all_files(), before);
    let status = team.run(&["secrets", "status"], &[]).ok();
    assert!(status.contains("does not open here") && status.contains("stead.dev.toml"), "{status}");
    team.assert_nothing_leaked();
}

#[test]
fn config_set_keeps_the_file_and_takes_declared_types() {
    let team = Team::with(MAIN);
    let settings = "project = \"shop\"\n[config.schema]\nsize = \"integer\"\nname = \"string\"\nkey = { type = \"string\", secret = true }\n";
    team.project.write("stead.toml", settings);
    team.project.write("stead.dev.toml", "# sizes\n[config]\nsize = 1 # small\n");
    team.stead(&["config", "set", "size", "5"]).ok();
    team.stead(&["config", "set", "name", "7"]).ok();
    assert_eq!(team.project.read("stead.dev.toml"), "# sizes\n[config]\nname = \"7\"\nsize = 5 # small\n");
    let _ = team.stead(&["config", "set", "size", "big"]).ends(2);
    let clear = team.stead(&["config", "set", "key", "x"]).ends(1);
    assert!(clear.stderr.contains("--secret"), "{}", clear.stderr);
    team.stead(&["config", "rm", "size"]).ok();
    let _ = team.stead(&["config", "rm", "size"]).ends(1);
    assert_eq!(team.project.read("stead.dev.toml"), "# sizes\n[config]\nname = \"7\"\n");
    team.project.write("stead.toml", "project = \"shop\"\n");
    team.stead(&["config", "set", "db.size", "3"]).ok();
    team.stead(&["config", "set", "--secret", "db.password", "abc def ghi"]).ok();
    let file = team.project.read("stead.dev.toml");
    assert!(file.contains("db.password = { secret = \"s1:") && file.contains("\" }\ndb.size = 3"), "{file}");
    assert_eq!(team.run(&["config", "get", "db.size"], &[]).ok(), "3\n");
    // A value that was copied to another key does not open there.
    team.project.write("stead.dev.toml", &file.replace("db.password", "db.other"));
    let moved = team.stead(&["config", "get", "db.other", "--show-secrets", "--yes"]).ends(1);
    assert!(moved.stderr.contains("cannot be opened"), "{}", moved.stderr);
}

#[test]
fn added_recipient_opens_everything_and_a_removed_one_nothing_new() {
    let team = Team::with(MAIN);
    let (ada, bob) = (team.keygen("keys/ada.txt"), team.keygen("keys/bob.txt"));
    let again = team.project.path("keys/ada.txt");
    let _ = team.stead(&["secrets", "keygen", "--output", again.to_str().unwrap()]).ends(1);
    team.stead(&["secrets", "add", &ada, "--name", "ada"]).ok();
    let ada_file = again.to_str().unwrap().to_owned();
    let bob_file = team.project.path("keys/bob.txt").to_str().unwrap().to_owned();
    let as_ada = [("STEAD_AGE_KEY_FILE", ada_file.as_str())];
    let as_bob = [("STEAD_AGE_KEY_FILE", bob_file.as_str())];
    team.set_secret(&as_ada).ok();
    team.run(&["up", "--yes"], &as_ada).ok();
    let _ = team.run(&["plan"], &as_bob).ends(1);
    team.run(&["secrets", "add", &bob, "--name", "bob"], &as_ada).ok();
    assert!(team.project.read("stead.toml").contains(&format!("bob = \"{bob}\"")));
    team.run(&["plan"], &as_bob).ok();
    team.run(&["secrets", "remove", "ada"], &as_bob).ok();
    assert!(!team.project.read("stead.toml").contains("ada ="));
    team.run(&["plan"], &as_bob).ok();
    team.run(&["up", "--yes"], &as_bob).ok();
    let locked = team.run(&["plan"], &as_ada).ends(1);
    assert!(locked.stderr.contains("ST0703"), "{}", locked.stderr);
    let status = team.run(&["secrets", "status"], &as_bob).ok();
    assert!(!status.contains(&ada) && status.matches("current").count() == 2, "{status}");
    team.assert_nothing_leaked();
}

#[test]
fn rotation_and_a_new_passphrase_leave_everything_readable() {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    let file = team.project.read("stead.dev.toml");
    let rotated = team.stead(&["secrets", "rotate"]).ok();
    assert!(rotated.contains("stack") && rotated.contains("stead.dev.toml"), "{rotated}");
    assert_ne!(team.project.read("stead.dev.toml"), file);
    team.stead(&["plan", "--exit-code"]).ok();
    let both = [("STEAD_PASSPHRASE", "first passphrase"), ("STEAD_NEW_PASSPHRASE", "second passphrase")];
    team.run(&["secrets", "change-manager", "passphrase", "passphrase"], &both).ok();
    let _ = team.stead(&["plan"]).ends(1);
    team.run(&["plan"], &[("STEAD_PASSPHRASE", "second passphrase")]).ok();
    team.assert_nothing_leaked();
}

#[test]
fn one_passphrase_is_stretched_once_in_a_command() {
    let team = Team::with(MAIN);
    let both = [PASSPHRASE[0], ("STEAD_NEW_PASSPHRASE", "second passphrase"), ("STEAD_LOG", "debug")];
    let stretchings = |command: &[&str], variables: &[(&str, &str)]| {
        let ended = team.run(command, variables).ends(0);
        ended.stderr.matches("passphrase stretched").count()
    };
    team.set_secret(PASSPHRASE).ok();
    let one = [both[0], both[2]];
    // A secret of the config, and from the first `up` on one of the stack. Their rings have one salt.
    for command in
        [&["plan"][..], &["up", "--yes"], &["plan"], &["up", "--yes"], &["secrets", "rotate"], &["plan"]]
    {
        assert_eq!(stretchings(command, &one), 1, "{command:?}");
    }
    let change = ["secrets", "change-manager", "passphrase", "passphrase"];
    assert_eq!(stretchings(&change, &both), 2, "the old one and the new one");
    assert_eq!(stretchings(&["plan"], &[("STEAD_PASSPHRASE", "second passphrase"), both[2]]), 1);
    team.assert_nothing_leaked();
}

#[test]
fn first_key_is_made_before_the_first_secret() {
    let team = Team::with(MAIN);
    let made = team.stead(&["secrets", "init"]).ok();
    assert!(made.contains("Made a data key") && made.contains("passphrase"), "{made}");
    assert!(team.stead(&["secrets", "init"]).ok().contains("already"));
}

#[cfg(target_os = "linux")]
#[test]
fn core_dumps_are_off() {
    let program = "import * as local from \"stead/local\";\n\
        new local.Command({ create: \"ulimit -Hc > limit.txt; until [ -e go ]; do :; done\", delete: \"true\" }, { id: \"c\" });\n";
    let project = Project::with(program);
    let running = project.spawn(&["up", "--yes"]);
    while !project.has("limit.txt") || project.read("limit.txt").is_empty() {
        std::thread::yield_now();
    }
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", running.id())).unwrap();
    project.write("go", "");
    project.ran(running.wait_with_output().unwrap()).ok();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let limits: Vec<&str> = core.split_whitespace().skip(4).take(2).collect();
    assert_eq!(limits, ["0", "0"], "stead itself, while it has a key: {core}");
    assert_eq!(project.read("limit.txt").trim(), "0", "and the processes that it starts");
}

#[test]
fn secret_that_would_become_a_physical_id_is_refused_at_plan() {
    let team = Team::with(&MAIN.replace("\"real/file.txt\"", "`real/${password}`"));
    team.set_secret(PASSPHRASE).ok();
    for command in [&["plan"][..], &["plan", "--json"], &["up", "--yes"]] {
        let refused = team.stead(command).ends(1);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(said.contains("ST0704") && said.contains("`path`"), "{said}");
    }
    assert!(!team.project.has("real"));
    team.project.write("main.ts", MAIN);
    team.stead(&["up", "--yes"]).ok();
    team.project.write("main.ts", &MAIN.replace("\"real/file.txt\"", "`real/${password}`"));
    assert!(team.stead(&["up", "--yes"]).ends(1).stderr.contains("ST0704"), "a replacement is refused too");
    team.assert_nothing_leaked();
}

#[test]
fn identity_that_is_computed_from_a_secret_and_an_unknown_value_is_refused_at_plan() {
    let path = "`real/${command.stdout}/${password}`";
    let command = "const command = new local.Command({ create: \"printf sub\" }, { id: \"command\" });\n";
    let (imports, rest) = MAIN.split_at(MAIN.find("const ").unwrap());
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    let main = format!("{imports}{command}{rest}").replace("\"real/file.txt\"", path);
    team.project.write("main.ts", &main);
    for words in [&["plan"][..], &["up", "--yes"]] {
        let refused = team.stead(words).ends(1);
        assert!(refused.stderr.contains("ST0704") && refused.stderr.contains("`path`"), "{}", refused.stderr);
    }
    assert!(!team.project.has("real"));
}

#[test]
fn identity_that_turns_out_to_be_a_secret_is_refused_before_the_intent_is_recorded() {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    let reached = "const command = new local.Command({ create: \"cat real/file.txt\" }, { id: \"command\" });\n\
        new local.File({ path: `real/x${command.stdout}`, content: \"open\" }, { id: \"reached\" });\n";
    team.stead(&["up", "--yes"]).ok();
    team.project.write("main.ts", &format!("{MAIN}{reached}"));
    let refused = team.stead(&["up", "--yes"]).ends(1);
    assert!(refused.stderr.contains("ST0704") && refused.stderr.contains("reached"), "{}", refused.stderr);
    let listed = team.stead(&["state", "list"]).ok();
    assert!(listed.contains("command") && !listed.contains("reached"), "{listed}");
    assert_eq!(std::fs::read_dir(team.project.path("real")).unwrap().count(), 1);
    team.assert_nothing_leaked();
}

#[test]
fn value_that_is_given_to_the_flag_secret_is_not_repeated() {
    let team = Team::with(MAIN);
    let attached = format!("--secret={SECRET}");
    for words in [&[attached.as_str(), "password"][..], &["--secret", "password", "correct", SECRET]] {
        let refused = team.stead(&[&["config", "set"], words].concat()).ends(2);
        assert!(refused.stderr.contains("[secret]"), "{}", refused.stderr);
    }
    team.assert_nothing_printed();
}
