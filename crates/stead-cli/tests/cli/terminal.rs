//! Answers that a person types at a terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::project::Project;

const TWO: &str = "import * as local from \"stead/local\";\n\
    new local.KeyPair({ path: \"a\" }, { id: \"a\" });\nnew local.KeyPair({ path: \"b\" }, { id: \"b\" });\n";
const ONE: &str =
    "import * as local from \"stead/local\";\nnew local.KeyPair({ path: \"b\" }, { id: \"b\" });\n";

/// Runs a command at a terminal of its own, where a person types these lines. Returns exit code and screen.
fn at_terminal(project: &Project, arguments: &[&str], typed: &str) -> (i32, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let open = || -> OwnedFd { OpenOptions::new().read(true).write(true).open(&name).unwrap().into() };
    let mut command = project.command(arguments);
    let mut child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    // The command owns copies of the terminal, which would keep it open after the child ends.
    drop(command);
    let mut master = File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
    let mut screen = Vec::new();
    let mut part = [0; 4096];
    // Reading fails once no process has the terminal open.
    while let Ok(count @ 1..) = master.read(&mut part) {
        screen.extend_from_slice(&part[..count]);
    }
    (child.wait().unwrap().code().unwrap_or(-1), String::from_utf8_lossy(&screen).into_owned())
}

#[test]
fn plan_is_applied_only_if_the_answer_is_yes() {
    let project = Project::with(TWO);
    for answer in ["n\n", "\n", "yeah\n"] {
        let (code, screen) = at_terminal(&project, &["up"], answer);
        assert!(code == 1 && screen.contains("[y/N]") && screen.contains("not confirmed"), "{code} {screen}");
        assert!(!project.has("a") && !project.has("main.ts.pin.json"));
    }
    let (code, screen) = at_terminal(&project, &["up"], "y\n");
    assert!(code == 0 && screen.contains("2 created"), "{code} {screen}");
    assert!(project.has("a"));
}

#[test]
fn pin_without_an_entry_ends_only_if_the_name_is_typed() {
    let project = Project::with(TWO);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", ONE);
    std::fs::remove_file(project.path("main.ts.pin.json")).unwrap();
    project.stead(&["compile"]).ok();
    for typed in ["y\ny\n", "b\ny\n", "\n\n"] {
        let (code, screen) = at_terminal(&project, &["up"], typed);
        assert!(code == 13 && screen.contains("type its name"), "{typed:?}: {code} {screen}");
        assert!(project.has("a"));
    }
    let (code, screen) = at_terminal(&project, &["up"], "main:local.KeyPair#a\nn\n");
    assert_eq!(code, 1, "the plan itself is not confirmed: {screen}");
    assert!(project.has("a") && !project.read("main.ts.pin.json").contains("released"));
    let (code, screen) = at_terminal(&project, &["up"], "main:local.KeyPair#a\ny\n");
    assert!(code == 0 && screen.contains("its pin is released"), "{code} {screen}");
    assert!(!project.has("a") && project.read("main.ts.pin.json").contains("\"released\": true"));
}
