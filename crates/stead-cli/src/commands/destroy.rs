//! `stead destroy`: deletes every recorded resource, unless a record or the program protects it.

use stead::Notice;
use stead::ops::{Declares, Nothing, PlanRequest};
use stead::plan::{MovePolicy, Purpose, Request};

use crate::args::DestroyArguments;
use crate::commands::run::{apply_plan, show_plan};
use crate::commands::up::on_failure;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn destroy(session: &Session, arguments: &DestroyArguments, ui: &Ui) -> Result<u8, Failure> {
    let selection = arguments.select.selection();
    let extent = if selection.is_everything() { "all" } else { "this" };
    let outer = session.levels(&arguments.marks);
    let plan = Request { purpose: Purpose::Destroy, moves: MovePolicy::Refuse, selection, outer };
    let request = PlanRequest {
        on_failure: on_failure(arguments.fail_fast),
        wait: session.wait,
        ..PlanRequest::destroy(plan)
    };
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program = session.protection(arguments.program, &show_notice);
    let nothing = Nothing { program: program.as_ref().map(|program| program as &dyn Declares) };
    let proposal = session.workspace.preview(&nothing, request, &mut ui.listener()).await?;
    if proposal.is_empty() {
        ui.json("plan", proposal.plan());
        ui.result("Nothing to destroy.\n");
        return Ok(0);
    }
    show_plan(session, proposal.plan(), ui);
    let question =
        format!("Destroy {extent} of environment {} on target {}?", session.environment(), session.target());
    apply_plan(session, proposal, &question, ui).await
}
