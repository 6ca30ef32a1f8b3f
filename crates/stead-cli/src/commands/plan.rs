//! `stead plan`: what `up` would do. Takes no lock and writes nothing.

use std::path::Path;

use stead_plan::{Action, Request, Why};

use crate::args::PlanArguments;
use crate::commands::moves::show_suggestions;
use crate::commands::protect::tell_retained;
use crate::commands::run::{Prepared, show_drift, show_plan, show_reads, show_same};
use crate::commands::up::prepare;
use crate::evaluate::{Settings, evaluate};
use crate::failure::{Failure, Kind};
use crate::pins;
use crate::saved::{SavedPins, SavedPlan};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn plan(session: &Session, arguments: &PlanArguments, ui: &Ui) -> Result<u8, Failure> {
    let pinning = pins::open(session, pins::orphans(arguments.scope.update_pins))?;
    let outer = session.outer(&arguments.scope.marks);
    let (loaded, evaluated) = tokio::join!(session.load(), evaluate(session, &outer, ui));
    let loaded = loaded?;
    session.report_pending(&loaded, ui)?;
    let (evaluated, pinned) = pins::settle(session, pinning, evaluated?, Some(&loaded.state), ui)?;
    let request = arguments.scope.request(outer);
    // To tell what only drift makes necessary from what the program asks for.
    let recorded = (arguments.exit_code && arguments.scope.refresh.is_some()).then(|| loaded.state.clone());
    let (mut prepared, drift) =
        prepare(session, loaded, evaluated, arguments.scope.refresh.into(), &request).await?;
    prepared.engine = prepared.engine.with_pins(pinned.standing());
    if arguments.suggest_renames {
        show_suggestions(&prepared.plan, ui);
        return Ok(0);
    }
    show_reads(&prepared.transcript, ui);
    show_drift(&drift, ui);
    if arguments.scope.unchanged {
        show_same(&prepared.graph, &prepared.plan, ui);
    }
    if prepared.plan.is_empty() {
        let count = prepared.plan.summary.unchanged;
        ui.json("plan", &prepared.plan);
        let what = if count == 1 { "resource is" } else { "resources are" };
        ui.result(&format!("Nothing to do: {count} {what} as declared.\n"));
    } else {
        show_plan(session, &prepared.plan, ui);
        tell_retained(&prepared.base, &prepared.plan, ui);
    }
    // A plan that the guards would refuse is shown, and then refused.
    let Prepared { engine, base, graph, plan, .. } = &prepared;
    engine.permit(plan, base, graph).map_err(|refusals| Failure::all(Kind::Guarded, refusals))?;
    pins::name_released(&pinned, &prepared.plan, &prepared.base, ui);
    if prepared.plan.looks_like_moves() {
        ui.note(
            "Some of this looks like renames: `stead plan --suggest-renames` shows them, and `up` will ask.",
        );
    }
    if let Some(file) = &arguments.out {
        let update_pins = arguments.scope.update_pins;
        save(session, &prepared, request.clone(), SavedPins { pinfile: pinned.text(), update_pins }, file)?;
        ui.note(&format!("Saved; `stead up {}` does exactly this, or nothing.", file.display()));
    }
    if !arguments.exit_code {
        return Ok(0);
    }
    let cause = match recorded.filter(|_| !prepared.observed.is_empty()) {
        Some(recorded) => {
            let wanted = prepared.engine.plan(&recorded, &prepared.graph, request).await;
            if wanted.is_ok_and(|plan| plan.is_empty()) { Cause::Drift } else { Cause::Program }
        }
        None => Cause::Program,
    };
    Ok(exit_code(&prepared, cause))
}

/// What makes a plan necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Program,
    /// The program declares what is recorded, and something else is there.
    Drift,
}

fn save(
    session: &Session,
    prepared: &Prepared,
    request: Request,
    pins: SavedPins,
    file: &Path,
) -> Result<(), Failure> {
    let Prepared { base, graph, plan, transcript, .. } = prepared;
    let settings = Settings::of(session, &request.outer);
    SavedPlan::new(session, settings, base, graph, plan, request, transcript.clone())
        .with_pins(pins)
        .write(session, file)
}

fn exit_code(prepared: &Prepared, cause: Cause) -> u8 {
    let destructive =
        prepared.plan.steps.iter().any(|step| {
            matches!(step.action, Action::Delete { .. }) || matches!(step.why, Why::Replaced { .. })
        });
    match (destructive, cause, prepared.plan.is_empty(), prepared.observed.is_empty()) {
        (true, _, _, _) => 11,
        (false, Cause::Drift, _, _) => 12,
        (false, Cause::Program, false, _) => 10,
        (false, Cause::Program, true, false) => 12,
        (false, Cause::Program, true, true) => 0,
    }
}
