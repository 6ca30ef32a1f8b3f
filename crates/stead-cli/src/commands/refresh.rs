//! `stead refresh`: read every resource from its provider, and record the differences.

use stead::ops::StateEdit;

use crate::args::Choice;
use crate::commands::run::show_drift;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn refresh(session: &Session, choice: &Choice, ui: &Ui) -> Result<u8, Failure> {
    let edit = StateEdit::Refresh { selection: choice.selection() };
    let edit = session.workspace.edit(edit, session.wait, &mut ui.listener()).await?;
    if edit.is_empty() {
        ui.result("Everything is as recorded.\n");
        return Ok(0);
    }
    show_drift(edit.drift(), ui);
    let edit = edit.permit()?;
    confirm(session, ui, "Record this as it is?")?;
    edit.apply(&mut ui.listener()).await?;
    ui.result("Recorded. `stead up` makes it as the program declares it.\n");
    Ok(0)
}
