//! Which real thing belongs to which record. One thing is one resource: what another one has is not taken for something
//! new, and is not deleted with an older record of it.
//!
//! Some clouds answer a create of what is there already as if they had made it. Without this, the record that came of
//! it could delete what the guards keep for the other.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use stead_model::{CopyRef, PhysicalId, Resource, TypeToken};
use stead_state::{Intent, Outcome, State};

use crate::execute::call::Answer;

type Kind<'a> = (&'a TypeToken, &'a PhysicalId);

pub(crate) struct PhysicalIds<'a> {
    base: &'a State,
    /// Read from state when somebody asks for the first time.
    recorded: OnceCell<HashMap<Kind<'a>, Vec<&'a Resource>>>,
    /// What was made in this run, by type and id.
    made: HashMap<TypeToken, HashMap<PhysicalId, CopyRef>>,
    /// What was deleted or forgotten in this run.
    gone: HashSet<CopyRef>,
}

impl<'a> PhysicalIds<'a> {
    pub(crate) fn of(base: &'a State) -> PhysicalIds<'a> {
        PhysicalIds { base, recorded: OnceCell::new(), made: HashMap::new(), gone: HashSet::new() }
    }

    fn recorded(&self) -> &HashMap<Kind<'a>, Vec<&'a Resource>> {
        self.recorded.get_or_init(|| {
            let mut all: HashMap<Kind<'a>, Vec<&'a Resource>> = HashMap::new();
            for copy in self.base.copies() {
                if let Some(id) = &copy.id {
                    all.entry((&copy.ty, id)).or_default().push(copy);
                }
            }
            all
        })
    }

    /// Another copy that has this id, of the same resource or not.
    pub(crate) fn others<'b>(
        &'b self,
        resource: &'b TypeToken,
        id: &'b PhysicalId,
        own: &'b CopyRef,
    ) -> impl Iterator<Item = CopyRef> + use<'a, 'b> {
        let recorded = self.recorded().get(&(resource, id)).into_iter().flatten().map(|copy| copy.copy());
        let made = self.made.get(resource).and_then(|made| made.get(id)).cloned();
        recorded.chain(made).filter(move |copy| copy != own && !self.gone.contains(copy))
    }

    /// What is wrong with the id that something new is said to have.
    pub(crate) fn problem(&self, resource: &TypeToken, id: &PhysicalId, own: &CopyRef) -> Option<String> {
        if id.as_str().is_empty() {
            return Some("the provider gave no id to what it made".to_owned());
        }
        let whose = self.holder(resource, id, own)?;
        Some(format!("the provider says that it made {id}, which is {whose} already"))
    }

    /// The other resource that has an id.
    pub(crate) fn holder(&self, resource: &TypeToken, id: &PhysicalId, own: &CopyRef) -> Option<String> {
        let other = self.others(resource, id, own).find(|other| other.uid != own.uid)?;
        let name = self.base.copy(&other).map(|other| other.name.to_string());
        Some(name.unwrap_or_else(|| "another resource of this run".to_owned()))
    }

    pub(crate) fn is_made(&mut self, resource: &TypeToken, id: &PhysicalId, copy: CopyRef) {
        if !self.made.contains_key(resource) {
            self.made.insert(resource.clone(), HashMap::new());
        }
        self.made.get_mut(resource).into_iter().for_each(|made| drop(made.insert(id.clone(), copy.clone())));
    }

    pub(crate) fn is_gone(&mut self, copy: CopyRef) {
        self.gone.insert(copy);
    }
}

impl Answer {
    /// An answer that cannot be true leaves a create in doubt: what was made, if anything was, has another id.
    pub(crate) fn checked(self, intent: &Intent, identities: &PhysicalIds<'_>) -> Answer {
        #[cfg(stead_planted)]
        if stead_model::planted::is("id-of-another-believed") {
            return self;
        }
        let (Intent::Create { resource, .. }, Outcome::Created { id, .. }) = (intent, &self.outcome) else {
            return self;
        };
        match identities.problem(&resource.ty, id, &resource.copy()) {
            Some(message) => Answer::of(Outcome::InDoubt { message }),
            None => self,
        }
    }
}
