//! `stead state rm`: stops managing a resource; the real resource stays.

use stead::ops::{EditChange, OpEvent, StateEdit};

use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn rm(session: &Session, name: &str, ui: &Ui) -> Result<u8, Failure> {
    let edit = StateEdit::Forget { name: name.to_owned() };
    let edit = ui.edit(session, edit).await?.permit()?;
    let Some(EditChange::Forgotten { name, .. }) = edit.edit().changes().first().cloned() else {
        return Ok(0);
    };
    confirm(session, ui, &format!("Forget {name}? The real resource stays, and is no longer managed."))?;
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    ui.result(&format!("Forgot {name}. `stead state retained` lists all retained resources.\n"));
    Ok(0)
}
