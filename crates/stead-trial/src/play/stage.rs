//! What a play's processes act upon: things that are made, changed and deleted, and an eye on who may do so.
//!
//! Every rule here is about the world outside, not about the engine: what was asked to be kept is not deleted, of
//! what there may be one there are never two, nobody acts who was relieved, nobody acts without a word on record.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use stead_journal::StackKeys;
use stead_model::{Input, Map, Operation, PhysicalId, Resource, TypeToken, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, LiveState, PartialResult,
    Provider, Receipt, Recovery, Refusal, RefusalClass, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, diff};
use stead_state::{Batch, Record};
use stead_store::Store;
use stead_world::World;

use crate::Chance;
use crate::process::Process;

#[derive(Default)]
pub(super) struct Contents {
    pub objects: BTreeMap<String, Map>,
    /// What was made, by idempotency key; making it again is no second time unless it was deleted meanwhile.
    made: BTreeSet<String>,
    /// The titles that the program declares now.
    pub declared: BTreeSet<String>,
    /// The newest process that has asked for a change.
    newest: Option<Process>,
    /// Processes in which something wanted could not be made or changed.
    failed: BTreeSet<u64>,
    /// What each process deleted.
    deleted: BTreeMap<u64, BTreeSet<String>>,
    pub violations: Vec<String>,
}

#[derive(Clone, Default)]
pub(super) struct Stage {
    contents: Arc<Mutex<Contents>>,
}

impl Stage {
    pub(super) fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Luck {
    Good,
    Refused,
    Busy,
    LostBefore,
    LostAfter,
    /// It takes effect, and never answers.
    Hangs,
    /// Some of it is done.
    Partly,
    /// It takes effect, and the answer is no answer.
    Lies,
}

const MISFORTUNES: [Luck; 6] =
    [Luck::Refused, Luck::Busy, Luck::LostBefore, Luck::LostAfter, Luck::Hangs, Luck::Partly];

/// How calls go in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Temper {
    Good,
    Bad,
    /// As good, but the first thing made is answered with an empty id.
    Lying,
}

/// The stage as one process reaches it.
pub(super) struct Actor {
    pub stage: Stage,
    pub process: Process,
    pub world: World,
    pub chance: Mutex<Chance>,
    pub temper: Temper,
    /// Calls take up to so many milliseconds.
    pub pace: u64,
    /// Where the intents are.
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
}

pub(super) fn schema() -> TypeSchema {
    let property = |name: &str| Property::new(name, Shape::Any, Access::Optional, "");
    let mut properties: Vec<Property> = ["title", "size", "from", "exclusive", "keep"].map(property).into();
    properties.push(property("place").create_only());
    properties.push(Property::new("key", Shape::String, Access::ReadOnly, "").stable());
    TypeSchema::new("play.Thing", "", properties)
}

fn outputs(id: &str) -> Map {
    [("key".to_owned(), Value::from(id))].into()
}

fn text<'m>(inputs: &'m Map, key: &str) -> &'m str {
    inputs.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flag(inputs: &Map, key: &str) -> bool {
    inputs.get(key).and_then(Value::as_bool).unwrap_or_default()
}

impl Contents {
    fn note(&mut self, what: String) {
        self.violations.push(what);
    }

    fn others(&self, id: &str, title: &str) -> usize {
        // What was made by hand and never taken in is none of ours.
        let ours = |other: &str| other != id && !other.starts_with("by-hand-");
        self.objects.iter().filter(|(other, inputs)| ours(other) && text(inputs, "title") == title).count()
    }

    fn make(&mut self, key: &str, inputs: &Map) {
        if let Some(object) = self.objects.get_mut(key) {
            object.clone_from(inputs); // what was missing is added by the second attempt
            return;
        }
        if !self.made.insert(key.to_owned()) {
            self.note(format!("{key} was made, deleted, and made again by the same operation"));
        }
        let title = text(inputs, "title");
        if flag(inputs, "exclusive") && self.others(key, title) > 0 {
            self.note(format!("{title} was made while the old one was there"));
        }
        self.objects.insert(key.to_owned(), inputs.clone());
    }

    fn delete(&mut self, process: u64, id: &str, attempt: u32) {
        let Some(inputs) = self.objects.remove(id) else { return };
        let title = text(&inputs, "title").to_owned();
        if flag(&inputs, "keep") {
            self.note(format!("{title} was to be kept and is gone"));
        }
        let from = text(&inputs, "from");
        if self.deleted.get(&process).is_some_and(|deleted| deleted.contains(from)) {
            self.note(format!("{title} was deleted after what it needs"));
        }
        // A second attempt does what an earlier run, with an earlier program, had begun.
        // What uses another may have to go early, before that one is deleted and made again.
        let (declared, alone) = (self.declared.contains(&title), from.is_empty());
        if attempt == 1 && alone && declared && !flag(&inputs, "exclusive") && self.others(id, &title) == 0 {
            self.note(format!("{title} was deleted before its replacement was there"));
        }
        if attempt == 1 && alone && !declared && self.failed.contains(&process) {
            self.note(format!("{title} was deleted although something wanted could not be made"));
        }
        // What needs it may only now have to go, too: the run that began this did not know.
        if attempt == 1 {
            self.deleted.entry(process).or_default().insert(id.to_owned());
        }
    }
}

