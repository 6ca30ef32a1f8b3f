//! Physical ids: each belongs to the copies of one resource.
//!
//! Some clouds answer the create of an existing object as if they had created it. Without these checks the new record could
//! delete an object that the guards keep for another resource.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use stead_model::{CopyRef, PhysicalId, Resource, TypeToken, Uid};
use stead_provider::Providers;
use stead_state::{Intent, Outcome, State};

use crate::execute::call::Answer;

/// A physical id means something only for its type, and in the place of its provider resource, if the provider can have several.
type TypeAndId<'a> = (&'a TypeToken, Option<&'a Uid>, &'a PhysicalId);

/// The recorded physical ids, with the changes of this run.
pub(crate) struct PhysicalIds<'a> {
    base: &'a State,
    providers: &'a Providers,
    /// Filled from state at first use.
    recorded: OnceCell<HashMap<TypeAndId<'a>, Vec<&'a Resource>>>,
    /// Copies that this run created or imported, by type, provider resource and id.
    added: HashMap<(TypeToken, Option<Uid>), HashMap<PhysicalId, CopyRef>>,
    /// Copies that this run deleted or forgot.
    removed: HashSet<CopyRef>,
}

impl<'a> PhysicalIds<'a> {
    pub(crate) fn of(base: &'a State, providers: &'a Providers) -> PhysicalIds<'a> {
        let (recorded, added, removed) = (OnceCell::new(), HashMap::new(), HashSet::new());
        PhysicalIds { base, providers, recorded, added, removed }
    }

    /// Returns the provider resource that tells the place of a copy; `None` for the default one, and for all copies of a
    /// provider that takes no settings, because it has one place.
    fn place<'b>(&self, copy: &'b Resource) -> Option<&'b Uid> {
        let provider = copy.ties.provider.as_ref()?;
        self.providers.of(&copy.ty)?.configurable()?;
        Some(&provider.uid)
    }

    fn recorded(&self) -> &HashMap<TypeAndId<'a>, Vec<&'a Resource>> {
        self.recorded.get_or_init(|| {
            let mut all: HashMap<TypeAndId<'a>, Vec<&'a Resource>> = HashMap::new();
            for copy in self.base.copies() {
                if let Some(id) = &copy.id {
                    all.entry((&copy.ty, self.place(copy), id)).or_default().push(copy);
                }
            }
            all
        })
    }

    /// Returns the other copies with this id, of the same resource and of others.
    pub(crate) fn others<'b>(
        &'b self,
        resource: &'b Resource,
        id: &'b PhysicalId,
    ) -> impl Iterator<Item = CopyRef> + use<'a, 'b> {
        let own = resource.copy();
        let recorded = self.recorded().get(&(&resource.ty, self.place(resource), id));
        let recorded = recorded.into_iter().flatten().map(|copy| copy.copy());
        let added = self.added.get(&(resource.ty.clone(), self.place(resource).cloned()));
        let added = added.and_then(|added| added.get(id)).cloned();
        recorded.chain(added).filter(move |copy| *copy != own && !self.removed.contains(copy))
    }

    /// Returns the reason why a new resource cannot have this id.
    pub(crate) fn problem(&self, resource: &Resource, id: &PhysicalId) -> Option<String> {
        if id.as_str().is_empty() {
            return Some("the provider returned no physical id".to_owned());
        }
        let holder = self.holder(resource, id)?;
        Some(format!("the provider returned the physical id {id}, which already belongs to {holder}"))
    }

    /// Returns the name of another resource with this id.
    pub(crate) fn holder(&self, resource: &Resource, id: &PhysicalId) -> Option<String> {
        let other = self.others(resource, id).find(|other| other.uid != resource.uid)?;
        let name = self.base.copy(&other).map(|other| other.name.to_string());
        Some(name.unwrap_or_else(|| "another resource of this run".to_owned()))
    }

    /// Adds a copy that this run created or imported.
    pub(crate) fn add(&mut self, resource: &Resource, id: &PhysicalId) {
        let place = self.place(resource).cloned();
        let of_type = self.added.entry((resource.ty.clone(), place)).or_default();
        of_type.insert(id.clone(), resource.copy());
    }

    /// Removes a copy that this run deleted or forgot.
    pub(crate) fn remove(&mut self, copy: CopyRef) {
        self.removed.insert(copy);
    }
}

impl Answer {
    /// Checks the physical id in the answer to a create.
    ///
    /// With an impossible id the create is in doubt, since the new object, if there is one, must have another id.
    pub(crate) fn checked(self, intent: &Intent, physical_ids: &PhysicalIds<'_>) -> Answer {
        let (Intent::Create { resource, .. }, Outcome::Created { id, .. }) = (intent, &self.outcome) else {
            return self;
        };
        match physical_ids.problem(resource, id) {
            Some(message) => Answer::of(Outcome::InDoubt { message }),
            None => self,
        }
    }
}
