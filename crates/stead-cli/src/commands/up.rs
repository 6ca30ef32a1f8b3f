//! `stead up`: creates, updates and deletes resources as the program declares.

use std::path::Path;

use stead::guard::Orphans;
use stead::ops::{Declares, Look, OpError, PinUse, PlanRequest, Proposal, Protecting};
use stead::{Notice, OnFailure, Program, SavedPlan};

use crate::args::{Refresh, UpArguments};
use crate::commands::run::{apply_plan, show_drift, show_outputs, show_plan, show_reads, show_unchanged};
use crate::commands::state::warn_of_retained;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;
use crate::{pins, wiring};

impl From<Refresh> for Look {
    fn from(refresh: Refresh) -> Look {
        match refresh {
            Refresh::All => Look::All,
            Refresh::Changed => Look::Changed,
        }
    }
}

pub(crate) fn on_failure(fail_fast: bool) -> OnFailure {
    if fail_fast { OnFailure::Stop } else { OnFailure::GoOn }
}

pub(crate) fn orphans(update_pins: bool) -> Orphans {
    if update_pins { Orphans::Remove } else { Orphans::Refuse }
}

pub(crate) async fn up(session: &Session, arguments: &UpArguments, ui: &Ui) -> Result<u8, Failure> {
    if let Some(file) = &arguments.plan {
        return up_saved(session, file, on_failure(arguments.fail_fast), ui).await;
    }
    let scope = &arguments.scope;
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let levels = session.levels(&scope.marks);
    let program = session.program(levels.clone(), &show_notice);
    let request = PlanRequest {
        look: scope.refresh.map(Look::from).unwrap_or_default(),
        pins: PinUse::Apply(orphans(scope.update_pins)),
        on_failure: on_failure(arguments.fail_fast),
        wait: session.wait,
        ..PlanRequest::up(scope.request(levels))
    };
    let proposal = session.workspace.preview(&program, request, &mut ui.listener()).await?;
    proposal.pins().into_iter().for_each(|pins| pins::show(pins, ui));
    show_reads(&program.transcript(), ui);
    show_drift(proposal.drift(), ui);
    if scope.unchanged {
        show_unchanged(proposal.graph(), proposal.plan(), ui);
    }
    if proposal.is_empty() {
        show_nothing_to_do(&proposal, ui);
        show_outputs(proposal.base().outputs(), ui);
        return finish_empty(proposal, ui).await;
    }
    show_plan(session, proposal.plan(), ui);
    warn_of_retained(proposal.base(), proposal.plan(), ui);
    apply_plan(session, proposal, &question(session), ui).await
}

pub(crate) fn show_nothing_to_do(proposal: &Proposal, ui: &Ui) {
    let count = proposal.plan().summary.unchanged;
    let subject = if count == 1 { "resource is" } else { "resources are" };
    ui.json("plan", proposal.plan());
    ui.result(&format!("Nothing to do: {count} {subject} as declared.\n"));
}

fn question(session: &Session) -> String {
    format!("Apply this to environment {}?", session.environment())
}

/// Applies a plan without steps, which may still change the pinfile.
async fn finish_empty(proposal: Proposal, ui: &Ui) -> Result<u8, Failure> {
    let report = proposal.permit()?.apply(wiring::never_stopped(), &mut ui.listener()).await?;
    pins::report_write(report.pinfile, ui)?;
    Ok(0)
}

/// Applies exactly the saved plan, or nothing. The sources of the program are not needed; where they are, their marks and pins
/// count as they are today.
async fn up_saved(session: &Session, file: &Path, on_failure: OnFailure, ui: &Ui) -> Result<u8, Failure> {
    let Session { project, workspace, .. } = session;
    let saved = SavedPlan::read(project, workspace, file)?;
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program =
        Program::replayed(project, workspace, saved.settings(), saved.transcript().clone(), &show_notice);
    let mut events = ui.listener();
    let today = workspace
        .pinfile
        .has_program()
        .then(|| session.program(session.levels_without_flags(), &show_notice));
    let today = today.as_ref().map(|program| program as &dyn Declares);
    let program = Protecting { declared: &program, program: today };
    let previewed =
        workspace.preview_approved(&program, saved.approval(), on_failure, session.wait, &mut events);
    let proposal = previewed.await.map_err(|error| match error {
        OpError::Stale(why) => SavedPlan::stale(file, why),
        other => other,
    })?;
    proposal.pins().into_iter().for_each(|pins| pins::show(pins, ui));
    show_plan(session, proposal.plan(), ui);
    if proposal.is_empty() {
        return finish_empty(proposal, ui).await;
    }
    apply_plan(session, proposal, &question(session), ui).await
}
