//! A hermetic project: a temporary folder, a fixed environment, commands with their output.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;

/// A project with the environments `dev`, the default, and `prod`.
const SETTINGS: &str = "project = \"shop\"\n\n[env.prod]\n";

pub(crate) struct Project {
    folder: tempfile::TempDir,
    /// The folder with the owner marks, which projects of one user share.
    owners: Rc<tempfile::TempDir>,
}

/// Output and exit code of a finished command.
#[must_use = "look at the exit code or the output"]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// Creates a project with this program as its `main.ts`.
    pub(crate) fn with(main: &str) -> Project {
        let project = Project::empty();
        project.write("stead.toml", SETTINGS);
        project.write("main.ts", main);
        project
    }

    /// Creates a project like `with`, in memory where the system allows it.
    ///
    /// A kill has the same effects there as on a disk; a power loss does not.
    pub(crate) fn in_memory(main: &str) -> Project {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let project = Project { folder, ..Project::empty() };
        project.write("stead.toml", SETTINGS);
        project.write("main.ts", main);
        project
    }

    /// Copies a project, in memory where the system allows it.
    pub(crate) fn copy_of(source: &Path) -> Project {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut files = Vec::new();
        collect(source, &mut files);
        for (path, bytes) in files {
            let path = folder.path().join(path.strip_prefix(source).unwrap());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        Project { folder, ..Project::empty() }
    }

    /// Creates a project of the same user, with the same owner marks.
    pub(crate) fn of_same_user(&self, main: &str) -> Project {
        Project { owners: self.owners.clone(), ..Project::with(main) }
    }

    pub(crate) fn empty() -> Project {
        let folder = || tempfile::tempdir().unwrap();
        Project { folder: folder(), owners: Rc::new(folder()) }
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
        std::fs::write(path, text).unwrap();
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
            .stdin(Stdio::null());
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
        assert_eq!(output.status.code(), None, "{point} was not reached: {}", self.ran(output).stderr);
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(crate) fn ran(&self, output: Output) -> Ran {
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&self.folder.path().display().to_string(), "[PROJECT]")
        };
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Returns every file of the project with its content, to assert that a command changed none.
    pub(crate) fn all_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(self.folder.path(), &mut found);
        found.sort();
        found
    }
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
}
