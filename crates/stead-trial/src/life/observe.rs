//! Keeps the reference model up to date with the events of an operation, and checks the result of an apply.

use std::sync::PoisonError;

use stead_engine::ops::{OpError, OpEvent, Permitted, Proposal, Report};
use stead_engine::{PinfileWrite, Stop};
use stead_model::{DeletionPolicy, Event, Graph, Lifecycle, Resource, RunId, RunResult, StepEnd};
use stead_plan::{Action, Why};
use stead_state::State;
use tokio::sync::watch;

use crate::Cloud;
use crate::life::operate::{Attempt, CommandError, CommandResult};
use crate::life::run_observer::{RunObserver, describe, outline};
use crate::oracle::model::{Pin, violation};
use crate::world::site::Actor;

impl Actor {
    /// Handles an event that precedes the operation's own run: recovery, waiting, reading the pinfile.
    pub(crate) fn on_event(&self, event: OpEvent, program: Option<&Graph>) {
        match event {
            OpEvent::PinfileRead => self.cloud.model().reads_pinfile(self.process.id),
            OpEvent::RecoveryStarted { state } => self.note_protected(&state, program),
            OpEvent::RunOpened { run } => self.note_run(&run),
            OpEvent::TakenOver { run, stack } => {
                let own = stack == self.workspace.stack.place();
                if own {
                    self.note_run(&run);
                }
                self.trace.mark(match own {
                    true => "a holder without a heartbeat was taken over",
                    false => "the holder of another stack was taken over",
                });
            }
            OpEvent::Waiting(_) => {}
            OpEvent::DeletionsLeft { .. } => {
                self.trace.mark("an edit was made beside an interrupted deletion");
            }
            OpEvent::Run(event) => {
                match &event {
                    Event::Recovering { run, .. } => self.note_run(run),
                    Event::StepEnded { end: StepEnd::Skipped { .. }, .. } => {
                        self.trace.mark("a started deletion was not repeated");
                    }
                    _ => {}
                }
                self.trace.report(|| serde_json::to_string(&event).unwrap_or_default());
                self.trace.log(describe(&event));
            }
        }
    }

    /// Ends the recovery phase: from now on the recorded marks protect by themselves.
    pub(crate) fn end_recovery(&self) {
        self.cloud.model().protected_today.remove(&self.process.id);
    }

    /// Tells the model which run belongs to this process.
    pub(crate) fn note_run(&self, run: &RunId) {
        if self.process.is_alive() {
            let number = run.as_str().trim_start_matches("run-").parse().unwrap_or_default();
            self.cloud.model().run_opened(self.process.id, number);
        }
    }

    /// Permits and applies a proposal, then checks that the run equals its plan.
    pub(crate) async fn permit_and_apply(&self, proposal: Proposal) -> CommandResult {
        if proposal.is_empty() {
            self.trace.log("nothing to do");
            return self.nothing_to_do(proposal).await;
        }
        self.trace.log(outline(proposal.plan()));
        self.note_releases();
        if !proposal.plan().has_likely_moves() {
            // Protection that today's program adds is recorded only if the run starts.
            let recorded = if proposal.pins().is_none() { proposal.recorded() } else { proposal.base() };
            self.cloud.model().learn_marks(recorded);
            self.note_declared_pins(proposal.plan(), proposal.base(), proposal.graph());
        }
        let permitted = match proposal.permit() {
            Ok(permitted) => permitted,
            Err(error) => return self.refused_by(error),
        };
        let mut effects = Some(Effects::of(self, &permitted));
        let protected = with_records(permitted.proposal());
        let (stop, stopping) = watch::channel(Stop::No);
        let mut watched = RunObserver::new(self, stop);
        let mut under_way = None;
        let mut on_event = |event| match event {
            OpEvent::RunOpened { run } => {
                self.note_run(&run);
                under_way = effects.take().map(|effects| effects.begin(self));
            }
            OpEvent::Run(event) => watched.see(event),
            _ => {}
        };
        let applied = permitted.apply(stopping, &mut on_event).await;
        drop(under_way);
        let report = match applied {
            Ok(report) => report,
            Err(OpError::Pinfile(_)) => return self.refused("the pinfile changed in the meantime"),
            Err(error) => return self.refused_by(error),
        };
        self.note_releases();
        let Report { proposal, result, closed, pinfile, .. } = report;
        watched.is_planned(proposal.plan(), result)?;
        let state = closed?;
        if proposal.pins().is_none() {
            removes_no_protection(&protected, &state)?;
        }
        self.check_pins_recorded(&state, proposal.graph(), proposal.plan(), result, pinfile)?;
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        self.trace.log(format!("{result:?}"));
        Ok(if result == RunResult::Succeeded { Attempt::Succeeded } else { Attempt::Unfinished })
    }

