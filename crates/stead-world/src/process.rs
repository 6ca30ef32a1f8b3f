//! Child processes: a command line for the system's shell.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use async_trait::async_trait;

/// What to run. The child sees our environment with these variables on top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    pub line: String,
    pub folder: PathBuf,
    pub environment: BTreeMap<String, String>,
}

/// A process that ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[async_trait]
pub trait Processes: Send + Sync {
    /// Runs the command to its end. An error means that it did not start.
    async fn run(&self, command: ShellCommand) -> io::Result<Finished>;
}

/// Processes of this machine.
pub struct RealProcesses;

#[async_trait]
impl Processes for RealProcesses {
    async fn run(&self, command: ShellCommand) -> io::Result<Finished> {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
        let mut child = tokio::process::Command::new(shell);
        child
            .arg(flag)
            .arg(&command.line)
            .current_dir(&command.folder)
            .envs(&command.environment)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        // Ctrl-C goes to all processes of the terminal's group. What is under way is to finish.
        #[cfg(unix)]
        child.process_group(0);
        let output = child.output().await?;
        Ok(Finished { code: output.status.code(), stdout: output.stdout, stderr: output.stderr })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_sees_its_folder_and_environment_and_reports_its_code() {
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
