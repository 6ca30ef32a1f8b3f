//! `stead rename`: gives a recorded resource another name; the real resource stays.

use serde::Serialize;
use stead::ops::{EditChange, StateEdit};
use stead_model::Name;

use crate::args::RenameArguments;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Renamed<'a> {
    from: &'a Name,
    to: &'a Name,
}

pub(crate) async fn rename(session: &Session, arguments: &RenameArguments, ui: &Ui) -> Result<u8, Failure> {
    let edit = StateEdit::Rename { from: arguments.old.clone(), to: arguments.new.clone() };
    let edit = session.workspace.edit(edit, session.wait, &mut ui.listener()).await?;
    for change in edit.changes() {
        if let EditChange::Renamed { from, to } = change {
            ui.result(&format!("{from} → {to}\n"));
            ui.json("renamed", &Renamed { from, to });
        }
    }
    if arguments.dry_run {
        ui.note("Nothing was changed.");
        return Ok(0);
    }
    let edit = edit.permit()?;
    confirm(session, ui, "Rename this?")?;
    edit.apply(&mut ui.listener()).await?;
    Ok(0)
}
