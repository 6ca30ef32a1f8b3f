//! A cloud that keeps what is made in it, goes wrong as it is told, and has a witness for every change.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use stead_model::{Input, Map, Operation, PhysicalId, Resource, TypeToken, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, LiveState, PartialResult,
    Provider, Receipt, Recovery, Refusal, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, diff};

use crate::Chance;
use crate::ledger::Ledger;
use crate::luck::{CloudFault, Lie, Luck};
use crate::model::{Model, loss};
use crate::process::{Process, time_passes};

/// Shared by all processes.
#[derive(Clone, Default)]
pub struct Cloud {
    model: Arc<Mutex<Model>>,
}

impl Cloud {
    pub(crate) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cloud as one process reaches it.
    pub(crate) fn provider(
        &self,
        process: Process,
        chance: Chance,
        faults: Vec<CloudFault>,
        ledger: Ledger,
    ) -> Connection {
        let (chance, calls) = (Mutex::new(chance), AtomicU32::new(0));
        Connection { cloud: self.clone(), process, chance, faults, calls, ledger }
    }
}

pub(crate) struct Connection {
    cloud: Cloud,
    process: Process,
    chance: Mutex<Chance>,
    faults: Vec<CloudFault>,
    calls: AtomicU32,
    ledger: Ledger,
}

/// The types, made once: they are the same in every life.
pub(crate) fn schemas() -> &'static [TypeSchema; 2] {
    static SCHEMAS: OnceLock<[TypeSchema; 2]> = OnceLock::new();
    SCHEMAS.get_or_init(|| ["sim.Thing", "sim.Provider"].map(schema))
}

fn schema(token: &str) -> TypeSchema {
    TypeSchema::new(
        token,
        "",
        vec![
            Property::new("size", Shape::Any, Access::Optional, ""),
            Property::new("from", Shape::Any, Access::Optional, ""),
            Property::new("asks", Shape::Any, Access::Optional, ""),
            Property::new("place", Shape::String, Access::Optional, "").create_only(),
            Property::new("root", Shape::Any, Access::Optional, "").create_only(),
            Property::new("inside", Shape::String, Access::Optional, "").create_only(),
            Property::new("key", Shape::String, Access::ReadOnly, "").stable(),
            Property::new("serial", Shape::Integer, Access::ReadOnly, "").stable(),
            Property::new("etag", Shape::String, Access::ReadOnly, ""),
        ],
    )
}

pub(crate) fn outputs(id: &str, serial: i64, inputs: &Map) -> Map {
    let etag = inputs.get("size").map(Value::to_json).unwrap_or_default();
    let outputs = [("key", Value::from(id)), ("serial", Value::from(serial)), ("etag", Value::from(etag))];
    outputs.map(|(name, value)| (name.to_owned(), value)).into()
}

fn serial(outputs: &Map) -> i64 {
    outputs.get("serial").and_then(Value::as_i64).unwrap_or_default()
}

fn id_of(resource: &Resource) -> &str {
    resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default()
}

impl Connection {
    /// A change is asked for: the witness looks at once, then the call goes its way.
    async fn asked(&self, receipt: &Receipt) -> Luck {
        let (durable, about) = self.ledger.intent(receipt).await;
        if self.process.is_alive() {
            self.cloud.model().asked(self.process.id, receipt.idempotency_key(), about, durable);
        }
        self.onlook().await;
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let delay = self.chance.lock().unwrap_or_else(PoisonError::into_inner).below(3);
        for _ in 0..delay {
            tokio::task::yield_now().await;
        }
        let luck = self.faults.iter().find(|fault| fault.at == number).map(|fault| fault.luck);
        if luck.is_some() {
            self.process.is_struck();
        }
        luck.unwrap_or(Luck::Lucky)
    }

    /// Whoever reads state in the middle of it is told the truth, too.
    async fn onlook(&self) {
        if !self.process.is_alive() || !self.cloud.model().watched {
            return;
        }
        let read = self.ledger.state().await;
        let mut model = self.cloud.model();
        let told = match read {
            Ok(state) => model.truth(&state),
            Err(error) => Err(loss("state is sound", error.to_string())),
        };
        model.violations.extend(told.err());
    }

    /// The effect, if there is one, and what the caller is told of it: the answer, or half of it.
    async fn answer<T>(
        &self,
        luck: Luck,
        half: Map,
        effect: impl FnOnce(&mut Model, Luck) -> T,
    ) -> CallOutcome<T> {
        let doubt = || CallOutcome::InDoubt(Doubt { message: "no answer".into() });
        // A dead process cannot have sent anything.
        if !self.process.is_alive() {
            return doubt();
        }
        let done = match luck {
            Luck::Refused | Luck::Busy | Luck::LostBefore | Luck::HangsBefore => None,
            _ => Some(effect(&mut self.cloud.model(), luck)),
        };
        self.onlook().await;
        if let Luck::HangsBefore | Luck::HangsAfter = luck {
            time_passes(Duration::from_secs(24 * 3600)).await;
        }
        self.process.awake().await;
        match (luck, done) {
            (Luck::Refused, _) => CallOutcome::Refused(Refusal::new("refused")),
            (Luck::Busy, _) => CallOutcome::Refused(Refusal::transient("busy")),
            (Luck::Partly, Some(done)) => CallOutcome::Partial(PartialResult {
                done,
                inputs: half,
                refusal: Refusal::new("the rest was refused"),
            }),
            (Luck::Lucky | Luck::Lies(_), Some(done)) => CallOutcome::Done(done),
            _ => doubt(),
        }
    }
}

