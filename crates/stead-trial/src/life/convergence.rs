//! The last part of a life: guards are released, and two runs without faults must converge.

use std::time::Duration;

use stead_journal::Takeover;
use stead_model::{Resource, RunResult};
use stead_state::{Intent, Pending, Record};

use crate::life::amend::Doubts;
use crate::life::operate::{Attempt, CommandError};
use crate::life::program::{Program, ResourceFlag};
use crate::life::script::Command;
use crate::life::simulation::Simulation;
use crate::oracle::model::{Violation, violation};
use crate::oracle::pins;
use crate::world::process::time_passes;
use crate::world::site::Actor;

impl Simulation {
    /// Checks that two runs without faults converge, and that nothing is missing.
    pub(crate) async fn converge(&mut self) -> Result<(), Violation> {
        time_passes(Duration::from_secs(60)).await;
        // A late request of the last act may have renamed the stack.
        self.load_state().await?;
        self.release_guards().await?;
        for _ in 0..2 {
            // Only a refresh detects changes made outside.
            if let Attempt::Succeeded = self.run_without_faults(&Command::UpPins).await? {
                let state = self.check_idle_state().await?;
                let graph = self.program.graph();
                if let Some(path) = pins::listed(&self.site.disk)?.first() {
                    let detail = format!("{path} is in the pinfile, but no resource is pinned");
                    return Err(violation("the pinfile lists the pinned resources", detail));
                }
                return self.site.cloud.model().check_converged(&state, &graph);
            }
        }
        Err(violation("recovery converges", "two runs without faults did not finish the work"))
    }

    async fn run_without_faults(&mut self, command: &Command) -> Result<Attempt, Violation> {
        let actor = self.actor_without_faults();
        self.site.trace.log(format!("without faults: {command:?}"));
        let attempt = actor.run_command(command, &self.program, &mut None).await;
        actor.process.end(&self.site.disk);
        self.without_journal_errors(attempt)
    }

    pub(super) fn without_journal_errors(
        &self,
        attempt: Result<Attempt, CommandError>,
    ) -> Result<Attempt, Violation> {
        attempt.map_err(|failed| match failed {
            CommandError::Violation(violation) => violation,
            CommandError::Journal(error) => violation("runs without faults succeed", format!("{error:?}")),
        })
    }

    /// Takes the lock over, resolves operations in doubt, and removes protection and pins, so that the next run can
    /// delete or replace.
    async fn release_guards(&mut self) -> Result<(), Violation> {
        for (_, resource) in &mut self.program.resources {
            resource.flags.retain(|found| {
                !matches!(found, ResourceFlag::Protected | ResourceFlag::Retained | ResourceFlag::Pinned)
            });
            resource.import = None;
        }
        let actor = self.actor_without_faults();
        if self.pins {
            self.site.cloud.model().releases_pins();
            pins::empty(&self.site.disk);
        }
        let outcome = release(&actor).await;
        actor.process.end(&self.site.disk);
        self.without_journal_errors(outcome.map(|()| Attempt::Succeeded)).map(drop)
    }
}

async fn release(actor: &Actor) -> Result<(), CommandError> {
    actor.wait_for_lock().await?;
    let mut loaded = actor.workspace.stack.load().await?;
    if !loaded.state.transfers().is_empty() {
        // A resource that is moving to another stack cannot be edited before the move is finished.
        actor.run_command(&Command::Refresh, &Program::default(), &mut None).await?;
        loaded = actor.workspace.stack.load().await?;
    }
    if loaded.state.pending().next().is_some() {
        actor.resolve(Doubts::NeedsAPerson).await?;
        actor.run_command(&Command::Refresh, &Program::default(), &mut None).await?;
        let looked_at = |pending: &&Pending| matches!(pending.intent, Intent::Update { .. });
        let left = actor.workspace.stack.load().await?.state;
        if let Some(pending) = left.pending().find(looked_at) {
            let detail = format!("operation {} is in doubt although every call is answered", pending.op);
            return Err(CommandError::Violation(violation("a refresh settles updates", detail)));
        }
        // Creates that are refused at every retry need a person. Deletions wait for the run that knows the program.
        actor.resolve(Doubts::Creates).await?;
        loaded = actor.workspace.stack.load().await?;
    }
    let marked = |resource: &&Resource| {
        resource.prevents_deletion()
            || resource.deletion_policy.is_some()
            || !resource.marks.is_empty()
            || resource.pinned
            || resource.imported
    };
    let mut free: Vec<Resource> = loaded.state.copies().filter(marked).cloned().collect();
    free.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    if free.is_empty() {
        return Ok(());
    }
    let run = actor.workspace.stack.open("unprotect", Some(loaded.version), Takeover::IfDead).await?;
    for mut resource in free {
        resource.marks = Default::default();
        (resource.prevent_delete, resource.deletion_policy, resource.pinned) = (false, None, false);
        // The resource counts as declared once, so that the next run may delete it.
        resource.imported = false;
        drop(run.submit(Record::Amend { resource: Box::new(resource) }));
    }
    let freed = run.close(RunResult::Succeeded).await?;
    actor.cloud.model().learn_marks(&freed.state);
    Ok(())
}
