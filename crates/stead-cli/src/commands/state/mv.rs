//! `stead state mv`: renames a resource in state, or moves resources to another stack. No real resource changes.

use stead::ops::{EditChange, OpEvent, StateEdit};
use stead::plan::Follow;
use stead_model::{Code, Diagnostic, Name};

use crate::args::MoveArguments;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn mv(session: &Session, arguments: &MoveArguments, ui: &Ui) -> Result<u8, Failure> {
    match (&arguments.to_stack, arguments.names.as_slice()) {
        (Some(stack), names) => {
            to_stack(session, names, stack, Follow::from_flag(arguments.with_dependencies), ui).await
        }
        (None, [old, new]) => rename(session, old, new, ui).await,
        (None, _) => {
            let problem = Diagnostic::error(Code::USAGE, "two names are needed: the old one and the new one");
            Err(problem.help("to move to another stack, name it with `--to-stack`").into())
        }
    }
}

async fn rename(session: &Session, old: &str, new: &str, ui: &Ui) -> Result<u8, Failure> {
    let edit = StateEdit::Move { from: old.to_owned(), to: new.to_owned() };
    let edit = ui.edit(session, edit).await?.permit()?;
    let Some(EditChange::Renamed { from, to }) = edit.edit().changes().first().cloned() else { return Ok(0) };
    confirm(session, ui, &format!("Rename {from} to {to}? No real resource changes."))?;
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    ui.result(&format!("Renamed {from} to {to}.\n"));
    ui.note(
        "The program must declare the resource under that name, or the next `stead up` creates another one.",
    );
    Ok(0)
}

async fn to_stack(
    session: &Session,
    names: &[String],
    stack: &str,
    dependencies: Follow,
    ui: &Ui,
) -> Result<u8, Failure> {
    let to = Box::new(session.sibling(stack)?);
    let edit = StateEdit::MoveToStack { names: names.to_vec(), to, dependencies };
    let edit = ui.edit(session, edit).await?.permit()?;
    let mut count = 0;
    for change in edit.edit().changes() {
        match change {
            EditChange::Renamed { from, to } => {
                count += 1;
                ui.note(&format!("{from} → {to}"));
            }
            EditChange::SentAgain { name, properties } => ui.note(&sent_again(name, properties)),
            _ => {}
        }
    }
    confirm(session, ui, &format!("Move {count} resources to stack {stack}? No real resource changes."))?;
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    ui.result(&format!("Moved {count} resources to {stack}.\n"));
    ui.note(
        "The next `up` in each of the two environments applies the program there: check with `plan` in both first.",
    );
    Ok(0)
}

/// Says which write-only values another stack gets without their digests.
pub(crate) fn sent_again(name: &Name, properties: &[String]) -> String {
    let properties: Vec<String> = properties.iter().map(|path| format!("`{path}`")).collect();
    format!(
        "State does not keep {} of {name}: the next plan of the stack that gets it sends the value again.",
        properties.join(", ")
    )
}
