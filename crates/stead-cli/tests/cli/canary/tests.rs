//! Every command on a project whose secret is in all kinds of resources, killed runs, failing providers, and planted leaks.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::project::Project;

/// A program with the secret in a file, in a process that repeats it, in a deferred function and in an output, and with a process
/// that prints its environment.
const PROGRAM: &str = r#"
import { apply, config } from "stead";
import * as local from "stead/local";
const token = config.secret("canary");
const file = new local.File({ path: "real/file", content: token }, { id: "file" });
const say = 'printf "%s" "$TOKEN"; printf "%s" "$TOKEN" >&2';
const run = new local.Command(
  { create: say, update: say, delete: say, environment: { TOKEN: token }, triggers: [file.sha256], idempotent: true },
  { id: "run" },
);
const look = "unset AMBIENT_TOKEN; env";
new local.Command({ create: look, update: look, delete: look, triggers: [file.size], idempotent: true }, { id: "look" });
const framed = apply(run.stdout, (text) => `<${text}>`);
new local.File({ path: "real/framed", content: framed }, { id: "framed" });
export const shown = framed;
"#;

/// Commands that show the stack, one after the other.
const SHOWING: &[&[&str]] = &[
    &["plan", "--refresh"],
    &["plan", "--json", "--refresh"],
    &["graph", "--json"],
    &["output"],
    &["output", "--json"],
    &["state", "ls"],
    &["state", "show", "run"],
    &["state", "show", "framed", "--json"],
    &["stack", "export"],
    &["stack", "history"],
    &["logs", "run"],
    &["find", "real/file"],
];

#[test]
fn no_command_writes_or_prints_the_secret() {
    let project = Project::with(PROGRAM);
    project.stead(&["secrets", "init"]).ok();
    let plan = project.path("plan").to_str().unwrap().to_owned();
    project.stead(&["plan", "--out", &plan, "-vvv"]).ok();
    project.stead(&["up", &plan, "--yes", "-vvv"]).ok();
    SHOWING.iter().for_each(|command| project.stead(&[*command, &["-vvv"]].concat()).ok().clear());
    project.write("real/file", "drifted");
    project.stead(&["refresh", "--yes", "--json"]).ok();
    project.write("main.ts", &PROGRAM.replace("content: token", "content: `${token}!`"));
    project.stead(&["up", "--yes", "--json"]).ok();
    project.stead(&["rename", "file", "renamed", "--yes"]).ok();
    project.stead(&["stack", "rollback", "run-1", "--yes", "-v"]).ok();
    project.write("export.json", &project.stead(&["stack", "export"]).ok());
    let export = project.path("export.json").to_str().unwrap().to_owned();
    project.stead(&["stack", "import", &export, "--yes"]).ok();
    project.stead(&["secrets", "rotate"]).ok();
    project.stead(&["state", "verify"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
}

#[test]
fn killed_runs_leave_no_secret() {
    for point in crate::crashes::POINTS {
        let project = Project::with(PROGRAM);
        project.crash(&["up", "--yes", "-vvv"], &format!("{point}:1"));
        assert_eq!(project.canary.leak(), None, "{point}");
        project.stead(&["up", "--yes"]).ok();
        assert!(project.read("real/framed").contains(&project.canary.value), "{point}");
        project.write("main.ts", "export const nothing = 1;\n");
        project.crash(&["up", "--yes", "--json"], &format!("{point}:1"));
        project.stead(&["up", "--yes"]).ok();
    }
}

#[test]
fn failing_provider_leaves_no_secret() {
    let project = Project::with(&PROGRAM.replace(">&2';", ">&2; exit 7';"));
    for flags in [&[][..], &["--json"], &["-vvv"]] {
        let failed = project.stead(&[&["up", "--yes"], flags].concat()).ends(1);
        assert!(format!("{}{}", failed.stdout, failed.stderr).contains("[secret]"), "the command printed it");
    }
}

#[test]
fn secret_in_a_file_a_path_or_an_output_is_found() {
    let project = Project::with(PROGRAM);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.canary.leak(), None);
    let canary = &project.canary;
    for secret in [&*canary.value, &canary.ambient, &canary.identity.secret] {
        let json = serde_json::to_string(secret).unwrap();
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        for form in [secret, &json[1..json.len() - 1], &hex] {
            for folder in &canary.folders {
                let path = folder.join("planted");
                std::fs::write(&path, format!("a {form} b")).unwrap();
                assert!(canary.leak().is_some_and(|leak| leak.contains("planted")), "{form}");
                let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
                packer.write_all(form.as_bytes()).unwrap();
                std::fs::write(&path, packer.finish().unwrap()).unwrap();
                assert!(canary.leak().is_some(), "{form}");
                std::fs::remove_file(&path).unwrap();
            }
            project.printed(form.as_bytes());
            assert!(canary.leak().is_some_and(|leak| leak.contains("output")), "{form}");
            canary.printed.borrow_mut().clear();
        }
    }
    let hex: String = canary.value.bytes().take(60).map(|byte| format!("{byte:02x}")).collect();
    let named = project.path(".stead").join(hex);
    std::fs::write(&named, "").unwrap();
    assert!(canary.value.len() > 60 || canary.leak().is_some(), "a path is searched");
    std::fs::remove_file(&named).unwrap();
}
