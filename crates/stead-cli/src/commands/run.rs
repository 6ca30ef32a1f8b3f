//! Parts that `up`, `destroy` and `plan` share: show a plan, confirm, apply, report.

use serde::Serialize;
use stead::ops::{OpEvent, Permitted, Proposal, Report};
use stead::plan::Plan;
use stead::{Drift, Transcript};
use stead_model::{Code, CopyRef, Diagnostic, Graph, Map, Name, Operation, RunResult, TypeToken};
use stead_render::{Done, Drifted, Header, View, leaves_out_new_properties, plan_json};
use stead_schema::Change;

use crate::commands::state::show_retained;
use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::hints::quoted;
use crate::session::Session;
use crate::ui::Ui;
use crate::{pins, wiring};

#[derive(Serialize)]
pub(crate) struct Outputs<'a> {
    pub(crate) outputs: &'a Map,
}

#[derive(Serialize)]
struct Ended {
    result: RunResult,
    done: usize,
    failed: usize,
    skipped: usize,
    /// Number of times that this command waited for the disk.
    fsyncs: u64,
    /// Operations under way when the run was stopped at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    under_way: Vec<UnderWay>,
}

#[derive(Serialize)]
struct UnderWay {
    operation: Operation,
    name: Name,
}

pub(crate) fn show_plan(session: &Session, proposal: &Proposal, ui: &Ui) {
    let (plan, graph, base) = (proposal.plan(), proposal.graph(), proposal.base());
    let unchanged: Vec<&Name> = plan.unchanged.iter().filter_map(|id| Some(&graph.node(*id)?.name)).collect();
    let view = View {
        header: Header {
            project: &session.project.name,
            environment: session.environment(),
            target: session.target(),
        },
        record: &|copy: &CopyRef| base.copy(copy),
        schema: &|ty: &TypeToken| session.workspace.engine.catalog.get(ty),
        unchanged: &unchanged,
        style: ui.out_style(),
    };
    if ui.is_json() {
        return ui.json("plan", &plan_json(&plan.blinded(), &view));
    }
    ui.result(&stead_render::plan(plan, &view));
    if leaves_out_new_properties(plan, &view.style) {
        ui.note("Properties of new resources are left out; `--full` shows them.");
    }
}

pub(crate) fn show_drift(session: &Session, drift: &[Drift], ui: &Ui) {
    let style = ui.out_style();
    for Drift { name, found, changes, .. } in drift {
        let gone = found.is_none();
        let drifted = Drifted { name, changes: (!gone).then_some(changes.as_slice()) };
        ui.result(&format!("{}\n", stead_render::drift(&drifted, session.environment(), &style)));
        ui.json("drift", &DriftLine { action: "refresh", name, gone, changes });
    }
}

#[derive(Serialize)]
struct DriftLine<'a> {
    action: &'static str,
    name: &'a Name,
    gone: bool,
    changes: &'a [Change],
}

/// Shows the resources that the program looked up. They are read and never changed.
pub(crate) fn show_reads(transcript: &Transcript, ui: &Ui) {
    for (resource, id) in transcript.look_ups() {
        ui.result(&format!("{}\n", stead_render::read(&resource, id, &ui.out_style())));
        ui.json("read", &ReadLine { action: "read", resource, id });
    }
}

#[derive(Serialize)]
struct ReadLine<'a> {
    action: &'static str,
    #[serde(rename = "type")]
    resource: TypeToken,
    id: &'a str,
}

/// Shows the unchanged resources.
pub(crate) fn show_unchanged(session: &Session, graph: &Graph, plan: &Plan, ui: &Ui) {
    let names = || plan.unchanged.iter().filter_map(|id| Some(&graph.node(*id)?.name));
    names().for_each(|name| ui.json("same", &SameLine { action: "same", name }));
    ui.result(&format!("{}\n", stead_render::same(names(), session.environment(), &ui.out_style())));
}

#[derive(Serialize)]
struct SameLine<'a> {
    action: &'static str,
    name: &'a Name,
}

pub(crate) fn show_outputs(outputs: &Map, ui: &Ui) {
    let blinded: Map = outputs.iter().map(|(key, value)| (key.clone(), value.blinded())).collect();
    ui.json("outputs", &Outputs { outputs: &blinded });
    if !outputs.is_empty() {
        ui.result(&format!("\n{}", stead_render::outputs(outputs)));
    }
}

/// Asks the guards and the person, then applies the plan, which the caller has shown.
pub(crate) async fn apply_plan(
    session: &Session,
    proposal: Proposal,
    question: &str,
    ui: &Ui,
) -> Result<u8, Failure> {
    let permitted = proposal.permit()?;
    pins::show_released(permitted.proposal(), ui);
    confirm(session, ui, question)?;
    apply_confirmed(session, permitted, ui).await
}

