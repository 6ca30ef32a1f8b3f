//! `credential_process`: a command that prints credentials as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::{Either, select};
use stead_world::{ProcessEnd, ShellCommand};

use super::WrittenCredentials;
use crate::Credentials;
use crate::call::Caller;
use crate::error::{Looked, Missing};

/// Limit on the run time of the command. It may wait for a person.
const LIMIT: Duration = Duration::from_secs(120);

pub(super) async fn look_up(caller: &Caller, line: &str) -> Looked<Credentials> {
    let world = &caller.world;
    let folder = world.host.home.clone().unwrap_or_else(|| PathBuf::from("."));
    let command = ShellCommand { line: line.to_owned(), folder, environment: BTreeMap::new() };
    // The program without its arguments, which may be secrets.
    let program = line.split_whitespace().next().unwrap_or_default();
    let failed = |reason: String| Missing::misconfigured(format!("`credential_process` {program}: {reason}"));
    let limit = world.clock.sleep(LIMIT);
    let finished = match select(Box::pin(world.processes.run(command)), limit).await {
        Either::Left((finished, _)) => finished.map_err(|error| failed(error.to_string()))?,
        Either::Right(_) => return Err(failed(format!("no credentials after {} s", LIMIT.as_secs()))),
    };
    match finished.end {
        ProcessEnd::Exited(0) => {}
        ProcessEnd::Exited(code) => return Err(failed(format!("exit code {code}"))),
        ProcessEnd::Signalled(signal) => return Err(failed(format!("ended by signal {signal}"))),
    }
    let output = finished.stdout.whole().ok_or_else(|| failed("its output is too long".to_owned()))?;
    WrittenCredentials::read(output).map_err(failed)
}
