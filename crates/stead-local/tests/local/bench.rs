//! Test fixtures: a project folder, a provider for it, and real receipts and permits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_guard::{Cause, Deletion, DeletionEffect, decide};
use stead_journal::{JournalError, OpenRequest, Run, StackKeys, Takeover, open};
use stead_local::LocalProvider;
use stead_model::{Input, Inputs, Map, PhysicalId, Resource, SourceRef, TypeToken, Uid, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, LiveState, Provider, Receipt,
    Refusal, UpdateRequest, Updated,
};
use stead_schema::Problem;
use stead_state::{Intent, Record};
use stead_store::{MemoryStore, Store};
use stead_world::World;

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) provider: LocalProvider,
}

pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Map {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
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

/// A stack in memory, for one operation.
struct Stack {
    store: Arc<dyn Store>,
    claims: tempfile::TempDir,
}

impl Stack {
    fn new() -> Stack {
        Stack { store: Arc::new(MemoryStore::default()), claims: tempfile::tempdir().unwrap() }
    }

    async fn open(&self) -> Run {
        loop {
            let request = OpenRequest {
                store: self.store.clone(),
                keys: StackKeys::new("shop", "dev", "local"),
                world: World::real(),
                command: "up".into(),
                claims: self.claims.path().to_owned(),
                planned_on: None,
                takeover: Takeover::IfDead,
                crypter: Arc::new(stead_model::NoKey),
            };
            match open(request).await {
                Ok(run) => return run,
                // A child process that another test just forked may still have a copy of the released claim.
                Err(JournalError::Held(_)) => std::thread::yield_now(),
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    async fn begin(&self) -> (Run, Receipt) {
        let run = self.open().await;
        drop(run.submit(Record::Reserve { uids: 1 }));
        let resource = Box::new(record("local.Data", Map::new()));
        let (receipt, _) = run.begin(|key| Intent::Create { key, resource }).receipt().await.unwrap();
        (run, receipt)
    }
}

/// Attempts at one operation, each by a run of its own, which lasts until the next attempt.
pub(crate) struct Attempts {
    stack: Stack,
    run: Run,
}

impl Attempts {
    pub(crate) async fn first() -> (Attempts, Receipt) {
        let stack = Stack::new();
        let (run, receipt) = stack.begin().await;
        (Attempts { stack, run }, receipt)
    }

    /// Ends the run as if it had been killed, and attempts the operation again.
    pub(crate) async fn again(self) -> (Attempts, Receipt) {
        let Attempts { stack, run } = self;
        drop(run);
        let run = stack.open().await;
        let receipt = run.resume(&run.in_doubt()[0]).await.unwrap();
        (Attempts { stack, run }, receipt)
    }
}

/// Returns the receipts of the first and the second attempt at one operation; the second is of a run that
/// took over.
pub(crate) async fn attempts() -> (Receipt, Receipt) {
    let (attempts, first) = Attempts::first().await;
    let (attempts, second) = attempts.again().await;
    // The run lasts as long as its receipt may be used.
    std::mem::forget(attempts);
    assert_eq!(first.idempotency_key(), second.idempotency_key());
    assert_eq!((first.attempt(), second.attempt()), (1, 2));
    (first, second)
}

pub(crate) async fn receipt() -> Receipt {
    let (attempts, receipt) = Attempts::first().await;
    std::mem::forget(attempts);
    receipt
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

pub(crate) fn refused<T: std::fmt::Debug>(outcome: CallOutcome<T>) -> Refusal {
    match outcome {
        CallOutcome::Refused(refusal) => {
            assert!(refusal.help.is_some(), "every refusal needs a hint: {refusal:?}");
            refusal
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn done<T: std::fmt::Debug>(outcome: CallOutcome<T>) -> T {
    match outcome {
        CallOutcome::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench::with(World::real())
    }

    pub(crate) fn with(world: World) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let provider = LocalProvider::new(world, folder.path().to_owned());
        Bench { folder, provider }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(path), content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        names_in(&self.path(path))
    }

    pub(crate) async fn check(&self, token: &str, inputs: Map) -> Result<Map, Vec<Problem>> {
        let checked = self.provider.check(&TypeToken(token.into()), declared(&inputs)).await?;
        Ok(checked.into_iter().filter_map(|(name, input)| Some((name, input.into_known()?))).collect())
    }

    /// Returns the messages and hints of the problems with the inputs.
    pub(crate) async fn problems(&self, token: &str, inputs: Map) -> Vec<String> {
        let problems = self.check(token, inputs).await.err().unwrap_or_default();
        problems.into_iter().map(|p| format!("{} / {}", p.message, p.help.unwrap_or_default())).collect()
    }

    pub(crate) async fn create_with(
        &self,
        receipt: Receipt,
        token: &str,
        inputs: Map,
    ) -> CallOutcome<Created> {
        let record = record(token, self.check(token, inputs).await.unwrap());
        let request = CreateRequest {
            name: &record.name,
            resource: &record.ty,
            source: &record.source,
            inputs: &record.inputs,
            owner: None,
        };
        self.provider.create(receipt, request).await
    }

    pub(crate) async fn create(&self, token: &str, inputs: Map) -> CallOutcome<Created> {
        self.create_with(receipt().await, token, inputs).await
    }

    /// Creates a resource. Returns its record.
    pub(crate) async fn created(&self, token: &str, inputs: Map) -> Resource {
        let Created { id, outputs } = done(self.create(token, inputs.clone()).await);
        self.recorded(token, inputs, id, outputs).await
    }

    pub(crate) async fn recorded(&self, token: &str, inputs: Map, id: PhysicalId, outputs: Map) -> Resource {
        let inputs = self.check(token, inputs).await.unwrap();
        Resource { id: Some(id), outputs, ..record(token, inputs) }
    }

    pub(crate) async fn diff(&self, old: &Resource, inputs: Map) -> Diff {
        let inputs = self.check(old.ty.as_str(), inputs).await.unwrap();
        self.provider.diff(old, &declared(&inputs)).await
    }

    /// Returns the changed paths, with `!` after those that force a replacement.
    pub(crate) async fn changes(&self, old: &Resource, inputs: Map) -> Vec<String> {
        let mark = |replaces| if replaces { "!" } else { "" };
        let Diff { changes, .. } = self.diff(old, inputs).await;
        changes.into_iter().map(|change| format!("{}{}", change.path, mark(change.replaces))).collect()
    }

    pub(crate) async fn update(&self, old: &Resource, inputs: Map) -> CallOutcome<Updated> {
        let inputs = self.check(old.ty.as_str(), inputs).await.unwrap();
        let resource = Resource { inputs, ..old.clone() };
        let request = UpdateRequest { resource: &resource, old_inputs: &old.inputs, owner: None };
        self.provider.update(receipt().await, request).await
    }

    /// Updates a resource. Returns its new record.
    pub(crate) async fn updated(&self, old: &Resource, inputs: Map) -> Resource {
        let Updated { outputs } = done(self.update(old, inputs.clone()).await);
        let inputs = self.check(old.ty.as_str(), inputs).await.unwrap();
        Resource { inputs, outputs, ..old.clone() }
    }

    pub(crate) async fn delete(&self, resource: &Resource) -> CallOutcome<()> {
        self.delete_with(receipt().await, resource).await
    }

    pub(crate) async fn delete_with(&self, receipt: Receipt, resource: &Resource) -> CallOutcome<()> {
        self.provider.delete(receipt, permit(resource), DeleteRequest { resource }).await
    }

    pub(crate) async fn live(&self, resource: &Resource) -> Option<LiveState> {
        self.provider.read(resource).await.unwrap()
    }
}

/// Returns the names in a folder, hidden ones included.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // Notes of the process groups of commands.
    names.retain(|name| name != ".stead");
    names.sort();
    names
}

pub(crate) fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}
