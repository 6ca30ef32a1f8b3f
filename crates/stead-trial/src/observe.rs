//! How the reference model follows an operation: the events that it hears, and the look at what an apply did.

use std::sync::PoisonError;

use stead_engine::ops::{OpError, OpEvent, Permitted, Proposal, Report};
use stead_engine::{PinfileWrite, Stop};
use stead_model::{Event, Graph, Resource, RunId, RunResult, StepEnd};
use stead_plan::{Action, Why};
use tokio::sync::watch;

use crate::Cloud;
use crate::model::Pin;
use crate::operate::{Attempt, Ended};
use crate::stage::Actor;
use crate::watched::{Watched, describe, outline};

impl Actor {
    /// Hears an event before the operation's own run: recovery, waiting, the pinfile.
    pub(crate) fn hears(&self, event: OpEvent, program: Option<&Graph>) {
        match event {
            OpEvent::PinfileRead => self.cloud.model().reads_pinfile(self.process.id),
            OpEvent::RecoveryStarted { state } => self.keeps(&state, program),
            OpEvent::RunOpened { run } => self.knows(&run),
            OpEvent::TakenOver { run, stack } => {
                let own = stack == self.workspace.stack.place();
                if own {
                    self.knows(&run);
                }
                self.tape.reach(match own {
                    true => "a holder without a sign of life was taken over",
                    false => "the holder of another stack was taken over",
                });
            }
            OpEvent::Waiting(_) => {}
            OpEvent::Run(event) => {
                match &event {
                    Event::Recovering { run, .. } => self.knows(run),
                    Event::StepEnded { end: StepEnd::Skipped { .. }, .. } => {
                        self.tape.reach("a deletion that was begun was not sent again");
                    }
                    _ => {}
                }
                self.tape.say(describe(&event));
            }
        }
    }

    /// Recovery is over: from now on the marks of today protect by themselves.
    pub(crate) fn recovered(&self) {
        self.cloud.model().kept.remove(&self.process.id);
    }

    /// Tells the model which run belongs to this process.
    pub(crate) fn knows(&self, run: &RunId) {
        if self.process.is_alive() {
            let number = run.as_str().trim_start_matches("run-").parse().unwrap_or_default();
            self.cloud.model().opened(self.process.id, number);
        }
    }

    /// Asks the guards, applies, and looks whether the run did what was planned.
    pub(crate) async fn proceed(&self, proposal: Proposal) -> Ended {
        if proposal.is_empty() {
            self.tape.say("nothing to do");
            return self.nothing_to_do(proposal).await;
        }
        self.tape.say(outline(proposal.plan()));
        if !proposal.plan().has_likely_moves() {
            self.cloud.model().learn(proposal.base());
            self.holds_pins(proposal.plan(), proposal.base(), proposal.graph());
        }
        let permitted = match proposal.permit() {
            Ok(permitted) => permitted,
            Err(error) => return self.refused_by(error),
        };
        let mut effects = Some(Effects::of(self, &permitted));
        let (stop, stopping) = watch::channel(Stop::No);
        let mut watched = Watched::new(self, stop);
        let mut under_way = None;
        let mut on_event = |event| match event {
            OpEvent::RunOpened { run } => {
                self.knows(&run);
                under_way = effects.take().map(|effects| effects.begin(self));
            }
            OpEvent::Run(event) => watched.see(event),
            _ => {}
        };
        let applied = permitted.apply(stopping, &mut on_event).await;
        drop(under_way);
        let report = match applied {
            Ok(report) => report,
            Err(OpError::Pinfile(_)) => return self.refused("the pinfile is another one by now"),
            Err(error) => return self.refused_by(error),
        };
        let Report { proposal, result, closed, pinfile, .. } = report;
        watched.is_planned(proposal.plan(), result)?;
        let state = closed?;
        self.has_pinned(&state, proposal.graph(), proposal.plan(), result, pinfile)?;
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        self.tape.say(format!("{result:?}"));
        Ok(if result == RunResult::Succeeded { Attempt::Succeeded } else { Attempt::Unfinished })
    }

    async fn nothing_to_do(&self, proposal: Proposal) -> Ended {
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
            Some(Ok(written)) => {
                self.follows_program(proposal.base(), proposal.graph());
                if written == PinfileWrite::Done {
                    self.file_is(proposal.graph())?;
                }
                Ok(Attempt::Succeeded)
            }
        }
    }
}

/// What an apply is about to do, as the model has to know it once the run is open.
struct Effects {
    /// Resources that lose their pin in this run, however it ends.
    unpinned: Vec<Resource>,
    /// Ids that may stay unmanaged.
    leaving: Vec<String>,
    doomed: Vec<String>,
}

impl Effects {
    fn of(actor: &Actor, permitted: &Permitted) -> Effects {
        let proposal = permitted.proposal();
        let (plan, base, graph) = (proposal.plan(), proposal.base(), proposal.graph());
        crate::marks::of_plan(plan, base, graph, &actor.tape);
        let lost = |action: &Action| match action {
            Action::Forget { copy, .. } | Action::Delete { copy, .. } => {
                Some(base.copy(copy)?.id.as_ref()?.as_str().to_owned())
            }
            _ => None,
        };
        let retained = plan.steps.iter().filter(|step| step.why == Why::Retained);
        Effects {
            unpinned: crate::pinboard::unpinned(plan, base, graph),
            leaving: retained.filter_map(|step| lost(&step.action)).collect(),
            doomed: plan.steps.iter().filter_map(|step| lost(&step.action)).collect(),
        }
    }

    fn begin(self, actor: &Actor) -> Doomed {
        let mut model = actor.cloud.model();
        self.unpinned.iter().for_each(|resource| model.pin(resource, Pin::Released));
        self.leaving.iter().for_each(|id| model.may_leave(id));
        model.doomed.extend(self.doomed.iter().cloned());
        drop(model);
        Doomed { cloud: actor.cloud.clone(), ids: self.doomed }
    }
}

/// Ids that a run is about to delete, until this is dropped.
struct Doomed {
    cloud: Cloud,
    ids: Vec<String>,
}

impl Drop for Doomed {
    fn drop(&mut self) {
        let mut model = self.cloud.model();
        for id in &self.ids {
            model.doomed.remove(id);
        }
    }
}