    async fn nothing_to_do(&self, proposal: Proposal) -> CommandResult {
        let permitted = match proposal.permit() {
            Ok(permitted) => permitted,
            Err(error) => return self.refused_by(error),
        };
        let applied = permitted.apply(watch::channel(Stop::No).1, &mut |_| ()).await;
        let Report { proposal, pinfile, .. } = match applied {
            Ok(report) => report,
            Err(error) => return self.refused_by(error),
        };
        match pinfile {
            None => Ok(Attempt::Succeeded),
            Some(Err(_)) => self.refused("the pinfile cannot be written"),
            // A file that was not written says nothing about the pins of the program, and neither does the state.
            Some(Ok(PinfileWrite::NoProgram { .. })) => Ok(Attempt::Succeeded),
            Some(Ok(PinfileWrite::Done)) => {
                self.update_model_pins(proposal.base(), proposal.graph());
                self.check_pinfile_matches(proposal.graph())?;
                Ok(Attempt::Succeeded)
            }
        }
    }
}

/// Effects of an apply that the model must know when the run opens.
struct Effects {
    /// Resources that lose their pin in this run, even if the run fails.
    unpinned: Vec<Resource>,
    /// Resources whose pin ends when the pinfile is written, if only the file has it.
    unlisted: Vec<Resource>,
    /// Ids that may stay unmanaged.
    leaving: Vec<String>,
    doomed: Vec<String>,
}

impl Effects {
    fn of(actor: &Actor, permitted: &Permitted) -> Effects {
        let proposal = permitted.proposal();
        let (plan, base, graph) = (proposal.plan(), proposal.base(), proposal.graph());
        crate::oracle::coverage::mark_plan(plan, base, graph, &actor.trace);
        let lost = |action: &Action| match action {
            Action::Forget { copy, .. } | Action::Delete { copy, .. } => {
                Some(base.copy(copy)?.id.as_ref()?.as_str().to_owned())
            }
            _ => None,
        };
        let retained = plan.steps.iter().filter(|step| step.why == Why::Retained);
        Effects {
            unpinned: crate::oracle::pins::unpinned(plan, base, graph),
            unlisted: crate::oracle::pins::unlisted(plan, base, graph),
            leaving: retained.filter_map(|step| lost(&step.action)).collect(),
            doomed: plan.steps.iter().filter_map(|step| lost(&step.action)).collect(),
        }
    }

    fn begin(self, actor: &Actor) -> DoomedIds {
        let mut model = actor.cloud.model();
        self.unpinned.iter().for_each(|resource| model.pin(resource, Pin::Released));
        self.unlisted.iter().for_each(|resource| model.end_pin_of_file(resource));
        self.leaving.iter().for_each(|id| model.may_leave(id));
        model.doomed.extend(self.doomed.iter().cloned());
        drop(model);
        DoomedIds { cloud: actor.cloud.clone(), ids: self.doomed }
    }
}

/// Ids that a run is about to delete, registered in the model until this value is dropped.
struct DoomedIds {
    cloud: Cloud,
    ids: Vec<String>,
}

impl Drop for DoomedIds {
    fn drop(&mut self) {
        let mut model = self.cloud.model();
        for id in &self.ids {
            model.doomed.remove(id);
        }
    }
}

/// Returns the state that a run starts with. Protection of a declaration that only may be a resource is not in it.
fn with_records(proposal: &Proposal) -> State {
    let mut state = proposal.recorded().as_ref().clone();
    // A record may be about a copy that a read found gone.
    proposal.observed().iter().for_each(|record| drop(state.apply(record)));
    state
}

/// Checks that a run without a program left every resource at least as protected as it was.
fn removes_no_protection(before: &State, after: &State) -> Result<(), CommandError> {
    let protection = |resource: &Resource| {
        let retains = resource.recorded_policy() == Some(DeletionPolicy::Retain);
        [resource.prevents_deletion(), retains, resource.pinned]
    };
    for old in before.copies().filter(|copy| copy.lifecycle == Lifecycle::Live) {
        // A retained copy may leave while an older copy, which had less protection, stays.
        let new = after.copies_of(&old.uid).last().filter(|new| new.generation >= old.generation);
        let lost =
            |new: &&Resource| protection(old).iter().zip(protection(new)).any(|(old, new)| *old && !new);
        if let Some(new) = new.filter(lost) {
            let detail = format!("{} lost protection", new.name);
            return Err(CommandError::Violation(violation("only a program removes protection", detail)));
        }
    }
    Ok(())
}
