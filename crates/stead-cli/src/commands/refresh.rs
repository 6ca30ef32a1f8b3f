//! `stead refresh`: look at what is really there, and record it.

use stead_engine::Refreshed;
use stead_journal::Takeover;
use stead_model::RunResult;

use crate::args::Choice;
use crate::commands::run::{show_drift, write_down};
use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn refresh(session: &Session, choice: &Choice, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_settled(ui).await?;
    let chosen = choice
        .selection()
        .of_records(&loaded.state)
        .map_err(|problem| Failure::new(Kind::Failed, problem))?;
    let refreshed =
        session.engine.refresh_where(&loaded.state, |resource| chosen.contains(&resource.uid)).await;
    let Refreshed { drift, records, .. } =
        refreshed.map_err(|problems| Failure::all(Kind::Failed, problems))?;
    if drift.is_empty() {
        ui.result("Everything is as recorded.\n");
        return Ok(0);
    }
    show_drift(&drift, ui);
    confirm(session, ui, "Record this as it is?")?;
    let run = session.run("refresh", Some(loaded.version), Takeover::IfDead).await?;
    write_down(&run, records).await?;
    run.close(RunResult::Succeeded).await?;
    ui.result("Recorded. `stead up` makes it as the program declares it.\n");
    Ok(0)
}
