//! Test fixtures: a cloud, a provider for it, and real receipts and permits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stead_aws::{AwsProvider, Settings};
use stead_cloud::{Cloud, DEFAULT_ACCOUNT, Fault, Injected, Place, ResourceName};
use stead_guard::{Cause, Deletion, DeletionEffect, decide};
use stead_journal::{JournalError, OpenRequest, Run, StackKeys, Takeover, open};
use stead_model::{Input, Inputs, Map, Resource, SourceRef, StackId, TypeToken, Uid, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, LiveState, OwnerMark, Provider,
    Receipt, StatePlace, UpdateRequest, Updated,
};
use stead_state::{Intent, Record};
use stead_store::{MemoryStore, Store};
use stead_world::testing::FastClock;
use stead_world::{Clock, Headers, Http, HttpError, HttpRequest, HttpResponse, Timestamp, World};

pub(crate) const BUCKET: &str = "aws.s3.Bucket";
pub(crate) const REGION: &str = "eu-west-1";

/// 2026-11-18T04:00:00Z.
const NOW: Timestamp = Timestamp(1_794_974_400_000);
const NOW_OF_HTTP: &str = "Wed, 18 Nov 2026 04:00:00 GMT";

pub(crate) struct Bench {
    pub(crate) cloud: Cloud,
    pub(crate) provider: AwsProvider,
}

pub(crate) fn map(json: &str) -> Map {
    serde_json::from_str(json).unwrap()
}

pub(crate) fn declared(inputs: &Map) -> Inputs {
    inputs.iter().map(|(name, value)| (name.clone(), Input::Known(value.clone()))).collect()
}

/// Returns a record as it is in state before the provider answers.
pub(crate) fn record(token: &str, inputs: Map) -> Resource {
    Resource {
        inputs,
        ..Resource::new(
            Uid("uid".into()),
            format!("dev:main:{token}#it").parse().unwrap(),
            TypeToken(token.into()),
            SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        )
    }
}

pub(crate) fn owner() -> OwnerMark {
    OwnerMark {
        stack: StackId("stack".into()),
        uid: Uid("uid".into()),
        name: format!("dev:main:{BUCKET}#it").parse().unwrap(),
        place: StatePlace {
            store: "/state".into(),
            project: "shop".into(),
            environment: "dev".into(),
            target: "aws".into(),
        },
    }
}

/// A clock whose wall time stands still.
struct StandsAt(Timestamp, Arc<dyn Clock>);

#[async_trait::async_trait]
impl Clock for StandsAt {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn monotonic(&self) -> Duration {
        self.1.monotonic()
    }

    async fn sleep(&self, duration: Duration) {
        self.1.sleep(duration).await;
    }
}

/// A clock that is ahead of another one.
struct Ahead(Duration, FastClock);

#[async_trait::async_trait]
impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        Timestamp(self.1.now().0 + self.0.as_millis() as u64)
    }

    fn monotonic(&self) -> Duration {
        self.1.monotonic()
    }

    async fn sleep(&self, duration: Duration) {
        self.1.sleep(duration).await;
    }
}

/// A service that refuses the first request for its time, and tells its own.
struct RefusesFirst(AtomicBool, Cloud);

#[async_trait::async_trait]
impl Http for RefusesFirst {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if self.0.swap(true, Ordering::Relaxed) {
            return self.1.send(request).await;
        }
        let mut headers = Headers::default();
        headers.set("date", NOW_OF_HTTP);
        let body = br#"{"__type":"RequestInTheFuture","message":"Signature not yet current"}"#.to_vec();
        Ok(HttpResponse { status: 403, headers, body: body.into() })
    }
}

/// A stack in memory, for one operation.
pub(crate) struct Stack {
    store: Arc<dyn Store>,
    claims: tempfile::TempDir,
    now: Timestamp,
}

impl Stack {
    pub(crate) fn new() -> Stack {
        Stack::at(NOW)
    }

