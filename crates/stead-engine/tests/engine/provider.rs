//! A provider whose inputs script its answers. It logs each call, and checks that the intent is in the journal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use stead_journal::StackKeys;
use stead_model::{Inputs, Map, Operation, PhysicalId, Resource, SIGNATURE_KEY, TypeToken, Value};
use stead_provider::{
    BatchReads, CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, LiveState,
    PartialResult, Provider, Receipt, Recovery, Refusal, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, check, diff};
use stead_state::{Batch, Record};
use stead_store::{Key, Store};

pub(crate) struct Scripted {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) log: Mutex<Vec<String>>,
    /// Resources whose interrupted deletion was taken back.
    pub(crate) taken_back: Mutex<Vec<String>>,
    pub(crate) running: AtomicUsize,
    pub(crate) most: AtomicUsize,
    /// Existing objects, by physical id.
    pub(crate) real: Mutex<BTreeMap<String, Map>>,
    /// Calls for each resource while the provider is busy.
    busy_calls: Mutex<BTreeMap<String, usize>>,
    /// Largest number of parallel calls; 0 for no limit.
    pub(crate) limit: AtomicUsize,
    /// Skips the check of the journal, whose cost grows with every call.
    pub(crate) trusting: AtomicBool,
    pub(crate) refuses_create: AtomicBool,
    pub(crate) refuses_delete: AtomicBool,
    /// Answers to reads.
    pub(crate) reads: Mutex<Reads>,
    pub(crate) read_calls: AtomicUsize,
    /// Makes `read` return the values of the record.
    pub(crate) echoes: AtomicBool,
    /// Ability to read.
    pub(crate) sight: Mutex<stead_provider::Reads>,
    pub(crate) batches: Mutex<Batches>,
}

/// How the provider answers reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    Answered,
    /// The first two reads are refused for the moment.
    Busy,
    Refused,
    /// Each read takes 50 ms.
    Slow,
    /// No read and no check is ever answered.
    Hang,
}

impl Scripted {
    /// Counts a read, and delays or refuses it.
    async fn before_read(&self) -> Result<(), Refusal> {
        let before = self.read_calls.fetch_add(1, Ordering::SeqCst);
        let reads = *self.reads.lock().unwrap();
        match reads {
            Reads::Busy if before < 2 => Err(Refusal::transient("it is busy")),
            Reads::Answered | Reads::Busy => Ok(()),
            Reads::Refused => Err(Refusal::new("reads are not allowed").help("ask for leave")),
            Reads::Hang => std::future::pending().await,
            Reads::Slow => {
                let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
                self.most.fetch_max(now, Ordering::SeqCst);
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                self.running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            }
        }
    }

