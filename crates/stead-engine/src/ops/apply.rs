//! Carries a permitted proposal out, and reports on it.

use std::sync::Arc;

use stead_journal::{Ack, ClosedRun, JournalError, Run, Takeover};
use stead_model::{Code, Diagnostic, Event, Map, Name, Operation, RunId, RunResult};
use stead_state::{Record, Retained, State};
use tokio::sync::watch;

use crate::ops::keys::ReadSecrets;
use crate::ops::{Access, OpError, OpEvent, Permitted, Proposal, log};
use crate::{Executed, PermittedPlan, PinfileWrite, Stop};

/// The result of an applied proposal.
pub struct Report {
    pub proposal: Proposal,
    /// `None`: there was nothing to do, and no run was opened.
    pub run: Option<RunId>,
    pub result: RunResult,
    pub done: usize,
    pub problems: Vec<Diagnostic>,
    /// How many steps did not start.
    pub skipped: usize,
    pub outputs: Map,
    /// The state afterwards, or why the run could not be closed. The journal has everything in either case.
    pub closed: Result<Arc<State>, JournalError>,
    /// Operations under way when the run was told to stop at once: recorded, and in doubt.
    pub under_way: Vec<(Operation, Name)>,
    /// Whether the pinfile was written, if it was to be written and everything else succeeded.
    pub pinfile: Option<Result<PinfileWrite, Diagnostic>>,
    /// Why owner marks could not be read or written, if they could not.
    pub marks_unavailable: Option<String>,
}

impl Report {
    /// Returns true if a guard refused a step at its call: another stack had come to own the real resource after the plan.
    pub fn is_guarded(&self) -> bool {
        self.problems.iter().any(|problem| problem.code == Code::OWNED_ELSEWHERE)
    }

    /// The resources that this run stopped managing and left in place.
    pub fn retained(&self) -> Vec<&Retained> {
        let (Ok(state), Some(run)) = (&self.closed, &self.run) else { return Vec::new() };
        state.retained().filter(|retained| retained.reason.run == *run).collect()
    }
}

impl Permitted {
    /// Applies the proposal, unless the pinfile or the state is not the one that it was made on any more.
    ///
    /// `stop` asks the run to finish early; see [`Stop`].
    pub async fn apply(
        self,
        stop: watch::Receiver<Stop>,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Report, OpError> {
        let Permitted { mut proposal, permits } = self;
        if proposal.request.access == Access::ReadOnly {
            return Err(OpError::ReadOnly);
        }
        if proposal.is_empty() {
            return Ok(nothing_to_do(proposal));
        }
        proposal.check_pinfile()?;
        let planned_on = Some(proposal.version.clone());
        let workspace = &proposal.workspace;
        let run = workspace.open(proposal.request.command(), planned_on, Takeover::IfDead, events).await?;
        let id = run.id();
        let read = ReadSecrets::in_plan(run.stack(), &proposal.plan, &proposal.observed);
        if let Err(error) = workspace.ensure_key(&run, Some(&proposal.graph), read).await {
            run.close(RunResult::Failed).await?;
            return Err(error);
        }
        let first = proposal.places.record().into_iter();
        write_records(&run, first.chain(std::mem::take(&mut proposal.observed)).collect()).await?;
        let mut on_event = |event: Event| {
            log::event(&event);
            events(OpEvent::Run(event));
        };
        let Proposal { plan, base, graph, workspace, .. } = &proposal;
        let executed = workspace
            .engine
            .execute(run, PermittedPlan { plan, permits }, base, graph, &mut on_event, stop)
            .await;
        let Executed { result, done, problems, skipped, outputs, closed, under_way, pinfile } = executed;
        let closed = closed.map(|ClosedRun { state, .. }| state);
        let pinfile = pinfile.map(|written| proposal.complete_pins(written, closed.as_ref().ok()));
        let owners = proposal.workspace.engine.owners.as_ref();
        let marks_unavailable = owners.and_then(|owners| owners.take_problem());
        Ok(Report {
            marks_unavailable,
            proposal,
            run: Some(id),
            result,
            done,
            problems,
            skipped,
            outputs,
            closed,
            under_way,
            pinfile,
        })
    }
}

impl Proposal {
    /// Freezes generated values, once they are known.
    fn complete_pins(
        &self,
        written: Result<PinfileWrite, Diagnostic>,
        state: Option<&Arc<State>>,
    ) -> Result<PinfileWrite, Diagnostic> {
        let written = written?;
        if let (PinfileWrite::Done, Some(pins), Some(state)) = (&written, &self.pins, state) {
            pins.complete(&self.workspace.engine.catalog, state)?;
        }
        Ok(written)
    }
}

/// The state is as declared already; only the pinfile may have to be written.
fn nothing_to_do(proposal: Proposal) -> Report {
    let written = proposal.pins.as_ref().map(|pins| pins.write_after_run());
    let pinfile = written.map(|written| proposal.complete_pins(written, Some(&proposal.base)));
    Report {
        run: None,
        result: RunResult::Succeeded,
        done: 0,
        problems: Vec::new(),
        skipped: 0,
        outputs: proposal.base.outputs().clone(),
        closed: Ok(proposal.base.clone()),
        under_way: Vec::new(),
        pinfile,
        marks_unavailable: None,
        proposal,
    }
}

/// Appends records that need no provider, in as few writes as they fit into, durable in the order given.
pub(super) async fn write_records(run: &Run, records: Vec<Record>) -> Result<(), JournalError> {
    let acks: Vec<Ack> = records.into_iter().map(|record| run.submit(record)).collect();
    for ack in acks {
        ack.durable().await?;
    }
    Ok(())
}
