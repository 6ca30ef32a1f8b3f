//! What `up`, `destroy` and `plan` share: show a plan, ask, carry it out, say how it went.

use serde::Serialize;
use stead_engine::{Drift, Engine, Report};
use stead_journal::Takeover;
use stead_model::{Graph, Map, RunResult};
use stead_plan::Plan;
use stead_render::{Header, Paint, change_line};
use stead_state::{Record, State};
use stead_store::Version;

use crate::commands::protect::tell_kept;
use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::transcript::Transcript;
use crate::ui::Ui;
use crate::wiring;

/// A plan with all that is needed to carry it out.
pub(crate) struct Prepared {
    /// With the interpreter that the graph needs.
    pub engine: Engine,
    /// The version of head that all this was read from.
    pub version: Option<Version>,
    pub graph: Graph,
    /// The state that the plan starts from: what is recorded, or what was just found.
    pub base: State,
    /// What has to be written first so that the recorded state is the base.
    pub observed: Vec<Record>,
    pub plan: Plan,
    /// What the program was told.
    pub transcript: Transcript,
}

impl Prepared {
    pub(crate) fn is_empty(&self) -> bool {
        self.plan.is_empty() && self.observed.is_empty()
    }
}

#[derive(Serialize)]
struct Outputs<'a> {
    outputs: &'a Map,
}

#[derive(Serialize)]
struct Ended {
    result: RunResult,
    done: usize,
    failed: usize,
    skipped: usize,
    /// How often this command waited for the disk.
    fsyncs: u64,
}

pub(crate) fn show_plan(session: &Session, plan: &Plan, ui: &Ui) {
    let header = Header {
        project: &session.project.name,
        environment: &session.environment.to_string(),
        target: &session.target,
    };
    ui.result(&stead_render::plan(plan, &header, &ui.out_style()));
    ui.json("plan", plan);
}

pub(crate) fn show_drift(drift: &[Drift], ui: &Ui) {
    let style = ui.out_style();
    for drift in drift {
        let what = if drift.found.is_some() { "changed outside" } else { "gone outside" };
        ui.result(&format!("{} {}\n", style.paint(Paint::Caution, what), drift.name));
        drift.changes.iter().for_each(|change| ui.result(&change_line(change, &style)));
        ui.json("drift", &DriftLine { name: drift.name.to_string(), gone: drift.found.is_none() });
    }
    if !drift.is_empty() {
        ui.result("\n");
    }
}

#[derive(Serialize)]
struct DriftLine {
    name: String,
    gone: bool,
}

pub(crate) fn show_outputs(outputs: &Map, ui: &Ui) {
    ui.json("outputs", &Outputs { outputs });
    if !outputs.is_empty() {
        ui.result(&format!("\n{}", stead_render::outputs(outputs)));
    }
}

/// Guards, question, run. The plan has been shown.
pub(crate) async fn carry_out(
    session: &Session,
    prepared: Prepared,
    command: &str,
    question: &str,
    ui: &Ui,
) -> Result<u8, Failure> {
    let Prepared { engine, version, graph, base, observed, plan, .. } = prepared;
    let permitted =
        engine.permit(&plan, &base, &graph).map_err(|refusals| Failure::all(Kind::Guarded, refusals))?;
    confirm(session, ui, question)?;
    let run = session.run(command, Some(version), Takeover::IfDead).await?;
    let stop = wiring::interrupts();
    for record in observed {
        run.submit(record).durable().await?;
    }
    let mut progress = ui.progress();
    let mut on_event = |event| progress.event(&event);
    let id = run.id();
    let report = engine.execute(run, permitted, &base, &graph, &mut on_event, stop).await;
    if let Ok(closed) = &report.closed {
        tell_kept(&closed.state, &id, ui);
    }
    conclude(session, report, ui)
}

fn conclude(session: &Session, report: Report, ui: &Ui) -> Result<u8, Failure> {
    let Report { result, done, problems, skipped, outputs, closed } = report;
    let ended = Ended { result, done, failed: problems.len(), skipped, fsyncs: session.world.files.syncs() };
    ui.json("ended", &ended);
    let kind = match result {
        RunResult::Succeeded => {
            closed?;
            ui.result(&format!("\nDone: {done} {}.\n", if done == 1 { "step" } else { "steps" }));
            show_outputs(&outputs, ui);
            return Ok(0);
        }
        RunResult::InDoubt => Kind::InDoubt,
        RunResult::Interrupted => Kind::Interrupted,
        RunResult::Failed => Kind::Failed,
    };
    ui.problems(&problems);
    if let Err(error) = closed
        && result != RunResult::Interrupted
    {
        return Err(error.into());
    }
    let rest = if skipped == 0 { String::new() } else { format!(", {skipped} not started") };
    ui.note(&format!(
        "{done} done, {} failed{rest}. What was done is recorded; run it again to go on.",
        problems.len()
    ));
    if result == RunResult::InDoubt {
        ui.note("`stead up` names the commands that settle what is in doubt.");
    }
    Err(Failure::all(kind, Vec::new()))
}
