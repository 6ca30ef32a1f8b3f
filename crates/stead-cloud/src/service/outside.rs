//! Changes from outside of the API: the work of a person in a console, or of a test.

use serde::{Deserialize, Serialize};
use stead_model::{Map, Value};
use stead_world::Timestamp;

use super::error::{ErrorKind, ServiceError};
use super::identity::identifier;
use super::ids::Ids;
use super::machine::Machine;
use super::place::Place;
use super::state::{Change, ResourceKey, State, Stored};
use super::values;

/// A resource in the cloud: its place, type and identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResourceName {
    #[serde(flatten)]
    pub place: Place,
    pub type_name: String,
    /// Primary identifier; parts are joined by `|`.
    pub identifier: String,
}

impl ResourceName {
    pub fn new(place: &Place, type_name: impl Into<String>, identifier: impl Into<String>) -> ResourceName {
        ResourceName { place: place.clone(), type_name: type_name.into(), identifier: identifier.into() }
    }

    fn key(&self) -> ResourceKey {
        ResourceKey {
            place: self.place.of_type(&self.type_name),
            type_name: self.type_name.clone(),
            identifier: self.identifier.clone(),
        }
    }
}

/// Everything in a cloud at one moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    pub(crate) seed: u64,
    pub(crate) drawn: u64,
    pub(crate) changes: Vec<Change>,
}

impl Machine {
    fn stored(&self, name: &ResourceName) -> Result<(ResourceKey, Stored), ServiceError> {
        let key = name.key();
        match self.state.resource(&key) {
            Some(stored) => Ok((key.clone(), stored.clone())),
            None => Err(ServiceError::not_found(&key.type_name, &key.identifier, "-")),
        }
    }

    pub(crate) fn names(&self) -> Vec<ResourceName> {
        let all = self.state.resources();
        all.map(|(key, _)| ResourceName::new(&key.place, &*key.type_name, &*key.identifier)).collect()
    }

    /// Returns the full model of a resource, with write-only values.
    pub(crate) fn model(&self, name: &ResourceName) -> Option<Map> {
        self.state.resource(&name.key()).map(|stored| stored.model.clone())
    }

    /// Patches the full model of a resource. No rule of the schema applies.
    pub(crate) fn drift(&mut self, name: &ResourceName, patch: &Value) -> Result<(), ServiceError> {
        let (key, stored) = self.stored(name)?;
        let model = crate::apply(&stored.model, patch)?;
        self.state.set_resource(key, Some(Stored { model, ..stored }));
        Ok(())
    }

    /// Removes a resource, even if others use it.
    pub(crate) fn remove(&mut self, name: &ResourceName) -> Result<(), ServiceError> {
        let (key, _) = self.stored(name)?;
        self.state.set_resource(key, None);
        Ok(())
    }

    /// Sets the number of things inside a resource, such as the objects of a bucket.
    pub(crate) fn set_contents(&mut self, name: &ResourceName, contents: u64) -> Result<(), ServiceError> {
        let (key, stored) = self.stored(name)?;
        self.state.set_resource(key, Some(Stored { contents, ..stored }));
        Ok(())
    }

    /// Creates a resource at once, and returns its identifier.
    pub(crate) fn insert(
        &mut self,
        place: &Place,
        type_name: &str,
        desired: &Map,
        now: Timestamp,
    ) -> Result<String, ServiceError> {
        let Some(schema) = self.schema(type_name) else {
            let message = format!("The type '{type_name}' cannot be found.");
            return Err(ServiceError::new(ErrorKind::TypeNotFound, message));
        };
        crate::creatable(&schema, desired)?;
        let model = values::make(&schema, desired, place, &mut self.state.ids, now);
        let name = ResourceName::new(place, type_name, identifier(&schema, &model));
        if self.state.resource(&name.key()).is_some() {
            let message = format!("Resource '{}' already exists.", name.identifier);
            return Err(ServiceError::new(ErrorKind::AlreadyExists, message));
        }
        self.state.set_resource(name.key(), Some(Stored { model, contents: 0, settling: None }));
        Ok(name.identifier)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let Ids { seed, drawn } = self.state.ids;
        Snapshot { seed, drawn, changes: self.state.all() }
    }

    pub(crate) fn restore(&mut self, snapshot: &Snapshot) {
        self.state.clear();
        self.state.ids = Ids { seed: snapshot.seed, drawn: snapshot.drawn };
        self.state.replay(snapshot.changes.clone());
        self.state.changed_all();
    }

    pub(crate) fn reset(&mut self) {
        self.state.clear();
        self.faults.injected.clear();
        self.counts.clear();
        self.throttled.clear();
    }
}

impl State {
    /// Makes a state from a snapshot.
    pub(crate) fn of(snapshot: Snapshot) -> State {
        let mut state = State::new(snapshot.seed);
        state.ids.drawn = snapshot.drawn;
        state.replay(snapshot.changes);
        state
    }
}
