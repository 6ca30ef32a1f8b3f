//! Runs one command line and returns its output or its failure.

use std::io;
use std::path::Path;

use stead_model::{Map, Value};
use stead_provider::{Receipt, Refusal, cut_log, whole_lines_of_end};
use stead_world::{Captured, FinishedProcess, GroupStatus, ProcessEnd, ProcessGroup, ShellCommand};

use super::group;
use crate::failure::{Attempt, Failure, OutputsLost, reason};
use crate::machine::Machine;

/// Most bytes that are passed on in a variable; the system accepts at most 128 KiB.
const VARIABLE_BYTES: usize = 64 << 10;

/// Runs the command line of `property`, after the processes of an earlier attempt have ended. Returns the outputs of the
/// resource.
pub(crate) async fn run(
    machine: &Machine,
    receipt: &Receipt,
    property: &str,
    command: ShellCommand,
) -> Attempt<Map> {
    group::end_earlier(machine, receipt).await?;
    let folder = command.folder.clone();
    let gated = machine.world.processes.start(command).await;
    let gated = gated.map_err(|error| start_refusal(property, &folder, &error))?;
    let group = gated.group();
    if let Some(group) = &group {
        group::record(receipt, group).await.map_err(|error| record_refusal(property, &error))?;
    }
    let finished = gated.release().await.map_err(|error| {
        let because = reason(&error);
        Failure::in_doubt(format!("`{property}` was lost, and it is unknown how much of it ran: {because}"))
    })?;
    let running = |group: &&ProcessGroup| machine.world.processes.status(group) == GroupStatus::Running;
    let left = group.as_ref().filter(running);
    match (finished.end, left) {
        (ProcessEnd::Signalled(signal), _) => Err(signal_doubt(property, signal, &finished)),
        (ProcessEnd::Exited(0), left) => {
            if let Some(group) = left {
                receipt.warnings().add(left_in_background(property, group));
            }
            outputs(property, &finished)
        }
        // A repeat begins only after the group is gone.
        (ProcessEnd::Exited(code), Some(group)) => Err(left_running(property, code, group, &finished)),
        (ProcessEnd::Exited(code), None) => Err(exit_code_refusal(property, &folder, code, &finished).into()),
    }
}

/// Describes a command that succeeded, and whose processes go on.
fn left_in_background(property: &str, group: &ProcessGroup) -> String {
    let id = group.id;
    format!(
        "`{property}` succeeded, and processes that it started still run in the background, as process group {id}; \
         stead does not end them: `kill -- -{id}` does"
    )
}

/// Describes a command that failed, and whose processes could not be ended.
fn left_running(property: &str, code: i32, group: &ProcessGroup, finished: &FinishedProcess) -> Failure {
    Failure::in_doubt(format!(
        "`{property}` ended with exit code {code}, and processes that it started still run on this machine, as process group {}{}",
        group.id,
        printed(&finished.stderr)
    ))
}

/// Returns the output of an earlier command in a form that fits into a variable.
pub(crate) fn as_variable(printed: &str) -> String {
    let end = printed.floor_char_boundary(VARIABLE_BYTES);
    printed[..end].replace('\0', "")
}

/// Returns the outputs of a command that succeeded. A part of its standard output is never passed on as the whole.
fn outputs(property: &str, finished: &FinishedProcess) -> Attempt<Map> {
    let mut outputs: Map = [
        ("stderr".to_owned(), Value::from(recorded_log(&finished.stderr))),
        ("exitCode".to_owned(), Value::from(0)),
    ]
    .into();
    let Some(stdout) = finished.stdout.whole() else {
        let refusal = too_much_output(property, finished.stdout.total());
        return Err(Failure::OutputsLost(Box::new(OutputsLost { outputs, refusal })));
    };
    outputs.insert("stdout".to_owned(), Value::from(String::from_utf8_lossy(stdout).into_owned()));
    Ok(outputs)
}

/// Returns the log of a command. The middle of a long log is left out, and a line says so.
fn recorded_log(log: &Captured) -> String {
    match log.whole() {
        Some(whole) => String::from_utf8_lossy(whole).into_owned(),
        None => cut_log(log.first(), log.last(), log.total()),
    }
}

fn too_much_output(property: &str, bytes: u64) -> Refusal {
    let limit = Captured::HEAD;
    Refusal::new(format!(
        "`{property}` succeeded, but it printed {bytes} bytes, and `stdout` can hold {limit}; no `stdout` is recorded"
    ))
    .at(property)
    .help("write the output to a file in the command line, such as `… > build.log`, and print only what other resources use")
}

