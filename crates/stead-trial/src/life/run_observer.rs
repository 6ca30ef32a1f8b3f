//! Observes the events of a run, and compares the operations with the plan.

use std::collections::BTreeMap;

use stead_engine::Stop;
use stead_model::{Event, Input, Name, Operation, RunResult, StepEnd};
use stead_plan::{Action, Certainty, Plan, Why};
use stead_schema::Change;
use tokio::sync::watch;

use crate::faults::plan::Interrupts;
use crate::life::operate::CommandError;
use crate::oracle::model::violation;
use crate::world::site::Actor;

/// Observer of a run, which also interrupts it if the fault plan says so.
pub(crate) struct RunObserver<'a> {
    actor: &'a Actor,
    stop: watch::Sender<Stop>,
    events: u32,
    /// Number of calls for each operation and resource, retries not counted.
    asked: BTreeMap<(Operation, Name), i64>,
}

impl<'a> RunObserver<'a> {
    pub(crate) fn new(actor: &'a Actor, stop: watch::Sender<Stop>) -> RunObserver<'a> {
        RunObserver { actor, stop, events: 0, asked: BTreeMap::new() }
    }

    pub(crate) fn see(&mut self, event: Event) {
        self.events += 1;
        if let Some((at, twice)) = self.actor.fault_plan.interrupt {
            let again = twice == Interrupts::Twice && self.events == at + 2;
            if self.events == at || again {
                self.actor.trace.mark(if again { "interrupted twice" } else { "interrupted" });
                self.actor.process.note_fault();
                self.stop.send_replace(if again { Stop::Now } else { Stop::Finish });
            }
        }
        match &event {
            Event::StepStarted { operation, name, .. } => {
                *self.asked.entry((*operation, name.clone())).or_default() += 1;
            }
            Event::StepRetried { operation, name, .. } | Event::StepReplaces { operation, name, .. } => {
                *self.asked.entry((*operation, name.clone())).or_default() -= 1;
                self.actor.trace.mark("a step was retried");
            }
            _ => {}
        }
        self.actor.trace.report(|| serde_json::to_string(&event).unwrap_or_default());
        self.actor.trace.log(describe(&event));
    }

    /// Checks that a run performed no operation beyond its plan.
    ///
    /// Without faults, and if all values were known at plan time, the operations must equal the plan.
    pub(crate) fn is_planned(&self, plan: &Plan, result: RunResult) -> Result<(), CommandError> {
        if result == RunResult::Succeeded && !self.actor.fault_plan.can_fail_a_run() && is_certain(plan) {
            return self.is_exactly(plan);
        }
        for ((operation, name), times) in &self.asked {
            let planned =
                |step: &&stead_plan::Step| step.name == *name && of_action(&step.action).contains(operation);
            if *times > plan.steps.iter().filter(planned).count() as i64 {
                let detail = format!("{} {name} was not planned", operation.verb());
                return Err(CommandError::Violation(violation("a run equals its plan", detail)));
            }
        }
        Ok(())
    }

    fn is_exactly(&self, plan: &Plan) -> Result<(), CommandError> {
        let mut planned: BTreeMap<(Operation, Name), i64> = BTreeMap::new();
        for step in &plan.steps {
            let operation = match &step.action {
                Action::Create { .. } => Operation::Create,
                Action::Update { .. } => Operation::Update,
                Action::Delete { .. } => Operation::Delete,
                _ => continue,
            };
            *planned.entry((operation, step.name.clone())).or_default() += 1;
        }
        if planned == self.asked {
            return Ok(());
        }
        let differs = |key: &&(Operation, Name)| planned.get(*key) != self.asked.get(*key);
        let odd = planned.keys().chain(self.asked.keys()).find(differs);
        let detail = odd.map(|(operation, name)| format!("{} {name}", operation.verb())).unwrap_or_default();
        let detail = format!("{detail} was planned, but not done, or done, but not planned");
        Err(CommandError::Violation(violation("a run equals its plan", detail)))
    }
}

/// Returns true if no step depends on values that are known only after apply.
fn is_certain(plan: &Plan) -> bool {
    let known = |change: &Change| matches!(change.new, None | Some(Input::Known(_)));
    plan.steps.iter().all(|step| {
        let possible = matches!(step.why, Why::Replaced { certainty: Certainty::Possible, .. });
        !possible && step.changes.iter().all(known)
    })
}

/// Returns the operations that a step may call. A replacement that turns out to be unnecessary may become an update.
fn of_action(action: &Action) -> &'static [Operation] {
    match action {
        Action::Create { .. } => &[Operation::Create, Operation::Update],
        Action::Update { .. } => &[Operation::Update],
        // A resource that should go with its container is deleted by itself if the container stays.
        Action::Delete { .. } | Action::Forget { .. } => &[Operation::Delete],
        _ => &[],
    }
}

pub(crate) fn outline(plan: &Plan) -> String {
    let verb = |action: &Action| match action {
        Action::Create { .. } => "create",
        Action::Import { .. } => "import",
        Action::Update { .. } => "update",
        Action::Delete { .. } => "delete",
        Action::Record { .. } => "record",
        Action::Move { .. } => "move",
        Action::Forget { .. } => "forget",
        Action::Barrier => "gather",
    };
    let mut text = "plan:".to_owned();
    for step in &plan.steps {
        text.push_str(if text.len() > 5 { "; " } else { " " });
        text.push_str(verb(&step.action));
        text.push(' ');
        text.push_str(step.name.short());
    }
    text
}

pub(crate) fn describe(event: &Event) -> String {
    match event {
        Event::StepStarted { operation, name, .. } => format!("{} {}", operation.verb(), name.short()),
        Event::StepEnded { operation, name, end, .. } => {
            let end = match end {
                StepEnd::Done => "done".to_owned(),
                StepEnd::Failed { problem } => format!("failed: {}", problem.message),
                StepEnd::InDoubt { .. } => "in doubt".to_owned(),
                StepEnd::Skipped { because } => format!("skipped: {because}"),
            };
            format!("{} {} {end}", operation.verb(), name.short())
        }
        Event::Recovering { operation, name, .. } => format!("recover {} {}", operation.verb(), name.short()),
        Event::Recovered { operation, name, .. } => {
            format!("recovered {} {}", operation.verb(), name.short())
        }
        Event::StillRunning { operation, name, .. } => {
            format!("still {} {}", operation.verb(), name.short())
        }
        Event::RunStarted { run, steps } => format!("{run} with {steps} steps"),
        Event::RunEnded { run, result } => format!("{run} {result:?}"),
        Event::StepRetried { operation, name, attempt, .. } => {
            format!("{} {} again: {attempt}", operation.verb(), name.short())
        }
        Event::StepReplaces { name, .. } => format!("replace {} instead", name.short()),
        Event::StepWarned { operation, name, .. } => {
            format!("{} {} with a warning", operation.verb(), name.short())
        }
        Event::Stopping { .. } => "stopping".to_owned(),
    }
}
