//! `stead unlock`: takes the lock from its holder. Safe, because the holder's run is fenced.

use stead::ops::{EditChange, EditOutcome, Holder, StateEdit};

use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn unlock(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let edit = session.workspace.edit(StateEdit::Unlock, session.wait, &mut ui.listener()).await?;
    let Some(EditChange::LockTaken { from, holder }) = edit.changes().first() else {
        ui.result("No run holds the lock.\n");
        return Ok(0);
    };
    let owner = format!("{} on {} ({}, since {})", from.user, from.host, from.run, from.since);
    if *holder == Holder::PerhapsAlive {
        confirm(session, ui, &format!("Take the lock from {owner}? That run can no longer write."))?;
    }
    let report = edit.permit()?.apply(&mut ui.listener()).await?;
    ui.result(&format!("Took the lock from {owner}.\n"));
    if let EditOutcome::Unlocked { unfinished: unfinished @ 1.. } = report.outcome {
        ui.result(&format!(
            "{unfinished} operations of that run were under way; `stead up` finishes them first.\n"
        ));
    }
    Ok(0)
}
