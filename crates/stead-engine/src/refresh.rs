//! Looks at what is really there, and says where it differs from what is recorded.

use futures_util::StreamExt as _;
use stead_model::{Code, CopyRef, Diagnostic, Lifecycle, Name, Resource};
use stead_provider::{Live, Refusal};
use stead_schema::{Change, diff};
use stead_state::{Record, State};

use crate::Engine;

/// A resource that is not what its record says.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    pub name: Name,
    pub copy: CopyRef,
    /// `None`: it is gone.
    pub found: Option<Live>,
    /// What differs, recorded against found.
    pub changes: Vec<Change>,
}

/// What a refresh saw.
pub struct Refreshed {
    /// The state with everything as it was found.
    pub state: State,
    pub drift: Vec<Drift>,
    /// The records that make the state so, for a run to write.
    pub records: Vec<Record>,
}

impl Engine {
    /// Reads every live resource, as many at once as allowed. Changes nothing.
    pub async fn refresh(&self, base: &State) -> Result<Refreshed, Vec<Diagnostic>> {
        let live: Vec<&Resource> =
            base.resources().into_iter().filter(|resource| resource.lifecycle == Lifecycle::Live).collect();
        let reads = futures_util::stream::iter(live)
            .map(|resource| async move { (resource, self.read(resource).await) })
            .buffered(self.parallel);
        let (mut drift, mut problems) = (Vec::new(), Vec::new());
        for (resource, found) in reads.collect::<Vec<_>>().await {
            match found {
                Ok(found) => drift.extend(self.compare(resource, found)),
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
        Ok(Refreshed { state, drift, records })
    }

    async fn read(&self, resource: &Resource) -> Result<Option<Live>, Refusal> {
        match self.providers.of(&resource.resource) {
            Some(provider) => provider.read(resource).await,
            None => Err(Refusal::new(format!("no provider serves {}", resource.resource))),
        }
    }

    fn compare(&self, resource: &Resource, found: Option<Live>) -> Option<Drift> {
        let changes = match &found {
            None => Vec::new(),
            Some(live) if live.inputs == resource.inputs && live.outputs == resource.outputs => return None,
            Some(live) => {
                let now =
                    live.inputs.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
                let schema = self.catalog.get(&resource.resource)?;
                diff(schema, &resource.inputs, &now)
            }
        };
        Some(Drift { name: resource.name.clone(), copy: resource.copy(), found, changes })
    }
}

fn observed(drift: &Drift) -> Record {
    Record::Observed {
        copy: drift.copy.clone(),
        inputs: drift.found.as_ref().map(|live| live.inputs.clone()),
        outputs: drift.found.as_ref().map(|live| live.outputs.clone()),
    }
}

fn unreadable(resource: &Resource, refusal: Refusal) -> Diagnostic {
    let message = format!("cannot read {}: {}", resource.name, refusal.message);
    let problem =
        Diagnostic::error(Code::STEP_FAILED, message).at(resource.source.clone(), 0, "declared here");
    refusal.help.into_iter().fold(problem, Diagnostic::help)
}
