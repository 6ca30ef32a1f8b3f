//! Marks of records that change without a call: imported, forgotten, moved, renamed.

use stead_model::{Resource, StackId};
use stead_provider::Occasion;

use crate::ops::Workspace;
use crate::owners::{Owners, RunOwners};

impl Workspace {
    /// Releases the real resources of records that this stack no longer has.
    pub(crate) async fn release_owned(&self, stack: &StackId, resources: &[Resource]) {
        self.run_owners(self.engine.owners.clone(), stack)
            .release_all(&self.engine.providers, resources)
            .await;
    }

    /// Marks the real resources of records that have moved to another stack of the project, or with this one.
    pub(crate) async fn carry_owned(
        &self,
        stack: &StackId,
        (environment, target): (&str, &str),
        resources: &[Resource],
    ) {
        let owners = self.engine.owners.as_ref().map(|owners| owners.of_sibling(environment, target));
        let moved = self.run_owners(owners, stack);
        moved.claim_all(&self.engine.providers, resources, Occasion::Move).await;
    }

    fn run_owners(&self, owners: Option<Owners>, stack: &StackId) -> RunOwners {
        RunOwners { owners, stack: stack.clone(), identities: Default::default() }
    }
}
