//! Runs the processes of a round concurrently.

use std::pin::Pin;

use crate::life::operate::{Attempt, CommandError, SavedPlan};
use crate::life::program::Program;
use crate::life::script::{Command, Rival};
use crate::world::process::Process;
use crate::world::site::Actor;

pub(super) type Attempts = Vec<Result<Attempt, CommandError>>;

/// Runs the first process and its rivals; each rival starts while the previous process runs.
pub(super) async fn run_concurrently(
    first: &Actor,
    rivals: &[Actor],
    scripts: &[Rival],
    program: &Program,
    command: &Command,
    saved: &mut Option<SavedPlan>,
) -> Attempts {
    let alone = async {
        let attempt = first.run_command(command, program, saved).await;
        first.process.finish();
        attempt
    };
    let (attempt, mut others) = tokio::join!(alone, run_rivals(&first.process, rivals, scripts, program));
    others.insert(0, attempt);
    others
}

fn run_rivals<'a>(
    before: &'a Process,
    rivals: &'a [Actor],
    scripts: &'a [Rival],
    program: &'a Program,
) -> Pin<Box<dyn Future<Output = Attempts> + 'a>> {
    Box::pin(async move {
        let (Some((actor, rest)), Some((script, scripts))) = (rivals.split_first(), scripts.split_first())
        else {
            before.wake();
            return Vec::new();
        };
        before.until_crash_points(script.after).await;
        if before.is_stopped() {
            actor.trace.mark("the holder was suspended");
        }
        let command = async {
            let attempt = actor.run_command(&script.command, program, &mut None).await;
            actor.process.finish();
            attempt
        };
        let waking = async {
            actor.process.until_crash_points(script.wakes).await;
            before.wake();
        };
        let next = run_rivals(&actor.process, rest, scripts, program);
        let (attempt, (), mut others) = tokio::join!(command, waking, next);
        others.insert(0, attempt);
        others
    })
}
