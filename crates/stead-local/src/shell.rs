//! One command line, run to its end: what it printed, or why it counts as not done.

use std::io;
use std::path::Path;

use stead_model::{Map, Value};
use stead_provider::Refusal;
use stead_world::{Finished, ShellCommand};

use crate::failure::{Attempt, Failure, reason};
use crate::machine::Machine;

/// How much of each stream is recorded. State is no place for more.
const CAPTURED_BYTES: usize = 1 << 20;
/// How much of a failed command's last words a message repeats.
const SHOWN_LINES: usize = 20;
const SHOWN_BYTES: usize = 8 << 10;
/// The most that is handed on in a variable: the system takes no longer one than 128 KiB.
const VARIABLE_BYTES: usize = 64 << 10;

/// Runs the line that stands in `property`, and gives the outputs of the resource.
pub(crate) async fn run(machine: &Machine, property: &str, command: ShellCommand) -> Attempt<Map> {
    let folder = command.folder.clone();
    let finished = machine.world.processes.run(command).await;
    let finished = finished.map_err(|error| not_started(property, &folder, &error))?;
    match finished.code {
        Some(0) => Ok(outputs(&finished)),
        Some(code) => Err(failed(property, &folder, code, &finished).into()),
        None => Err(Failure::in_doubt(format!(
            "`{property}` was ended by a signal, and how far it came is not known{}",
            last_words(&finished.stderr)
        ))),
    }
}

/// What was printed earlier, fit for a variable of a later command.
pub(crate) fn as_variable(printed: &str) -> String {
    let end = printed.floor_char_boundary(VARIABLE_BYTES);
    printed[..end].replace('\0', "")
}

fn outputs(finished: &Finished) -> Map {
    [
        ("stdout".to_owned(), Value::from(captured(&finished.stdout))),
        ("stderr".to_owned(), Value::from(captured(&finished.stderr))),
        ("exitCode".to_owned(), Value::from(i64::from(finished.code.unwrap_or_default()))),
    ]
    .into()
}

fn captured(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    if text.len() > CAPTURED_BYTES {
        let all = text.len();
        text.truncate(text.floor_char_boundary(CAPTURED_BYTES));
        text.push_str(&format!("\n[stead kept {} of {all} bytes]\n", text.len()));
    }
    text
}

fn not_started(property: &str, folder: &Path, error: &io::Error) -> Refusal {
    let refusal = Refusal::new(format!(
        "cannot start `{property}` in the folder {}: {}",
        folder.display(),
        reason(error)
    ));
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => refusal.at("directory").help(
            "`directory` must be a folder before the command runs: declare it, and use its `path` here",
        ),
        _ => refusal.at(property).help("see that the command line and its `environment` are not too long"),
    }
}

fn failed(property: &str, folder: &Path, code: i32, finished: &Finished) -> Refusal {
    let said = last_words(&finished.stderr);
    Refusal::new(format!("`{property}` ended with exit code {code}{said}"))
        .at(property)
        .help(format!("it ran in {}; mend it, then try again", folder.display()))
}

/// The end of what was printed, to be put behind a sentence.
fn last_words(stderr: &[u8]) -> String {
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
    fn a_message_repeats_the_last_twenty_lines_only() {
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        let shown = last_words(text.as_bytes());
        assert!(shown.starts_with(":\nline 11\n") && shown.ends_with("line 30"), "{shown}");
        assert_eq!(last_words(b"  \n"), "");
        assert!(last_words("é".repeat(100_000).as_bytes()).len() <= SHOWN_BYTES + 2);
    }

    #[test]
    fn what_is_too_long_to_keep_says_so() {
        let kept = captured("é".repeat(CAPTURED_BYTES).as_bytes());
        assert!(kept.ends_with("[stead kept 1048576 of 2097152 bytes]\n"));
        assert_eq!(captured(b"as it is\n"), "as it is\n");
    }

    #[test]
    fn a_variable_is_short_and_has_no_nul() {
        assert_eq!(as_variable("a\0b\n"), "ab\n");
        assert!(as_variable(&"é".repeat(VARIABLE_BYTES)).len() <= VARIABLE_BYTES);
    }
}
