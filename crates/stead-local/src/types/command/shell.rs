//! Runs one command line and returns its output or its failure.

use std::io;
use std::path::Path;

use stead_model::{Map, Value};
use stead_provider::Refusal;
use stead_world::{FinishedProcess, ShellCommand};

use crate::failure::{Attempt, Failure, reason};
use crate::machine::Machine;

/// Most bytes of each stream that are recorded in state.
const CAPTURED_BYTES: usize = 1 << 20;
/// Most lines and bytes of a failed command's output that a message contains.
const SHOWN_LINES: usize = 20;
const SHOWN_BYTES: usize = 8 << 10;
/// Most bytes that are passed on in a variable; the system accepts at most 128 KiB.
const VARIABLE_BYTES: usize = 64 << 10;

/// Runs the command line of `property`. Returns the outputs of the resource.
pub(crate) async fn run(machine: &Machine, property: &str, command: ShellCommand) -> Attempt<Map> {
    let folder = command.folder.clone();
    let finished = machine.world.processes.run(command).await;
    let finished = finished.map_err(|error| start_refusal(property, &folder, &error))?;
    match finished.code {
        Some(0) => Ok(outputs(&finished)),
        Some(code) => Err(exit_code_refusal(property, &folder, code, &finished).into()),
        None => Err(Failure::in_doubt(format!(
            "`{property}` was ended by a signal, and it is unknown how much of it ran{}",
            last_lines(&finished.stderr)
        ))),
    }
}

/// Returns the output of an earlier command in a form that fits into a variable.
pub(crate) fn as_variable(printed: &str) -> String {
    let end = printed.floor_char_boundary(VARIABLE_BYTES);
    printed[..end].replace('\0', "")
}

fn outputs(finished: &FinishedProcess) -> Map {
    [
        ("stdout".to_owned(), Value::from(recorded_text(&finished.stdout))),
        ("stderr".to_owned(), Value::from(recorded_text(&finished.stderr))),
        ("exitCode".to_owned(), Value::from(i64::from(finished.code.unwrap_or_default()))),
    ]
    .into()
}

fn recorded_text(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    if text.len() > CAPTURED_BYTES {
        let all = text.len();
        text.truncate(text.floor_char_boundary(CAPTURED_BYTES));
        text.push_str(&format!("\n[stead recorded {} of {all} bytes]\n", text.len()));
    }
    text
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
    let printed = last_lines(&finished.stderr);
    Refusal::new(format!("`{property}` ended with exit code {code}{printed}"))
        .at(property)
        .help(format!("it ran in {}; fix the command, then try again", folder.display()))
}

/// Returns the last lines of the output, to append to a sentence.
fn last_lines(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim_end();
    let lines: Vec<&str> = text.lines().rev().take(SHOWN_LINES).collect();
    let shown = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
    let start = shown.ceil_char_boundary(shown.len().saturating_sub(SHOWN_BYTES));
    if shown.is_empty() { String::new() } else { format!(":\n{}", &shown[start..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_contains_only_the_last_twenty_lines() {
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        let shown = last_lines(text.as_bytes());
        assert!(shown.starts_with(":\nline 11\n") && shown.ends_with("line 30"), "{shown}");
        assert_eq!(last_lines(b"  \n"), "");
        assert!(last_lines("é".repeat(100_000).as_bytes()).len() <= SHOWN_BYTES + 2);
    }

    #[test]
    fn truncated_output_says_so() {
        let truncated = recorded_text("é".repeat(CAPTURED_BYTES).as_bytes());
        assert!(truncated.ends_with("[stead recorded 1048576 of 2097152 bytes]\n"));
        assert_eq!(recorded_text(b"as it is\n"), "as it is\n");
    }

    #[test]
    fn variable_is_limited_and_has_no_nul() {
        assert_eq!(as_variable("a\0b\n"), "ab\n");
        assert!(as_variable(&"é".repeat(VARIABLE_BYTES)).len() <= VARIABLE_BYTES);
    }
}
