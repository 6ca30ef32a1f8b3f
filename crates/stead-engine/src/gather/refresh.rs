//! Refresh: reads resources, and compares them with their records.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt as _;
use stead_model::{CopyRef, Diagnostic, Lifecycle, Name, NodeId, Resource};
use stead_plan::{Action, Plan};
use stead_provider::LiveState;
use stead_schema::{Change, diff};
use stead_state::{Record, State};

use crate::Engine;
use crate::gather::provider_limits::ProviderLimits;
use crate::gather::read::{Reading, unreadable};

/// A resource that differs from its record.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    pub name: Name,
    pub copy: CopyRef,
    /// Values that the provider read; `None` if the resource does not exist.
    pub found: Option<LiveState>,
    /// Changes from the recorded to the found inputs.
    pub changes: Vec<Change>,
}

/// Result of a refresh.
pub struct Refreshed {
    /// The state with all values as they were read.
    pub state: Arc<State>,
    pub drift: Vec<Drift>,
    /// Records that lead from the old state to this one, for a run to write.
    pub records: Vec<Record>,
}

impl Engine {
    /// Reads every live resource, in parallel, and many of one type in a batch. Writes nothing.
    pub async fn refresh(&self, base: &State) -> Result<Refreshed, Vec<Diagnostic>> {
        self.refresh_where(base, |_| true).await
    }

    /// Reads the resources that the plan would update, replace or delete. Writes nothing.
    pub async fn refresh_touched(&self, base: &State, plan: &Plan) -> Result<Refreshed, Vec<Diagnostic>> {
        let touched: HashSet<&CopyRef> =
            plan.steps.iter().filter_map(|step| changed_copy(&step.action, plan, step.node)).collect();
        self.refresh_where(base, |resource| touched.contains(&resource.copy())).await
    }

    /// Reads the live resources that a condition selects. Writes nothing.
    pub async fn refresh_where(
        &self,
        base: &State,
        selected: impl Fn(&Resource) -> bool,
    ) -> Result<Refreshed, Vec<Diagnostic>> {
        let mut drift = Vec::new();
        for (resource, found) in self.read_where(base, selected).await? {
            match found {
                Reading::Found(live) => drift.extend(self.compare(resource, Some(live))),
                Reading::Gone => drift.extend(self.compare(resource, None)),
                Reading::AsRecorded | Reading::CannotLook => {}
            }
        }
        let records: Vec<Record> = drift.iter().map(observed).collect();
        let mut state = base.clone();
        for record in &records {
            // Every record is about a copy of this state, so that none of them fails.
            let _ = state.apply(record);
        }
        Ok(Refreshed { state: Arc::new(state), drift, records })
    }

    /// Reads the live resources that a condition selects, in parallel, within the limits of their providers.
    ///
    /// Fails with all refusals if one of them cannot be read.
    pub(crate) async fn read_where<'a>(
        &self,
        base: &'a State,
        selected: impl Fn(&Resource) -> bool,
    ) -> Result<Vec<(&'a Resource, Reading)>, Vec<Diagnostic>> {
        let live: Vec<&Resource> = base
            .resources()
            .into_iter()
            .filter(|resource| resource.lifecycle == Lifecycle::Live && selected(resource))
            .collect();
        let limits = &ProviderLimits::of(&self.providers);
        let told = &self.read_in_batches(&live, base, limits).await;
        let reads = futures_util::stream::iter(live)
            .map(|resource| async move {
                if let Some(live) = told.get(&resource.copy()) {
                    return (resource, Ok(Reading::Found(live.clone())));
                }
                let _permit = limits.wait(resource.ty.provider()).await;
                (resource, self.read(resource, base).await)
            })
            .buffered(self.parallel);
        let (mut readings, mut problems) = (Vec::new(), Vec::new());
        for (resource, read) in reads.collect::<Vec<_>>().await {
            match read {
                Ok(reading) => readings.push((resource, reading)),
                Err(refusal) => problems.push(unreadable(resource, refusal)),
            }
        }
        if problems.is_empty() { Ok(readings) } else { Err(problems) }
    }

    fn compare(&self, resource: &Resource, found: Option<LiveState>) -> Option<Drift> {
        let changes = match &found {
            None => Vec::new(),
            Some(live) if live.inputs == resource.inputs && live.outputs == resource.outputs => return None,
            Some(live) => {
                let now =
                    live.inputs.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
                let schema = self.catalog.get(&resource.ty)?;
                diff(schema, &resource.inputs, &now)
            }
        };
        Some(Drift { name: resource.name.clone(), copy: resource.copy(), found, changes })
    }
}

/// Returns the recorded copy that a step changes.
fn changed_copy<'a>(action: &'a Action, plan: &'a Plan, node: Option<NodeId>) -> Option<&'a CopyRef> {
    match action {
        Action::Update { copy, .. } | Action::Delete { copy, .. } => Some(copy),
        Action::Create { .. } => plan.existing.get(&node?),
        _ => None,
    }
}

fn observed(drift: &Drift) -> Record {
    let inputs = drift.found.as_ref().map(|live| live.inputs.clone());
    let outputs = drift.found.as_ref().map(|live| live.outputs.clone());
    Record::observed(drift.copy.clone(), inputs, outputs)
}
