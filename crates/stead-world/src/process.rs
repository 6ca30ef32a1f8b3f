//! Child processes: command lines for the system's shell, each in a process group of its own.
//!
//! A command waits at a gate until its process group is noted, and its group ends with this process: a second process, the
//! watcher, ends the group when this process closes their pipe in any way, also by dying.

mod capture;
mod group;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;
mod withheld;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;

pub use capture::Captured;
pub use group::{GroupStatus, ProcessGroup};

/// A command line. The child inherits the environment of this process without Stead's own secrets, with these variables added.
///
/// Any part of it may contain secrets, so debug output has only its folder and the names of its variables.
#[derive(Clone, PartialEq, Eq)]
pub struct ShellCommand {
    pub line: String,
    pub folder: PathBuf,
    pub environment: BTreeMap<String, String>,
}

impl fmt::Debug for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<&String> = self.environment.keys().collect();
        f.debug_struct("ShellCommand")
            .field("folder", &self.folder)
            .field("variables", &variables)
            .finish_non_exhaustive()
    }
}

impl ShellCommand {
    /// Returns the text as one word of a command line, quoted where the shell would read more into it.
    pub fn word(text: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            return text.to_owned();
        }
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    Exited(i32),
    /// A signal with this number ended the process.
    Signalled(i32),
}

/// End and output of a process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedProcess {
    pub end: ProcessEnd,
    pub stdout: Captured,
    pub stderr: Captured,
}

#[async_trait]
pub trait Processes: Send + Sync {
    /// Starts a command that waits at its gate. An error means that the command did not start.
    async fn start(&self, command: ShellCommand) -> io::Result<Box<dyn GatedProcess>>;

    /// Returns whether a process group that was noted earlier still runs.
    fn status(&self, group: &ProcessGroup) -> GroupStatus;

    /// Ends a process group that was noted earlier: it is asked to terminate, and killed after a grace period.
    ///
    /// Returns its status afterwards.
    async fn end(&self, group: &ProcessGroup) -> io::Result<GroupStatus>;
}

impl dyn Processes + '_ {
    /// Runs a command to its end without a note of its group.
    pub async fn run(&self, command: ShellCommand) -> io::Result<FinishedProcess> {
        self.start(command).await?.release().await
    }

    /// Runs a command to its end without a note of its group. The bytes are its standard input.
    pub async fn run_with_input(&self, command: ShellCommand, input: &[u8]) -> io::Result<FinishedProcess> {
        self.start(command).await?.release_with_input(input).await
    }
}

/// A command that has not begun yet. Dropping it, or its release, ends its process group.
#[async_trait]
pub trait GatedProcess: Send {
    /// Returns the process group of the command; `None` where the system has none.
    fn group(&self) -> Option<ProcessGroup>;

    /// Lets the command begin, and waits for its end. After an error it is unknown how much of the command ran.
    async fn release(self: Box<Self>) -> io::Result<FinishedProcess>;

    /// Releases the command with these bytes as its standard input. Without them, the input is empty.
    async fn release_with_input(self: Box<Self>, input: &[u8]) -> io::Result<FinishedProcess>;
}

/// Runs processes on this machine.
pub struct RealProcesses;

#[cfg(test)]
mod tests {
    use super::*;

    fn real() -> Box<dyn Processes> {
        Box::new(RealProcesses)
    }

    #[test]
    fn debug_output_shows_no_value_and_no_output() {
        let command = ShellCommand {
            line: "login correct-horse".into(),
            folder: "/".into(),
            environment: [("TOKEN".to_owned(), "correct-horse".to_owned())].into(),
        };
        let stdout = Captured::of(b"correct-horse");
        let finished = FinishedProcess { end: ProcessEnd::Exited(0), stderr: stdout.clone(), stdout };
        let shown = format!("{command:?} {finished:?}");
        assert!(shown.contains("TOKEN") && shown.contains("13"), "{shown}");
        assert!(!shown.contains("correct") && !shown.contains("99, 111, 114"), "{shown}");
    }

    #[tokio::test]
    async fn quoted_words_reach_the_command_as_they_are() {
        let words = ["plain-1.0/x:y", "dev:main:t.T#a", "", "it's", "two words", "$HOME `id` \\ \"x\"", "*"];
        let quoted: Vec<String> = words.iter().map(|word| ShellCommand::word(word)).collect();
        assert_eq!(quoted[0], words[0]);
        let line = format!("printf '%s\\n' {}", quoted.join(" "));
        let command = ShellCommand { line, folder: "/".into(), environment: BTreeMap::new() };
        let done = real().run(command).await.unwrap();
        assert_eq!(
            String::from_utf8_lossy(done.stdout.last()),
            words.map(|word| format!("{word}\n")).concat()
        );
    }

