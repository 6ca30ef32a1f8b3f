//! The cloud as a value: a handle that answers requests, in process or behind a server.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use stead_model::{Map, Value};
use stead_schema::cfn::Schema;
use stead_world::{Clock, Http, HttpError, HttpRequest, HttpResponse, Timestamp, World};

use super::caller::caller;
use super::disk::Disk;
use super::error::{ErrorKind, ServiceError};
use super::faults::{FaultPlan, Injected};
use super::logs::NewLogEvent;
use super::machine::{Machine, Reply};
use super::metrics::{MetricName, NewPoint};
use super::outside::{ResourceName, Snapshot};
use super::place::Place;
use super::settings::Settings;
use super::wire;

/// An embedded cloud. Clones are the same cloud.
///
/// Requests reach it through [`Http`], whatever the host in their URL is. The other methods act from outside of the API.
#[derive(Clone)]
pub struct Cloud {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
}

struct Inner {
    machine: Machine,
    disk: Option<Disk>,
}

impl Cloud {
    /// Returns an empty cloud without a disk.
    pub fn new(clock: Arc<dyn Clock>, settings: Settings) -> Cloud {
        Cloud::of(clock, Inner { machine: Machine::new(settings), disk: None })
    }

    /// Opens the cloud in a folder, which is created if it does not exist.
    pub fn open(world: &World, folder: &Path, settings: Settings) -> io::Result<Cloud> {
        let cloud = Cloud::in_folder(world, folder, settings);
        cloud.with(|_, _| ())?;
        Ok(cloud)
    }

    /// Returns the cloud in a folder. The first call opens it; until then nothing is read or written.
    pub fn in_folder(world: &World, folder: &Path, settings: Settings) -> Cloud {
        let disk = Disk::new(world.files.clone(), folder);
        Cloud::of(world.clock.clone(), Inner { machine: Machine::new(settings), disk: Some(disk) })
    }

    fn of(clock: Arc<dyn Clock>, inner: Inner) -> Cloud {
        Cloud { shared: Arc::new(Shared { clock, inner: Mutex::new(inner) }) }
    }

    /// Adds a type that is not published, or replaces a published one.
    pub fn add_type(&self, schema: Schema) {
        self.inner().machine.add_type(schema);
    }

    /// Lets the next calls that fit fail.
    pub fn fail_next(&self, injected: Injected) {
        self.inner().machine.faults.injected.push(injected);
    }

    /// Forgets the faults of [`fail_next`](Cloud::fail_next) that are still to come.
    pub fn forget_faults(&self) {
        self.inner().machine.faults.injected.clear();
    }

    /// Lets a share of all calls fail from now on, or none.
    pub fn set_faults(&self, plan: Option<FaultPlan>) {
        self.inner().machine.faults.plan = plan;
    }

