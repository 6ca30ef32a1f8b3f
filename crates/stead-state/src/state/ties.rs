//! Inserts and removes copies, and keeps ties and aliases consistent with them.
//!
//! **Invariants:** a tie by uid (parent, deletedWith, replaceWith) is removed together with the last copy of the resource
//! it refers to; an alias belongs to the resource that declared it last. A record of a real change is therefore never
//! refused because of a tie or an alias.

use std::sync::Arc;

use stead_model::{CopyRef, Lifecycle, Resource, Ties, Uid};

use super::{Removal, ReplayError, State, Touched};

impl State {
    /// Records a copy. An existing record of the same copy is replaced.
    pub(super) fn insert(
        &mut self,
        mut resource: Resource,
        touched: &mut Touched,
    ) -> Result<(), ReplayError> {
        crate::secrets::settle(&mut resource);
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
        // A retained resource that is recorded again is managed again.
        if let Some(id) = resource.id.as_ref().filter(|_| !self.retained.is_empty()) {
            self.retained.remove(&(resource.ty.clone(), id.clone()));
        }
        self.take_out(&resource.copy());
        self.write(resource);
        Ok(())
    }

    fn take_aliases(&mut self, taker: &Resource, touched: &mut Touched) {
        for alias in &taker.ties.aliases {
            let Some(holder) = self.aliases.get(alias).filter(|holder| **holder != taker.uid).cloned() else {
                continue;
            };
            if let Some(copy) = self.current(&holder).map(Resource::copy)
                && let Some(mut resource) = self.take_out(&copy)
            {
                resource.ties.aliases.retain(|other| other != alias);
                self.write(resource);
                touched.push(holder);
            }
        }
    }

    /// Removes the record of a copy, and the ties to its resource if it was the last copy.
    pub(crate) fn remove(&mut self, copy: &CopyRef, removal: Removal, touched: &mut Touched) {
        if self.take_out(copy).is_none() {
            return;
        }
        touched.push(copy.uid.clone());
        if !self.copies.contains_key(&copy.uid) {
            self.untie(&copy.uid, removal, touched);
        }
    }

    /// Removes all ties to a resource that has no copy left. If the resource was deleted, the live copies that are
    /// deleted with it become `Replacing`.
    fn untie(&mut self, gone: &Uid, removal: Removal, touched: &mut Touched) {
        for copy in self.tied.get(gone).cloned().unwrap_or_default() {
            let Some(mut resource) = self.take_out(&copy) else { continue };
            let Ties { parent, deleted_with, replace_with, .. } = &mut resource.ties;
            parent.take_if(|uid| uid == gone);
            replace_with.retain(|uid| uid != gone);
            let was_contained = deleted_with.take_if(|uid| uid == gone).is_some();
            if was_contained && removal == Removal::Deleted && resource.lifecycle == Lifecycle::Live {
                resource.lifecycle = Lifecycle::Replacing;
                resource.id = None;
            }
            self.write(resource);
            touched.push(copy.uid);
        }
    }

    /// Removes a copy and its index entries, and returns it.
    pub(super) fn take_out(&mut self, copy: &CopyRef) -> Option<Resource> {
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

    /// Adds a changed copy: its version is the serial of the record that is being folded.
    pub(super) fn write(&mut self, resource: Resource) {
        self.put(Resource { version: self.serial, ..resource });
    }

    /// Adds a copy and its index entries, with the version that it has. The caller ensures that its name and its copy number are free.
    pub(crate) fn put(&mut self, resource: impl Into<Arc<Resource>>) {
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
