//! A cloud that keeps what is made in it, fails as it is told, and notes whatever must never happen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use stead_model::{Input, Map, Operation, PhysicalId, Resource, TypeToken, Value};
use stead_provider::{
    CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, Live, Outcome, Provider, Receipt,
    Recovery, Refusal, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, diff};

use crate::Chance;
use crate::process::Process;

/// A thing in the cloud.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    pub name: String,
    pub inputs: Map,
    pub protected: bool,
}

#[derive(Default)]
pub(crate) struct Contents {
    pub objects: BTreeMap<String, Object>,
    /// How many creates had an effect, by idempotency key: more than one is a doubled resource.
    pub effects: BTreeMap<String, u32>,
    pub violations: Vec<String>,
    pub serial: i64,
}

/// Shared by all processes.
#[derive(Clone, Default)]
pub struct Cloud {
    contents: Arc<Mutex<Contents>>,
}

impl Cloud {
    pub(crate) fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cloud as one process reaches it.
    pub(crate) fn provider(&self, process: Process, chance: Chance, faults: u64) -> Connection {
        Connection { cloud: self.clone(), process, chance: Mutex::new(chance), faults }
    }
}

/// How a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Luck {
    Good,
    /// Refused, with no effect.
    Refused,
    /// No effect, and nobody can tell.
    LostBefore,
    /// It took effect, and nobody can tell.
    LostAfter,
}

pub(crate) struct Connection {
    cloud: Cloud,
    process: Process,
    chance: Mutex<Chance>,
    /// One call in so many goes wrong; 0: none.
    faults: u64,
}

pub(crate) fn schema() -> TypeSchema {
    TypeSchema::new(
        "sim.Thing",
        "",
        vec![
            Property::new("size", Shape::Any, Access::Optional, ""),
            Property::new("from", Shape::Any, Access::Optional, ""),
            Property::new("place", Shape::String, Access::Optional, "").create_only(),
            Property::new("root", Shape::Any, Access::Optional, "").create_only(),
            Property::new("inside", Shape::String, Access::Optional, "").create_only(),
            Property::new("key", Shape::String, Access::ReadOnly, "").stable(),
            Property::new("serial", Shape::Integer, Access::ReadOnly, "").stable(),
            Property::new("etag", Shape::String, Access::ReadOnly, ""),
        ],
    )
}

fn outputs(key: &str, serial: i64, inputs: &Map) -> Map {
    let etag = inputs.get("size").map(Value::to_json).unwrap_or_default();
    let outputs = [("key", Value::from(key)), ("serial", Value::from(serial)), ("etag", Value::from(etag))];
    outputs.map(|(name, value)| (name.to_owned(), value)).into()
}

impl Contents {
    /// Removes an object and everything inside it, and tells the ids.
    pub(crate) fn remove(&mut self, id: &str) -> Vec<(String, Object)> {
        let mut todo = vec![id.to_owned()];
        let mut removed = Vec::new();
        while let Some(id) = todo.pop() {
            let Some(object) = self.objects.remove(&id) else { continue };
            let is_inside =
                |object: &Object| object.inputs.get("inside").and_then(Value::as_str) == Some(&id);
            todo.extend(
                self.objects.iter().filter(|(_, object)| is_inside(object)).map(|(id, _)| id.clone()),
            );
            removed.push((id, object));
        }
        removed
    }

    /// Whether the object or anything inside it is protected.
    pub(crate) fn is_protected(&self, id: &str) -> bool {
        let is_inside = |object: &Object| object.inputs.get("inside").and_then(Value::as_str) == Some(id);
        self.objects.get(id).is_some_and(|object| object.protected)
            || self.objects.iter().any(|(inner, object)| is_inside(object) && self.is_protected(inner))
    }
}

impl Connection {
    /// Draws how the call goes, after the delay that lets others run in between.
    async fn luck(&self) -> Luck {
        let (luck, delay) = {
            let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
            let luck = if self.faults > 0 && chance.one_in(self.faults) {
                *chance.pick(&[Luck::Refused, Luck::LostBefore, Luck::LostAfter]).unwrap_or(&Luck::Refused)
            } else {
                Luck::Good
            };
            (luck, chance.below(3))
        };
        for _ in 0..delay {
            tokio::task::yield_now().await;
        }
        luck
    }

