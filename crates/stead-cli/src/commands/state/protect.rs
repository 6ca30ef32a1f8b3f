//! `stead state protect` and `unprotect`: set and remove a mark on the record itself.

use stead::ops::{Change, EditChange, OpEvent, Protection, StateEdit};

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn protect(
    session: &Session,
    name: &str,
    protection: Protection,
    ui: &Ui,
) -> Result<u8, Failure> {
    let edit = StateEdit::Protect { name: name.to_owned(), protection };
    let edit = ui.edit(session, edit).await?.permit()?;
    let change = edit.edit().changes().first().cloned();
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    let Some(EditChange::Protection { name, changes, still_set_by }) = change else { return Ok(0) };
    ui.result(&match (changes, protection) {
        (Change::Made, Protection::Set) => format!("Protected {name}.\n"),
        (Change::Made, Protection::Removed) => format!("No longer protected in state: {name}.\n"),
        (Change::None, Protection::Set) => format!("{name} is protected already; nothing was changed.\n"),
        (Change::None, Protection::Removed) => {
            format!("{name} is not protected in state; nothing was changed.\n")
        }
    });
    if let Some(source) = still_set_by {
        ui.note(&format!(
            "prevent-delete is still true on it: last set by {source}. Change that setting, then run `stead up`."
        ));
    }
    Ok(0)
}
