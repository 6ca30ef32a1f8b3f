//! Looks at what is really there, and says where it differs from what is recorded.

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
use crate::gather::read::unreadable;

/// A resource that is not what its record says.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    pub name: Name,
    pub copy: CopyRef,
    /// `None`: it is gone.
    pub found: Option<LiveState>,
    /// What differs, recorded against found.
    pub changes: Vec<Change>,
}

/// What a refresh saw.
pub struct Refreshed {
    /// The state with everything as it was found.
    pub state: Arc<State>,
    pub drift: Vec<Drift>,
    /// The records that make the state so, for a run to write.
    pub records: Vec<Record>,
}

impl Engine {
    /// Reads every live resource, as many at once as allowed. Changes nothing.
    pub async fn refresh(&self, base: &State) -> Result<Refreshed, Vec<Diagnostic>> {
        self.refresh_where(base, |_| true).await
    }

    /// Reads those that the plan would touch. Changes nothing.
    pub async fn refresh_touched(&self, base: &State, plan: &Plan) -> Result<Refreshed, Vec<Diagnostic>> {
        let touched: HashSet<&CopyRef> =
            plan.steps.iter().filter_map(|step| subject(&step.action, plan, step.node)).collect();
        self.refresh_where(base, |resource| touched.contains(&resource.copy())).await
    }

    /// Reads the live resources that are chosen. Changes nothing.
    pub async fn refresh_where(
        &self,
        base: &State,
        chosen: impl Fn(&Resource) -> bool,
    ) -> Result<Refreshed, Vec<Diagnostic>> {
        let live: Vec<&Resource> = base
            .resources()
            .into_iter()
            .filter(|resource| resource.lifecycle == Lifecycle::Live && chosen(resource))
            .collect();
        let turns = &ProviderLimits::at(&self.providers);
        let reads = futures_util::stream::iter(live)
            .map(|resource| async move {
                let _turn = turns.wait(resource.ty.provider()).await;
                (resource, self.read(resource).await)
            })
            .buffered(self.parallel);
        let (mut drift, mut problems) = (Vec::new(), Vec::new());
        for (resource, found) in reads.collect::<Vec<_>>().await {
            match found {
                Ok(found) => drift.extend(self.compare(resource, found)),
                #[cfg(stead_planted)]
                Err(_) if stead_model::planted::is("read-error-is-absence") => {
                    drift.extend(self.compare(resource, None));
                }
                Err(refusal) => problems.push(unreadable(resource, refusal)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let records: Vec<Record> = drift.iter().map(observed).collect();
        let mut state = base.clone();
        for record in &records {
            // Every record speaks of a copy that was just listed.
            let _ = state.apply(record);
        }
        Ok(Refreshed { state: Arc::new(state), drift, records })
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

/// The copy that a step is about.
fn subject<'a>(action: &'a Action, plan: &'a Plan, node: Option<NodeId>) -> Option<&'a CopyRef> {
    match action {
        Action::Update { copy, .. } | Action::Delete { copy, .. } => Some(copy),
        Action::Create { .. } => plan.existing.get(&node?),
        _ => None,
    }
}

fn observed(drift: &Drift) -> Record {
    Record::Observed {
        copy: drift.copy.clone(),
        inputs: drift.found.as_ref().map(|live| live.inputs.clone()),
        outputs: drift.found.as_ref().map(|live| live.outputs.clone()),
    }
}
