//! A hermetic project: a temporary folder, a fixed environment, commands with their output.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;

use crate::canary::{Canary, Carries};

/// A project with the environments `dev`, the default, and `prod`.
const SETTINGS: &str = "project = \"shop\"\n\n[env.prod]\n";

pub(crate) struct Project {
    /// The secrets of the project. The first field, so that the folders are searched before they are removed.
    pub(crate) canary: Canary,
    folder: tempfile::TempDir,
    /// The folder with the owner marks, which projects of one user share.
    owners: Rc<tempfile::TempDir>,
    /// The folder for temporary files of the commands.
    temp: tempfile::TempDir,
}

/// Output and exit code of a finished command.
#[must_use = "look at the exit code or the output"]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// Creates a project with this program as its `main.ts`, and a resource made of a secret beside it.
    pub(crate) fn with(main: &str) -> Project {
        Project::new(temporary(), Rc::new(temporary()), Carries::Secret).filled(main)
    }

    /// Creates a project with this program as its `main.ts`, and nothing beside it.
    pub(crate) fn only(main: &str) -> Project {
        Project::empty().filled(main)
    }

    /// Creates a project like `with`, in memory where the system allows it.
    ///
    /// A kill has the same effects there as on a disk; a power loss does not.
    pub(crate) fn in_memory(main: &str) -> Project {
        Project::new(in_memory(), Rc::new(temporary()), Carries::Secret).filled(main)
    }

    /// Copies a project, in memory where the system allows it.
    pub(crate) fn copy_of(source: &Path) -> Project {
        let folder = in_memory();
        let mut files = Vec::new();
        collect(source, &mut files);
        for (path, bytes) in files {
            let path = folder.path().join(path.strip_prefix(source).unwrap());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        Project::new(folder, Rc::new(temporary()), Carries::Nothing)
    }

    /// Creates a project of the same user, with the same owner marks.
    pub(crate) fn of_same_user(&self, main: &str) -> Project {
        Project::new(temporary(), self.owners.clone(), Carries::Secret).filled(main)
    }

    pub(crate) fn empty() -> Project {
        Project::new(temporary(), Rc::new(temporary()), Carries::Nothing)
    }

    fn new(folder: tempfile::TempDir, owners: Rc<tempfile::TempDir>, carries: Carries) -> Project {
        let temp = temporary();
        let folders = [&folder, &*owners, &temp].map(|folder| folder.path().to_owned());
        Project { canary: Canary::new(carries, folders.into()), folder, owners, temp }
    }

    fn filled(self, main: &str) -> Project {
        self.write("stead.toml", SETTINGS);
        self.write("main.ts", main);
        self
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &*self.canary.in_file(file, text)).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stead"));
        command
            .args(arguments)
            .arg("-C")
            .arg(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("USER", "ada")
            .env("NO_COLOR", "1")
            .env("STEAD_OWNERS", self.owners.path())
            .env("TMPDIR", self.temp.path())
            .stdin(Stdio::null());
        self.canary.add_to(&mut command);
        command
    }

    pub(crate) fn stead(&self, arguments: &[&str]) -> Ran {
        self.ran(self.command(arguments).output().unwrap())
    }

    /// Runs stead with more variables of the environment.
    pub(crate) fn stead_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        self.ran(command.output().unwrap())
    }

    /// Runs a command up to a crash point, where the process ends as if killed.
    pub(crate) fn crash(&self, arguments: &[&str], point: &str) {
        let output = self.command(arguments).env("STEAD_CRASH_AT", point).output().unwrap();
        let (status, ran) = (output.status, self.ran(output));
        assert_eq!(status.code(), None, "{point} was not reached: {}", ran.stderr);
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(crate) fn ran(&self, output: Output) -> Ran {
        self.printed(&output.stdout);
        self.printed(&output.stderr);
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&self.folder.path().display().to_string(), "[PROJECT]")
        };
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Takes note of an output that does not pass through [`ran`](Project::ran).
    pub(crate) fn printed(&self, output: &[u8]) {
        self.canary.printed(output);
    }

    /// Returns every file of the project with its content, to assert that a command changed none.
    pub(crate) fn all_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(self.folder.path(), &mut found);
        found.sort();
        found
    }
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| temporary())
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}

impl Ran {
    /// Asserts exit code 0, and returns stdout.
    pub(crate) fn ok(self) -> String {
        self.ends(0).stdout
    }

    pub(crate) fn ends(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Returns stderr without the times of slow steps, which a busy machine has.
    pub(crate) fn untimed(&self) -> String {
        let is_time =
            |time: &str| time.ends_with(" s)") && !time.contains(|c: char| c.is_alphabetic() && c != 's');
        let line = |line: &str| match line.rsplit_once(" (") {
            Some((step, time)) if is_time(time) => format!("{step}\n"),
            _ => format!("{line}\n"),
        };
        self.stderr.lines().map(line).collect()
    }
}
