//! Measures the cost of one step in the journal by the size of the state: a `Begin` and an `End`, each durable before the next.
//!
//! Prints a table in Markdown. Loading and closing are not timed.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool for developers")]
#![allow(clippy::print_stdout, reason = "a command-line tool")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use stead_engine::Stack;
use stead_journal::{Run, StackKeys, Takeover};
use stead_model::{Map, PhysicalId, Resource, RunResult, SourceRef, StackId, TypeToken, Uid, Value};
use stead_state::{Intent, Outcome, Record, Snapshot};
use stead_store::{Blob, Expect, FileStore, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

const SIZES: [usize; 3] = [100, 10_000, 100_000];
const CHANGED: usize = 100;
const ROUNDS: usize = 20;

/// Store that counts the written bytes.
struct Counting {
    store: Arc<dyn Store>,
    bytes: Arc<AtomicU64>,
}

#[async_trait]
impl Store for Counting {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        self.store.get(key).await
    }

    async fn put(&self, key: &Key, body: bytes::Bytes, expect: Expect) -> Result<Version, StoreError> {
        self.bytes.fetch_add(body.len() as u64, Ordering::SeqCst);
        self.store.put(key, body, expect).await
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}

fn resource(at: usize) -> Result<Resource, Box<dyn Error>> {
    Ok(Resource {
        id: Some(PhysicalId(format!("id-{at}"))),
        inputs: [("text".to_owned(), Value::from("x".repeat(200)))].into(),
        ..Resource::new(
            Uid(format!("uid-{at}")),
            format!("dev:main:t.T#r{at}").parse()?,
            TypeToken("t.T".into()),
            SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        )
    })
}

/// Updates the given resources one by one.
async fn steps(run: &Run, resources: &[Resource]) -> Result<(), Box<dyn Error>> {
    for resource in resources {
        let previous = resource.inputs.clone();
        let begun = run.begin(|key| Intent::Update { key, resource: Box::new(resource.clone()), previous });
        let (receipt, _) = begun.receipt().await?;
        let outcome = Outcome::updated(Map::new());
        run.submit(Record::End { op: receipt.op(), outcome }).durable().await?;
    }
    Ok(())
}

/// Returns the duration of a step, and the bytes that it wrote.
async fn measure(
    store: Arc<dyn Store>,
    size: usize,
    claims: &Path,
) -> Result<(Duration, u64), Box<dyn Error>> {
    let bytes = Arc::new(AtomicU64::new(0));
    let store = Arc::new(Counting { store, bytes: bytes.clone() });
    let keys = StackKeys::new("bench", "dev", "local");
    let stack = Stack {
        store,
        keys,
        world: World::real(),
        claims: claims.to_owned(),
        secrets: stead_engine::StackSecrets::none(),
    };
    let resources: Vec<Resource> = (0..size).map(resource).collect::<Result<_, _>>()?;
    let changed = resources[..CHANGED].to_vec();
    let uids = size as u64;
    let base = Snapshot { uids, ..Snapshot::empty(StackId("s".into())).with(resources) };
    stack.open("import", None, Takeover::IfDead).await?.close_with(base).await?;
    let run = stack.open("up", None, Takeover::IfDead).await?;
    let before = bytes.load(Ordering::SeqCst);
    // The best round counts: other load on the machine is not a cost of the journal.
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        steps(&run, &changed).await?;
        best = best.min(start.elapsed() / CHANGED as u32);
    }
    let written = bytes.load(Ordering::SeqCst) - before;
    run.close(RunResult::Succeeded).await?;
    Ok((best, written / (ROUNDS * CHANGED) as u64))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder to work in")?;
    let folder = Path::new(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    println!("| resources in the state | in memory | on the disk | bytes put |\n|---:|---:|---:|---:|");
    for size in SIZES {
        let place = folder.join(size.to_string());
        let claims = place.join("claims");
        let row = runtime.block_on(async {
            let (memory, bytes) = measure(Arc::new(MemoryStore::default()), size, &claims).await?;
            let files = Arc::new(FileStore::new(World::real(), place.join("state")));
            let (disk, _) = measure(files, size, &claims).await?;
            Ok::<_, Box<dyn Error>>((memory, disk, bytes))
        })?;
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        println!("| {size} | {:.1} µs | {:.0} µs | {} |", micros(row.0), micros(row.1), row.2);
    }
    Ok(())
}
