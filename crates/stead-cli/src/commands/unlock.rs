//! `stead unlock`: take the stack from whoever holds it. Safe, because that run is fenced.

use stead_journal::{Takeover, is_dead};
use stead_model::RunResult;

use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn unlock(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_existing().await?;
    let Some(owner) = loaded.head.and_then(|head| head.owner) else {
        ui.result("Nobody holds the stack.\n");
        return Ok(0);
    };
    let who = format!("{} on {} ({}, since {})", owner.user, owner.host, owner.run, owner.since);
    if !is_dead(&session.world, &owner) {
        confirm(session, ui, &format!("Take the stack from {who}? It cannot write after that."))?;
    }
    let run = session.run("unlock", None, Takeover::Always).await?;
    let left = run.in_doubt().len();
    run.close(RunResult::Succeeded).await?;
    ui.result(&format!("Took the stack from {who}.\n"));
    if left > 0 {
        ui.result(&format!("{left} of its operations were under way; `stead up` deals with them first.\n"));
    }
    Ok(0)
}
