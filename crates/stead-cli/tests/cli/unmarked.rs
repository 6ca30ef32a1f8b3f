//! Secrets that come in by another way than a provider's answer to a request.

use crate::team::{MAIN, PASSPHRASE, SECRET, Team};

const COMMAND: &str = r#"
import { config } from "stead";
import * as local from "stead/local";
const password = config.secret("password");
new local.Command({ create: "echo one", environment: { PASSWORD: password } }, { id: "c" });
new local.Command({ create: "echo two" }, { id: "s", sensitive: ["stdout"] });
"#;

#[test]
fn secret_in_a_stated_output_is_recorded_as_one_and_needs_the_key() {
    let team = Team::with(COMMAND);
    team.set_secret(PASSPHRASE).ok();
    let mut command = team.project.command(&["up", "--yes", "--parallel", "1"]);
    command.envs(PASSPHRASE.iter().copied()).env("STEAD_CRASH_AT", "step.call.before");
    assert_eq!(command.output().unwrap().status.code(), None);
    let pending = if team.stead(&["up", "--yes"]).ends(15).stderr.contains("#c") { "c" } else { "s" };
    let stdout = format!("stdout=got {SECRET}");
    let rest = ["--output", "stderr=", "--output", "exitCode=0"];
    let resolve = [&["state", "resolve", pending, "--created", "x1", "--output", stdout.as_str()], &rest[..]];
    let locked = team.project.stead(&resolve.concat()).ends(15);
    assert!(locked.stderr.contains("searched for secrets"), "{}", locked.stderr);
    team.stead(&resolve.concat()).ok();
    let shown = team.stead(&["state", "show", pending]).ok();
    assert!(shown.contains("stdout: [secret]") || shown.contains("stdout: \"[secret]\""), "{shown}");
    team.assert_nothing_leaked();
}

#[test]
fn look_up_that_contains_secret_config_is_recorded_as_a_secret() {
    let team = Team::with(
        r#"
import { config } from "stead";
import * as local from "stead/local";
const password = config.secret("password");
new local.Data({ value: local.File.get("real/file.txt").content }, { id: "d" });
"#,
    );
    team.set_secret(PASSPHRASE).ok();
    team.project.write("real/file.txt", &format!("password = {SECRET}"));
    team.stead(&["up", "--yes"]).ok();
    team.assert_nothing_leaked();
}

#[test]
fn differing_setting_of_a_saved_plan_is_told_without_its_value() {
    let team = Team::with(
        "import { config } from \"stead\";\nimport * as local from \"stead/local\";\n\
         new local.Data({ value: config.get(\"any\") ? 1 : 0 }, { id: \"d\" });\n",
    );
    let plan = team.project.path("plan.json");
    let plan = plan.to_str().unwrap();
    team.stead(&["plan", "--out", plan]).ok();
    let setting = format!("any={SECRET}");
    let refused = team.stead(&["up", plan, "--yes", "--config", &setting]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("config `any`"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("battery"), "{}", refused.stderr);
}

#[test]
fn ephemeral_value_in_an_output_is_kept_nowhere() {
    let program = |text: &str| {
        format!(
            "import * as stead from \"stead\";\nimport * as local from \"stead/local\";\n\
             const token = stead.ephemeral(() => {text:?});\n\
             const c = new local.Command({{ create: \"echo $T\", environment: {{ T: token }} }}, {{ id: \"c\" }});\n\
             export const out = c.stdout;\nexport const kept = stead.secret(\"another value\");\n"
        )
    };
    let team = Team::with(&program("ephemeral-value-1234"));
    team.stead(&["up", "--yes"]).ok();
    let mut command = team.project.command(&["output", "--show-secrets", "--yes"]);
    let shown = team.project.ran(command.envs(PASSPHRASE.iter().copied()).output().unwrap());
    assert!(!shown.stdout.contains("ephemeral-value-1234"), "{}", shown.stdout);
    assert!(shown.stdout.contains("[secret]") && shown.stdout.contains("another value"), "{}", shown.stdout);
    for (name, value) in [("kept", "another value"), ("out", "[secret]")] {
        let mut command = team.project.command(&["output", name, "--raw", "--show-secrets", "--yes"]);
        let shown = team.project.ran(command.envs(PASSPHRASE.iter().copied()).output().unwrap());
        assert_eq!(shown.ok(), value);
    }
    assert_eq!(team.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn disclosed_export_is_imported_again() {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    let mut command = team.project.command(&["stack", "export", "--show-secrets", "--yes"]);
    let export = team.project.ran(command.envs(PASSPHRASE.iter().copied()).output().unwrap()).ok();
    assert!(export.contains("plaintext") && !export.contains("\"digest\""));
    team.project.write("real/export.json", &export);
    let file = team.project.path("real/export.json");
    team.stead(&["stack", "import", file.to_str().unwrap(), "--yes"]).ok();
    let events = team.stead(&["up", "--yes", "--json"]).ok();
    assert!(events.contains("[secret]") && !events.contains("ciphertext"), "{events}");
    team.assert_nothing_leaked();
}

#[test]
fn imported_file_with_a_secret_has_no_digest_in_the_clear() {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    team.project.write("real/file.txt", SECRET);
    team.stead(&["import", "local.File", "file", "real/file.txt", "--yes"]).ok();
    let shown = team.stead(&["state", "show", "file"]).ok();
    assert!(shown.contains("[secret]") && !shown.contains("sha256: \"sha"), "{shown}");
}

#[test]
fn branches_that_add_different_secrets_change_different_places() {
    let team = Team::with(MAIN);
    for key in ["middle", "zebra", "alpha", "nest.b", "nest.a"] {
        team.stead(&["config", "set", key, "text"]).ok();
    }
    let file = team.project.read("stead.dev.toml");
    let keys =
        "alpha = \"text\"\nmiddle = \"text\"\nnest.a = \"text\"\nnest.b = \"text\"\nzebra = \"text\"\n";
    assert_eq!(file, format!("[config]\n{keys}"));
    team.project.write("stead.dev.toml", "[config]\n\n[secrets]\n\n[secrets]\n");
    let refused = team.stead(&["config", "ls"]);
    assert!(refused.stderr.contains("keep one `[secrets]`"), "{}", refused.stderr);
}
