//! `stead destroy`: deletes every recorded resource, unless a record or the program protects it.

use stead::Notice;
use stead::ops::{Access, Declares, Nothing, OpEvent, PlanRequest, Proposal};
use stead::plan::{MovePolicy, Purpose, Request};

use crate::args::{DestroyArguments, MarkFlags, OwnerFlags, ProgramFlags, SelectionFlags};
use crate::commands::run::{apply_plan, show_plan};
use crate::commands::up::on_failure;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn destroy(session: &Session, arguments: &DestroyArguments, ui: &Ui) -> Result<u8, Failure> {
    let DestroyArguments { select, marks, owners, program, fail_fast } = arguments;
    let extent = if select.selection().is_everything() { "all" } else { "this" };
    let request = request(session, select, marks);
    let request = PlanRequest { on_failure: on_failure(*fail_fast), take_over: owners.globs(), ..request };
    let Some(proposal) = propose(session, request, *program, ui).await? else { return Ok(0) };
    let question =
        format!("Destroy {extent} of environment {} on target {}?", session.environment(), session.target());
    apply_plan(session, proposal, &question, ui).await
}

/// Shows the plan of `destroy`. Takes no lock and writes nothing.
pub(crate) async fn preview(
    session: &Session,
    select: &SelectionFlags,
    (marks, owners): (&MarkFlags, &OwnerFlags),
    program: ProgramFlags,
    ui: &Ui,
) -> Result<Option<Proposal>, Failure> {
    let request = request(session, select, marks);
    let request = PlanRequest { access: Access::ReadOnly, take_over: owners.globs(), ..request };
    propose(session, request, program, ui).await
}

fn request(session: &Session, select: &SelectionFlags, marks: &MarkFlags) -> PlanRequest {
    let plan = Request {
        purpose: Purpose::Destroy,
        moves: MovePolicy::Refuse,
        selection: select.selection(),
        outer: session.levels(marks),
        ..Request::default()
    };
    PlanRequest { wait: session.wait, ..PlanRequest::destroy(plan) }
}

/// Plans and shows the deletions; `None` if there are none.
async fn propose(
    session: &Session,
    request: PlanRequest,
    flags: ProgramFlags,
    ui: &Ui,
) -> Result<Option<Proposal>, Failure> {
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program = session.protection(flags, &show_notice);
    let nothing = Nothing { program: program.as_ref().map(|program| program as &dyn Declares) };
    let preview =
        async |events: &mut dyn FnMut(OpEvent)| session.workspace.preview(&nothing, request, events).await;
    let proposal = ui.shown(preview).await?;
    if proposal.is_empty() {
        ui.json("plan", proposal.plan().blinded().as_ref());
        ui.result("Nothing to destroy.\n");
        return Ok(None);
    }
    show_plan(session, &proposal, ui);
    Ok(Some(proposal))
}