    #[tokio::test]
    async fn command_runs_in_its_folder_with_its_environment_and_returns_its_code() {
        let dir = tempfile::tempdir().unwrap();
        let command = ShellCommand {
            line: "pwd; echo $WHO >&2; exit 3".into(),
            folder: dir.path().to_owned(),
            environment: [("WHO".to_owned(), "me".to_owned())].into(),
        };
        let done = real().run(command).await.unwrap();
        assert_eq!(done.end, ProcessEnd::Exited(3));
        assert_eq!(String::from_utf8_lossy(done.stderr.last()), "me\n");
        assert!(String::from_utf8_lossy(done.stdout.last()).trim().ends_with(dir.path().to_str().unwrap()));
    }

    #[tokio::test]
    async fn input_reaches_the_command_as_it_is_and_need_not_be_read() {
        let command = |line: &str| ShellCommand {
            line: line.to_owned(),
            folder: "/".into(),
            environment: BTreeMap::new(),
        };
        let input = "first line\n\0 second\n".repeat(50_000);
        let done = real().run_with_input(command("cat"), input.as_bytes()).await.unwrap();
        assert!(done.stdout.whole() == Some(input.as_bytes()));
        let unread = real().run_with_input(command("exit 4"), input.as_bytes()).await.unwrap();
        assert_eq!(unread.end, ProcessEnd::Exited(4));
        let none = real().run(command("wc -c")).await.unwrap();
        assert_eq!(String::from_utf8_lossy(none.stdout.last()).trim(), "0");
    }

    #[tokio::test]
    async fn command_that_is_never_released_does_not_begin() {
        let dir = tempfile::tempdir().unwrap();
        let command = ShellCommand {
            line: "touch began".into(),
            folder: dir.path().to_owned(),
            environment: BTreeMap::new(),
        };
        let gated = real().start(command).await.unwrap();
        let group = gated.group().unwrap();
        assert_eq!(real().status(&group), GroupStatus::Running);
        drop(gated);
        assert_eq!(real().end(&group).await.unwrap(), GroupStatus::Gone);
        assert!(!dir.path().join("began").exists());
    }

    #[tokio::test]
    async fn dropped_command_ends_with_all_its_descendants() {
        let dir = tempfile::tempdir().unwrap();
        let line = "(trap '' TERM; touch began; while :; do sleep 0.05; done) & wait".into();
        let command = ShellCommand { line, folder: dir.path().to_owned(), environment: BTreeMap::new() };
        let gated = real().start(command).await.unwrap();
        let group = gated.group().unwrap();
        let running = tokio::spawn(gated.release());
        while !dir.path().join("began").exists() {
            tokio::task::yield_now().await;
        }
        running.abort();
        assert!(running.await.is_err());
        // The watcher kills the group after the grace period: a descendant ignores the request to terminate.
        while real().status(&group) == GroupStatus::Running {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Runs a command that leaves a process behind. Returns the status of the group after the end of the command.
    async fn left_behind(line: &str) -> GroupStatus {
        let line = format!("sleep 600 >/dev/null 2>&1 & {line}");
        let command = ShellCommand { line, folder: "/".into(), environment: BTreeMap::new() };
        let gated = real().start(command).await.unwrap();
        let group = gated.group().unwrap();
        gated.release().await.unwrap();
        let status = real().status(&group);
        assert_eq!(real().end(&group).await.unwrap(), GroupStatus::Gone);
        status
    }

    #[tokio::test]
    async fn only_a_command_that_succeeded_leaves_processes_behind() {
        assert_eq!(left_behind("exit 0").await, GroupStatus::Running);
        assert_eq!(left_behind("exit 1").await, GroupStatus::Gone);
    }

    #[tokio::test]
    async fn signal_that_ended_a_command_is_reported() {
        let command =
            ShellCommand { line: "kill -s KILL $$".into(), folder: "/".into(), environment: BTreeMap::new() };
        assert_eq!(real().run(command).await.unwrap().end, ProcessEnd::Signalled(9));
    }

    #[tokio::test]
    async fn long_output_is_drained_and_kept_in_part() {
        let line = "printf first; head -c 20000000 /dev/zero; printf last".into();
        let command = ShellCommand { line, folder: "/".into(), environment: BTreeMap::new() };
        let stdout = real().run(command).await.unwrap().stdout;
        assert_eq!(stdout.total(), 20_000_009);
        assert!(stdout.whole().is_none());
        assert!(stdout.first().starts_with(b"first") && stdout.last().ends_with(b"last"));
        assert!(stdout.first().len() + stdout.last().len() <= Captured::HEAD + 2 * Captured::TAIL);
    }
}
