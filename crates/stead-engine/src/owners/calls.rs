//! Owners at the call: asked before a provider changes a real resource, marked, and released after it.

use std::sync::Arc;

use stead_model::{CopyRef, Hint, NextStep, PhysicalIdentity, Resource, StackId};
use stead_plan::{Action, Plan};
use stead_provider::{
    Claim, Description, MarksUnavailable, Occasion, OwnerMark, Ownership, Provider, Providers, Refusal,
    RefusalClass,
};
use stead_state::{Intent, Outcome, State};

use crate::Engine;
use crate::owners::identities::Identities;
use crate::owners::{Owners, Standing};

/// Attempts at a claim that another process changes meanwhile.
const CLAIM_ATTEMPTS: usize = 3;

/// The owners of one run. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RunOwners {
    pub(super) owners: Option<Owners>,
    pub(super) stack: StackId,
    pub(super) identities: Arc<Identities>,
}

/// Claims of a call, to be settled by its outcome.
pub(crate) struct CallClaims {
    resource: Resource,
    identities: Vec<PhysicalIdentity>,
}

impl Engine {
    /// Returns the owners for a run that executes a plan.
    pub(crate) async fn run_owners(&self, plan: &Plan, base: &State, stack: &StackId) -> RunOwners {
        let changes = |action: &Action| {
            matches!(action, Action::Create { .. } | Action::Delete { .. } | Action::Import { .. })
        };
        let identities = match plan.steps.iter().any(|step| changes(&step.action)) {
            true => Identities::of(base, self).await,
            false => Identities::default(),
        };
        RunOwners { owners: self.owners.clone(), stack: stack.clone(), identities: Arc::new(identities) }
    }

    /// Returns the owners for a run that repeats interrupted operations.
    pub(crate) async fn recovery_owners(&self, base: &State) -> RunOwners {
        let identities = Identities::of(base, self).await;
        let stack = base.stack().clone();
        RunOwners { owners: self.owners.clone(), stack, identities: Arc::new(identities) }
    }
}

impl RunOwners {
    /// Returns the mark that a created or changed resource gets.
    pub(crate) fn own_mark(&self, intent: &Intent) -> Option<OwnerMark> {
        let owners = self.owners.as_ref()?;
        match intent {
            Intent::Create { resource, .. } | Intent::Update { resource, .. } => {
                Some(owners.mark(&self.stack, resource))
            }
            Intent::Delete { .. } => None,
        }
    }

    /// Asks who owns the real resource that a call is about, and claims it. `deleted` is the copy to delete.
    pub(crate) async fn before(
        &self,
        provider: &Arc<dyn Provider>,
        intent: &Intent,
        deleted: Option<&Resource>,
    ) -> Result<Option<CallClaims>, Refusal> {
        let resource = match intent {
            Intent::Create { resource, .. } | Intent::Update { resource, .. } => resource,
            Intent::Delete { .. } => match deleted {
                Some(resource) => resource,
                None => return Ok(None),
            },
        };
        let Some(ownership) = provider.ownership() else { return Ok(None) };
        let described = vec![Description::of_record(resource)];
        let identities = ownership.identities(described).await.pop().unwrap_or_default();
        if identities.is_empty() {
            return Ok(None);
        }
        let occasion = match intent {
            Intent::Create { .. } => {
                let reserved = self.identities.reserve(&resource.copy(), &resource.name, &identities);
                reserved.map_err(|(identity, holder)| held_here(&identity, &holder.to_string()))?;
                Some(Occasion::Create)
            }
            Intent::Update { .. } => Some(Occasion::Update),
            Intent::Delete { .. } => None,
        };
        let asked = !(occasion == Some(Occasion::Create) && ownership.marks_are_inside());
        for identity in identities.iter().filter(|_| asked) {
            if let Err(refusal) = self.acquire(ownership, identity, resource, occasion).await {
                self.give_back(ownership, intent, resource, &identities).await;
                return Err(refusal);
            }
        }
        Ok(Some(CallClaims { resource: resource.clone(), identities }))
    }

    /// Returns true if another copy of this stack has the same real resource.
    pub(crate) fn is_shared(&self, copy: &CopyRef) -> bool {
        self.identities.is_shared(copy)
    }

    /// Removes a copy whose record is gone while its real resource stays.
    pub(crate) fn forget(&self, copy: &CopyRef) {
        self.identities.remove(copy);
    }

    /// Settles the claims of a call by its outcome. A claim in doubt stays.
    pub(crate) async fn after(
        &self,
        provider: &Arc<dyn Provider>,
        intent: &Intent,
        claims: Option<CallClaims>,
        outcome: &Outcome,
    ) {
        let (Some(CallClaims { resource, identities }), Some(ownership)) = (claims, provider.ownership())
        else {
            return;
        };
        match (intent, outcome) {
            (Intent::Create { .. }, Outcome::Failed { .. }) => {
                self.give_back(ownership, intent, &resource, &identities).await;
            }
            (Intent::Delete { .. }, Outcome::Deleted) => {
                self.identities.remove(&resource.copy());
                self.release(ownership, &resource, &identities).await;
            }
            _ => {}
        }
    }

    async fn give_back(
        &self,
        ownership: &dyn Ownership,
        intent: &Intent,
        resource: &Resource,
        identities: &[PhysicalIdentity],
    ) {
        if matches!(intent, Intent::Create { .. }) {
            self.identities.remove(&resource.copy());
            self.release(ownership, resource, identities).await;
        }
    }

