//! Answers that a person types at a terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::project::Project;

const TWO: &str = "import * as local from \"stead/local\";\n\
    new local.KeyPair({ path: \"a\" }, { id: \"a\" });\nnew local.KeyPair({ path: \"b\" }, { id: \"b\" });\n";
const ONE: &str =
    "import * as local from \"stead/local\";\nnew local.KeyPair({ path: \"b\" }, { id: \"b\" });\n";

/// Runs a command at a terminal of its own, where a person types these lines. Returns exit code and screen.
fn at_terminal(project: &Project, arguments: &[&str], typed: &str) -> (i32, String) {
    answering(project, arguments, &[("", typed)])
}

/// Runs a command at a terminal of its own, where a person gives each answer once its question is on the screen.
fn answering(project: &Project, arguments: &[&str], answers: &[(&str, &str)]) -> (i32, String) {
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
    let mut answers = answers.iter().peekable();
    let (mut screen, mut seen) = (Vec::new(), 0);
    let mut part = [0; 4096];
    // Reading fails once no process has the terminal open.
    loop {
        while let Some((question, answer)) = answers.peek() {
            let unread = String::from_utf8_lossy(&screen[seen..]);
            if !unread.contains(question) {
                break;
            }
            seen = screen.len();
            if question.ends_with(": ") {
                // The terminal drops what was typed before its echo is off.
                while tcgetattr(&master).unwrap().local_modes.contains(LocalModes::ECHO) {
                    std::thread::yield_now();
                }
            }
            master.write_all(answer.as_bytes()).unwrap();
            answers.next();
        }
        let Ok(count @ 1..) = master.read(&mut part) else { break };
        screen.extend_from_slice(&part[..count]);
    }
    project.printed(&screen);
    (child.wait().unwrap().code().unwrap_or(-1), String::from_utf8_lossy(&screen).into_owned())
}

#[test]
fn plan_is_applied_only_if_the_answer_is_yes() {
    let project = Project::only(TWO);
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

const SECRET: &str = "import { secret } from \"stead\";\nimport * as local from \"stead/local\";\n\
    new local.File({ path: \"real/a\", content: secret(\"correct horse\") }, { id: \"a\" });\n";

#[test]
fn first_secret_asks_for_a_new_passphrase_twice_until_both_are_the_same() {
    let project = Project::only(SECRET);
    let answers = [
        ("New passphrase for a new stack: ", "swordfish battery\n"),
        ("The same once more: ", "swordfish bettery\n"),
        ("New passphrase for a new stack: ", "swordfish battery\n"),
        ("The same once more: ", "swordfish battery\n"),
        ("[y/N]", "y\n"),
    ];
    let (code, screen) = answering(&project, &["up"], &answers);
    assert!(code == 0 && screen.contains("1 created"), "{code} {screen}");
    assert!(screen.contains("The two lines differ.") && screen.contains("bits)."), "{screen}");
    assert!(!screen.contains("swordfish") && !screen.contains("correct horse"), "{screen}");
    assert_eq!(project.read("real/a"), "correct horse");
    let (code, screen) = answering(
        &project,
        &["plan", "--exit-code"],
        &[("Passphrase of this stack: ", "swordfish battery\n")],
    );
    assert!(code == 0 && !screen.contains("swordfish"), "{code} {screen}");
    let (code, screen) = answering(&project, &["plan"], &[("Passphrase of this stack: ", "wrong\n")]);
    assert!(code == 1 && screen.contains("ST0703") && screen.contains("is wrong"), "{code} {screen}");
}

#[test]
fn weak_passphrase_is_told() {
    let project = Project::only(SECRET);
    let answers =
        [("New passphrase for a new stack: ", "aaa\n"), ("The same once more: ", "aaa\n"), ("[y/N]", "n\n")];
    let (code, screen) = answering(&project, &["up"], &answers);
    assert!(code == 1 && screen.contains("weak"), "{code} {screen}");
}

#[test]
fn value_and_passphrase_of_a_config_secret_are_asked_without_echo() {
    let project = Project::only("export const a = 1;\n");
    let answers = [
        ("Value of password: ", "correct horse\n"),
        ("New passphrase for stead.dev.toml: ", "swordfish battery\n"),
        ("The same once more: ", "swordfish battery\n"),
    ];
    let (code, screen) = answering(&project, &["config", "set", "--secret", "password"], &answers);
    assert!(code == 0 && screen.contains("encrypted"), "{code} {screen}");
    assert!(!screen.contains("correct horse") && !screen.contains("swordfish"), "{screen}");
    assert!(project.read("stead.dev.toml").contains("secret = \"s1:"));
}

#[test]
fn first_secret_without_a_terminal_is_refused_with_the_two_ways_to_give_a_key() {
    let project = Project::only(SECRET);
    let before = project.all_files();
    let refused = project.stead(&["up", "--yes"]).ends(1).stderr;
    assert!(refused.contains("ST0701") && refused.contains("STEAD_PASSPHRASE"), "{refused}");
    assert!(refused.contains("stead secrets add"), "{refused}");
    assert_eq!(project.all_files(), before);
}
