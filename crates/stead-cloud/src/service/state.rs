//! State of a cloud: resources, requests, log events and data of metrics by place, and the keys of unwritten changes.
//!
//! **Invariant:** every change of a resource, a request or a batch marks its key as changed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stead_model::Map;
use stead_world::Timestamp;

use super::batches::{Batch, BatchKey, Batches, Shelf};
use super::error::HandlerError;
use super::ids::Ids;
use super::place::Place;

/// Requests are kept for seven days.
const KEPT: u64 = 7 * 24 * 3_600_000;
/// A client token is valid for 36 hours.
const TOKEN_VALID: u64 = 36 * 3_600_000;

/// A resource: its place, type and primary identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ResourceKey {
    pub(crate) place: Place,
    pub(crate) type_name: String,
    pub(crate) identifier: String,
}

/// A resource as the cloud keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// Full model, with write-only values.
    pub(crate) model: Map,
    /// Number of things inside that are not resources, such as the objects of a bucket.
    #[serde(default)]
    pub(crate) contents: u64,
    /// Model that reads still return.
    #[serde(skip)]
    pub(crate) settling: Option<Settling>,
}

/// Time after a change in which reads return the earlier model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settling {
    /// Full model before the change; `None` after a create.
    pub(crate) before: Option<Map>,
    pub(crate) until: u64,
    pub(crate) looks_left: Option<u32>,
}

/// A request: its place and its token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RequestKey {
    pub(crate) place: Place,
    pub(crate) token: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Status {
    Pending,
    InProgress,
    Success,
    Failed,
    CancelInProgress,
    CancelComplete,
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        }
    }
}

impl Status {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Status::Pending => "PENDING",
            Status::InProgress => "IN_PROGRESS",
            Status::Success => "SUCCESS",
            Status::Failed => "FAILED",
            Status::CancelInProgress => "CANCEL_IN_PROGRESS",
            Status::CancelComplete => "CANCEL_COMPLETE",
        }
    }

    pub(crate) fn is_over(self) -> bool {
        matches!(self, Status::Success | Status::Failed | Status::CancelComplete)
    }
}

/// An accepted operation on a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    pub(crate) type_name: String,
    /// Identifier of the resource; of a resource to create, the one that it will get.
    pub(crate) identifier: String,
    /// Whether the event shows the identifier before the end.
    pub(crate) identifier_known: bool,
    pub(crate) client_token: Option<String>,
    /// Digest of the parameters, to tell a repetition from a conflict.
    pub(crate) parameters: String,
    pub(crate) status: Status,
    pub(crate) accepted: u64,
    pub(crate) event_time: u64,
    pub(crate) due: u64,
    pub(crate) looks_left: Option<u32>,
    /// Full model that the resource gets. Empty for a delete.
    pub(crate) model: Map,
    /// Failure that was decided in advance.
    pub(crate) fate: Fate,
    pub(crate) failure: Option<(HandlerError, String)>,
    /// Properties in the event.
    pub(crate) shown: Option<Map>,
}

/// End of an operation that a fault decided in advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fate {
    #[default]
    None,
    Fails(HandlerError),
    HalfMade,
    Stale,
}

/// Key of a changed entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Resource(ResourceKey),
    Request(RequestKey),
    Batch(BatchKey),
}

/// A changed entry and its new value; `None` if it is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Change {
    Resource(ResourceKey, Option<Stored>),
    Request(RequestKey, Option<Box<Request>>),
    Batch(BatchKey, Option<Batch>),
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    resources: BTreeMap<ResourceKey, Stored>,
    requests: BTreeMap<RequestKey, Request>,
    by_client: BTreeMap<(Place, String), String>,
    active: BTreeSet<RequestKey>,
    batches: Batches,
    pub(crate) ids: Ids,
    changed: BTreeSet<Key>,
}

impl State {
    pub(crate) fn new(seed: u64) -> State {
        State {
            resources: BTreeMap::new(),
            requests: BTreeMap::new(),
            by_client: BTreeMap::new(),
            active: BTreeSet::new(),
            batches: Batches::default(),
            ids: Ids { seed, drawn: 0 },
            changed: BTreeSet::new(),
        }
    }

    pub(crate) fn resource(&self, key: &ResourceKey) -> Option<&Stored> {
        self.resources.get(key)
    }

    /// Sets or removes a resource.
    pub(crate) fn set_resource(&mut self, key: ResourceKey, stored: Option<Stored>) {
        match stored {
            Some(stored) => drop(self.resources.insert(key.clone(), stored)),
            None => {
                self.resources.remove(&key);
                self.forget_events(&key);
            }
        }
        self.changed.insert(Key::Resource(key));
    }

    /// Removes the events of a log group that is gone.
    fn forget_events(&mut self, key: &ResourceKey) {
        if key.type_name != super::logs::GROUP {
            return;
        }
        let gone = self.batches.of_group(&key.place, &key.identifier).map(|(key, ..)| key.clone());
        for key in gone.collect::<Vec<_>>() {
            self.set_batch(key, None);
        }
    }

    pub(crate) fn batches(&self) -> &Batches {
        &self.batches
    }

    /// Returns the key of a new batch of events or data.
    pub(crate) fn next_batch(&self, place: &Place, shelf: Shelf) -> BatchKey {
        self.batches.next_key(place, shelf)
    }

