//! Processes of a system without process groups: a command ends with the object that runs it.

use std::io;
use std::process::Stdio;

use async_trait::async_trait;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::withheld::withheld_variables;
use super::{
    Captured, FinishedProcess, GatedProcess, GroupStatus, ProcessEnd, ProcessGroup, Processes, RealProcesses,
    ShellCommand,
};

#[async_trait]
impl Processes for RealProcesses {
    async fn start(&self, command: ShellCommand) -> io::Result<Box<dyn GatedProcess>> {
        Ok(Box::new(NotStarted(command)))
    }

    fn status(&self, _: &ProcessGroup) -> GroupStatus {
        GroupStatus::Unknown
    }

    async fn end(&self, _: &ProcessGroup) -> io::Result<GroupStatus> {
        Ok(GroupStatus::Unknown)
    }
}

struct NotStarted(ShellCommand);

#[async_trait]
impl GatedProcess for NotStarted {
    fn group(&self) -> Option<ProcessGroup> {
        None
    }

    async fn release(self: Box<Self>) -> io::Result<FinishedProcess> {
        self.finish(Stdio::null(), &[]).await
    }

    async fn release_with_input(self: Box<Self>, input: &[u8]) -> io::Result<FinishedProcess> {
        self.finish(Stdio::piped(), input).await
    }
}

impl NotStarted {
    async fn finish(self, stdin: Stdio, input: &[u8]) -> io::Result<FinishedProcess> {
        let ShellCommand { line, folder, environment } = self.0;
        let mut command = Command::new("cmd");
        for name in withheld_variables() {
            command.env_remove(name);
        }
        command.arg("/C").arg(line).current_dir(folder).envs(environment);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take();
        let write = async {
            if let Some(mut pipe) = pipe {
                // A command need not read its input, so it is no error if it closes the pipe.
                let _ = pipe.write_all(input).await;
            }
        };
        let ((), output) = tokio::join!(write, child.wait_with_output());
        let output = output?;
        let end = ProcessEnd::Exited(output.status.code().unwrap_or(1));
        Ok(FinishedProcess {
            end,
            stdout: Captured::of(&output.stdout),
            stderr: Captured::of(&output.stderr),
        })
    }
}
