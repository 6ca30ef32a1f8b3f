//! `stead up`: creates, updates and deletes resources as the program declares.

use std::path::Path;

use stead::ops::{Declares, Look, OpError, OpEvent, PinUse, PlanRequest, Proposal, Protecting};
use stead::plan::Glob;
use stead::{Notice, OnFailure, Program, SavedPlan};

use crate::args::{Refresh, UpArguments};
use crate::commands::run::{
    apply_plan, show_drift, show_outputs, show_plan, show_reads, show_unchanged, show_undeclared_imports,
};
use crate::commands::secrets::warn_of_unnamed;
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

pub(crate) async fn up(session: &Session, arguments: &UpArguments, ui: &Ui) -> Result<u8, Failure> {
    if let Some(file) = &arguments.plan {
        let settings = (on_failure(arguments.fail_fast), arguments.scope.owners.globs());
        return up_saved(session, file, settings, ui).await;
    }
    let scope = &arguments.scope;
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let levels = session.levels(&scope.marks);
    let program = session.program(levels.clone(), &show_notice);
    let request = PlanRequest {
        look: scope.refresh.map(Look::from).unwrap_or_default(),
        pins: PinUse::Apply(scope.orphans()),
        on_failure: on_failure(arguments.fail_fast),
        wait: session.wait,
        take_over: scope.owners.globs(),
        ..PlanRequest::up(scope.request(levels))
    };
    let preview =
        async |events: &mut dyn FnMut(OpEvent)| session.workspace.preview(&program, request, events).await;
    let proposal = ui.shown(preview).await?;
    warn_of_unnamed(session, proposal.base(), ui);
    proposal.pins().into_iter().for_each(|pins| pins::show(pins, ui));
    show_reads(&program.transcript(), ui);
    show_drift(session, proposal.drift(), ui);
    if scope.unchanged {
        show_unchanged(session, proposal.graph(), proposal.plan(), ui);
    }
    show_undeclared_imports(session, &proposal, ui);
    if proposal.is_empty() {
        show_nothing_to_do(&proposal, scope.refresh, ui);
        pins::show_held(&proposal, ui);
        show_outputs(proposal.base().outputs(), ui);
        return finish_empty(proposal, ui).await;
    }
    show_plan(session, &proposal, ui);
    warn_of_retained(session, proposal.base(), proposal.plan(), ui);
    pins::show_held(&proposal, ui);
    let proposal = pins::ask_to_release(session, proposal, ui);
    apply_plan(session, proposal, &question(session), ui).await
}

/// Says that nothing is to do, and how much of reality that is known of.
pub(crate) fn show_nothing_to_do(proposal: &Proposal, refresh: Option<Refresh>, ui: &Ui) {
    let count = proposal.plan().summary.unchanged;
    let resources = if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") };
    ui.json("plan", proposal.plan().blinded().as_ref());
    ui.result(&match (count, refresh) {
        (0, _) if proposal.base().copies().next().is_some() => {
            "Nothing to do: the program declares no resource.\n".to_owned()
        }
        (0, _) => "Nothing to do: the program declares no resource, and none is recorded.\n".to_owned(),
        (1, Some(Refresh::All)) => "Nothing to do: 1 resource is as declared.\n".to_owned(),
        (_, Some(Refresh::All)) => format!("Nothing to do: {resources} are as declared.\n"),
        (_, None | Some(Refresh::Changed)) => format!(
            "Nothing to do: the recorded state of {resources} matches the program.\n\
             The real resources were not checked; `--refresh` checks them.\n"
        ),
    });
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
async fn up_saved(
    session: &Session,
    file: &Path,
    settings: (OnFailure, Vec<Glob>),
    ui: &Ui,
) -> Result<u8, Failure> {
    let Session { project, workspace, .. } = session;
    let saved = SavedPlan::read(project, workspace, file).await?;
    saved.check_call(&session.config, file)?;
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program =
        Program::replayed(project, workspace, saved.settings(), saved.transcript().clone(), &show_notice);
    let today = workspace.pinfile.has_program().then(|| {
        session.program_with(
            saved.config_of_call(session.config.clone()),
            session.levels_without_flags(),
            &show_notice,
        )
    });
    let today = today.as_ref().map(|program| program as &dyn Declares);
    let program = Protecting { declared: &program, program: today };
    let preview = async |events: &mut dyn FnMut(OpEvent)| {
        workspace.preview_approved(&program, saved.approval(), settings, session.wait, events).await
    };
    let proposal = ui.shown(preview).await.map_err(|error| match error {
        OpError::Stale(why) => SavedPlan::stale(file, why),
        other => other,
    })?;
    proposal.pins().into_iter().for_each(|pins| pins::show(pins, ui));
    show_plan(session, &proposal, ui);
    if proposal.is_empty() {
        return finish_empty(proposal, ui).await;
    }
    apply_plan(session, proposal, &question(session), ui).await
}
