//! The cloud of a play, with oracles about the cloud alone, not about the engine: a retained object is not deleted,
//! an exclusive object never exists twice, a fenced process changes nothing, and no call precedes its durable intent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use stead_journal::StackKeys;
use stead_model::{Inputs, Map, Operation, PhysicalId, Resource, TypeToken, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, LiveState, PartialResult,
    Provider, Reads, Receipt, Recovery, Refusal, RefusalClass, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, diff};
use stead_state::{Batch, Record};
use stead_store::Store;
use stead_world::World;

use crate::Rng;
use crate::secret::some_form;
use crate::world::process::Process;

/// Objects of the cloud, and the violations seen so far.
#[derive(Default)]
pub(super) struct CloudContents {
    pub objects: BTreeMap<String, Map>,
    /// Idempotency keys of created objects. A repeated key is a second creation only if the object was deleted
    /// meanwhile.
    made: BTreeSet<String>,
    /// Titles that the program declares now.
    pub declared: BTreeSet<String>,
    /// Newest process that started a mutating call.
    newest: Option<Process>,
    /// Processes in which a create or an update failed.
    failed: BTreeSet<u64>,
    /// Ids deleted by each process.
    deleted: BTreeMap<u64, BTreeSet<String>>,
    pub violations: Vec<String>,
}

#[derive(Clone, Default)]
pub(super) struct PlayCloud {
    contents: Arc<Mutex<CloudContents>>,
}

impl PlayCloud {
    pub(super) fn contents(&self) -> MutexGuard<'_, CloudContents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Behaviour of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallBehaviour {
    Good,
    Refused,
    Busy,
    LostBefore,
    LostAfter,
    /// The call takes effect, and never answers.
    Hangs,
    /// Part of the change takes effect.
    Partly,
    /// The call takes effect, and the answer has an empty id.
    Lies,
}

const BAD_BEHAVIOURS: [CallBehaviour; 6] = [
    CallBehaviour::Refused,
    CallBehaviour::Busy,
    CallBehaviour::LostBefore,
    CallBehaviour::LostAfter,
    CallBehaviour::Hangs,
    CallBehaviour::Partly,
];

/// Behaviour of all calls of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProviderBehaviour {
    Good,
    Bad,
    /// As `Good`, but the first created object is reported with an empty id.
    Lying,
}

/// The cloud as the provider of one process.
pub(super) struct PlayProvider {
    pub cloud: PlayCloud,
    pub process: Process,
    pub world: World,
    pub rng: Mutex<Rng>,
    pub provider_behaviour: ProviderBehaviour,
    /// Maximum duration of a call in milliseconds.
    pub pace: u64,
    /// Store that holds the journal, read to find the intents.
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
}

pub(super) fn schema() -> TypeSchema {
    let property = |name: &str| Property::new(name, Shape::Any, Access::Optional, "");
    let mut properties: Vec<Property> =
        ["title", "size", "from", "exclusive", "keep", "password"].map(property).into();
    properties.push(property("place").create_only());
    properties.push(Property::new("key", Shape::String, Access::ReadOnly, "").stable());
    properties.push(Property::new("echo", Shape::String, Access::ReadOnly, ""));
    TypeSchema::new("play.Thing", "", properties)
}

/// Returns the outputs of an object, with its password in some form.
fn outputs(id: &str, inputs: &Map) -> Map {
    let echo = format!("key={};", some_form(text(inputs, "password")));
    [("key".to_owned(), Value::from(id)), ("echo".to_owned(), Value::from(echo))].into()
}

/// Returns a message of the cloud, which quotes the password of a request.
fn told(message: &str, inputs: &Map) -> String {
    match text(inputs, "password") {
        "" => message.to_owned(),
        password => format!("{message} {password}"),
    }
}

fn text<'m>(inputs: &'m Map, key: &str) -> &'m str {
    inputs.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flag(inputs: &Map, key: &str) -> bool {
    inputs.get(key).and_then(Value::as_bool).unwrap_or_default()
}

impl CloudContents {
    fn note(&mut self, what: String) {
        self.violations.push(what);
    }

    fn others(&self, id: &str, title: &str) -> usize {
        // Objects created by hand and never imported do not count.
        let ours = |other: &str| other != id && !other.starts_with("by-hand-");
        self.objects.iter().filter(|(other, inputs)| ours(other) && text(inputs, "title") == title).count()
    }

