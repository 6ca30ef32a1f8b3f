//! Child processes: command lines for the system's shell.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use async_trait::async_trait;

/// A command line. The child inherits the environment of this process, with these variables added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    pub line: String,
    pub folder: PathBuf,
    pub environment: BTreeMap<String, String>,
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

/// Exit code and output of a process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedProcess {
    /// The exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[async_trait]
pub trait Processes: Send + Sync {
    /// Runs the command to its end. An error means that the command did not start.
    async fn run(&self, command: ShellCommand) -> io::Result<FinishedProcess>;
}

/// Runs processes on this machine.
pub struct RealProcesses;

#[async_trait]
impl Processes for RealProcesses {
    async fn run(&self, command: ShellCommand) -> io::Result<FinishedProcess> {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
        let mut child = tokio::process::Command::new(shell);
        child
            .arg(flag)
            .arg(&command.line)
            .current_dir(&command.folder)
            .envs(&command.environment)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        // Ctrl-C is sent to the terminal's process group. Commands that are under way are to finish, so they
        // get their own.
        #[cfg(unix)]
        child.process_group(0);
        let output = child.output().await?;
        Ok(FinishedProcess { code: output.status.code(), stdout: output.stdout, stderr: output.stderr })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn quoted_words_reach_the_command_as_they_are() {
        let words = ["plain-1.0/x:y", "dev:main:t.T#a", "", "it's", "two words", "$HOME `id` \\ \"x\"", "*"];
        let quoted: Vec<String> = words.iter().map(|word| ShellCommand::word(word)).collect();
        assert_eq!(quoted[0], words[0]);
        let line = format!("printf '%s\\n' {}", quoted.join(" "));
        let command = ShellCommand { line, folder: "/".into(), environment: BTreeMap::new() };
        let done = RealProcesses.run(command).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout), words.map(|word| format!("{word}\n")).concat());
    }

    #[tokio::test]
    async fn command_runs_in_its_folder_with_its_environment_and_returns_its_code() {
        let dir = tempfile::tempdir().unwrap();
        let command = ShellCommand {
            line: "pwd; echo $WHO >&2; exit 3".into(),
            folder: dir.path().to_owned(),
            environment: [("WHO".to_owned(), "me".to_owned())].into(),
        };
        let done = RealProcesses.run(command).await.unwrap();
        assert_eq!(done.code, Some(3));
        assert_eq!(String::from_utf8_lossy(&done.stderr), "me\n");
        assert!(String::from_utf8_lossy(&done.stdout).trim().ends_with(dir.path().to_str().unwrap()));
    }
}
