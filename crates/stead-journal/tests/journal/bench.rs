//! A stack to try things on.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use stead_journal::{JournalError, Opening, Run, StackKeys, Takeover};
use stead_model::{Generation, Lifecycle, Map, PhysicalId, Resource, SourceRef, TypeToken, Uid};
use stead_state::{Intent, Outcome, Record};
use stead_store::{MemoryStore, Store};
use stead_world::World;

pub(crate) fn keys() -> StackKeys {
    StackKeys::new("shop", "dev", "local")
}

pub(crate) fn opening(store: &Arc<dyn Store>, claims: &Path, takeover: Takeover) -> Opening {
    Opening {
        store: store.clone(),
        keys: keys(),
        world: World::real(),
        command: "up".into(),
        claims: claims.to_owned(),
        planned_on: None,
        takeover,
    }
}

pub(crate) fn resource(name: &str) -> Resource {
    Resource {
        uid: Uid(format!("uid-{name}")),
        generation: Generation(1),
        name: format!("dev:main:t.T#{name}").parse().unwrap(),
        resource: TypeToken("t.T".into()),
        lifecycle: Lifecycle::Live,
        id: None,
        inputs: Map::new(),
        outputs: Map::new(),
        dependencies: Vec::new(),
        property_dependencies: BTreeMap::new(),
        ties: Default::default(),
        prevent_delete: false,
        deletion_policy: None,
        source: SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        marks: Default::default(),
        pinned: false,
    }
}

pub(crate) async fn begin(run: &Run, name: &str) -> Result<stead_journal::Receipt, JournalError> {
    drop(run.submit(Record::Reserve { uids: 9 }));
    let begun = run.begin(|key| Intent::Create { key, resource: Box::new(resource(name)) });
    Ok(begun.receipt().await?.0)
}

pub(crate) async fn create(run: &Run, name: &str) -> Result<(), JournalError> {
    let receipt = begin(run, name).await?;
    let outcome = Outcome::Created { id: PhysicalId(name.into()), outputs: Map::new() };
    run.submit(Record::End { op: receipt.op(), outcome }).durable().await
}

pub(crate) fn setup() -> (tempfile::TempDir, Arc<dyn Store>) {
    (tempfile::tempdir().unwrap(), Arc::new(MemoryStore::default()))
}

/// Time as the paused runtime has it.
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