    fn make(&mut self, key: &str, inputs: &Map) {
        if let Some(object) = self.objects.get_mut(key) {
            object.clone_from(inputs); // the second attempt adds the missing part
            return;
        }
        if !self.made.insert(key.to_owned()) {
            self.note(format!("{key} was created, deleted, and created again by the same operation"));
        }
        let title = text(inputs, "title");
        if flag(inputs, "exclusive") && self.others(key, title) > 0 {
            self.note(format!("{title} was created while the old object existed"));
        }
        self.objects.insert(key.to_owned(), inputs.clone());
    }

    fn delete(&mut self, process: u64, id: &str, attempt: u32) {
        let Some(inputs) = self.objects.remove(id) else { return };
        let title = text(&inputs, "title").to_owned();
        if flag(&inputs, "keep") {
            self.note(format!("{title} is retained, but was deleted"));
        }
        let from = text(&inputs, "from");
        if self.deleted.get(&process).is_some_and(|deleted| deleted.contains(from)) {
            self.note(format!("{title} was deleted after its dependency"));
        }
        // A second attempt continues an earlier run with an earlier program. A resource that uses another may be
        // deleted early, before the other is deleted and created again.
        let (declared, alone) = (self.declared.contains(&title), from.is_empty());
        if attempt == 1 && alone && declared && !flag(&inputs, "exclusive") && self.others(id, &title) == 0 {
            self.note(format!("{title} was deleted before its replacement existed"));
        }
        if attempt == 1 && alone && !declared && self.failed.contains(&process) {
            self.note(format!("{title} was deleted although another operation failed"));
        }
        // A dependent may have to be deleted only now: the run that began this deletion did not know of it.
        if attempt == 1 {
            self.deleted.entry(process).or_default().insert(id.to_owned());
        }
    }
}

impl PlayProvider {
    /// Checks the oracles of a mutating call when it starts, and returns its behaviour.
    async fn enter(&self, receipt: &Receipt) -> CallBehaviour {
        if self.process.is_alive() {
            let on_record = self.is_on_record(receipt).await;
            let mut contents = self.cloud.contents();
            if !on_record {
                contents.note(format!("{} was started without a durable intent", receipt.idempotency_key()));
            }
            // An older process may take over from a newer one only if that one is dead.
            let relieved_by = |newest: &Process| newest.id > self.process.id && newest.is_alive();
            if contents.newest.as_ref().is_some_and(relieved_by) {
                contents.note(format!("process {} changed an object after it was fenced", self.process.id));
            }
            contents.newest = Some(self.process.clone());
        }
        let (behaviour, wait) = {
            let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
            let behaviour = match self.provider_behaviour {
                ProviderBehaviour::Bad if rng.one_in(4) => {
                    *rng.pick(&BAD_BEHAVIOURS).unwrap_or(&CallBehaviour::Refused)
                }
                ProviderBehaviour::Lying => CallBehaviour::Lies,
                _ => CallBehaviour::Good,
            };
            (behaviour, Duration::from_millis(if rng.one_in(3) { rng.below(self.pace + 1) } else { 0 }))
        };
        self.world.clock.sleep(wait).await;
        behaviour
    }

    /// Returns true if the journal, as read from the store, has the intent of the operation.
    async fn is_on_record(&self, receipt: &Receipt) -> bool {
        let journals = self.keys.batch(Default::default(), Default::default());
        let Some(prefix) = journals.as_str().strip_suffix("/0000000000/0000000000") else { return false };
        let Ok(prefix) = stead_store::Key::parse(prefix) else { return false };
        for key in self.store.list(&prefix).await.unwrap_or_default() {
            let Ok(Some(found)) = self.store.get(&key).await else { continue };
            let Ok(batch) = Batch::decode(&found.body) else { continue };
            let says = |record: &Record| match record {
                Record::Begin { intent, .. } => intent.key() == receipt.idempotency_key(),
                Record::Resume { op } => *op == receipt.op() && receipt.attempt() > 1,
                _ => false,
            };
            if batch.records.iter().any(says) {
                return true;
            }
        }
        false
    }

