//! Processes of a system without process groups: a command ends with the object that runs it.

use std::io;
use std::process::Stdio;

use async_trait::async_trait;
use tokio::process::Command;

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
        let ShellCommand { line, folder, environment } = self.0;
        let mut child = Command::new("cmd");
        child
            .arg("/C")
            .arg(line)
            .current_dir(folder)
            .envs(environment)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = child.output().await?;
        let end = ProcessEnd::Exited(output.status.code().unwrap_or(1));
        Ok(FinishedProcess {
            end,
            stdout: Captured::of(&output.stdout),
            stderr: Captured::of(&output.stderr),
        })
    }
}
