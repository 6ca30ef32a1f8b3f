//! A run as somebody sees it who watches: what is told, and whether it is what was planned.

use std::collections::BTreeMap;

use stead_engine::Stop;
use stead_model::{Event, Input, Name, Operation, RunResult, StepEnd};
use stead_plan::{Action, Certainty, Plan, Why};
use stead_schema::Change;
use tokio::sync::watch;

use crate::model::loss;
use crate::operate::Failed;
use crate::script::Twice;
use crate::stage::Actor;

/// Somebody who watches a run, and stops it if the weather says so.
pub(crate) struct Watched<'a> {
    actor: &'a Actor,
    stop: watch::Sender<Stop>,
    events: u32,
    /// How often each thing was asked for, less what was asked for again.
    asked: BTreeMap<(Operation, Name), i64>,
}

impl<'a> Watched<'a> {
    pub(crate) fn new(actor: &'a Actor, stop: watch::Sender<Stop>) -> Watched<'a> {
        Watched { actor, stop, events: 0, asked: BTreeMap::new() }
    }

    pub(crate) fn see(&mut self, event: Event) {
        self.events += 1;
        if let Some((at, twice)) = self.actor.weather.interrupt {
            let again = twice == Twice::Twice && self.events == at + 2;
            if self.events == at || again {
                self.actor.tape.reach(if again { "interrupted twice" } else { "interrupted" });
                self.actor.process.is_struck();
                self.stop.send_replace(if again { Stop::Now } else { Stop::Finish });
            }
        }
        match &event {
            Event::StepStarted { operation, name, .. } => {
                *self.asked.entry((*operation, name.clone())).or_default() += 1;
            }
            Event::StepRetried { operation, name, .. } => {
                *self.asked.entry((*operation, name.clone())).or_default() -= 1;
                self.actor.tape.reach("a step was tried again");
            }
            _ => {}
        }
        self.actor.tape.say(describe(&event));
    }

    /// A run does what was planned, or less; never more. In calm weather, and if everything was known at plan, it
    /// does exactly that.
    pub(crate) fn is_planned(&self, plan: &Plan, result: RunResult) -> Result<(), Failed> {
        if result == RunResult::Succeeded && !self.actor.weather.can_end_it() && is_certain(plan) {
            return self.is_exactly(plan);
        }
        for ((operation, name), times) in &self.asked {
            let planned =
                |step: &&stead_plan::Step| step.name == *name && of_action(&step.action).contains(operation);
            if *times > plan.steps.iter().filter(planned).count() as i64 {
                let what = format!("{} {name} was not planned", operation.verb());
                return Err(Failed::Lost(loss("a plan equals what then runs", what)));
            }
        }
        Ok(())
    }

    fn is_exactly(&self, plan: &Plan) -> Result<(), Failed> {
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
        let what = odd.map(|(operation, name)| format!("{} {name}", operation.verb())).unwrap_or_default();
        let what = format!("{what} was planned and not done, or the other way round");
        Err(Failed::Lost(loss("a plan equals what then runs", what)))
    }
}

/// Whether nothing in a plan depends on what only the run will show.
fn is_certain(plan: &Plan) -> bool {
    let known = |change: &Change| matches!(change.new, None | Some(Input::Known(_)));
    plan.steps.iter().all(|step| {
        let possible = matches!(step.why, Why::Replaced { certainty: Certainty::Possible, .. });
        !possible && step.changes.iter().all(known)
    })
}

/// What a step may ask a provider for. A replacement that turns out to be none may be an update.
fn of_action(action: &Action) -> &'static [Operation] {
    match action {
        Action::Create { .. } => &[Operation::Create, Operation::Update],
        Action::Update { .. } => &[Operation::Update],
        // What was to go with another that stays after all is deleted by itself.
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
        Event::RunStarted { run, steps } => format!("{run} with {steps} steps"),
        Event::RunEnded { run, result } => format!("{run} {result:?}"),
        Event::StepRetried { operation, name, attempt, .. } => {
            format!("{} {} again: {attempt}", operation.verb(), name.short())
        }
        Event::Stopping { .. } => "stopping".to_owned(),
    }
}
