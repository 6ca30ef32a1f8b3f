//! `stead up`: make everything as the program declares it.

use std::path::Path;

use stead_engine::{Drift, Refreshed};
use stead_journal::Loaded;
use stead_plan::Purpose;

use crate::commands::run::{Prepared, carry_out, show_drift, show_outputs, show_plan};
use crate::evaluate::{Evaluated, evaluate, evaluate_from};
use crate::failure::{Failure, Kind};
use crate::saved::SavedPlan;
use crate::session::Session;
use crate::ui::Ui;

/// Whether to look at what is really there before planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    AtRecords,
    Outside,
}

impl Look {
    pub(crate) fn from_flag(refresh: bool) -> Look {
        if refresh { Look::Outside } else { Look::AtRecords }
    }
}

pub(crate) async fn up(session: &Session, look: Look, ui: &Ui) -> Result<u8, Failure> {
    let (loaded, evaluated) = tokio::join!(session.load_settled(ui), evaluate(session, ui));
    let (loaded, evaluated) = (loaded?, evaluated?);
    let (prepared, drift) = prepare(session, loaded, evaluated, look, Purpose::Up).await?;
    show_drift(&drift, ui);
    if prepared.is_empty() {
        let count = prepared.plan.summary.unchanged;
        let what = if count == 1 { "resource is" } else { "resources are" };
        ui.json("plan", &prepared.plan);
        ui.result(&format!("Nothing to do: {count} {what} as declared.\n"));
        show_outputs(prepared.base.outputs(), ui);
        return Ok(0);
    }
    show_plan(session, &prepared.plan, ui);
    let question = format!("Apply this to environment {}?", session.environment);
    carry_out(session, prepared, "up", &question, ui).await
}

/// Does exactly what a saved plan says, or nothing. The sources need not be there.
pub(crate) async fn up_saved(session: &Session, file: &Path, ui: &Ui) -> Result<u8, Failure> {
    let saved = SavedPlan::read(session, file)?;
    let loaded = session.load_settled(ui).await?;
    saved.check_state(&loaded.state, file)?;
    let evaluated = evaluate_from(session, saved.transcript.clone(), saved.settings(), ui).await?;
    let (prepared, _) = prepare(session, loaded, evaluated, Look::AtRecords, Purpose::Up).await?;
    saved.check_plan(&prepared.graph, &prepared.plan, file)?;
    show_plan(session, &prepared.plan, ui);
    if prepared.is_empty() {
        return Ok(0);
    }
    let question = format!("Apply this to environment {}?", session.environment);
    carry_out(session, prepared, "up", &question, ui).await
}

/// Everything up to the plan. Writes nothing.
pub(crate) async fn prepare(
    session: &Session,
    loaded: Loaded,
    evaluated: Evaluated,
    look: Look,
    purpose: Purpose,
) -> Result<(Prepared, Vec<Drift>), Failure> {
    let Evaluated { graph, functions, transcript } = evaluated;
    let engine = session.engine.clone().with_functions(functions);
    let failed = |problems| Failure::all(Kind::Failed, problems);
    let Loaded { state, version, .. } = loaded;
    let Refreshed { state: base, drift, records: observed } = match look {
        Look::AtRecords => Refreshed { state, drift: Vec::new(), records: Vec::new() },
        Look::Outside => engine.refresh(&state).await.map_err(failed)?,
    };
    let plan = engine.plan(&base, &graph, purpose).await.map_err(failed)?;
    Ok((Prepared { engine, version, graph, base, observed, plan, transcript }, drift))
}
