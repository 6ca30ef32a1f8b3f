//! `stead state resolve`: records the outcome of an operation in doubt.

use stead::ops::{EditChange, EditOutcome, OpEvent, ResolveTarget, StateEdit};
use stead::{Resolution, StatedOutputs};
use stead_model::{OpId, PhysicalId};

use crate::args::ResolveArguments;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn resolve(session: &Session, arguments: &ResolveArguments, ui: &Ui) -> Result<u8, Failure> {
    let edit = StateEdit::Resolve { target: target(&arguments.name), answer: resolution(arguments) };
    let edit = ui.edit(session, edit).await?.permit()?;
    let Some(EditChange::Resolved { name, operation }) = edit.edit().changes().first().cloned() else {
        return Ok(0);
    };
    let verb = operation.verb();
    let report = ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    ui.result(&match report.outcome {
        EditOutcome::Retried => format!("The {verb} of {name} is done.\n"),
        _ if arguments.answer.not_created => format!("Recorded: the {verb} of {name} did not happen.\n"),
        _ => format!("Recorded: the {verb} of {name} happened.\n"),
    });
    Ok(0)
}

/// Parses the number of an operation, or a name. An id is never a bare number.
fn target(text: &str) -> ResolveTarget {
    match text.parse() {
        Ok(number) => ResolveTarget::Operation(OpId(number)),
        Err(_) => ResolveTarget::Name(text.to_owned()),
    }
}

/// Returns the outcome that the flags state; `None` sends the operation again.
fn resolution(arguments: &ResolveArguments) -> Option<Resolution> {
    let answer = &arguments.answer;
    let outputs = StatedOutputs(arguments.outputs.iter().cloned().collect());
    match &answer.created {
        _ if answer.retry => None,
        _ if answer.not_created => Some(Resolution::DidNotHappen),
        Some(id) => Some(Resolution::Created { id: PhysicalId(id.clone()), outputs }),
        None => Some(Resolution::Done { outputs }),
    }
}
