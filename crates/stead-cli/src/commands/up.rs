//! `stead up`: make everything as the program declares it.

use std::path::Path;
use std::sync::Arc;

use stead_engine::{Drift, OnFailure, Pinned, Refreshed, Today};
use stead_journal::Loaded;
use stead_model::Diagnostic;
use stead_plan::Request;

use crate::args::{Refresh, UpArguments};
use crate::commands::moves::settle_moves;
use crate::commands::protect::tell_retained;
use crate::commands::run::{Prepared, carry_out, show_drift, show_outputs, show_plan, show_reads, show_same};
use crate::evaluate::{Evaluated, evaluate, evaluate_from};
use crate::failure::{Failure, Kind};
use crate::pins;
use crate::saved::SavedPlan;
use crate::session::Session;
use crate::ui::Ui;

/// What to look at before planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    AtRecords,
    Outside,
    /// At what the plan would touch.
    AtChanged,
}

impl From<Option<Refresh>> for Look {
    fn from(refresh: Option<Refresh>) -> Look {
        match refresh {
            None => Look::AtRecords,
            Some(Refresh::All) => Look::Outside,
            Some(Refresh::Changed) => Look::AtChanged,
        }
    }
}

pub(crate) fn on_failure(fail_fast: bool) -> OnFailure {
    if fail_fast { OnFailure::Stop } else { OnFailure::GoOn }
}

pub(crate) async fn up(session: &Session, arguments: &UpArguments, ui: &Ui) -> Result<u8, Failure> {
    if let Some(file) = &arguments.plan {
        return up_saved(session, file, on_failure(arguments.fail_fast), ui).await;
    }
    let pinning = pins::open(session, pins::orphans(arguments.scope.update_pins))?;
    let outer = session.outer(&arguments.scope.marks);
    let (loaded, evaluated) = tokio::join!(session.load_in_turn(ui), evaluate(session, &outer, ui));
    let (loaded, evaluated) = (loaded?, evaluated?);
    let today = Today { pins: pinning.standing(), outer: outer.clone(), program: Some(&evaluated.graph) };
    let loaded = session.settle(loaded, today, ui).await?;
    let (evaluated, pinned) = pins::settle(session, pinning, evaluated, Some(&loaded.state), ui)?;
    let request = arguments.scope.request(outer);
    let (mut prepared, drift) =
        prepare(session, loaded, evaluated, arguments.scope.refresh.into(), &request).await?;
    prepared.engine =
        prepared.engine.on_failure(on_failure(arguments.fail_fast)).with_pinfile(pinned.clone());
    show_reads(&prepared.transcript, ui);
    show_drift(&drift, ui);
    if arguments.scope.unchanged {
        show_same(&prepared.graph, &prepared.plan, ui);
    }
    if prepared.is_empty() {
        let count = prepared.plan.summary.unchanged;
        let what = if count == 1 { "resource is" } else { "resources are" };
        ui.json("plan", &prepared.plan);
        ui.result(&format!("Nothing to do: {count} {what} as declared.\n"));
        show_outputs(prepared.base.outputs(), ui);
        pins::finish(session, &pinned, pinned.write_after_run(), ui).await?;
        return Ok(0);
    }
    show_plan(session, &prepared.plan, ui);
    tell_retained(&prepared.base, &prepared.plan, ui);
    settle_moves(&prepared.plan, ui)?;
    apply(session, prepared, pinned, ui).await
}

/// Carries the plan out; the pinfile is written if all of it was done.
async fn apply(session: &Session, prepared: Prepared, pinned: Arc<Pinned>, ui: &Ui) -> Result<u8, Failure> {
    pins::name_released(&pinned, &prepared.plan, &prepared.base, ui);
    pinned.still_the_same().map_err(pins::failed)?;
    let question = format!("Apply this to environment {}?", session.environment);
    carry_out(session, prepared, "up", &question, ui).await
}

/// Does exactly what a saved plan says, or nothing. The sources need not be there.
async fn up_saved(session: &Session, file: &Path, on_failure: OnFailure, ui: &Ui) -> Result<u8, Failure> {
    let saved = SavedPlan::read(session, file)?;
    let loaded = session.load_in_turn(ui).await?;
    let evaluated = evaluate_from(session, saved.transcript.clone(), saved.settings(), ui).await?;
    let today = Today { program: Some(&evaluated.graph), ..session.today(&loaded)? };
    let loaded = session.settle(loaded, today, ui).await?;
    saved.check_state(&loaded.state, file)?;
    let pinning = saved.pinning(session)?;
    let (evaluated, pinned) = pins::settle(session, pinning, evaluated, Some(&loaded.state), ui)?;
    let (mut prepared, _) = prepare(session, loaded, evaluated, Look::AtRecords, &saved.request).await?;
    prepared.engine = prepared.engine.on_failure(on_failure).with_pinfile(pinned.clone());
    saved.check_plan(&prepared.graph, &prepared.plan, file)?;
    let plan_again =
        |problem: Diagnostic| problem.help("a saved plan goes by the file as it was: plan again");
    pinned.still_the_same().map_err(|problem| pins::failed(plan_again(problem)))?;
    show_plan(session, &prepared.plan, ui);
    if prepared.is_empty() {
        pins::finish(session, &pinned, pinned.write_after_run(), ui).await?;
        return Ok(0);
    }
    settle_moves(&prepared.plan, ui)?;
    apply(session, prepared, pinned, ui).await
}

/// Everything up to the plan. Writes nothing.
pub(crate) async fn prepare(
    session: &Session,
    loaded: Loaded,
    evaluated: Evaluated,
    look: Look,
    request: &Request,
) -> Result<(Prepared, Vec<Drift>), Failure> {
    let Evaluated { graph, functions, transcript } = evaluated;
    let engine = session.engine.clone().with_functions(functions);
    let failed = |problems| Failure::all(Kind::Failed, problems);
    let Loaded { state, version, .. } = loaded;
    let Refreshed { state: base, drift, records: observed } = match look {
        Look::AtRecords => Refreshed { state, drift: Vec::new(), records: Vec::new() },
        Look::Outside => engine.refresh(&state).await.map_err(failed)?,
        Look::AtChanged => {
            let plan = engine.plan(&state, &graph, request.clone()).await.map_err(failed)?;
            engine.refresh_touched(&state, &plan).await.map_err(failed)?
        }
    };
    let plan = engine.plan(&base, &graph, request.clone()).await.map_err(failed)?;
    Ok((Prepared { engine, version, graph, base, observed, plan, transcript }, drift))
}
