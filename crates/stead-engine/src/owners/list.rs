//! Lists the marks that name owners.

use stead_model::PhysicalIdentity;
use stead_provider::{MarksUnavailable, OwnerMark};

use crate::ops::Workspace;
use crate::owners::{Stacks, Standing, records};

/// A real resource with the mark that names its owner.
#[derive(Clone, Debug)]
pub struct OwnedThing {
    pub identity: PhysicalIdentity,
    pub owner: OwnerMark,
    pub standing: Standing,
}

impl Workspace {
    /// Returns the marks of all stacks that the providers can list, sorted by provider and identity.
    pub async fn owned_things(&self) -> Result<Vec<OwnedThing>, MarksUnavailable> {
        let Some(owners) = &self.engine.owners else { return Ok(Vec::new()) };
        let names: Vec<String> = self.engine.providers.names().map(str::to_owned).collect();
        // A state that cannot be read may record anything.
        let own = self.stack.load().await.ok();
        let recorded = |owner: &OwnerMark| own.as_ref().is_none_or(|own| records(&own.state, &owner.uid));
        let (mut stacks, mut things) = (Stacks::default(), Vec::new());
        for provider in names.iter().filter_map(|name| self.engine.providers.named(name)) {
            let Some(ownership) = provider.ownership() else { continue };
            for (identity, owner) in ownership.marks().await? {
                let standing = match stacks.standing(owners, &owner).await {
                    Standing::Own if !recorded(&owner) => Standing::Stale,
                    standing => standing,
                };
                things.push(OwnedThing { identity, owner, standing });
            }
        }
        Ok(things)
    }
}
