//! Stops managing a resource, and records drift: edits that accept reality as it is.

use std::collections::HashSet;

use stead_model::{Code, CopyRef, Diagnostic, Resource};
use stead_plan::Selection;
use stead_state::State;

use super::{EditChange, ProposedEdit, Work};
use crate::Refreshed;
use crate::ops::error::unfinished_deletion;
use crate::ops::keys::ReadSecrets;
use crate::ops::places::Untold;
use crate::ops::{OpError, OpEvent, RunKind, Wait, Workspace, find, pending_deletions};

impl Workspace {
    pub(super) async fn forget(
        &self,
        name: &str,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        let loaded = self.load_settled(wait, events).await?;
        let resource = find(&loaded.state, name)?.clone();
        if let Some((_, name)) = pending_deletions(&loaded.state).find(|(copy, _)| copy.uid == resource.uid) {
            return Err(unfinished_deletion(self, &name));
        }
        let copies: Vec<CopyRef> = loaded.state.copies_of(&resource.uid).map(Resource::copy).collect();
        nothing_depends_on(&loaded.state, &resource)?;
        let edit = self.proposed_on(loaded, Work::Forget(copies), vec![forgotten(&resource)]);
        Ok(ProposedEdit { forgets: vec![resource], ..edit })
    }

    pub(super) async fn record_drift(
        &self,
        selection: &Selection,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        let loaded = self.load_settled(wait, events).await?;
        let mut places = self.compare_places(&loaded.state, (None, &[]), Untold::Refuse).await?;
        let chosen = selection.of_records(&loaded.state).map_err(|problem| OpError::Plan(vec![problem]))?;
        // Reading a resource that is being deleted tells nothing that lasts.
        let deleting: HashSet<CopyRef> = pending_deletions(&loaded.state).map(|(copy, _)| copy).collect();
        let is_read =
            |resource: &Resource| chosen.contains(&resource.uid) && !deleting.contains(&resource.copy());
        let refreshed = self.engine.refresh_where(&loaded.state, is_read).await;
        let Refreshed { drift, records, .. } = refreshed.map_err(OpError::Read)?;
        self.check_key_for(&loaded.state, ReadSecrets::in_records(loaded.state.stack(), &records)).await?;
        let work = match records.is_empty() {
            true => Work::Nothing,
            false => {
                let records = places.record().into_iter().chain(records).collect();
                Work::Append { kind: RunKind::Refresh, records }
            }
        };
        Ok(ProposedEdit { drift, ..self.proposed_on(loaded, work, Vec::new()) })
    }
}

pub(super) fn forgotten(resource: &Resource) -> EditChange {
    let Resource { name, ty, id, .. } = resource;
    EditChange::Forgotten { name: name.clone(), ty: ty.clone(), id: id.clone() }
}

fn nothing_depends_on(state: &State, resource: &Resource) -> Result<(), OpError> {
    let depends = |other: &&Resource| {
        let mut needs = other.dependencies.iter().chain(&other.ties.provider);
        other.uid != resource.uid && needs.any(|copy| copy.uid == resource.uid)
    };
    let dependents: Vec<String> =
        state.copies().filter(depends).map(|other| other.name.to_string()).collect();
    if dependents.is_empty() {
        return Ok(());
    }
    let message = format!("cannot forget {}: others depend on it", resource.name);
    let problem = dependents.into_iter().fold(Diagnostic::error(Code::INTEGRITY, message), Diagnostic::note);
    Err(OpError::refused(problem.help("forget those first")))
}
