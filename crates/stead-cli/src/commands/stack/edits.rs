//! `stead stack new`, `rm` and `rename`.

use serde::Serialize;
use stead::ops::{EditChange, EditOutcome, OpEvent, Purge, Remaining, StateEdit};
use stead_model::{Code, Diagnostic, Environment, NameError};

use crate::args::RemoveArguments;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct StackLine<'a> {
    environment: &'a str,
    target: &'a str,
    /// `made`, `removed` or `renamed`.
    stack: &'a str,
}

fn show_change(session: &Session, ui: &Ui, environment: &str, stack: &'static str) {
    ui.json("stack_changed", &StackLine { environment, target: session.target(), stack });
}

pub(crate) async fn new(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let edit = session.workspace.edit(StateEdit::CreateStack, session.wait, &mut ui.listener()).await?;
    edit.permit()?.apply(&mut ui.listener()).await?;
    let environment = session.environment().to_string();
    ui.result(&format!("Created an empty stack for environment {environment} on {}.\n", session.target()));
    show_change(session, ui, &environment, "made");
    Ok(0)
}

/// Removes the stack, and no real resource. Its recorded resources must be destroyed or forgotten first.
pub(crate) async fn rm(session: &Session, arguments: &RemoveArguments, ui: &Ui) -> Result<u8, Failure> {
    let environment = session.environment().to_string();
    let history = if arguments.purge { Purge::Delete } else { Purge::Keep };
    let resources = if arguments.forget_resources { Remaining::Forget } else { Remaining::Refuse };
    let edit = StateEdit::RemoveStack { resources, history };
    let edit = ui.edit(session, edit).await?.permit()?;
    let only_history = edit.edit().changes().contains(&EditChange::HistoryDeleted);
    for change in edit.edit().changes() {
        if let EditChange::Forgotten { name, ty, id } = change {
            let id = id.as_ref().map_or("no id", |id| id.as_str());
            ui.note(&format!("{name} stays, and is no longer managed: {ty} {id}"));
        }
    }
    let question = match (only_history, history) {
        (true, _) => format!("Delete the history of the removed stack {environment}?"),
        (false, Purge::Delete) => {
            format!("Remove the stack of environment {environment} on {} with its history?", session.target())
        }
        (false, Purge::Keep) => {
            format!(
                "Remove the stack of environment {environment} on {}; its history stays?",
                session.target()
            )
        }
    };
    confirm(session, ui, &question)?;
    let report = ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    if let EditOutcome::HistoryDeleted { objects } = report.outcome {
        ui.result(&format!("Deleted {objects} objects.\n"));
        return Ok(0);
    }
    ui.result(&format!("Removed the stack of environment {environment} on {}.\n", session.target()));
    show_change(session, ui, &environment, "removed");
    Ok(0)
}

pub(crate) async fn rename(session: &Session, to: &str, ui: &Ui) -> Result<u8, Failure> {
    let new: Environment = to.parse().map_err(|error: NameError| {
        Failure::from(Diagnostic::error(Code::USAGE, format!("{to:?} is not an environment: {error}")))
    })?;
    stead::check_known(&session.project, &session.workspace, &new.name).await?;
    let edit = StateEdit::RenameStack { to: new.clone() };
    let edit = ui.edit(session, edit).await?.permit()?;
    let (old, target) = (session.environment(), session.target());
    if let Some(EditChange::StackRenamed { resources }) = edit.edit().changes().first() {
        ui.note(&format!("{resources} resources get names of environment {new}. No real resource changes."));
    }
    confirm(session, ui, &format!("Rename the stack of environment {old} on {target} to {new}?"))?;
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    ui.result(&format!("Environment {old} on {target} is environment {new} now.\n"));
    show_change(session, ui, &new.to_string(), "renamed");
    Ok(0)
}
