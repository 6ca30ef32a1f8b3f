//! Process group of a command, recorded in the journal with its operation.
//!
//! **Invariant:** a command begins only after its group is durable in the journal, and a second attempt begins only after the group
//! of the first is gone, whichever copy of the project or machine the first ran in.

use stead_model::OperationToken;
use stead_provider::{Receipt, Refusal, Statement};
use stead_world::{GroupStatus, ProcessGroup};

use crate::failure::{Attempt, Failure, reason};
use crate::machine::Machine;

/// Makes sure that no process of an earlier attempt runs.
///
/// An earlier attempt without a recorded group never began its command.
pub(super) async fn end_earlier(machine: &Machine, receipt: &Receipt) -> Attempt<()> {
    match receipt.token().and_then(recorded) {
        Some(group) => {
            end(machine, &group).await.map_err(|why| Failure::in_doubt(format!("an earlier attempt {why}")))
        }
        None => Ok(()),
    }
}

/// Records the group durably. An error means that the command must not begin.
pub(super) async fn record(receipt: &Receipt, group: &ProcessGroup) -> Result<(), String> {
    let token = OperationToken::try_from(group.encode()).map_err(|error| error.to_string())?;
    receipt.record_token(token).durable().await.map_err(|error| error.to_string())
}

/// Returns a sentence about the command of an operation in doubt; `None` if it certainly runs no more.
pub(super) fn may_still_run(machine: &Machine, token: &OperationToken) -> Option<String> {
    let group = recorded(token)?;
    match machine.world.processes.status(&group) {
        GroupStatus::Gone => None,
        GroupStatus::Running => {
            Some(format!("Its command still runs on this machine, as process group {}.", group.id))
        }
        GroupStatus::Unknown => Some(format!("Its command {}.", still_runs(&group))),
    }
}

/// Makes sure that a person's statement about the operation is true of its command, as far as this machine can tell.
///
/// A command that did not happen is ended. One that happened does not run any more. A command on another machine is for the person
/// to judge, to whom [`may_still_run`] named it.
pub(super) async fn settle(
    machine: &Machine,
    token: &OperationToken,
    statement: Statement,
) -> Result<(), Refusal> {
    let Some(group) = recorded(token) else { return Ok(()) };
    if machine.world.processes.status(&group) != GroupStatus::Running {
        return Ok(());
    }
    let refusal = match statement {
        Statement::DidNotHappen => match end(machine, &group).await {
            Ok(()) => return Ok(()),
            Err(why) => Refusal::new(format!("its command {why}")),
        },
        Statement::Happened => {
            Refusal::new(format!("its command still runs on this machine, as process group {}", group.id))
        }
    };
    Err(refusal
        .help(format!("wait for its end, or end it with `kill -s KILL -- -{}`; then answer again", group.id)))
}

/// Ends a group. The error is the end of a sentence about a group that may still run.
async fn end(machine: &Machine, group: &ProcessGroup) -> Result<(), String> {
    match machine.world.processes.end(group).await {
        Ok(GroupStatus::Gone) => Ok(()),
        Ok(GroupStatus::Running | GroupStatus::Unknown) => Err(still_runs(group)),
        Err(error) => Err(format!("{}, and cannot be ended: {}", still_runs(group), reason(&error))),
    }
}

fn recorded(token: &OperationToken) -> Option<ProcessGroup> {
    ProcessGroup::parse(token.as_str())
}

fn still_runs(group: &ProcessGroup) -> String {
    format!("may still run on {} as process group {}", group.host, group.id)
}
