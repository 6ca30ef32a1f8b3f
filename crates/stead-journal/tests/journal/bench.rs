//! Test fixtures: a stack in memory, and runs on it.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{JournalError, OpenRequest, Run, StackKeys, Takeover};
use stead_model::{Digest, Epoch, Map, PhysicalId, Resource, Seq, SourceRef, TypeToken, Uid};
use stead_state::{Batch, Head, Intent, Outcome, Record, Snapshot};
use stead_store::{Expect, Key, MemoryStore, Store};
use stead_world::World;

pub(crate) fn keys() -> StackKeys {
    StackKeys::new("shop", "dev", "local")
}

pub(crate) fn request(store: &Arc<dyn Store>, claims: &Path, takeover: Takeover) -> OpenRequest {
    OpenRequest {
        store: store.clone(),
        keys: keys(),
        world: World::real(),
        command: "up".into(),
        claims: claims.to_owned(),
        planned_on: None,
        takeover,
        crypter: Arc::new(stead_model::NoKey),
    }
}

pub(crate) fn resource(name: &str) -> Resource {
    Resource::new(
        Uid(format!("uid-{name}")),
        format!("dev:main:t.T#{name}").parse().unwrap(),
        TypeToken("t.T".into()),
        SourceRef { file: "main.ts".into(), line: 1, column: 1 },
    )
}

pub(crate) async fn begin(run: &Run, name: &str) -> Result<stead_journal::Receipt, JournalError> {
    drop(run.submit(Record::Reserve { uids: 9 }));
    let begun = run.begin(|key| Intent::Create { key, resource: Box::new(resource(name)) });
    Ok(begun.receipt().await?.0)
}

pub(crate) async fn create(run: &Run, name: &str) -> Result<(), JournalError> {
    let receipt = begin(run, name).await?;
    let outcome = Outcome::created(PhysicalId(name.into()), Map::new());
    run.submit(Record::End { op: receipt.op(), outcome }).durable().await
}

pub(crate) fn setup() -> (tempfile::TempDir, Arc<dyn Store>) {
    (tempfile::tempdir().unwrap(), Arc::new(MemoryStore::default()))
}

/// Clock of the paused tokio runtime.
pub(crate) struct PausedClock(pub(crate) tokio::time::Instant);

#[async_trait::async_trait]
impl stead_world::Clock for PausedClock {
    fn now(&self) -> stead_world::Timestamp {
        stead_world::Timestamp(0)
    }

    fn monotonic(&self) -> std::time::Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: std::time::Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Ends the run at a crash point by a panic, which also releases its claim.
pub(crate) struct DiesAt(pub(crate) &'static str);

impl stead_world::CrashPoints for DiesAt {
    fn reach(&self, point: &'static str) {
        assert!(point != self.0, "died at {point}");
    }
}

/// Returns a request whose run dies at a crash point.
pub(crate) fn dying(store: &Arc<dyn Store>, claims: &Path, point: &'static str) -> OpenRequest {
    let world = World { crash: Arc::new(DiesAt(point)), ..World::real() };
    OpenRequest { world, ..request(store, claims, Takeover::IfDead) }
}

/// Performs a whole run that creates these resources.
pub(crate) async fn ran(store: &Arc<dyn Store>, claims: &Path, names: &[&str]) -> stead_journal::ClosedRun {
    let run = stead_journal::open(request(store, claims, Takeover::IfDead)).await.unwrap();
    for name in names {
        create(&run, name).await.unwrap();
    }
    run.close(stead_model::RunResult::Succeeded).await.unwrap()
}

/// Stores bytes, and replaces any blob under the key.
pub(crate) async fn overwrite(store: &Arc<dyn Store>, key: &Key, bytes: impl Into<bytes::Bytes>) {
    let expect = match store.get(key).await.unwrap() {
        Some(blob) => Expect::Version(blob.version),
        None => Expect::Absent,
    };
    store.put(key, bytes.into(), expect).await.unwrap();
}

/// Makes head refer to a snapshot that violates a rule: it has a resource, but its uid counter is 0.
pub(crate) async fn break_a_rule(store: &Arc<dyn Store>, head: &Head) {
    let existing = Resource { id: Some(PhysicalId("i".into())), ..resource("a") };
    let uncounted = Snapshot { uids: 0, ..Snapshot::empty(head.stack.clone()) }.with(vec![existing]);
    let (bytes, digest) = uncounted.encode();
    overwrite(store, &keys().snapshot(&digest), bytes).await;
    let broken = Head { snapshot: Some(digest), ..head.clone() };
    overwrite(store, &keys().head(), broken.encode()).await;
}

/// Stores a batch in its slot. Returns its digest, which the next batch names.
pub(crate) async fn append(store: &Arc<dyn Store>, batch: &Batch) -> Digest {
    let bytes = batch.encode();
    let digest = Digest::of(&bytes);
    overwrite(store, &keys().batch(batch.epoch, batch.seq), bytes).await;
    digest
}

pub(crate) fn batch(epoch: u64, seq: u64, previous: Option<Digest>, records: Vec<Record>) -> Batch {
    Batch { epoch: Epoch(epoch), seq: Seq(seq), previous, write_id: format!("{epoch}-{seq}"), records }
}

/// Returns the names of the recorded resources.
pub(crate) async fn recorded(store: &Arc<dyn Store>) -> Vec<String> {
    let state = stead_journal::load(store, &keys()).await.unwrap().state;
    state.resources().iter().map(|resource| resource.name.short().to_owned()).collect()
}
