//! A project with a secret, whose commands and files are searched for it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::project::{Project, Ran};

/// The secret of every test. None of its forms may be in a file or an output.
pub(crate) const SECRET: &str = "correct horse \"battery\" staple";
const FORMS: &[&str] = &[
    SECRET,
    "correct horse \\\"battery\\\" staple",
    "Y29ycmVjdCBob3JzZS",
    "636f727265637420686f727365",
    "correct%20horse",
];

/// A program whose secret is in a file and in an export.
pub(crate) const MAIN: &str = r#"
import { config } from "stead";
import * as local from "stead/local";
const password = config.secret("password");
new local.File({ path: "real/file.txt", content: password }, { id: "file" });
export const shown = "open";
export const token = password;
"#;

/// The variable with the passphrase of most tests.
pub(crate) const PASSPHRASE: &[(&str, &str)] = &[("STEAD_PASSPHRASE", "first passphrase")];

/// Runs commands with one passphrase, and keeps everything that they print.
pub(crate) struct Team {
    pub(crate) project: Project,
    printed: std::cell::RefCell<String>,
}

impl Team {
    pub(crate) fn with(main: &str) -> Team {
        Team { project: Project::only(main), printed: Default::default() }
    }

    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.project.command(arguments);
        command.envs(variables.iter().copied());
        self.ended(command)
    }

    pub(crate) fn ended(&self, mut command: Command) -> Ran {
        let ran = self.project.ran(command.output().unwrap());
        let mut printed = self.printed.borrow_mut();
        printed.push_str(&ran.stdout);
        printed.push_str(&ran.stderr);
        ran
    }

    pub(crate) fn stead(&self, arguments: &[&str]) -> Ran {
        self.run(arguments, PASSPHRASE)
    }

    /// Sets the secret through stdin, where no list of processes shows it.
    pub(crate) fn set_secret(&self, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.project.command(&["config", "set", "--secret", "password", "-"]);
        let mut child = command
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), SECRET.as_bytes()).unwrap();
        self.project.ran(child.wait_with_output().unwrap())
    }

    /// Asserts that the secret is in no file except the real resources, and in no output.
    pub(crate) fn assert_nothing_leaked(&self) {
        let texts = self.all_texts();
        for (path, text) in &texts {
            for form in FORMS {
                assert!(!text.contains(form), "{form:?} is in {}", path.display());
            }
        }
        assert!(texts.len() > 3, "only {} files were searched", texts.len());
        self.assert_nothing_printed();
    }

    /// Returns every file except the real resources, unpacked.
    pub(crate) fn all_texts(&self) -> Vec<(PathBuf, String)> {
        let is_real = |path: &PathBuf| path.parent().is_some_and(|folder| folder.ends_with("real"));
        let files = self.project.all_files().into_iter().filter(|(path, _)| !is_real(path));
        let unpacked = |(path, bytes): (PathBuf, Vec<u8>)| {
            let plain = match bytes.starts_with(&[0x1f, 0x8b]) {
                true => Command::new("gzip").args(["-dc"]).arg(&path).output().unwrap().stdout,
                false => bytes,
            };
            (path, String::from_utf8_lossy(&plain).into_owned())
        };
        files.map(unpacked).collect()
    }

    /// Asserts that the secret is in no output.
    pub(crate) fn assert_nothing_printed(&self) {
        for form in FORMS {
            assert!(!self.printed.borrow().contains(form), "{form:?} was printed");
        }
    }

    /// Makes an age identity, and returns its public key.
    pub(crate) fn keygen(&self, file: &str) -> String {
        let path = self.project.path(file);
        self.stead(&["secrets", "keygen", "--output", path.to_str().unwrap()]).ok().trim().to_owned()
    }
}
