//! `stead destroy`: delete everything that is recorded. The program is not needed.

use std::sync::Arc;

use stead_guard::pins::Orphans;
use stead_model::{Graph, NoFunctions};
use stead_plan::{Moves, Purpose, Request};

use crate::args::DestroyArguments;
use crate::commands::run::{carry_out, show_plan};
use crate::commands::up::{Look, on_failure, prepare};
use crate::evaluate::Evaluated;
use crate::failure::Failure;
use crate::pins;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn destroy(session: &Session, arguments: &DestroyArguments, ui: &Ui) -> Result<u8, Failure> {
    let pinning = pins::open(session, Orphans::Refuse)?;
    let loaded = session.load_settled(ui).await?;
    let nothing = Evaluated {
        graph: Graph::default(),
        functions: Arc::new(NoFunctions),
        transcript: Default::default(),
    };
    let selection = arguments.choice.selection();
    let what = if selection.is_everything() { "all" } else { "this" };
    let outer = session.outer(&arguments.marks);
    let request = Request { purpose: Purpose::Destroy, moves: Moves::Refuse, selection, outer };
    let (mut prepared, _) = prepare(session, loaded, nothing, Look::AtRecords, &request).await?;
    prepared.engine =
        prepared.engine.on_failure(on_failure(arguments.fail_fast)).with_pins(pinning.standing());
    if prepared.is_empty() {
        ui.json("plan", &prepared.plan);
        ui.result("Nothing to destroy.\n");
        return Ok(0);
    }
    show_plan(session, &prepared.plan, ui);
    let question =
        format!("Destroy {what} of environment {} on target {}?", session.environment, session.target);
    let code = carry_out(session, prepared, "destroy", &question, ui).await?;
    pinning.forget_emptied().map_err(pins::failed)?;
    Ok(code)
}