    /// Changes settings for all later calls.
    pub fn configure(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.inner().machine.settings);
    }

    /// Returns the number of calls so far, by name.
    pub fn calls(&self) -> BTreeMap<String, u64> {
        self.inner().machine.counts.clone()
    }

    /// Returns the names of all resources, in order. Operations that are due end first.
    pub fn resources(&self) -> io::Result<Vec<ResourceName>> {
        self.with(|machine, _| machine.names())
    }

    /// Returns the full model of a resource, with write-only values.
    pub fn model(&self, name: &ResourceName) -> io::Result<Option<Map>> {
        self.with(|machine, _| machine.model(name))
    }

    /// Patches a resource from outside. The schema does not apply.
    pub fn drift(&self, name: &ResourceName, patch: &Value) -> io::Result<()> {
        self.with(|machine, _| machine.drift(name, patch))?.map_err(io::Error::other)
    }

    /// Removes a resource from outside, even if others use it.
    pub fn remove(&self, name: &ResourceName) -> io::Result<()> {
        self.with(|machine, _| machine.remove(name))?.map_err(io::Error::other)
    }

    /// Sets the number of things inside a resource, such as the objects of a bucket. It cannot be deleted before they are gone.
    pub fn set_contents(&self, name: &ResourceName, count: u64) -> io::Result<()> {
        self.with(|machine, _| machine.set_contents(name, count))?.map_err(io::Error::other)
    }

    /// Creates a resource from outside, at once, and returns its name.
    pub fn insert(&self, place: &Place, type_name: &str, desired: &Map) -> io::Result<ResourceName> {
        let identifier = self
            .with(|machine, now| machine.insert(place, type_name, desired, now))?
            .map_err(io::Error::other)?;
        Ok(ResourceName::new(place, type_name, identifier))
    }

    /// Adds events to a stream of a log group, which must exist.
    pub fn put_log_events(
        &self,
        place: &Place,
        (group, stream): (&str, &str),
        events: Vec<NewLogEvent>,
    ) -> io::Result<()> {
        self.with(|machine, now| machine.put_log_events(place, group, stream, events, now))?
            .map_err(io::Error::other)
    }

    /// Adds values to a metric, of AWS or of a client.
    pub fn put_metric(&self, place: &Place, metric: MetricName, points: &[NewPoint]) -> io::Result<()> {
        self.with(|machine, now| machine.put_points(place, metric, points, now))
    }

    /// Returns everything in the cloud.
    pub fn snapshot(&self) -> io::Result<Snapshot> {
        self.with(|machine, _| machine.snapshot())
    }

    /// Replaces everything in the cloud.
    pub fn restore(&self, snapshot: &Snapshot) -> io::Result<()> {
        self.with(|machine, _| machine.restore(snapshot))
    }

    /// Removes everything: resources, requests, faults to come, counts of calls.
    pub fn reset(&self) -> io::Result<()> {
        self.with(|machine, _| machine.reset())
    }

    /// Answers a request, or returns `None` if the connection closes without an answer.
    pub async fn answer(&self, request: &HttpRequest) -> Option<HttpResponse> {
        let asks_sts = caller(&request.headers).is_ok_and(|caller| caller.service == "sts");
        // STS keeps nothing in the folder, and a plan that asks it for the account writes nothing.
        let reply = match asks_sts {
            true => Ok(self.inner().machine.answer(self.shared.clock.now(), request)),
            false => self.act(|machine, now| machine.answer(now, request)),
        };
        let latency = self.inner().machine.settings.latency;
        if !latency.is_zero() {
            self.shared.clock.sleep(latency).await;
        }
        match reply {
            Ok(Reply::Answer(response)) => Some(response),
            Ok(Reply::Lost) => None,
            Err(error) => {
                let message = format!("the state of the cloud cannot be kept: {error}");
                Some(wire::answer(Err(ServiceError::new(ErrorKind::InternalFailure, message)), "-"))
            }
        }
    }

    /// Acts on the cloud after the operations that are due.
    fn with<T>(&self, act: impl FnOnce(&mut Machine, Timestamp) -> T) -> io::Result<T> {
        self.act(|machine, now| {
            machine.settle(now);
            act(machine, now)
        })
    }

    /// Acts on the cloud, and writes the changes.
    fn act<T>(&self, act: impl FnOnce(&mut Machine, Timestamp) -> T) -> io::Result<T> {
        let now = self.shared.clock.now();
        let mut inner = self.inner();
        let Inner { machine, disk } = &mut *inner;
        let Some(disk) = disk else {
            let result = act(machine, now);
            machine.state.written();
            return Ok(result);
        };
        let _claim = disk.begin(&mut machine.state)?;
        let result = act(machine, now);
        disk.write(&mut machine.state)?;
        Ok(result)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic in a call cannot leave the state half changed in a way that matters to a test.
        self.shared.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Http for Cloud {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let lost = || HttpError::NoAnswer {
            host: request.host().to_owned(),
            reason: "the connection was closed".to_owned(),
        };
        self.answer(&request).await.ok_or_else(lost)
    }
}
