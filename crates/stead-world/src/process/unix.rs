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
        let group =
            ProcessGroup { host: ProcessGroup::this_host(), machine: machine(), boot: boot(), id, started };
        Ok(Box::new(Gated { child, group, lifeline, watcher }))
    }

    fn status(&self, group: &ProcessGroup) -> GroupStatus {
        if group.host != ProcessGroup::this_host() || group.machine != machine() {
            return GroupStatus::Unknown;
        }
        let boot = boot();
        if boot != group.boot {
            // Another boot of this machine ended every process. Another namespace on the same boot only hides it, and without an
            // id of the machine it may be another one with the same name.
            let of = |boot: &str| boot.split('.').next().unwrap_or_default().to_owned();
            let is_earlier = !group.machine.is_empty() && of(&boot) != of(&group.boot);
            return if is_earlier { GroupStatus::Gone } else { GroupStatus::Unknown };
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

/// Returns the beginning of the id of this machine; empty if it has none.
fn machine() -> String {
    beginning(&fs::read_to_string("/etc/machine-id").unwrap_or_default())
}

/// Returns the first 16 hexadecimal digits of an id.
fn beginning(id: &str) -> String {
    id.chars().filter(char::is_ascii_hexdigit).take(16).collect()
}

/// Returns the beginning of the id of the boot, a dot, and the namespace of process ids.
fn boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let namespace = namespace.to_string_lossy();
    // The namespace is `pid:[4026531836]`.
    let number: String = namespace.chars().filter(char::is_ascii_digit).collect();
    match (beginning(&boot), number) {
        (boot, number) if boot.is_empty() && number.is_empty() => String::new(),
        (boot, number) => format!("{boot}.{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn group_of_another_machine_boot_or_namespace_is_never_taken_for_gone_too_early() {
        let command =
            ShellCommand { line: "true".into(), folder: "/".into(), environment: Default::default() };
        let gated = RealProcesses.start(command).await.unwrap();
        let own = gated.group().unwrap();
        assert_eq!(RealProcesses.status(&own), GroupStatus::Running);
        let status = |change: &dyn Fn(&mut ProcessGroup)| {
            let mut other = own.clone();
            change(&mut other);
            RealProcesses.status(&other)
        };
        assert_eq!(status(&|group| group.host.push('x')), GroupStatus::Unknown);
        assert_eq!(status(&|group| group.machine.push('0')), GroupStatus::Unknown);
        assert_eq!(status(&|group| group.boot.push('0')), GroupStatus::Unknown);
        let earlier_boot = status(&|group| group.boot.insert(0, '0'));
        let known = if own.machine.is_empty() { GroupStatus::Unknown } else { GroupStatus::Gone };
        assert_eq!(earlier_boot, known);
        assert_eq!(status(&|group| group.started = group.started.map(|at| at + 1)), GroupStatus::Gone);
    }
}
