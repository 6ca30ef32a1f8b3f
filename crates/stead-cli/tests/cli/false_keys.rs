//! Managers that answer with a false data key, and values that do not open: nothing is rewritten.

use crate::team::{MAIN, PASSPHRASE, SECRET, Team};

/// A manager that keeps keys as they are, and gives a false one while the file `false` exists.
const MANAGER: &str = r#"
read -r request
field=key; answer=wrapped
if [ "$1" = unwrap ]; then field=wrapped; answer=key; fi
value=$(printf '%s' "$request" | sed -n "s/.*\"$field\":\"\([^\"]*\)\".*/\1/p")
if [ "$1" = unwrap ] && [ -e false ]; then value=eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg=; fi
printf '{"%s":"%s"}\n' "$answer" "$value"
"#;
const SETTINGS: &str =
    "project = \"shop\"\ntarget = \"local\"\n\n[secrets]\nmanagers = [\"command:sh manager.sh\"]\n";

#[test]
fn false_key_of_a_manager_is_told_as_a_wrong_key_and_nothing_is_rewritten() {
    let team = Team::with(MAIN);
    team.project.write("manager.sh", MANAGER);
    team.project.write("stead.toml", SETTINGS);
    team.set_secret(&[]).ok();
    team.run(&["up", "--yes"], &[]).ok();
    team.project.write("false", "");
    let before = team.project.all_files();
    for command in [
        &["secrets", "rotate"][..],
        &["secrets", "add", "passphrase"],
        &["plan"],
        &["output", "token", "--show-secrets", "--yes"],
        &["config", "get", "password", "--show-secrets", "--yes"],
        &["config", "set", "--secret", "other", "another secret"],
    ] {
        let refused = team.run(command, PASSPHRASE).ends(1);
        assert!(refused.stderr.contains("another key was given than"), "{command:?}: {}", refused.stderr);
        assert!(!refused.stderr.contains("damaged"), "{command:?}: {}", refused.stderr);
    }
    assert_eq!(team.project.all_files(), before);
    std::fs::remove_file(team.project.path("false")).unwrap();
    assert_eq!(team.run(&["output", "token", "--raw", "--show-secrets", "--yes"], &[]).ok(), SECRET);
    team.run(&["secrets", "rotate"], &[]).ok();
    team.run(&["plan", "--exit-code"], &[]).ok();
}

#[test]
fn damaged_config_value_keeps_every_key_and_manager_as_it_is() {
    let team = Team::with(MAIN);
    team.project.write("manager.sh", MANAGER);
    team.project.write("stead.toml", SETTINGS);
    team.set_secret(&[]).ok();
    team.run(&["up", "--yes"], &[]).ok();
    team.run(&["secrets", "add", "passphrase"], PASSPHRASE).ok();
    let file = team.project.read("stead.dev.toml");
    let start = file.find("{ secret = \"s1:").unwrap();
    team.project.write("stead.dev.toml", &format!("{}spare = {}", &file[..start - 11], &file[start..]));
    let before = team.project.all_files();
    for command in [&["secrets", "remove", "passphrase"][..], &["secrets", "rotate"]] {
        let refused = team.run(command, PASSPHRASE).ends(1);
        assert!(refused.stderr.contains("`spare`"), "{}", refused.stderr);
        assert!(refused.stderr.contains("Nothing was changed"), "{}", refused.stderr);
    }
    assert_eq!(team.project.all_files(), before);
}