    async fn answer<T>(
        &self,
        behaviour: CallBehaviour,
        inputs: &Map,
        effect: impl FnOnce(&mut CloudContents) -> T,
    ) -> CallOutcome<T> {
        let doubt = || CallOutcome::InDoubt(Doubt { message: told("no answer", inputs) });
        match behaviour {
            CallBehaviour::Refused => CallOutcome::Refused(Refusal::new(told("refused", inputs))),
            CallBehaviour::Busy => CallOutcome::Refused(Refusal::transient(told("busy", inputs))),
            CallBehaviour::LostBefore => doubt(),
            // A dead process cannot have sent a request.
            _ if !self.process.is_alive() => doubt(),
            CallBehaviour::Good | CallBehaviour::Partly | CallBehaviour::Lies => {
                CallOutcome::Done(effect(&mut self.cloud.contents()))
            }
            CallBehaviour::LostAfter => {
                effect(&mut self.cloud.contents());
                doubt()
            }
            CallBehaviour::Hangs => {
                effect(&mut self.cloud.contents());
                std::future::pending().await
            }
        }
    }

    /// Notes a failed operation of this run. Failures of an interrupted, earlier run do not count.
    fn wanted<T>(&self, attempt: u32, outcome: CallOutcome<T>) -> CallOutcome<T> {
        let busy =
            matches!(&outcome, CallOutcome::Refused(refusal) if refusal.class == RefusalClass::Transient);
        if attempt == 1 && !busy && !matches!(outcome, CallOutcome::Done(_)) {
            self.cloud.contents().failed.insert(self.process.id);
        }
        outcome
    }
}

#[async_trait]
impl Provider for PlayProvider {
    fn name(&self) -> &str {
        "play"
    }

    fn types(&self) -> Vec<TypeSchema> {
        vec![schema()]
    }

    async fn check(&self, _: &TypeToken, inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
        Ok(inputs)
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        Diff { changes: diff(&schema(), &old.inputs, inputs), ..Diff::default() }
    }

    fn reads(&self, _: &TypeToken) -> Reads {
        Reads::RealResource
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        let id = resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
        self.find(&resource.ty, &PhysicalId(id.to_owned())).await
    }

    async fn find(&self, _: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        if self.provider_behaviour == ProviderBehaviour::Bad && rng.one_in(6) {
            return Err(Refusal::new("it cannot be read now"));
        }
        let found = self.cloud.contents().objects.get(id.as_str()).cloned();
        Ok(found.map(|inputs| LiveState { outputs: outputs(id.as_str(), &inputs), inputs }))
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        let behaviour = self.enter(&receipt).await;
        let (key, attempt) = (receipt.idempotency_key().to_owned(), receipt.attempt());
        let mut inputs = request.inputs.clone();
        if behaviour == CallBehaviour::Partly {
            inputs.remove("size");
        }
        let outcome = self
            .answer(behaviour, request.inputs, |contents| {
                contents.make(&key, &inputs);
                Created { id: PhysicalId(key.clone()), outputs: outputs(&key, &inputs) }
            })
            .await;
        let refusal = Refusal::new(told("the size was refused", request.inputs));
        let outcome = match (behaviour, outcome) {
            (CallBehaviour::Partly, CallOutcome::Done(done)) => {
                CallOutcome::Partial(PartialResult { done, inputs, refusal })
            }
            (CallBehaviour::Lies, CallOutcome::Done(done)) => {
                CallOutcome::Done(Created { id: PhysicalId(String::new()), ..done })
            }
            (_, outcome) => outcome,
        };
        self.wanted(attempt, outcome)
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let (behaviour, attempt) = (self.enter(&receipt).await, receipt.attempt());
        let id = request.resource.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        if behaviour == CallBehaviour::Good && !self.cloud.contents().objects.contains_key(&id) {
            return self.wanted(attempt, CallOutcome::Refused(Refusal::new("it does not exist")));
        }
        let outcome = self.answer(behaviour, &request.resource.inputs, |contents| {
            if let Some(object) = contents.objects.get_mut(&id) {
                *object = request.resource.inputs.clone();
            }
            Updated { outputs: outputs(&id, &request.resource.inputs) }
        });
        let outcome = outcome.await;
        self.wanted(attempt, outcome)
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()> {
        let behaviour = self.enter(&receipt).await;
        let id = request.resource.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        let (process, attempt) = (self.process.id, receipt.attempt());
        self.answer(behaviour, &request.resource.inputs, |contents| {
            if *permit.copy() != request.resource.copy() {
                contents.note(format!("{id} was deleted with the permit of another copy"));
            }
            contents.delete(process, &id, attempt);
        })
        .await
    }

    fn timeout(&self, _: Operation, _: &TypeToken) -> Duration {
        Duration::from_secs(60)
    }

    fn recovery(&self, _: Operation, _: &TypeToken, _: &Map) -> Recovery {
        Recovery::Repeat
    }
}
