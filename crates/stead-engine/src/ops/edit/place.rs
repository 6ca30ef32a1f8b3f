//! Accepts another place of the default providers: an edit of the record, which moves no resource.

use std::collections::BTreeSet;

use stead_model::{Code, Diagnostic, Hint, NextStep, Resource};
use stead_state::{Record, State};

use super::{EditChange, ProposedEdit, Work};
use crate::gather::read::Reading;
use crate::ops::places::{Untold, in_use, is_of_default};
use crate::ops::{OpError, OpEvent, RunKind, Wait, Workspace};

/// Resources at a new place, as they were read.
#[derive(Default)]
struct Looked {
    found: usize,
    missing: Vec<Resource>,
}

impl Workspace {
    /// Proposes to record the places to which the default providers lead now.
    ///
    /// Operations of an interrupted run stay as they are: they are finished in the accepted place. Every recorded resource is
    /// read there first. Missing resources are listed, and the guards decide on them as if they were forgotten.
    pub(super) async fn accept_place(
        &self,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        self.load_existing().await?;
        let loaded = self.load_in_turn(wait, events).await?;
        let state = loaded.state.clone();
        let (mut places, mut moved, mut changes) = (state.places().clone(), BTreeSet::new(), Vec::new());
        for provider in in_use(&state, &self.engine.providers) {
            let now = self.engine.default_place(&provider, Untold::Refuse).await;
            let now = now.map_err(|refusal| untold(&provider, &refusal.message))?;
            let Some(now) = now else { return Err(untold(&provider, "it has no answer")) };
            let recorded = places.0.insert(provider.clone(), now.clone());
            if recorded.as_ref() != Some(&now) {
                moved.insert(provider.clone());
                changes.push(EditChange::PlaceAccepted { provider, from: recorded, to: now });
            }
        }
        if changes.is_empty() {
            return Ok(self.proposed_on(loaded, Work::Nothing, changes));
        }
        let Looked { found, missing } = self.look_at(&state, &moved).await?;
        if found == 0 && !missing.is_empty() {
            return Err(none_there(missing.len()));
        }
        changes.push(EditChange::ResourcesFound { count: found });
        changes.extend(missing.iter().map(|resource| {
            let Resource { name, ty, id, .. } = resource;
            EditChange::NotThere { name: name.clone(), ty: ty.clone(), id: id.clone() }
        }));
        let work = Work::Append { kind: RunKind::AcceptPlace, records: vec![Record::Places { places }] };
        Ok(ProposedEdit { unreached: missing, ..self.proposed_on(loaded, work, changes) })
    }

    /// Reads the resources of the default providers, in the places to which they lead now.
    async fn look_at(&self, state: &State, moved: &BTreeSet<String>) -> Result<Looked, OpError> {
        let engine = &self.engine;
        let is_moved = |resource: &Resource| {
            moved.iter().any(|provider| is_of_default(resource, provider, &engine.providers))
        };
        let mut looked = Looked::default();
        for (resource, reading) in engine.read_where(state, is_moved).await.map_err(OpError::Read)? {
            match reading {
                Reading::Found(_) => looked.found += 1,
                Reading::Gone => looked.missing.push(resource.clone()),
                Reading::AsRecorded | Reading::CannotLook => {}
            }
        }
        Ok(looked)
    }
}

fn untold(provider: &str, why: &str) -> OpError {
    let message = format!("the provider `{provider}` does not tell where its settings and credentials lead");
    let problem = Diagnostic::error(Code::CANNOT_READ, message).note(why.to_owned());
    OpError::Read(vec![problem.help("check the credentials and the network")])
}

fn none_there(count: usize) -> OpError {
    let message = format!("none of the {count} resources of this stack exists there");
    let instead = Hint::text("to begin anew there, remove this stack with ");
    let problem = Diagnostic::error(Code::OTHER_PLACE, message).note(
        "A record of another place would make the next run create all of them again. Nothing was changed.",
    );
    OpError::Guarded(vec![problem.help(instead.then(NextStep::ForgetResources))])
}
