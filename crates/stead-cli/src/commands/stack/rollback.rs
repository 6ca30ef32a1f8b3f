//! `stead stack rollback`: a plan back to the state after an earlier run.

use stead::ops::{EarlierRun, PlanRequest};
use stead::plan::{MovePolicy, Request};
use stead_model::RunId;

use crate::commands::run::{apply_plan, show_plan};
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn rollback(session: &Session, run: &str, ui: &Ui) -> Result<u8, Failure> {
    // Names are what they were: no move has to be guessed.
    let plan = Request { moves: MovePolicy::Refuse, outer: session.plain_levels(), ..Request::default() };
    let request = PlanRequest { wait: session.wait, ..PlanRequest::rollback(plan) };
    let earlier = EarlierRun { stack: session.workspace.stack.clone(), run: RunId(run.to_owned()) };
    let proposal = session.workspace.preview(&earlier, request, &mut ui.listener()).await?;
    if proposal.is_empty() {
        ui.json("plan", proposal.plan());
        ui.result(&format!("Nothing to do: everything is as it was after {run}.\n"));
        return Ok(0);
    }
    show_plan(session, proposal.plan(), ui);
    let question = format!("Go back to the state after {run} in environment {}?", session.environment());
    let code = apply_plan(session, proposal, &question, ui).await?;
    ui.note("The program did not change; the next `stead up` follows it again.");
    Ok(code)
}
