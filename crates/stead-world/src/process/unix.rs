//! Processes of a Unix system: a gate, a process group and a watcher for each command.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};

use super::capture::capture;
use super::withheld::withheld_variables;
use super::{
    FinishedProcess, GatedProcess, GroupStatus, ProcessEnd, ProcessGroup, Processes, RealProcesses,
    ShellCommand,
};
use crate::Host;

const SHELL: &str = "/bin/sh";

/// Waits for a line, and then becomes the command. Without the line, because this process died, the command never begins. After
/// the line `input`, the rest of the pipe is the command's standard input: the shell reads the line byte by byte and no further.
const GATE: &str = r#"read -r go || exit 125; [ "$go" = input ] || exec </dev/null; exec /bin/sh -c "$1""#;

/// Waits for a line, which says that the command has ended. At the end of the pipe without one, ends the process group: with a
/// request to terminate, and five seconds later with a kill.
const WATCH: &str = r#"trap '' HUP INT TERM
read -r ended && exit 0
kill -s TERM -- "-$1" 2>/dev/null || exit 0
n=0
while kill -s 0 -- "-$1" 2>/dev/null; do
  [ $n -lt 50 ] || { kill -s KILL -- "-$1" 2>/dev/null; exit 0; }
  n=$((n+1))
  sleep 0.1
done"#;

/// Time between the request to terminate and the kill, and again to wait for the effect of the kill.
const GRACE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

#[async_trait]
impl Processes for RealProcesses {
    async fn start(&self, command: ShellCommand) -> io::Result<Box<dyn GatedProcess>> {
        let mut shell = bare_shell();
        shell
            .args(["-c", GATE, SHELL, &command.line])
            .current_dir(&command.folder)
            .envs(&command.environment);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is sent to the terminal's process group. Commands that are under way are to finish, so they get their own.
        let child = shell.process_group(0).spawn()?;
        let id = child.id().ok_or_else(|| io::Error::other("the shell has no process id"))?;
        let mut watcher = bare_shell();
        watcher.args(["-c", WATCH, SHELL, &id.to_string()]).current_dir("/");
        watcher.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut watcher = watcher.process_group(0).spawn()?;
        let lifeline = watcher.stdin.take();
        let started = stat(id).map(|stat| stat.started);
        let group = ProcessGroup { host: Host::this().name, boot: boot(), id, started };
        Ok(Box::new(Gated { child, group, lifeline, watcher }))
    }

    fn status(&self, group: &ProcessGroup) -> GroupStatus {
        if group.host != Host::this().name {
            return GroupStatus::Unknown;
        }
        let boot = boot();
        if boot != group.boot {
            // Another boot ends every process; another namespace on the same boot only hides it.
            let of = |boot: &str| boot.split(' ').next().unwrap_or_default().to_owned();
            return if of(&boot) == of(&group.boot) { GroupStatus::Unknown } else { GroupStatus::Gone };
        }
        let Ok(processes) = fs::read_dir("/proc") else { return GroupStatus::Unknown };
        if stat(group.id).is_some_and(|stat| Some(stat.started) != group.started) {
            return GroupStatus::Gone; // the number was given to another process, which it cannot be while the group exists
        }
        let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut running = ids.filter_map(stat).filter(|stat| stat.group == group.id && stat.alive);
        if running.next().is_some() { GroupStatus::Running } else { GroupStatus::Gone }
    }

    async fn end(&self, group: &ProcessGroup) -> io::Result<GroupStatus> {
        for signal in ["TERM", "KILL"] {
            if self.status(group) != GroupStatus::Running {
                break;
            }
            let target = format!("-{}", group.id);
            let line = r#"kill -s "$1" -- "$2""#;
            let mut kill = bare_shell();
            kill.args(["-c", line, SHELL, signal, &target]).stdin(Stdio::null()).stderr(Stdio::null());
            kill.status().await?;
            let mut waited = Duration::ZERO;
            while self.status(group) == GroupStatus::Running && waited < GRACE {
                tokio::time::sleep(POLL).await;
                waited += POLL;
            }
        }
        Ok(self.status(group))
    }
}

/// Returns a shell without the variables that are withheld.
fn bare_shell() -> Command {
    let mut shell = Command::new(SHELL);
    for name in withheld_variables() {
        shell.env_remove(name);
    }
    shell
}

/// A shell that waits at its gate, and its watcher.
struct Gated {
    child: Child,
    group: ProcessGroup,
    /// The pipe to the watcher; closing it without a line ends the group.
    lifeline: Option<ChildStdin>,
    watcher: Child,
}

#[async_trait]
impl GatedProcess for Gated {
    fn group(&self) -> Option<ProcessGroup> {
        Some(self.group.clone())
    }

    async fn release(mut self: Box<Self>) -> io::Result<FinishedProcess> {
        if let Some(mut gate) = self.child.stdin.take() {
            gate.write_all(b"go\n").await?;
        }
        self.finish(None, &[]).await
    }

    async fn release_with_input(mut self: Box<Self>, input: &[u8]) -> io::Result<FinishedProcess> {
        let mut gate = self.child.stdin.take();
        if let Some(gate) = &mut gate {
            gate.write_all(b"input\n").await?;
        }
        self.finish(gate, input).await
    }
}

impl Gated {
    /// Writes the input and waits for the end of the command.
    async fn finish(
        mut self: Box<Self>,
        gate: Option<ChildStdin>,
        input: &[u8],
    ) -> io::Result<FinishedProcess> {
        let write = async {
            if let Some(mut gate) = gate {
                // A command need not read its input, so it is no error if it closes the pipe.
                let _ = gate.write_all(input).await;
            }
        };
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let ((), stdout, stderr, status) =
            tokio::join!(write, capture(stdout), capture(stderr), self.child.wait());
        let status = status?;
        let end = match (status.code(), status.signal()) {
            (Some(code), _) => ProcessEnd::Exited(code),
            (None, signal) => ProcessEnd::Signalled(signal.unwrap_or_default()),
        };
        match (end, self.lifeline.take()) {
            (ProcessEnd::Exited(code), Some(mut lifeline)) => {
                // Only a command that succeeded may leave processes behind: without the line, the watcher ends them.
                if code == 0 {
                    let _ = lifeline.write_all(b"ended\n").await;
                }
                drop(lifeline);
                let _ = self.watcher.wait().await;
            }
            (_, lifeline) => drop(lifeline),
        }
        Ok(FinishedProcess { end, stdout, stderr })
    }
}

/// One process, as the system describes it.
struct Stat {
    group: u32,
    started: u64,
    alive: bool,
}

fn stat(id: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The second field is the name in parentheses, which may contain any character.
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let alive = !matches!(*fields.first()?, "Z" | "X");
    Some(Stat { group: fields.get(2)?.parse().ok()?, started: fields.get(19)?.parse().ok()?, alive })
}

/// Returns the id of the boot, and the namespace of process ids.
fn boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display())
}
