//! `stead plan`: shows the changes that `up` would make. Takes no lock and writes nothing.

use std::collections::BTreeMap;

use stead::ops::{Access, Cause, Look, OpEvent, PinUse, PlanRequest, Proposal, Unfinished};
use stead::plan::{Action, Why};
use stead::{Notice, SavedPlan};
use stead_world::ShellCommand;

use crate::args::{PlanArguments, ProgramFlags, RunScope};
use crate::commands::destroy;
use crate::commands::moves::show_suggestions;
use crate::commands::run::{show_drift, show_plan, show_reads, show_unchanged, show_undeclared_imports};
use crate::commands::secrets::warn_of_unnamed;
use crate::commands::state::warn_of_retained;
use crate::commands::up::show_nothing_to_do;
use crate::failure::Failure;
use crate::pins;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn plan(session: &Session, arguments: &PlanArguments, ui: &Ui) -> Result<u8, Failure> {
    if arguments.destroy {
        return plan_destroy(session, arguments, ui).await;
    }
    let scope = &arguments.scope;
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let levels = session.levels(&scope.marks);
    let program = session.program(levels.clone(), &show_notice);
    let request = PlanRequest {
        look: scope.refresh.map(Look::from).unwrap_or_default(),
        pins: PinUse::Apply(scope.orphans()),
        access: Access::ReadOnly,
        take_over: scope.owners.globs(),
        ..PlanRequest::up(scope.request(levels))
    };
    let preview =
        async |events: &mut dyn FnMut(OpEvent)| session.workspace.preview(&program, request, events).await;
    let proposal = ui.shown(preview).await?;
    show_unfinished(proposal.unfinished(), ui);
    show_untold(&proposal, ui);
    proposal.pins().into_iter().for_each(|pins| pins::show(pins, ui));
    warn_of_unnamed(session, proposal.base(), ui);
    if arguments.permissions {
        let target = session.workspace.target();
        let policies = stead::permissions(&session.project, target, &proposal, &program.transcript());
        show_permissions(policies, ui);
        return Ok(0);
    }
    if arguments.suggest_renames {
        show_suggestions(proposal.plan(), ui);
        return Ok(0);
    }
    show_reads(&program.transcript(), ui);
    show_drift(session, proposal.drift(), ui);
    if scope.unchanged {
        show_unchanged(session, proposal.graph(), proposal.plan(), ui);
    }
    show_undeclared_imports(session, &proposal, ui);
    if proposal.plan().is_empty() {
        show_nothing_to_do(&proposal, scope.refresh, ui);
    } else {
        show_plan(session, &proposal, ui);
        warn_of_retained(session, proposal.base(), proposal.plan(), ui);
    }
    pins::show_held(&proposal, ui);
    // A plan that the guards refuse is shown first.
    let permitted = proposal.permit()?;
    let proposal = permitted.proposal();
    pins::show_released(proposal, ui);
    if proposal.plan().has_likely_moves() {
        ui.note(
            "Some changes look like renames: `stead plan --suggest-renames` lists them, and `stead up` refuses them.",
        );
    }
    if let Some(file) = &arguments.out {
        SavedPlan::new(&session.project, &session.workspace, &program, proposal)?
            .write(&session.workspace, file)?;
        let on = session.shown_stack().flags();
        let file = ShellCommand::word(&file.display().to_string());
        ui.note(&format!("Saved; `stead up {file}{on}` applies exactly this plan, or nothing."));
    }
    let code = match (arguments.exit_code, scope.refresh) {
        (false, _) => 0,
        (true, None) => exit_code(proposal, Cause::Program),
        (true, Some(_)) => exit_code(proposal, proposal.cause().await),
    };
    permitted.leave_to_exit();
    Ok(code)
}

/// Prints the least policies for the plan of `up`: the second name of `plan --permissions`.
pub(crate) async fn permissions(session: &Session, scope: RunScope, ui: &Ui) -> Result<u8, Failure> {
    let arguments = PlanArguments {
        scope,
        permissions: true,
        destroy: false,
        without_program: false,
        suggest_renames: false,
        out: None,
        exit_code: false,
    };
    plan(session, &arguments, ui).await
}

/// Prints the least policies for a plan, each in parts that fit into a managed policy.
fn show_permissions(permissions: stead::Permissions, ui: &Ui) {
    let split = permissions.split();
    let long = split.iter().filter(|policy| policy.parts.len() > 1);
    let long: Vec<(String, usize)> = long.map(|policy| (policy.name.clone(), policy.parts.len())).collect();
    let policies: BTreeMap<_, _> = split.into_iter().flat_map(stead::SplitPolicy::named).collect();
    // The types contain only strings and lists, so that they always have a text.
    let text = serde_json::to_string_pretty(&policies).unwrap_or_default();
    ui.result(&format!("{text}\n"));
    ui.json("permissions", &policies);
    if policies.is_empty() {
        ui.note("This plan needs no permission of AWS.");
    }
    for (name, parts) in long {
        ui.note(&format!(
            "The policy `{name}` is longer than the {} characters of a managed policy. It is printed in {parts} parts: make a \
             policy of each, and attach them all.",
            stead::MANAGED_POLICY
        ));
    }
}

/// Shows what `destroy` would delete, and whether the guards permit it.
async fn plan_destroy(session: &Session, arguments: &PlanArguments, ui: &Ui) -> Result<u8, Failure> {
    let RunScope { select, marks, owners, .. } = &arguments.scope;
    let program = ProgramFlags { without_program: arguments.without_program };
    let Some(proposal) = destroy::preview(session, select, (marks, owners), program, ui).await? else {
        return Ok(0);
    };
    show_unfinished(proposal.unfinished(), ui);
    show_untold(&proposal, ui);
    // A plan that the guards refuse is shown first.
    let permitted = proposal.permit()?;
    Ok(if arguments.exit_code { exit_code(permitted.proposal(), Cause::Program) } else { 0 })
}

/// Says which places could not be compared with the recorded ones.
fn show_untold(proposal: &Proposal, ui: &Ui) {
    for untold in proposal.untold_places() {
        ui.note(&format!("{untold}; this plan assumes the recorded place, and `stead up` will ask again."));
    }
}

/// Lists unfinished work of other runs, which the plan does not include.
fn show_unfinished(unfinished: &Unfinished, ui: &Ui) {
    if let Some(owner) = &unfinished.holder {
        ui.note(&format!(
            "{} on {} has held the lock since {}; this plan does not include the changes of that run.",
            owner.user, owner.host, owner.since
        ));
    }
    for (count, to) in &unfinished.moves {
        ui.note(&format!(
            "A move of {count} resources to {} was interrupted; the next command that writes finishes or undoes it first.",
            to.environment
        ));
    }
    for (operation, name) in &unfinished.repeatable {
        ui.note(&format!(
            "The {} of {name} was under way when a run stopped; `stead up` finishes it first.",
            operation.verb()
        ));
    }
}

fn exit_code(proposal: &Proposal, cause: Cause) -> u8 {
    let destructive =
        proposal.plan().steps.iter().any(|step| {
            matches!(step.action, Action::Delete { .. }) || matches!(step.why, Why::Replaced { .. })
        });
    match (destructive, cause, proposal.plan().is_empty(), proposal.drift().is_empty()) {
        (true, _, _, _) => 11,
        (false, Cause::Drift, _, _) => 12,
        (false, Cause::Program, false, _) => 10,
        (false, Cause::Program, true, false) => 12,
        (false, Cause::Program, true, true) => 0,
    }
}
