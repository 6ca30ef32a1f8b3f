//! Puts copies in and takes them out, and keeps what refers to them true.
//!
//! A tie by uid (parent, deletedWith, replaceWith) never outlives what it ties to, and an alias is with
//! whoever said it last: no record that tells what really happened is ever refused because of either.

use std::sync::Arc;

use stead_model::{CopyRef, Lifecycle, Resource, Ties, Uid};

use super::{Ending, ReplayError, State, Touched};

impl State {
    /// Records a copy, in place of what was recorded of it.
    pub(super) fn insert(
        &mut self,
        mut resource: Resource,
        touched: &mut Touched,
    ) -> Result<(), ReplayError> {
        let current = resource.lifecycle != Lifecycle::Condemned;
        if current && self.names.get(&resource.name).is_some_and(|holder| *holder != resource.uid) {
            return Err(ReplayError::NameTaken(resource.name));
        }
        resource.ties.parent.take_if(|uid| !self.copies.contains_key(uid));
        resource.ties.deleted_with.take_if(|uid| !self.copies.contains_key(uid));
        resource.ties.replace_with.retain(|uid| self.copies.contains_key(uid));
        if current {
            self.take_aliases(&resource, touched);
        }
        touched.push(resource.uid.clone());
        // What was let go of is managed again.
        if let Some(id) = resource.id.as_ref().filter(|_| !self.retained.is_empty()) {
            self.retained.remove(&(resource.ty.clone(), id.clone()));
        }
        self.lift(&resource.copy());
        self.place(resource);
        Ok(())
    }

    fn take_aliases(&mut self, taker: &Resource, touched: &mut Touched) {
        for alias in &taker.ties.aliases {
            let Some(holder) = self.aliases.get(alias).filter(|holder| **holder != taker.uid).cloned() else {
                continue;
            };
            if let Some(copy) = self.current(&holder).map(Resource::copy)
                && let Some(mut resource) = self.lift(&copy)
            {
                resource.ties.aliases.retain(|other| other != alias);
                self.place(resource);
                touched.push(holder);
            }
        }
    }

    /// Takes the record of a copy away for good.
    pub(crate) fn remove(&mut self, copy: &CopyRef, ending: Ending, touched: &mut Touched) {
        if self.lift(copy).is_none() {
            return;
        }
        touched.push(copy.uid.clone());
        if !self.copies.contains_key(&copy.uid) {
            self.untie(&copy.uid, ending, touched);
        }
    }

    /// Nothing is left of a resource: what was tied to it is tied no more, and what was to be deleted with
    /// it is deleted, if it was.
    fn untie(&mut self, gone: &Uid, ending: Ending, touched: &mut Touched) {
        for copy in self.tied.get(gone).cloned().unwrap_or_default() {
            let Some(mut resource) = self.lift(&copy) else { continue };
            let Ties { parent, deleted_with, replace_with, .. } = &mut resource.ties;
            parent.take_if(|uid| uid == gone);
            replace_with.retain(|uid| uid != gone);
            let with_it = deleted_with.take_if(|uid| uid == gone).is_some();
            if with_it && ending == Ending::Deleted && resource.lifecycle == Lifecycle::Live {
                resource.lifecycle = Lifecycle::Replacing;
                resource.id = None;
            }
            self.place(resource);
            touched.push(copy.uid);
        }
    }

    /// Takes a copy out, with every index entry that it made.
    pub(super) fn lift(&mut self, copy: &CopyRef) -> Option<Resource> {
        let copies = self.copies.get_mut(&copy.uid)?;
        let resource = copies.remove(copy.generation)?;
        if copies.is_empty() {
            self.copies.remove(&copy.uid);
        }
        if resource.lifecycle != Lifecycle::Condemned {
            if self.names.get(&resource.name) == Some(&resource.uid) {
                self.names.remove(&resource.name);
            }
            for alias in &resource.ties.aliases {
                if self.aliases.get(alias) == Some(&resource.uid) {
                    self.aliases.remove(alias);
                }
            }
        }
        for uid in tied_to(&resource.ties) {
            if let Some(tied) = self.tied.get_mut(uid) {
                tied.remove(copy);
                if tied.is_empty() {
                    self.tied.remove(uid);
                }
            }
        }
        Some(resource)
    }

    /// Puts a copy in as it is. Whoever calls it has seen to it that nothing else is in its place.
    pub(crate) fn place(&mut self, resource: impl Into<Arc<Resource>>) {
        let resource = resource.into();
        if resource.lifecycle != Lifecycle::Condemned {
            self.names.insert(resource.name.clone(), resource.uid.clone());
            for alias in &resource.ties.aliases {
                self.aliases.insert(alias.clone(), resource.uid.clone());
            }
        }
        for uid in tied_to(&resource.ties) {
            self.tied.entry(uid.clone()).or_default().insert(resource.copy());
        }
        self.copies.entry(resource.uid.clone()).or_default().insert(resource);
    }
}

fn tied_to(ties: &Ties) -> impl Iterator<Item = &Uid> {
    ties.parent.iter().chain(&ties.deleted_with).chain(&ties.replace_with)
}