fn record_refusal(property: &str, error: &str) -> Refusal {
    Refusal::new(format!("cannot record the process group of `{property}`: {error}"))
        .at(property)
        .help("the command did not begin; make the state of the stack writable, then try again")
}

/// Describes a command that a signal ended.
fn signal_doubt(property: &str, signal: i32, finished: &FinishedProcess) -> Failure {
    Failure::in_doubt(format!(
        "`{property}` was ended by {}, and it is unknown how much of it ran{}",
        signal_name(signal),
        printed(&finished.stderr)
    ))
}

/// Returns the name of a signal, with its cause where one is likely. The numbers are equal on Linux and macOS.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU (it hit the limit of processor time, `ulimit -t`)",
        25 => "SIGXFSZ (it hit the limit of file size, `ulimit -f`)",
        _ => return format!("signal {signal}"),
    };
    format!("signal {name}")
}

fn start_refusal(property: &str, folder: &Path, error: &io::Error) -> Refusal {
    let refusal = Refusal::new(format!(
        "cannot start `{property}` in the folder {}: {}",
        folder.display(),
        reason(error)
    ));
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => refusal.at("directory").help(
            "`directory` must exist before the command runs: declare the folder, and use its `path` here",
        ),
        _ => refusal.at(property).help("check that the command line and its `environment` are not too long"),
    }
}

fn exit_code_refusal(property: &str, folder: &Path, code: i32, finished: &FinishedProcess) -> Refusal {
    let printed = printed(&finished.stderr);
    // The shell's exit code for a process in it that a signal ended.
    let signal = match code - 128 {
        signal @ (4 | 6 | 8 | 9 | 11 | 24 | 25) => {
            format!(", as after a process was ended by {}", signal_name(signal))
        }
        _ => String::new(),
    };
    Refusal::new(format!("`{property}` ended with exit code {code}{signal}{printed}"))
        .at(property)
        .help(format!("it ran in {}; fix the command, then try again", folder.display()))
}

/// Returns the output of a failed command, to append to a sentence. It is not shortened here: only the veil knows the secrets that a
/// cut could go through. A line that was not captured whole is left out.
fn printed(log: &Captured) -> String {
    let kept = log.whole().unwrap_or_else(|| whole_lines_of_end(log.last()));
    let text = String::from_utf8_lossy(kept);
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!(":\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_contains_all_output_that_was_captured_in_whole_lines() {
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        assert_eq!(printed(&Captured::of(text.as_bytes())), format!(":\n{}", text.trim_end()));
        assert_eq!(printed(&Captured::of(b"  \n")), "");
        let long = format!("{}cut off\nlast\n", "x".repeat(2 * Captured::HEAD));
        assert_eq!(printed(&Captured::of(long.as_bytes())), ":\nlast");
    }

    #[test]
    fn truncated_log_says_so() {
        let log = format!("first\n{}\nlast\n", "é".repeat(Captured::HEAD));
        let truncated = recorded_log(&Captured::of(log.as_bytes()));
        assert_eq!(truncated, "first\n[stead left out 2097153 bytes]\nlast\n");
        assert_eq!(recorded_log(&Captured::of(b"as it is\n")), "as it is\n");
    }

    #[test]
    fn exceeded_file_size_limit_is_named() {
        let finished = FinishedProcess {
            end: ProcessEnd::Signalled(25),
            stdout: Captured::default(),
            stderr: Captured::of(b"half"),
        };
        let Failure::InDoubt(doubt) = signal_doubt("create", 25, &finished) else { panic!("it is in doubt") };
        assert_eq!(
            doubt.message,
            "`create` was ended by signal SIGXFSZ (it hit the limit of file size, `ulimit -f`), and it is \
             unknown how much of it ran:\nhalf"
        );
        let refusal = exit_code_refusal("create", Path::new("/x"), 153, &finished);
        assert!(refusal.message.contains("exit code 153, as after a process was ended by signal SIGXFSZ"));
    }

    #[test]
    fn variable_is_limited_and_has_no_nul() {
        assert_eq!(as_variable("a\0b\n"), "ab\n");
        assert!(as_variable(&"é".repeat(VARIABLE_BYTES)).len() <= VARIABLE_BYTES);
    }
}
