//! Applies a permitted plan, and reports the result.

pub(crate) mod call;
mod completion;
mod downgrade;
mod executor;
mod in_flight;
mod liveness;
mod problems;
mod progress;
mod queue;
mod records;
mod retries;
mod values;

use stead_guard::{Permits, Refusal};
use stead_journal::{ClosedRun, JournalError, Run};
use stead_model::{Diagnostic, Event, Graph, Map, Name, Operation, RunResult};
use stead_plan::Plan;
use stead_state::State;
use tokio::sync::watch;

use crate::Engine;
use crate::execute::executor::Executor;
use crate::execute::progress::Progress;
use crate::pinfile::PinfileWrite;

/// How a run is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    No,
    /// Start no further step; let running steps finish.
    Finish,
    /// Stop now; running steps stay in doubt.
    Now,
}

/// Whether steps that do not depend on a failed step go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// They go on.
    #[default]
    GoOn,
    /// Running steps finish, and no further step starts.
    Stop,
}

/// A plan that the guards have nothing against.
pub struct PermittedPlan<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) permits: Permits,
}

/// The result of a run.
#[derive(Debug)]
pub struct Executed {
    pub result: RunResult,
    pub done: usize,
    pub problems: Vec<Diagnostic>,
    /// How many steps did not start.
    pub skipped: usize,
    pub outputs: Map,
    /// The new state; why there is none otherwise. The journal has everything either way.
    pub closed: Result<ClosedRun, JournalError>,
    /// Operations under way when the run was told to stop at once: recorded, and in doubt.
    pub under_way: Vec<(Operation, Name)>,
    /// Whether the pinfile was written, if it was to be written and everything else succeeded.
    pub pinfile: Option<Result<PinfileWrite, Diagnostic>>,
}

impl Engine {
    /// Asks the guards about the whole plan, before anything happens.
    pub fn permit<'a>(
        &self,
        plan: &'a Plan,
        base: &State,
        graph: &Graph,
    ) -> Result<PermittedPlan<'a>, Vec<Diagnostic>> {
        match self.decide(plan, base, graph) {
            Ok(permits) => Ok(PermittedPlan { plan, permits }),
            Err(refused) => Err(refused.iter().map(Refusal::diagnostic).collect()),
        }
    }

    /// Asks the guards about the whole plan, and returns the refusals as data.
    pub(crate) fn decide(&self, plan: &Plan, base: &State, graph: &Graph) -> Result<Permits, Vec<Refusal>> {
        stead_guard::decide(&plan.deletions(base, graph), &self.pins)
            .map_err(|refused| refused.into_iter().map(|refusal| self.placed(refusal)).collect())
    }

    /// Names the declaration of today's program where it alone has the pin.
    fn placed(&self, refusal: Refusal) -> Refusal {
        match self.program_pins.get(&refusal.name) {
            Some(place) => refusal.pinned_by_program(place.clone()),
            None => refusal,
        }
    }

    /// Runs the plan in an open run, and closes the run. `base` is the state that the plan was made on.
    pub async fn execute(
        &self,
        run: Run,
        permitted: PermittedPlan<'_>,
        base: &State,
        graph: &Graph,
        events: &mut dyn FnMut(Event),
        stop: watch::Receiver<Stop>,
    ) -> Executed {
        events(Event::RunStarted { run: run.id(), steps: permitted.plan.steps.len() });
        let owners = self.run_owners(permitted.plan, base, run.stack()).await;
        let mut executor = Executor::new(self, &run, permitted, base, graph, owners, events);
        executor.run(stop).await;
        let (result, outputs) = executor.conclude(base).await;
        executor.settle_owners().await;
        let under_way = executor.under_way();
        let Executor { progress, events, .. } = executor;
        let Progress { journal_error, done, skipped, problems, stopping, pinfile, .. } = progress;
        events(Event::RunEnded { run: run.id(), result });
        let closed = match (journal_error, stopping) {
            (Some(error), _) => Err(run.abandon(error).await),
            // Leaving without closing is what a crash is; the next run recovers.
            (None, Stop::Now) => Err(JournalError::Io {
                action: "close the run",
                problem: "it was told to leave at once".to_owned(),
            }),
            (None, _) => run.close(result).await,
        };
        Executed { result, done, problems, skipped, outputs, closed, under_way, pinfile }
    }
}
