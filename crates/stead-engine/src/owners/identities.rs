//! Identities of the recorded resources of one stack, with the changes of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use stead_model::{CopyRef, Lifecycle, Name, PhysicalIdentity, Resource};
use stead_provider::{Description, Provider};
use stead_state::State;

use crate::Engine;

/// The copies that have each real resource.
#[derive(Default)]
pub(crate) struct Identities {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    holders: HashMap<PhysicalIdentity, Vec<(CopyRef, Name)>>,
    of_copy: HashMap<CopyRef, Vec<PhysicalIdentity>>,
}

impl Identities {
    /// Asks the providers for the identities of all recorded copies that exist.
    pub(crate) async fn of(base: &State, engine: &Engine) -> Identities {
        let exists = |copy: &&Resource| copy.lifecycle != Lifecycle::Replacing;
        let copies: Vec<&Resource> = base.copies().filter(exists).collect();
        let found = identities_of(copies.iter().map(|copy| described(engine, base, copy)).collect()).await;
        let identities = Identities::default();
        for (copy, found) in copies.into_iter().zip(found) {
            identities.add(copy.copy(), &copy.name, found);
        }
        identities
    }

    fn add(&self, copy: CopyRef, name: &Name, identities: Vec<PhysicalIdentity>) {
        if identities.is_empty() {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        for identity in &identities {
            inner.holders.entry(identity.clone()).or_default().push((copy.clone(), name.clone()));
        }
        inner.of_copy.insert(copy, identities);
    }

    /// Gives real resources to a new copy, or returns the one that another copy has, with the name of that copy.
    pub(crate) fn reserve(
        &self,
        copy: &CopyRef,
        name: &Name,
        identities: &[PhysicalIdentity],
    ) -> Result<(), (PhysicalIdentity, Name)> {
        for identity in identities {
            let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let holder = inner.holders.get(identity).into_iter().flatten().find(|(holder, _)| holder != copy);
            if let Some((_, holder)) = holder {
                return Err((identity.clone(), holder.clone()));
            }
        }
        self.remove(copy);
        self.add(copy.clone(), name, identities.to_vec());
        Ok(())
    }

    /// Returns true if another copy has the same real resource, or a part of it.
    pub(crate) fn is_shared(&self, copy: &CopyRef) -> bool {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let own = inner.of_copy.get(copy).into_iter().flatten();
        own.filter_map(|identity| inner.holders.get(identity)).flatten().any(|(holder, _)| holder != copy)
    }

    /// Removes a copy that was deleted or forgotten, or whose create failed.
    pub(crate) fn remove(&self, copy: &CopyRef) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        for identity in inner.of_copy.remove(copy).unwrap_or_default() {
            if let Some(holders) = inner.holders.get_mut(&identity) {
                holders.retain(|(holder, _)| holder != copy);
            }
        }
    }
}

/// A resource with its provider; `None` if no provider can tell its identity.
pub(crate) type Described = (Option<Arc<dyn Provider>>, Description);

/// Describes a recorded resource.
pub(crate) fn described(engine: &Engine, state: &State, resource: &Resource) -> Described {
    (engine.serving(resource, state).ok(), Description::of_record(resource))
}

/// Resources of one provider: their positions among all, and their descriptions.
type Asked = (Arc<dyn Provider>, Vec<usize>, Vec<Description>);

/// Asks the providers for the identities of described resources, each provider once.
pub(crate) async fn identities_of(described: Vec<Described>) -> Vec<Vec<PhysicalIdentity>> {
    let mut found = vec![Vec::new(); described.len()];
    let mut asked: Vec<Asked> = Vec::new();
    for (at, (provider, described)) in described.into_iter().enumerate() {
        let Some(provider) = provider.filter(|provider| provider.ownership().is_some()) else { continue };
        let (_, places, of) = match asked.iter().position(|(known, ..)| Arc::ptr_eq(known, &provider)) {
            Some(known) => &mut asked[known],
            None => {
                asked.push((provider, Vec::new(), Vec::new()));
                let last = asked.len() - 1;
                &mut asked[last]
            }
        };
        places.push(at);
        of.push(described);
    }
    for (provider, places, of) in asked {
        let Some(ownership) = provider.ownership() else { continue };
        for (at, identities) in places.into_iter().zip(ownership.identities(of).await) {
            found[at] = identities;
        }
    }
    found
}