/// Applies a plan that the guards permit and the person confirmed.
pub(crate) async fn apply_confirmed(session: &Session, permitted: Permitted, ui: &Ui) -> Result<u8, Failure> {
    let mut done = Done::new(permitted.proposal().plan());
    let apply = async |events: &mut dyn FnMut(OpEvent)| permitted.apply(wiring::interrupts(), events).await;
    let report = ui.watch(|event| done.event(event), apply).await?;
    report.retained().into_iter().for_each(|retained| show_retained(session, retained, ui));
    if let Some(reason) = &report.marks_unavailable {
        ui.problem(&marks_unavailable(reason));
    }
    let pinfile = report.pinfile.clone();
    let code = report_end(session, report, &done, ui)?;
    pins::report_write(pinfile, ui)?;
    Ok(code)
}

fn marks_unavailable(reason: &str) -> Diagnostic {
    let message = format!("cannot mark the owner of a resource: {reason}");
    Diagnostic::warning(Code::OWNERS_UNAVAILABLE, message)
        .note("Everything was done. Another stack will not know that this stack owns the resource.")
        .help("set STEAD_OWNERS to a folder that this user can write")
}

fn report_end(session: &Session, report: Report, changes: &Done, ui: &Ui) -> Result<u8, Failure> {
    let guarded = report.is_guarded();
    let Report { result, done, problems, skipped, outputs, closed, under_way, .. } = report;
    let under_way: Vec<UnderWay> =
        under_way.into_iter().map(|(operation, name)| UnderWay { operation, name }).collect();
    let (failed, fsyncs) = (problems.len(), session.workspace.stack.world.files.syncs());
    let ended = Ended { result, done, failed, skipped, fsyncs, under_way };
    ui.json("ended", &ended);
    let kind = match result {
        RunResult::Succeeded => {
            closed?;
            ui.result(&format!("\nDone: {changes}.\n"));
            show_outputs(&outputs, ui);
            return Ok(0);
        }
        RunResult::InDoubt => Kind::InDoubt,
        RunResult::Interrupted => Kind::Interrupted,
        RunResult::Failed if guarded => Kind::Guarded,
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
        "{done} done, {failed} failed{rest}. Completed steps are recorded; run the command again to continue."
    ));
    if let Some(text) = left_in_doubt(&ended.under_way) {
        ui.note(&text);
    }
    if result == RunResult::InDoubt {
        ui.note("`stead up` names the commands that settle the operations in doubt.");
    }
    Err(Failure::with_problems(kind, Vec::new()))
}

/// Maximum number of operations in doubt that are listed.
const MAX_LISTED: usize = 10;

/// Lists the operations that a run left in doubt, with the next step.
fn left_in_doubt(under_way: &[UnderWay]) -> Option<String> {
    if under_way.is_empty() {
        return None;
    }
    let mut text = format!("{} under way when the run stopped; it is unknown whether they happened:\n", {
        let count = under_way.len();
        if count == 1 { "1 operation was".to_owned() } else { format!("{count} operations were") }
    });
    for UnderWay { operation, name } in under_way.iter().take(MAX_LISTED) {
        text.push_str(&format!("    {} {name}\n", operation.verb()));
    }
    if let Some(more) = under_way.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        text.push_str(&format!("    and {more} more\n"));
    }
    text.push_str(
        "Each is recorded. `stead up` first repeats the operations that are safe to repeat, and names the command that\n\
         settles each of the others; `stead plan` lists both, and changes nothing.",
    );
    Some(text)
}

/// Names the resources that were imported and are not declared yet, which every plan leaves alone.
pub(crate) fn show_undeclared_imports(session: &Session, proposal: &Proposal, ui: &Ui) {
    for resource in proposal.undeclared_imports() {
        let name = resource.name.shown_in(session.environment());
        ui.note(&format!(
            "{name} was imported and is not declared yet, so it is left alone. Declare it, or stop managing it with \
             `stead state rm {}`.",
            quoted(&resource.name)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_left_in_doubt_are_listed_with_the_next_step() {
        assert_eq!(left_in_doubt(&[]), None);
        let under_way: Vec<UnderWay> = (0..12)
            .map(|n| format!("dev:main:local.Command#c{n}").parse().unwrap())
            .map(|name| UnderWay { operation: Operation::Create, name })
            .collect();
        let text = left_in_doubt(&under_way).unwrap();
        assert!(text.starts_with("12 operations were under way"), "{text}");
        assert!(text.contains("    create dev:main:local.Command#c9\n    and 2 more\n"), "{text}");
        assert!(text.contains("`stead up` first repeats"), "{text}");
        assert!(left_in_doubt(&under_way[..1]).unwrap().starts_with("1 operation was under way"));
    }
}