    fn at(now: Timestamp) -> Stack {
        Stack { store: Arc::new(MemoryStore::default()), claims: tempfile::tempdir().unwrap(), now }
    }

    /// Returns a stack whose operations began this long ago.
    pub(crate) fn of_the_past(age: Duration) -> Stack {
        Stack::at(Timestamp(NOW.0 - age.as_millis() as u64))
    }

    pub(crate) async fn open(&self) -> Run {
        let real = World::real();
        let world = World { clock: Arc::new(StandsAt(self.now, real.clock.clone())), ..real };
        loop {
            let request = OpenRequest {
                store: self.store.clone(),
                keys: StackKeys::new("shop", "dev", "aws"),
                world: world.clone(),
                command: "up".into(),
                claims: self.claims.path().to_owned(),
                planned_on: None,
                takeover: Takeover::IfDead,
                crypter: Arc::new(stead_model::NoKey),
            };
            match open(request).await {
                Ok(run) => return run,
                Err(JournalError::Held(_)) => std::thread::yield_now(),
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    async fn begin(&self) -> Receipt {
        begin(&self.open().await).await
    }

    /// Returns the receipt of the next attempt at the operation that the last run left.
    pub(crate) async fn resume(&self) -> Receipt {
        let run = self.open().await;
        run.resume(&run.in_doubt()[0]).await.unwrap()
    }
}

/// Begins an operation in a run that stays open.
pub(crate) async fn begin(run: &Run) -> Receipt {
    drop(run.submit(Record::Reserve { uids: 1 }));
    let resource = Box::new(record(BUCKET, Map::new()));
    run.begin(|key| Intent::Create { key, resource }).receipt().await.unwrap().0
}

/// Returns the receipts of the first and the second attempt at one operation.
pub(crate) async fn attempts() -> (Receipt, Receipt) {
    let stack = Stack::new();
    let first = stack.begin().await;
    (first, stack.resume().await)
}

pub(crate) async fn receipt() -> Receipt {
    Stack::new().begin().await
}

pub(crate) fn permit(resource: &Resource) -> DeletePermit {
    let deletion = Deletion {
        resource,
        current_marks: Default::default(),
        cause: Cause::Removed,
        effect: DeletionEffect::Deleted,
        declared_pin: stead_guard::pins::Declared::NotPinned,
    };
    let pins = stead_guard::pins::PinfileStatus::NotKept;
    decide(&[deletion], &pins).unwrap().take(&resource.copy()).unwrap()
}

pub(crate) fn done<T: std::fmt::Debug>(outcome: CallOutcome<T>) -> T {
    match outcome {
        CallOutcome::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench::with(Settings::default(), stead_cloud::Settings::default())
    }

    pub(crate) fn with(settings: Settings, cloud: stead_cloud::Settings) -> Bench {
        let clock = FastClock::at(NOW);
        let cloud = Cloud::new(Arc::new(clock.clone()), cloud);
        let world =
            World { clock: Arc::new(clock.clone()), http: Arc::new(cloud.clone()), ..World::in_memory([]) };
        let settings = Settings { region: Some(REGION.to_owned()), ..settings };
        Bench { cloud, provider: AwsProvider::embedded(world, settings) }
    }

    /// Returns a bench for a machine whose clock is ahead of that of the service, which tells so.
    pub(crate) fn with_clock_ahead(ahead: Duration) -> Bench {
        let clock = FastClock::at(NOW);
        let cloud = Cloud::new(Arc::new(clock.clone()), stead_cloud::Settings::default());
        let http = Arc::new(RefusesFirst(AtomicBool::new(false), cloud.clone()));
        let world = World { clock: Arc::new(Ahead(ahead, clock)), http, ..World::in_memory([]) };
        let settings = Settings { region: Some(REGION.to_owned()), ..Settings::default() };
        Bench { cloud, provider: AwsProvider::embedded(world, settings) }
    }

    pub(crate) fn fail(&self, fault: Fault, call: &str) {
        self.cloud.fail_next(Injected::next(fault).of_call(call));
    }

    pub(crate) fn fail_times(&self, fault: Fault, call: &str, times: u32) {
        self.cloud.fail_next(Injected { times, ..Injected::next(fault).of_call(call) });
    }

    pub(crate) fn place(&self) -> Place {
        Place::new(DEFAULT_ACCOUNT, REGION)
    }

    pub(crate) fn name(&self, type_name: &str, id: &str) -> ResourceName {
        ResourceName::new(&self.place(), type_name, id)
    }

    /// Returns the full model of a bucket.
    pub(crate) fn bucket(&self, id: &str) -> Option<Map> {
        self.cloud.model(&self.name("AWS::S3::Bucket", id)).unwrap()
    }

    pub(crate) fn drift(&self, type_name: &str, id: &str, patch: &str) {
        let patch: Value = serde_json::from_str(patch).unwrap();
        self.cloud.drift(&self.name(type_name, id), &patch).unwrap();
    }

    /// Returns how often a call was made.
    pub(crate) fn calls(&self, call: &str) -> u64 {
        self.cloud.calls().get(call).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self) -> usize {
        self.cloud.resources().unwrap().len()
    }

    pub(crate) async fn create_with(
        &self,
        receipt: Receipt,
        token: &str,
        inputs: Map,
    ) -> CallOutcome<Created> {
        let record = record(token, inputs);
        let owner = owner();
        let request = CreateRequest {
            name: &record.name,
            resource: &record.ty,
            source: &record.source,
            inputs: &record.inputs,
            owner: Some(&owner),
        };
        self.provider.create(receipt, request).await
    }

    pub(crate) async fn create(&self, token: &str, inputs: &str) -> CallOutcome<Created> {
        self.create_with(receipt().await, token, map(inputs)).await
    }

    /// Creates a resource, and returns its record.
    pub(crate) async fn created(&self, token: &str, inputs: &str) -> Resource {
        let Created { id, outputs } = done(self.create(token, inputs).await);
        Resource { id: Some(id), outputs, ..record(token, map(inputs)) }
    }

    pub(crate) async fn update_with(
        &self,
        receipt: Receipt,
        old: &Resource,
        inputs: &str,
    ) -> CallOutcome<Updated> {
        let resource = Resource { inputs: map(inputs), ..old.clone() };
        let owner = owner();
        let request = UpdateRequest { resource: &resource, old_inputs: &old.inputs, owner: Some(&owner) };
        self.provider.update(receipt, request).await
    }

    /// Updates a resource, and returns its new record.
    pub(crate) async fn updated(&self, old: &Resource, inputs: &str) -> Resource {
        let Updated { outputs } = done(self.update_with(receipt().await, old, inputs).await);
        Resource { inputs: map(inputs), outputs, ..old.clone() }
    }

    pub(crate) async fn delete(&self, resource: &Resource) -> CallOutcome<()> {
        self.provider.delete(receipt().await, permit(resource), DeleteRequest { resource }).await
    }

    pub(crate) async fn read(&self, resource: &Resource) -> Option<LiveState> {
        self.provider.read(resource).await.unwrap()
    }

    /// Returns the changes of a plan as `path` or `path!`, where the mark means a replacement.
    pub(crate) async fn changes(&self, old: &Resource, inputs: &str) -> Vec<String> {
        let checked = self.provider.check(&old.ty, declared(&map(inputs))).await.unwrap();
        let diff = self.provider.diff(old, &checked).await;
        assert!(diff.problems.is_empty(), "{:?}", diff.problems);
        let shown = |change: &stead_schema::Change| {
            format!("{}{}", change.path, if change.replaces { "!" } else { "" })
        };
        diff.changes.iter().map(shown).collect()
    }
}
