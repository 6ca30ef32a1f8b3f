//! `stead stack rollback`: plans and applies a return to the state after an earlier run.

use stead::Notice;
use stead::ops::{Declares, EarlierRun, OpEvent, PlanRequest, Proposal};
use stead::plan::Request;
use stead_model::RunId;

use crate::args::ProgramFlags;
use crate::commands::run::{apply_plan, show_plan};
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn rollback(
    session: &Session,
    run: &str,
    flags: ProgramFlags,
    ui: &Ui,
) -> Result<u8, Failure> {
    let plan = Request { outer: session.levels_without_flags(), ..Request::default() };
    let request = PlanRequest { wait: session.wait, ..PlanRequest::rollback(plan) };
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program = session.protection(flags, &show_notice);
    let program = program.as_ref().map(|program| program as &dyn Declares);
    let stack = session.workspace.stack.clone();
    let earlier = EarlierRun { stack, run: RunId(run.to_owned()), program };
    let preview =
        async |events: &mut dyn FnMut(OpEvent)| session.workspace.preview(&earlier, request, events).await;
    let proposal = ui.shown(preview).await?;
    if proposal.is_empty() {
        ui.json("plan", proposal.plan().blinded().as_ref());
        ui.result(&format!("Nothing to do: every resource is as it was after {run}.\n"));
        show_kept_protection(session, &proposal, ui);
        return Ok(0);
    }
    show_plan(session, &proposal, ui);
    show_kept_protection(session, &proposal, ui);
    let question = format!("Go back to the state after {run} in environment {}?", session.environment());
    let code = apply_plan(session, proposal, &question, ui).await?;
    ui.note("The program did not change; the next `stead up` applies it again.");
    Ok(code)
}

/// Lists the resources whose protection the earlier run did not have.
fn show_kept_protection(session: &Session, proposal: &Proposal, ui: &Ui) {
    for name in proposal.kept_protection() {
        let name = name.shown_in(session.environment());
        ui.note(&format!("{name} stays protected as it is now: going back never removes a mark or a pin."));
    }
}