    /// The effect, if there is one, and what the caller is told of it.
    fn answer<T>(&self, luck: Luck, effect: impl FnOnce(&mut Contents) -> T) -> Outcome<T> {
        let doubt = || Outcome::InDoubt(Doubt { message: "no answer".into() });
        match luck {
            Luck::Refused => Outcome::Refused(Refusal::new("refused")),
            Luck::LostBefore => doubt(),
            // A dead process cannot have sent anything.
            _ if !self.process.is_alive() => doubt(),
            Luck::Good => Outcome::Done(effect(&mut self.cloud.contents())),
            Luck::LostAfter => {
                effect(&mut self.cloud.contents());
                doubt()
            }
        }
    }
}

#[async_trait]
impl Provider for Connection {
    fn name(&self) -> &str {
        "sim"
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

    async fn read(&self, resource: &Resource) -> Result<Option<Live>, Refusal> {
        let id = resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
        let found = self.cloud.contents().objects.get(id).cloned();
        let serial = resource.outputs.get("serial").and_then(Value::as_i64).unwrap_or_default();
        Ok(found.map(|object| Live { outputs: outputs(id, serial, &object.inputs), inputs: object.inputs }))
    }

    async fn find(&self, _: &TypeToken, id: &PhysicalId) -> Result<Option<Live>, Refusal> {
        let found = self.cloud.contents().objects.get(id.as_str()).cloned();
        Ok(found
            .map(|object| Live { outputs: outputs(id.as_str(), 0, &object.inputs), inputs: object.inputs }))
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> Outcome<Created> {
        let luck = self.luck().await;
        let key = receipt.idempotency_key().to_owned();
        self.answer(luck, |contents| {
            if !contents.objects.contains_key(&key) {
                contents.serial += 1;
                let (name, inputs) = (request.name.to_string(), request.inputs.clone());
                let container = inputs.get("inside").and_then(Value::as_str);
                // What is made in something that is gone is gone with it.
                if container.is_none_or(|container| contents.objects.contains_key(container)) {
                    contents.objects.insert(key.clone(), Object { name, inputs, protected: false });
                    let effects = contents.effects.entry(key.clone()).or_default();
                    *effects += 1;
                    if *effects > 1 {
                        contents.violations.push(format!("{key} was made twice"));
                    }
                }
            }
            let outputs = outputs(&key, contents.serial, request.inputs);
            Created { id: PhysicalId(key), outputs }
        })
    }

    async fn update(&self, _: Receipt, request: UpdateRequest<'_>) -> Outcome<Updated> {
        let luck = self.luck().await;
        let id = request.resource.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        let serial = request.resource.outputs.get("serial").and_then(Value::as_i64).unwrap_or_default();
        if luck == Luck::Good && !self.cloud.contents().objects.contains_key(&id) {
            return Outcome::Refused(Refusal::new("it does not exist"));
        }
        self.answer(luck, |contents| {
            if let Some(object) = contents.objects.get_mut(&id) {
                object.inputs = request.resource.inputs.clone();
            }
            Updated { outputs: outputs(&id, serial, &request.resource.inputs) }
        })
    }

    async fn delete(&self, _: Receipt, permit: DeletePermit, request: DeleteRequest<'_>) -> Outcome<()> {
        let luck = self.luck().await;
        let id = request.resource.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        self.answer(luck, |contents| {
            if *permit.copy() != request.resource.copy() {
                contents.violations.push(format!("{id} was deleted with another's permit"));
            }
            for (id, _) in contents.remove(&id).into_iter().filter(|(_, object)| object.protected) {
                contents.violations.push(format!("{id} was protected and is gone"));
            }
        })
    }

    fn recovery(&self, _: Operation, _: &TypeToken, _: &Map) -> Recovery {
        Recovery::Repeat
    }
}