    pub(crate) fn new(store: Arc<dyn Store>) -> Scripted {
        Scripted {
            store,
            log: Mutex::default(),
            taken_back: Mutex::default(),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            real: Mutex::default(),
            busy_calls: Mutex::default(),
            limit: AtomicUsize::new(0),
            trusting: AtomicBool::new(false),
            refuses_create: AtomicBool::new(false),
            refuses_delete: AtomicBool::new(false),
            reads: Mutex::new(Reads::Answered),
            read_calls: AtomicUsize::new(0),
            echoes: AtomicBool::new(false),
            sight: Mutex::new(stead_provider::Reads::RealResource),
            batches: Mutex::new(Batches::None),
        }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    /// Logs the call, and checks that its intent is durable.
    async fn called(&self, operation: &str, receipt: &Receipt, inputs: &Map) {
        if inputs.get(operation).and_then(Value::as_str) == Some("warn") {
            let secret = inputs.get("size").and_then(Value::as_str).unwrap_or_default();
            receipt.warnings().add(format!("a hook dislikes {secret}"));
        }
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let trusts = self.trusting.load(Ordering::SeqCst);
        assert!(
            trusts || self.journal_holds(receipt).await,
            "{operation} was called before its intent was durable"
        );
        let name = inputs.get("name").and_then(Value::as_str).unwrap_or_default();
        self.log.lock().unwrap().push(format!("{operation} {name}"));
        if let Some(millis) = inputs.get("sleep").and_then(Value::as_i64) {
            tokio::time::sleep(std::time::Duration::from_millis(millis as u64)).await;
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    async fn journal_holds(&self, receipt: &Receipt) -> bool {
        for key in self.store.list(&Key::root()).await.unwrap() {
            if !key.as_str().contains("/journal/") {
                continue;
            }
            let batch = Batch::decode(&self.store.get(&key).await.unwrap().unwrap().body).unwrap();
            let found = batch.records.iter().any(|record| match record {
                Record::Begin { op, intent, .. } => {
                    *op == receipt.op() && intent.key() == receipt.idempotency_key()
                }
                Record::Resume { op } => *op == receipt.op(),
                _ => false,
            });
            if found {
                return true;
            }
        }
        false
    }

    async fn answer<T>(&self, inputs: &Map, operation: &str, done: T) -> CallOutcome<T> {
        let name = inputs.get("name").and_then(Value::as_str).unwrap_or_default();
        let refuses = match operation {
            "create" => self.refuses_create.load(Ordering::SeqCst),
            "delete" => self.refuses_delete.load(Ordering::SeqCst),
            _ => false,
        };
        if refuses {
            return CallOutcome::Refused(Refusal::new("not today"));
        }
        match inputs.get(operation).and_then(Value::as_str) {
            Some("hang") => std::future::pending().await,
            Some("busy") => {
                let mut calls = self.busy_calls.lock().unwrap();
                let times = calls.entry(name.to_owned()).or_default();
                *times += 1;
                if *times > 2 {
                    CallOutcome::Done(done)
                } else {
                    CallOutcome::Refused(Refusal::transient("it is busy"))
                }
            }
            Some("partly") => {
                let without = inputs.iter().filter(|(key, _)| *key != "size" && *key != operation);
                CallOutcome::Partial(PartialResult {
                    done,
                    inputs: without.map(|(key, value)| (key.clone(), value.clone())).collect(),
                    refusal: Refusal::new("only half of it worked"),
                })
            }
            Some("fail") => CallOutcome::Refused(Refusal::new("it was told to fail").help("tell it not to")),
            Some("ended") => CallOutcome::Refused(Refusal::transient("the service ended it").of_operation()),
            Some("not in place") => {
                CallOutcome::Refused(Refusal::new("it has to be made anew").not_in_place())
            }
            Some("doubt") => CallOutcome::InDoubt(Doubt { message: "the line went dead".into() }),
            _ => CallOutcome::Done(done),
        }
    }
}

/// Answer of the scripted provider to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batches {
    /// It reads one resource at a time.
    None,
    Answered,
    Refused,
}

#[async_trait]
impl BatchReads for Scripted {
    fn covers(&self, _: &TypeToken) -> bool {
        true
    }

    async fn read_all(&self, resources: &[&Resource]) -> Result<Vec<Option<LiveState>>, Refusal> {
        self.log.lock().unwrap().push(format!("read {}", resources.len()));
        if *self.batches.lock().unwrap() == Batches::Refused {
            return Err(Refusal::new("lists are not allowed"));
        }
        let real = self.real.lock().unwrap();
        let live = |resource: &&Resource| {
            let inputs = real.get(resource.id.as_ref()?.as_str())?.clone();
            Some(LiveState { outputs: outputs(&inputs), inputs })
        };
        Ok(resources.iter().map(live).collect())
    }
}

pub(crate) fn keys() -> StackKeys {
    StackKeys::new("shop", "dev", "test")
}

fn schema() -> TypeSchema {
    let optional = |name: &str| Property::new(name, Shape::Any, Access::Optional, "");
    TypeSchema::new(
        "t.T",
        "",
        vec![
            optional("name"),
            optional("size"),
            optional("sleep"),
            optional("create"),
            optional("update"),
            optional("delete"),
            optional("ask"),
            // Changed in place only sometimes.
            optional("tier"),
            optional("place").create_only(),
            // The physical id of an object with a fixed name.
            optional("label").create_only(),
            Property::new("out", Shape::Any, Access::ReadOnly, ""),
        ],
    )
}

/// Returns an object that state could not tell from a secret.
pub(crate) fn marked() -> Value {
    Value::Map([(SIGNATURE_KEY.to_owned(), Value::from("1b47061264138c4ac30d75fd1eb44270"))].into())
}

fn outputs(inputs: &Map) -> Map {
    if inputs.get("create").and_then(Value::as_str) == Some("lose") {
        return Map::new();
    }
    if inputs.get("create").and_then(Value::as_str) == Some("mark") {
        return [("out".to_owned(), marked())].into();
    }
    [("out".to_owned(), inputs.get("size").cloned().unwrap_or_default())].into()
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &str {
        "t"
    }

    fn types(&self) -> Vec<TypeSchema> {
        vec![schema(), TypeSchema { token: TypeToken("t.Provider".into()), ..schema() }]
    }

    async fn check(&self, _: &TypeToken, inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
        if *self.reads.lock().unwrap() == Reads::Hang {
            std::future::pending::<()>().await;
        }
        match check(&schema(), &inputs) {
            problems if problems.is_empty() => Ok(inputs),
            problems => Err(problems),
        }
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        let mut changes = diff(&schema(), &old.inputs, inputs);
        for change in changes.iter_mut().filter(|change| change.path.root() == Some("tier")) {
            (change.replaces, change.tried_in_place) = (true, true);
        }
        Diff { changes, ..Diff::default() }
    }

    fn reads(&self, _: &TypeToken) -> stead_provider::Reads {
        *self.sight.lock().unwrap()
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        self.before_read().await?;
        if self.echoes.load(Ordering::SeqCst) {
            let Resource { inputs, outputs, .. } = resource.clone();
            return Ok(Some(LiveState { inputs, outputs }));
        }
        let id = resource.id.as_ref().unwrap().as_str();
        let found = self.real.lock().unwrap().get(id).cloned();
        Ok(found.map(|inputs| LiveState { outputs: outputs(&inputs), inputs }))
    }

    async fn find(&self, _: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        self.before_read().await?;
        let found = self.real.lock().unwrap().get(id.as_str()).cloned();
        Ok(found.map(|inputs| LiveState { outputs: outputs(&inputs), inputs }))
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        self.called("create", &receipt, request.inputs).await;
        let label = request.inputs.get("label").and_then(Value::as_str);
        // A scripted physical id may be one that exists already.
        let scripted =
            request.inputs.get("create").and_then(Value::as_str).and_then(|how| how.strip_prefix("as "));
        let id = scripted.or(label).unwrap_or(receipt.idempotency_key()).to_owned();
        let taken = label.is_some() && self.real.lock().unwrap().contains_key(&id);
        assert!(!taken, "{id} exists already, and the planner knew");
        let answer = self.answer(request.inputs, "create", ()).await;
        if let CallOutcome::Done(()) | CallOutcome::Partial(_) = answer {
            self.real.lock().unwrap().insert(id.clone(), request.inputs.clone());
        }
        answer.map(|()| Created { id: PhysicalId(id), outputs: outputs(request.inputs) })
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        self.called("update", &receipt, &request.resource.inputs).await;
        let outputs = outputs(&request.resource.inputs);
        let answer = self.answer(&request.resource.inputs, "update", Updated { outputs }).await;
        if let CallOutcome::Done(_) = answer {
            let id = request.resource.id.as_ref().unwrap().as_str().to_owned();
            self.real.lock().unwrap().insert(id, request.resource.inputs.clone());
        }
        answer
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()> {
        assert_eq!(*permit.copy(), request.resource.copy());
        self.called("delete", &receipt, &request.resource.inputs).await;
        let answer = self.answer(&request.resource.inputs, "delete", ()).await;
        if let CallOutcome::Done(()) = answer {
            self.real.lock().unwrap().remove(request.resource.id.as_ref().unwrap().as_str());
        }
        answer
    }

    async fn take_back(&self, _: Receipt, request: DeleteRequest<'_>) -> Result<(), Refusal> {
        self.taken_back.lock().unwrap().push(request.resource.name.short().to_owned());
        Ok(())
    }

    fn batch_reads(&self) -> Option<&dyn BatchReads> {
        (*self.batches.lock().unwrap() != Batches::None).then_some(self)
    }

    fn max_parallel_calls(&self) -> Option<usize> {
        Some(self.limit.load(Ordering::SeqCst)).filter(|limit| *limit > 0)
    }

    fn recovery(&self, _: Operation, _: &TypeToken, inputs: &Map) -> Recovery {
        if inputs.contains_key("ask") { Recovery::Ask } else { Recovery::Repeat }
    }
}