/// What half of a change leaves: the old size, or none.
fn half_of(inputs: &Map, before: Option<&Map>) -> Map {
    let mut half = inputs.clone();
    match before.and_then(|before| before.get("size")) {
        Some(size) => drop(half.insert("size".to_owned(), size.clone())),
        None => drop(half.remove("size")),
    }
    half
}

fn told(luck: Luck, outputs: Map) -> Map {
    if let Luck::Lies(lie) = luck { lie.tell(outputs) } else { outputs }
}

/// The id that is named for what was made.
fn told_id(luck: Luck, key: &str, id: String, resource: &TypeToken, model: &Model) -> String {
    match luck {
        Luck::Lies(Lie::NoId) => String::new(),
        Luck::Lies(Lie::OtherId) => model.another_recorded(key, resource).unwrap_or_default(),
        _ => id,
    }
}

#[async_trait]
impl Provider for Connection {
    fn name(&self) -> &str {
        "sim"
    }

    fn types(&self) -> Vec<TypeSchema> {
        schemas().to_vec()
    }

    async fn check(
        &self,
        _: &TypeToken,
        inputs: BTreeMap<String, Input>,
    ) -> Result<BTreeMap<String, Input>, Vec<Problem>> {
        Ok(inputs)
    }

    async fn diff(&self, old: &Resource, inputs: &BTreeMap<String, Input>) -> Diff {
        Diff { changes: diff(&schemas()[0], &old.inputs, inputs), order: Default::default() }
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        self.process.awake().await;
        let model = self.cloud.model();
        let found = model.things.get(id_of(resource));
        Ok(found.map(|thing| LiveState { outputs: thing.outputs.clone(), inputs: thing.inputs.clone() }))
    }

    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        self.process.awake().await;
        let model = self.cloud.model();
        // What people make outside are things.
        if resource.as_str() != "sim.Thing" {
            return Ok(None);
        }
        let found = model.things.get(id.as_str());
        Ok(found.map(|thing| LiveState { outputs: thing.outputs.clone(), inputs: thing.inputs.clone() }))
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        let luck = self.asked(&receipt).await;
        if request.inputs.get("inside").is_some_and(|container| container.as_str().is_none()) {
            return CallOutcome::Refused(Refusal::new("there is no such container"));
        }
        let key = receipt.idempotency_key();
        let half = half_of(request.inputs, None);
        let inputs = if luck == Luck::Partly { half.clone() } else { request.inputs.clone() };
        let effect = |model: &mut Model, luck| {
            model.create(key, key.to_owned(), &inputs, |serial| outputs(key, serial, &inputs));
            let id = model.made(key).cloned().unwrap_or_default();
            let answer = match model.things.get(&id) {
                Some(thing) => thing.outputs.clone(),
                None => outputs(&id, 0, &inputs),
            };
            Created {
                id: PhysicalId(told_id(luck, key, id, request.resource, model)),
                outputs: told(luck, answer),
            }
        };
        self.answer(luck, half, effect).await
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let luck = self.asked(&receipt).await;
        let id = id_of(request.resource);
        let there = self.cloud.model().things.contains_key(id);
        if !there && luck == Luck::Lucky {
            return CallOutcome::Refused(Refusal::new("it does not exist"));
        }
        let half = half_of(&request.resource.inputs, Some(request.old_inputs));
        let inputs = if luck == Luck::Partly { half.clone() } else { request.resource.inputs.clone() };
        let effect = |model: &mut Model, luck| {
            let mut now = outputs(id, serial(&request.resource.outputs), &inputs);
            if let Some(thing) = model.things.get_mut(id) {
                now = outputs(id, serial(&thing.outputs), &inputs);
                thing.inputs.clone_from(&inputs);
                thing.outputs.clone_from(&now);
            }
            Updated { outputs: told(luck, now) }
        };
        self.answer(luck, half, effect).await
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()> {
        let luck = self.asked(&receipt).await;
        let id = id_of(request.resource);
        // Half a deletion is none.
        let luck = if luck == Luck::Partly { Luck::Refused } else { luck };
        let effect = |model: &mut Model, _| {
            if *permit.copy() != request.resource.copy() {
                model.violations.push(loss("a permit is for one copy", id));
            }
            model.delete(self.process.id, id);
        };
        self.answer(luck, Map::new(), effect).await
    }

    fn timeout(&self, _: Operation, _: &TypeToken) -> Duration {
        Duration::from_secs(20)
    }

    fn recovery(&self, _: Operation, _: &TypeToken, inputs: &Map) -> Recovery {
        if inputs.contains_key("asks") { Recovery::Ask } else { Recovery::Repeat }
    }
}
