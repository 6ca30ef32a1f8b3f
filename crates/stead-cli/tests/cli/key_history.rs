//! Secrets that were encrypted before a rotation, and keys that several commands and targets share.

use crate::project::Ran;
use crate::team::{MAIN, PASSPHRASE, SECRET, Team};

fn shown(team: &Team, arguments: &[&str]) -> String {
    let mut command = team.project.command(arguments);
    team.project.ran(command.envs(PASSPHRASE.iter().copied()).output().unwrap()).ok()
}

#[test]
fn rollback_to_a_run_before_a_rotation_opens_its_secrets() {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    team.project.write("main.ts", &MAIN.replace("content: password", "content: `${password}!`"));
    team.stead(&["up", "--yes"]).ok();
    assert_eq!(team.project.read("real/file.txt"), format!("{SECRET}!"));
    for _ in 0..2 {
        team.stead(&["secrets", "rotate"]).ok();
    }
    team.stead(&["stack", "rollback", "run-1", "--yes"]).ok();
    assert_eq!(team.project.read("real/file.txt"), SECRET);
    team.project.write("main.ts", MAIN);
    team.stead(&["plan", "--exit-code"]).ok();
    team.assert_nothing_leaked();
}

#[test]
fn config_file_of_an_old_branch_opens_after_a_rotation() {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    let of_branch = team.project.read("stead.dev.toml");
    team.stead(&["secrets", "rotate"]).ok();
    assert_ne!(team.project.read("stead.dev.toml"), of_branch);
    team.project.write("stead.dev.toml", &of_branch);
    team.stead(&["plan", "--exit-code"]).ok();
    assert_eq!(
        shown(&team, &["config", "get", "password", "--show-secrets", "--yes"]),
        format!("{SECRET}\n")
    );
    team.stead(&["secrets", "rotate"]).ok();
    team.stead(&["plan", "--exit-code"]).ok();
    team.assert_nothing_leaked();
}

#[test]
fn one_config_secret_serves_several_targets() {
    let data = MAIN.replace(
        "local.File({ path: \"real/file.txt\", content: password }",
        "local.Data({ value: [password] }",
    );
    let team = Team::with(&data);
    team.set_secret(PASSPHRASE).ok();
    for target in ["local", "sim"] {
        team.stead(&["up", "--yes", "-t", target]).ok();
        team.stead(&["plan", "--exit-code", "-t", target]).ok();
        let output = ["output", "token", "--raw", "--show-secrets", "--yes", "-t", target];
        assert_eq!(shown(&team, &output), SECRET, "{target}");
    }
    // Each stack has a key of its own; the file keeps one.
    team.stead(&["secrets", "rotate", "-t", "sim"]).ok();
    for target in ["local", "sim"] {
        team.stead(&["plan", "--exit-code", "-t", target]).ok();
    }
    team.assert_nothing_leaked();
}

/// A manager that counts its calls, and opens a data key once only.
const MANAGER: &str = r#"
read -r request
echo "$1" >> calls
if [ "$1" = unwrap ] && [ "$(grep -c unwrap calls)" -gt 1 ]; then
  echo '{"error":{"class":"unavailable","message":"gone"}}'
  exit 0
fi
field=key; answer=wrapped
if [ "$1" = unwrap ]; then field=wrapped; answer=key; fi
value=$(printf '%s' "$request" | sed -n "s/.*\"$field\":\"\([^\"]*\)\".*/\1/p")
printf '{"%s":"%s"}\n' "$answer" "$value"
"#;

#[test]
fn data_key_is_unwrapped_once_in_a_run_also_if_the_manager_goes_away() {
    let program = |text: &str| {
        let mut program =
            "import * as stead from \"stead\";\nimport * as local from \"stead/local\";\n".to_owned();
        for number in 0..5 {
            program += &format!(
                "const d{number} = new local.Data({{ value: [stead.secret(\"{text}-{number}-in-the-program\")] }}, {{ id: \"d{number}\" }});\n"
            );
        }
        program + "export const token = d0.value;\n"
    };
    let team = Team::with(&program("first"));
    team.project.write("manager.sh", MANAGER);
    team.project
        .write("stead.toml", "project = \"shop\"\n\n[secrets]\nmanagers = [\"command:sh manager.sh\"]\n");
    let up = || -> Ran {
        team.project.write("calls", "");
        team.run(&["up", "--yes"], &[])
    };
    up().ok();
    team.project.write("main.ts", &program("second"));
    let changed = up().ends(0);
    assert!(
        changed.stdout.contains("5 updated") || changed.stderr.contains("5 updated"),
        "{}",
        changed.stdout
    );
    assert_eq!(team.project.read("calls"), "unwrap\n");
    // A manager that is gone from the start is told.
    team.project.write("calls", "unwrap\n");
    let refused = team.run(&["up", "--yes"], &[]).ends(1);
    assert!(refused.stderr.contains("ST0703") && refused.stderr.contains("gone"), "{}", refused.stderr);
}