    /// Sets or removes a batch of events or data.
    pub(crate) fn set_batch(&mut self, key: BatchKey, batch: Option<Batch>) {
        self.batches.set(key.clone(), batch);
        self.changed.insert(Key::Batch(key));
    }

    /// Returns a resource whose settling may be counted down, which is not a change to write.
    pub(crate) fn settling_mut(&mut self, key: &ResourceKey) -> Option<&mut Option<Settling>> {
        self.resources.get_mut(key).map(|stored| &mut stored.settling)
    }

    pub(crate) fn resources(&self) -> impl Iterator<Item = (&ResourceKey, &Stored)> {
        self.resources.iter()
    }

    /// Returns the resources of one type in one place, in order.
    pub(crate) fn of_type<'a>(
        &'a self,
        place: &Place,
        type_name: &'a str,
    ) -> impl Iterator<Item = (&'a ResourceKey, &'a Stored)> {
        let place = place.of_type(type_name);
        let first =
            ResourceKey { place: place.clone(), type_name: type_name.to_owned(), identifier: String::new() };
        self.resources
            .range(first..)
            .take_while(move |(key, _)| key.type_name == type_name && key.place == place)
    }

    pub(crate) fn request(&self, key: &RequestKey) -> Option<&Request> {
        self.requests.get(key)
    }

    pub(crate) fn requests(&self, place: &Place) -> impl Iterator<Item = (&RequestKey, &Request)> {
        self.requests.iter().filter(move |(key, _)| key.place == *place)
    }

    pub(crate) fn request_count(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn set_request(&mut self, key: RequestKey, request: Request) {
        self.index(&key, &request);
        self.requests.insert(key.clone(), request);
        self.changed.insert(Key::Request(key));
    }

    fn index(&mut self, key: &RequestKey, request: &Request) {
        if let Some(client) = &request.client_token {
            self.by_client.insert((key.place.clone(), client.clone()), key.token.clone());
        }
        match request.status.is_over() {
            true => drop(self.active.remove(key)),
            false => drop(self.active.insert(key.clone())),
        }
    }

    /// Returns the request that was made with a client token, if the token is still valid.
    pub(crate) fn by_client(
        &self,
        place: &Place,
        client: &str,
        now: Timestamp,
    ) -> Option<(&RequestKey, &Request)> {
        let token = self.by_client.get(&(place.clone(), client.to_owned()))?.clone();
        let found = self.requests.get_key_value(&RequestKey { place: place.clone(), token })?;
        (now.0.saturating_sub(found.1.accepted) < TOKEN_VALID).then_some(found)
    }

    /// Returns the requests that are not over.
    pub(crate) fn active(&self) -> impl Iterator<Item = (&RequestKey, &Request)> {
        self.active.iter().filter_map(|key| self.requests.get_key_value(key))
    }

    /// Forgets requests that are too old.
    pub(crate) fn prune(&mut self, now: Timestamp) {
        let old =
            |request: &Request| request.status.is_over() && now.0.saturating_sub(request.event_time) > KEPT;
        let gone: Vec<RequestKey> =
            self.requests.iter().filter(|(_, request)| old(request)).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.requests.remove(&key);
            self.by_client.retain(|(place, _), token| *place != key.place || *token != key.token);
            self.changed.insert(Key::Request(key));
        }
    }

    /// Returns everything as changes of an empty state.
    pub(crate) fn all(&self) -> Vec<Change> {
        let resources =
            self.resources.iter().map(|(key, stored)| Change::Resource(key.clone(), Some(stored.clone())));
        let requests = self
            .requests
            .iter()
            .map(|(key, request)| Change::Request(key.clone(), Some(Box::new(request.clone()))));
        let batches = self.batches.iter().map(|(key, batch)| Change::Batch(key.clone(), Some(batch.clone())));
        resources.chain(requests).chain(batches).collect()
    }

    /// Returns the changes that were not written yet.
    pub(crate) fn unwritten(&self) -> Vec<Change> {
        let change = |key: &Key| match key {
            Key::Resource(key) => Change::Resource(key.clone(), self.resources.get(key).cloned()),
            Key::Request(key) => {
                Change::Request(key.clone(), self.requests.get(key).map(|request| Box::new(request.clone())))
            }
            Key::Batch(key) => Change::Batch(key.clone(), self.batches.get(key).cloned()),
        };
        self.changed.iter().map(change).collect()
    }

    /// Marks everything as changed.
    pub(crate) fn changed_all(&mut self) {
        self.changed.extend(self.resources.keys().cloned().map(Key::Resource));
        self.changed.extend(self.requests.keys().cloned().map(Key::Request));
        self.changed.extend(self.batches.iter().map(|(key, _)| Key::Batch(key.clone())));
    }

    pub(crate) fn written(&mut self) {
        self.changed.clear();
    }

    /// Applies changes that were read from a file.
    pub(crate) fn replay(&mut self, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Resource(key, Some(stored)) => drop(self.resources.insert(key, stored)),
                Change::Resource(key, None) => drop(self.resources.remove(&key)),
                Change::Request(key, Some(request)) => {
                    self.index(&key, &request);
                    self.requests.insert(key, *request);
                }
                Change::Request(key, None) => {
                    self.active.remove(&key);
                    self.requests.remove(&key);
                }
                Change::Batch(key, batch) => self.batches.set(key, batch),
            }
        }
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.changed_all();
        self.resources.clear();
        self.requests.clear();
        self.by_client.clear();
        self.active.clear();
        self.batches.clear();
    }
}
