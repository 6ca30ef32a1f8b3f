//! The copies of one resource, by generation.
//!
//! A sorted list suffices, because nearly every resource has one copy. Copies are shared between states, which makes a
//! state cheap to clone.

use std::sync::Arc;

use stead_model::{Generation, Resource};

/// The copies of one resource, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies(Vec<Arc<Resource>>);

impl Copies {
    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &Resource> {
        self.0.iter().map(Arc::as_ref)
    }

    pub(crate) fn generations(&self) -> impl Iterator<Item = Generation> {
        self.0.iter().map(|copy| copy.generation)
    }

    pub(crate) fn get(&self, generation: Generation) -> Option<&Resource> {
        self.position(generation).ok().map(|at| self.0[at].as_ref())
    }

    /// Adds a copy. An existing copy of the same generation is replaced.
    pub(crate) fn insert(&mut self, resource: Arc<Resource>) {
        match self.position(resource.generation) {
            Ok(at) => self.0[at] = resource,
            Err(at) => {
                self.0.reserve_exact(1);
                self.0.insert(at, resource);
            }
        }
    }

    pub(crate) fn shared(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.0.iter()
    }

    pub(crate) fn remove(&mut self, generation: Generation) -> Option<Resource> {
        let at = self.position(generation).ok()?;
        Some(Arc::unwrap_or_clone(self.0.remove(at)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, generation: Generation) -> Result<usize, usize> {
        self.0.binary_search_by_key(&generation, |copy| copy.generation)
    }
}