impl Actor {
    /// What must be true of every call that changes something, when it starts.
    async fn enter(&self, receipt: &Receipt) -> Luck {
        if self.process.is_alive() {
            let on_record = self.is_on_record(receipt).await;
            let mut contents = self.stage.contents();
            if !on_record {
                contents.note(format!("{} was begun without a durable word", receipt.idempotency_key()));
            }
            // An older process may take over from a newer one that died, and never from a living one.
            let relieved_by = |newest: &Process| newest.id > self.process.id && newest.is_alive();
            if contents.newest.as_ref().is_some_and(relieved_by) {
                contents.note(format!("process {} acted after it was relieved", self.process.id));
            }
            contents.newest = Some(self.process.clone());
        }
        let (luck, wait) = {
            let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
            let luck = match self.temper {
                Temper::Bad if chance.one_in(4) => *chance.pick(&MISFORTUNES).unwrap_or(&Luck::Refused),
                Temper::Lying => Luck::Lies,
                _ => Luck::Good,
            };
            (luck, Duration::from_millis(if chance.one_in(3) { chance.below(self.pace + 1) } else { 0 }))
        };
        self.world.clock.sleep(wait).await;
        luck
    }

    /// Whether the journal, as anybody can read it, says that the operation is under way.
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

    async fn answer<T>(&self, luck: Luck, effect: impl FnOnce(&mut Contents) -> T) -> CallOutcome<T> {
        let doubt = || CallOutcome::InDoubt(Doubt { message: "no answer".into() });
        match luck {
            Luck::Refused => CallOutcome::Refused(Refusal::new("refused")),
            Luck::Busy => CallOutcome::Refused(Refusal::transient("busy")),
            Luck::LostBefore => doubt(),
            // A dead process cannot have sent anything.
            _ if !self.process.is_alive() => doubt(),
            Luck::Good | Luck::Partly | Luck::Lies => CallOutcome::Done(effect(&mut self.stage.contents())),
            Luck::LostAfter => {
                effect(&mut self.stage.contents());
                doubt()
            }
            Luck::Hangs => {
                effect(&mut self.stage.contents());
                std::future::pending().await
            }
        }
    }

    /// Notes that something this run wants was not done. What an earlier run wanted is another matter.
    fn wanted<T>(&self, attempt: u32, outcome: CallOutcome<T>) -> CallOutcome<T> {
        let busy =
            matches!(&outcome, CallOutcome::Refused(refusal) if refusal.class == RefusalClass::Transient);
        if attempt == 1 && !busy && !matches!(outcome, CallOutcome::Done(_)) {
            self.stage.contents().failed.insert(self.process.id);
        }
        outcome
    }
}

#[async_trait]
impl Provider for Actor {
    fn name(&self) -> &str {
        "play"
    }

    fn types(&self) -> Vec<TypeSchema> {
        vec![schema()]
    }

    async fn check(
        &self,
        _: &TypeToken,
        inputs: BTreeMap<String, Input>,
    ) -> Result<BTreeMap<String, Input>, Vec<Problem>> {
        Ok(inputs)
    }

    async fn diff(&self, old: &Resource, inputs: &BTreeMap<String, Input>) -> Diff {
        Diff { changes: diff(&schema(), &old.inputs, inputs), order: Default::default() }
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        let id = resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
        self.find(&resource.ty, &PhysicalId(id.to_owned())).await
    }

    async fn find(&self, _: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        if self.temper == Temper::Bad && chance.one_in(6) {
            return Err(Refusal::new("it cannot be read at the moment"));
        }
        let found = self.stage.contents().objects.get(id.as_str()).cloned();
        Ok(found.map(|inputs| LiveState { inputs, outputs: outputs(id.as_str()) }))
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        let luck = self.enter(&receipt).await;
        let (key, attempt) = (receipt.idempotency_key().to_owned(), receipt.attempt());
        let mut inputs = request.inputs.clone();
        if luck == Luck::Partly {
            inputs.remove("size");
        }
        let outcome = self
            .answer(luck, |contents| {
                contents.make(&key, &inputs);
                Created { id: PhysicalId(key.clone()), outputs: outputs(&key) }
            })
            .await;
        let refusal = Refusal::new("the size was not taken");
        let outcome = match (luck, outcome) {
            (Luck::Partly, CallOutcome::Done(done)) => {
                CallOutcome::Partial(PartialResult { done, inputs, refusal })
            }
            (Luck::Lies, CallOutcome::Done(done)) => {
                CallOutcome::Done(Created { id: PhysicalId(String::new()), ..done })
            }
            (_, outcome) => outcome,
        };
        self.wanted(attempt, outcome)
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let (luck, attempt) = (self.enter(&receipt).await, receipt.attempt());
        let id = request.resource.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        if luck == Luck::Good && !self.stage.contents().objects.contains_key(&id) {
            return self.wanted(attempt, CallOutcome::Refused(Refusal::new("it does not exist")));
        }
        let outcome = self.answer(luck, |contents| {
            if let Some(object) = contents.objects.get_mut(&id) {
                *object = request.resource.inputs.clone();
            }
            Updated { outputs: outputs(&id) }
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
        let luck = self.enter(&receipt).await;
        let id = request.resource.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        let (process, attempt) = (self.process.id, receipt.attempt());
        self.answer(luck, |contents| {
            if *permit.copy() != request.resource.copy() {
                contents.note(format!("{id} was deleted with another's permit"));
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
