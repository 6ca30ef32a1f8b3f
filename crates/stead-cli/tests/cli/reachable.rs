//! Secrets that another resource reaches: the answer of one provider call shows the secret of another.

use std::process::Command;

use crate::team::{PASSPHRASE, Team};

/// Commands that print a file whose content is secret, and its digest. None of them gets the secret.
const PRINTING: &str = r#"
import { config } from "stead";
import * as local from "stead/local";
const password = config.secret("password");
const file = new local.File({ path: "real/file.txt", content: password }, { id: "file" });
const command = (id: string, create: string) =>
  new local.Command({ create, update: create, delete: "true", triggers: [file.size] }, { id });
command("shown", "cat real/file.txt");
command("failed", "cat real/file.txt >&2");
command("encoded", "base64 -w0 real/file.txt");
command("digest", "sha256sum real/file.txt");
"#;

/// Returns the digest of the content of the file, in hex.
fn digest(team: &Team) -> String {
    let printed = Command::new("sha256sum").arg(team.project.path("real/file.txt")).output().unwrap().stdout;
    String::from_utf8(printed).unwrap()[..64].to_owned()
}

fn assert_secret(team: &Team, names: &[&str]) {
    for name in names {
        let shown = team.stead(&["state", "show", name]).ok();
        assert!(shown.contains("[secret]"), "{name}: {shown}");
    }
    let export = team.stead(&["stack", "export"]).ok();
    assert!(!export.contains(&digest(team)), "the digest of the secret is in the export");
    team.assert_nothing_leaked();
}

#[test]
fn output_of_a_command_that_prints_the_secret_of_another_resource_is_secret() {
    let team = Team::with(PRINTING);
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes", "-v"]).ok();
    assert_secret(&team, &["shown", "failed", "encoded", "digest", "file"]);
    team.stead(&["plan", "--exit-code"]).ok();
}

#[test]
fn secret_of_an_earlier_run_is_known_to_a_later_one() {
    let team = Team::with(PRINTING);
    let (first, _) = PRINTING.split_once("const command").unwrap();
    team.project.write("main.ts", first);
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    // Only the state has the secret now. The file is deleted after the command has printed it.
    let later = "import * as local from \"stead/local\";\nnew local.Command({ create: \"cat real/file.txt\" }, { id: \"shown\" });\n";
    team.project.write("main.ts", later);
    team.stead(&["up", "--yes"]).ok();
    let shown = team.stead(&["state", "show", "shown"]).ok();
    assert!(shown.contains("[secret]"), "{shown}");
    team.stead(&["stack", "export"]).ok();
    team.assert_nothing_leaked();
}

#[test]
fn digest_of_a_secret_file_is_secret_and_that_of_a_plain_one_is_not() {
    let plain = "import * as local from \"stead/local\";\nnew local.File({ path: \"real/plain.txt\", content: \"open\" }, { id: \"plain\" });\n";
    let team = Team::with(&format!("{PRINTING}{}", plain.split_once('\n').unwrap().1));
    team.set_secret(PASSPHRASE).ok();
    team.stead(&["up", "--yes"]).ok();
    let shown = team.stead(&["state", "show", "plain"]).ok();
    assert!(!shown.contains("[secret]"), "{shown}");
    team.project.write("real/file.txt", "a wholly different content");
    team.stead(&["refresh", "--yes"]).ok();
    let drifted = digest(&team);
    let export = team.stead(&["stack", "export"]).ok();
    assert!(!export.contains(&drifted), "the digest of the changed secret is in the export");
    team.stead(&["up", "--yes"]).ok();
    assert_secret(&team, &["file"]);
}
