//! `stead refresh`: reads every resource from its provider, and records drift.

use stead::ops::{OpEvent, StateEdit};

use crate::args::SelectionFlags;
use crate::commands::run::show_drift;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn refresh(session: &Session, select: &SelectionFlags, ui: &Ui) -> Result<u8, Failure> {
    let edit = StateEdit::Refresh { selection: select.selection() };
    let edit = ui.edit(session, edit).await?;
    if edit.is_empty() {
        ui.result("No drift: every resource is as recorded.\n");
        return Ok(0);
    }
    show_drift(session, edit.drift(), ui);
    let edit = edit.permit()?;
    confirm(session, ui, "Record this drift?")?;
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    ui.result("Recorded. `stead up` changes the resources back to their declarations.\n");
    Ok(0)
}
