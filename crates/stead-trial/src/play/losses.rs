//! Objects of the stack that get lost, and saved plans that overlap.

use std::collections::BTreeSet;

use stead_engine::Stop;
use stead_engine::ops::{Approval, OpError, PlanRequest, Wait};
use stead_engine::{OnFailure, Stack};
use stead_journal::{JournalError, read_head};
use stead_model::{Epoch, Graph, Name, RunResult};
use stead_plan::{Action, Glob, Plan, Request, Selection};
use stead_state::State;
use stead_store::{Expect, Key};
use tokio::sync::watch;

use super::commands::up;
use super::{Actor, NO_FAULTS, PlaySimulation};
use crate::life::operate::DeclaredGraph;

impl PlaySimulation {
    /// Loses the head or a batch of the journal, and checks that `up` refuses the stack and changes nothing. The object
    /// comes back afterwards.
    pub(super) async fn lose_an_object(&mut self) -> Result<(), String> {
        let looking = self.actor(NO_FAULTS);
        let stack = looking.workspace.stack.clone();
        let unreachable = |error: JournalError| format!("state cannot be read: {error:?}");
        let candidates = losable(&stack).await.map_err(unreachable)?;
        let Some(key) = self.rng.pick(&candidates).cloned() else { return Ok(()) };
        let failed = |error: stead_store::StoreError| format!("the store failed: {error}");
        let Some(blob) = stack.store.get(&key).await.map_err(failed)? else { return Ok(()) };
        stack.store.delete(&key).await.map_err(failed)?;
        self.trace.push(format!("{key} is lost"));
        let objects = self.cloud.contents().objects.clone();
        let stored = stack.store.list(&Key::root()).await.map_err(failed)?;
        let graph = self.declare();
        let actor = self.actor(NO_FAULTS);
        let ended = actor.run(&graph, up()).await;
        actor.process.end(&self.disk);
        self.trace.extend(ended.trace);
        let refused =
            matches!(ended.outcome, Err(JournalError::HeadMissing { .. } | JournalError::JournalGap { .. }));
        if !refused {
            return Err(format!("a lost object is damage, and `up` said {:?}", ended.outcome));
        }
        if self.cloud.contents().objects != objects
            || stack.store.list(&Key::root()).await.map_err(failed)? != stored
        {
            return Err("a stack with a lost object is not changed".to_owned());
        }
        stack.store.put(&key, blob.body, Expect::Absent).await.map_err(failed)?;
        looking.process.end(&self.disk);
        Ok(())
    }

    /// Saves two plans for parts of the stack, and applies one after the other. The second must be refused if the first
    /// changed a resource that it changes, too.
    pub(super) async fn apply_two_saved_plans(&mut self) -> Result<(), String> {
        let graph = self.declare();
        let names: Vec<String> =
            self.program.resources.iter().map(|resource| resource.name.clone()).collect();
        let mut part = || {
            let targets = names.iter().filter(|_| self.rng.one_in(2)).map(|name| Glob::new(name.as_str()));
            let selection = Selection { targets: targets.collect(), ..Selection::default() };
            Request { selection, ..up() }
        };
        let requests = [part(), part()];
        let actor = self.actor(NO_FAULTS);
        let mut saved = Vec::new();
        for request in requests {
            saved.extend(actor.save(&graph, request).await);
        }
        let mut changed: BTreeSet<Name> = BTreeSet::new();
        for (approval, names) in &saved {
            let overlap: Vec<&Name> = names.intersection(&changed).collect();
            let before = self.state().await?;
            match actor.apply_saved(&graph, approval).await {
                Ok(_) if !overlap.is_empty() => {
                    return Err(format!("an overlapping saved plan was applied: {overlap:?}"));
                }
                Ok(RunResult::Succeeded) => {
                    let after = self.state().await?;
                    // A step may turn out to be unnecessary when it runs.
                    let version = |state: &State, name: &Name| state.by_name(name).map(|found| found.version);
                    let differs = |name: &&Name| version(&before, name) != version(&after, name);
                    changed.extend(names.iter().filter(differs).cloned());
                }
                // The first run stopped somewhere: the second plan is not needed.
                Ok(_) => break,
                Err(refused) => self.trace.push(format!("a saved plan was refused: {refused}")),
            }
        }
        actor.process.end(&self.disk);
        Ok(())
    }
}

impl Actor {
    /// Makes a plan. Returns its approval, and the resources that it changes.
    async fn save(&self, graph: &Graph, request: Request) -> Option<(Approval, BTreeSet<Name>)> {
        let declared = DeclaredGraph(graph.clone());
        let proposal = self.workspace.preview(&declared, PlanRequest::up(request), &mut |_| ()).await.ok()?;
        let approval = proposal.approval().ok()?;
        self.reports.report(|| serde_json::to_string(&approval).unwrap_or_default());
        Some((approval, changed_by(proposal.plan())))
    }

    async fn apply_saved(&self, graph: &Graph, approval: &Approval) -> Result<RunResult, OpError> {
        let declared = DeclaredGraph(graph.clone());
        let main = self.workspace.pinfile.main.as_str();
        let mut quiet = |_| ();
        let approved = (approval, main);
        let previewed = self.workspace.preview_approved(
            &declared,
            approved,
            (OnFailure::GoOn, Vec::new()),
            Wait::No,
            &mut quiet,
        );
        let permitted = previewed.await?.permit()?;
        Ok(permitted.apply(watch::channel(Stop::No).1, &mut |_| ()).await?.result)
    }
}

fn changed_by(plan: &Plan) -> BTreeSet<Name> {
    let steps = plan.steps.iter().filter(|step| step.action != Action::Barrier);
    steps.map(|step| step.name.clone()).collect()
}

/// Returns the objects whose loss can be told from other objects.
async fn losable(stack: &Stack) -> Result<Vec<Key>, JournalError> {
    let Stack { store, keys, .. } = stack;
    let Some((head, _)) = read_head(store, keys).await? else { return Ok(Vec::new()) };
    let mut candidates = Vec::new();
    for epoch in head.base.0..=head.epoch.0 {
        let mut batches = store.list(&keys.journal(Epoch(epoch))).await?;
        batches.pop();
        candidates.extend(batches);
    }
    let others = store.list(&Key::root()).await?;
    let of_a_run =
        |key: &Key| ["/snapshot/", "/history/", "/journal/"].iter().any(|kind| key.as_str().contains(kind));
    candidates.extend(others.iter().any(of_a_run).then(|| keys.head()));
    Ok(candidates)
}
