//! The manager `command:<words>`: an external program wraps data keys.
//!
//! The program is run by the system's shell with one argument more, `wrap` or `unwrap`. It reads one line of JSON and writes one;
//! `docs/format/secrets.md` is normative. The key is only in pipes, never in arguments or variables.

mod protocol;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use stead_world::{FinishedProcess, ProcessEnd, ShellCommand, World};
use zeroize::Zeroizing;

use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, Needles, WrapContext};
use protocol::{Answer, Request};

/// Time that a program has for its answer.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Most bytes of an answer.
const LONGEST_ANSWER: u64 = 64 << 10;
/// Most characters of a message of the program that are shown.
const LONGEST_MESSAGE: usize = 300;

/// Wraps data keys with an external program.
pub struct CommandManager {
    name: String,
    line: String,
    folder: PathBuf,
    world: World,
}

impl CommandManager {
    /// Returns the manager that runs this command line in this folder.
    pub fn new(line: &str, folder: PathBuf, world: World) -> CommandManager {
        CommandManager { name: format!("command:{line}"), line: line.to_owned(), folder, world }
    }

    /// Runs the program. The secrets are not in the message of a failure.
    async fn run(&self, request: &Request<'_>, secrets: &Needles) -> Result<Answer, ManagerError> {
        let command = ShellCommand {
            line: format!("{} {}", self.line, request.operation()),
            folder: self.folder.clone(),
            environment: BTreeMap::new(),
        };
        let input = request.to_line();
        let running = self.world.processes.run_with_input(command, &input);
        let finished = tokio::select! {
            finished = running => finished.map_err(|error| {
                self.failure(ManagerErrorClass::NotConfigured, &format!("the program did not start: {error}"))
            })?,
            () = self.world.clock.sleep(TIMEOUT) => {
                let message = format!("the program gave no answer in {} s", TIMEOUT.as_secs());
                return Err(self.failure(ManagerErrorClass::Unavailable, &message));
            }
        };
        self.answer(&finished, secrets)
    }

    fn answer(&self, finished: &FinishedProcess, secrets: &Needles) -> Result<Answer, ManagerError> {
        let whole = finished.stdout.whole().filter(|whole| whole.len() as u64 <= LONGEST_ANSWER);
        let answer = whole.and_then(Answer::parse);
        match (answer, finished.end) {
            (Some(Answer::Error { class, message }), _) => {
                Err(self.failure(class, &shown(message.as_bytes(), secrets)))
            }
            (Some(answer), ProcessEnd::Exited(0)) => Ok(answer),
            (_, ProcessEnd::Exited(0)) => {
                let message = "the program did not answer with one line of JSON in the protocol";
                Err(self.failure(ManagerErrorClass::Damaged, message))
            }
            (_, end) => {
                let end = match end {
                    // The shell ends so if it does not find or may not run the program.
                    ProcessEnd::Exited(code @ (126 | 127)) => {
                        (ManagerErrorClass::NotConfigured, format!("the program ended with code {code}"))
                    }
                    ProcessEnd::Exited(code) => {
                        (ManagerErrorClass::Unavailable, format!("the program ended with code {code}"))
                    }
                    ProcessEnd::Signalled(signal) => {
                        (ManagerErrorClass::Unavailable, format!("signal {signal} ended the program"))
                    }
                };
                let said = finished.stderr.last().trim_ascii_end();
                let said = shown(said.rsplit(|byte| *byte == b'\n').next().unwrap_or_default(), secrets);
                let separator = if said.is_empty() { "" } else { ": " };
                Err(self.failure(end.0, &format!("{}{separator}{said}", end.1)))
            }
        }
    }

    fn failure(&self, class: ManagerErrorClass, message: &str) -> ManagerError {
        ManagerError::new(class, format!("{}: {message}", self.name))
    }
}

#[async_trait]
impl KeyManager for CommandManager {
    fn name(&self) -> &str {
        &self.name
    }

    fn assurance(&self) -> Assurance {
        Assurance::Claimed
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        // A program may repeat its request in its complaint.
        let secrets = Needles::new([key.expose()]);
        match self.run(&Request::Wrap { context, key }, &secrets).await? {
            Answer::Wrapped(text) if !text.is_empty() && !text.contains(char::is_whitespace) => Ok(text),
            _ => Err(self.failure(
                ManagerErrorClass::Damaged,
                "the program did not answer `wrap` with a wrapped key without white space",
            )),
        }
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        match self.run(&Request::Unwrap { context, wrapped }, &Needles::default()).await? {
            Answer::Key(key) => Ok(key),
            _ => {
                Err(self
                    .failure(ManagerErrorClass::Damaged, "the program did not answer `unwrap` with a key"))
            }
        }
    }
}

/// Returns a message of the program for people: one line without control characters and secrets, cut to a length. Secrets go
/// before the cut, because a part of one would not be found.
fn shown(bytes: &[u8], secrets: &Needles) -> String {
    let text = Zeroizing::new(String::from_utf8_lossy(bytes).into_owned());
    let line: Zeroizing<String> = Zeroizing::new(text.trim().chars().filter(|c| !c.is_control()).collect());
    secrets.redact(&line).chars().take(LONGEST_MESSAGE).collect()
}