    /// Refuses a real resource that another stack owns; else marks it, if an occasion is given.
    pub(super) async fn acquire(
        &self,
        ownership: &dyn Ownership,
        identity: &PhysicalIdentity,
        resource: &Resource,
        occasion: Option<Occasion>,
    ) -> Result<(), Refusal> {
        let Some(owners) = &self.owners else { return Ok(()) };
        let own = owners.mark(&self.stack, resource);
        for _ in 0..CLAIM_ATTEMPTS {
            let found = match mark_on(ownership, identity).await {
                Ok(found) => found,
                Err(problem) => {
                    owners.note(problem);
                    return Ok(());
                }
            };
            if let Some(mark) = found.as_ref().filter(|_| !owners.takes_over(resource)) {
                match owners.standing(mark).await {
                    Standing::Own | Standing::Stale => {}
                    standing => return Err(owned_elsewhere(identity, mark, &standing, resource)),
                }
            }
            let Some(occasion) = occasion else { return Ok(()) };
            match ownership.claim(identity.clone(), own.clone(), found, occasion).await {
                Ok(Claim::Made) => return Ok(()),
                Ok(Claim::Lost) => {}
                Err(problem) => {
                    owners.note(problem);
                    return Ok(());
                }
            }
        }
        Err(Refusal::transient(format!("another process keeps changing the owner of {identity}")))
    }

    async fn release(&self, ownership: &dyn Ownership, resource: &Resource, identities: &[PhysicalIdentity]) {
        let Some(owners) = self.owners.as_ref().filter(|_| !ownership.marks_are_inside()) else { return };
        for identity in identities {
            let found = match mark_on(ownership, identity).await {
                Ok(found) => found,
                Err(problem) => return owners.note(problem),
            };
            let ours = |mark: &OwnerMark| {
                mark.place.resolved(&owners.place) == owners.place && mark.uid == resource.uid
            };
            let Some(mark) = found.filter(|mark| ours(mark) || owners.takes_over(resource)) else { continue };
            if let Err(problem) = ownership.release(identity.clone(), mark).await {
                return owners.note(problem);
            }
        }
    }

    /// Marks resources whose records this stack got without a call. A mark of another living stack stays.
    pub(crate) async fn claim_all(&self, providers: &Providers, resources: &[Resource], occasion: Occasion) {
        for (resource, ownership, identities) in self.marked(providers, resources).await {
            for identity in &identities {
                // The plan was refused if another stack owned it; whoever came first meanwhile keeps it.
                let _ = self.acquire(ownership, identity, resource, Some(occasion)).await;
            }
        }
    }

    /// Releases resources that this stack no longer records.
    pub(crate) async fn release_all(&self, providers: &Providers, resources: &[Resource]) {
        for (resource, ownership, identities) in self.marked(providers, resources).await {
            self.release(ownership, resource, &identities).await;
        }
    }

    /// Returns the resources whose marks are apart from them. A mark inside a resource changes only with the resource.
    async fn marked<'a>(
        &self,
        providers: &'a Providers,
        resources: &'a [Resource],
    ) -> Vec<(&'a Resource, &'a dyn Ownership, Vec<PhysicalIdentity>)> {
        if self.owners.is_none() || resources.is_empty() {
            return Vec::new();
        }
        // A mark that is outside of its resource has one place, that of the default provider.
        let with_marks = |one: &&Resource| {
            let ownership = providers.of(&one.ty).and_then(|provider| provider.ownership());
            ownership.is_some_and(|ownership| !ownership.marks_are_inside())
        };
        let resources: Vec<&Resource> = resources.iter().filter(with_marks).collect();
        let described = |one: &&Resource| (providers.of(&one.ty).cloned(), Description::of_record(one));
        let found = super::identities::identities_of(resources.iter().map(described).collect()).await;
        let with_marks = |(resource, identities): (&'a Resource, Vec<PhysicalIdentity>)| {
            Some((resource, providers.of(&resource.ty)?.ownership()?, identities))
        };
        resources.into_iter().zip(found).filter_map(with_marks).collect()
    }
}

async fn mark_on(
    ownership: &dyn Ownership,
    identity: &PhysicalIdentity,
) -> Result<Option<OwnerMark>, MarksUnavailable> {
    ownership.owners(vec![identity.clone()]).await.pop().unwrap_or(Ok(None))
}

fn held_here(identity: &PhysicalIdentity, holder: &str) -> Refusal {
    Refusal::new(format!("{identity} already belongs to {holder} of this stack"))
        .help("give one of the two resources another place, or remove one of them")
}

/// Describes the owner of a real resource in another stack.
pub(super) fn owner_text(identity: &PhysicalIdentity, mark: &OwnerMark, standing: &Standing) -> String {
    let unread = match standing {
        Standing::Unreadable(reason) => format!(", which cannot be read: {reason}"),
        _ => String::new(),
    };
    format!("{identity} belongs to {} of another stack ({}){unread}", mark.name, mark.place)
}

fn owned_elsewhere(
    identity: &PhysicalIdentity,
    mark: &OwnerMark,
    standing: &Standing,
    resource: &Resource,
) -> Refusal {
    let name = resource.name.clone();
    Refusal { class: RefusalClass::OwnedElsewhere, ..Refusal::new(owner_text(identity, mark, standing)) }
        .help(Hint::text("to take it from that stack: ").then(NextStep::TakeOver { name }))
}
