//! The simulated cloud: it holds objects, injects faults into calls, and reports every change to the reference model.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use stead_model::{Inputs, Map, Operation, OperationToken, PhysicalId, Resource, TypeToken, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, LiveState, PartialResult,
    Provider, Reads, Receipt, Recovery, Refusal, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, diff};

use crate::Rng;
use crate::faults::behaviour::{CloudBehaviour, CloudFault, WrongAnswer};
use crate::oracle::model::{Model, violation};
use crate::secret::some_form;
use crate::world::journal_witness::JournalWitness;
use crate::world::process::{Process, time_passes};

/// The cloud, shared by all processes.
#[derive(Clone, Default)]
pub struct Cloud {
    model: Arc<Mutex<Model>>,
}

impl Cloud {
    pub(crate) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a provider that connects one process to the cloud.
    pub(crate) fn provider(
        &self,
        process: Process,
        rng: Rng,
        faults: Vec<CloudFault>,
        witness: JournalWitness,
    ) -> CloudProvider {
        let (rng, calls) = (Mutex::new(rng), AtomicU32::new(0));
        CloudProvider { cloud: self.clone(), process, rng, faults, calls, witness }
    }
}

/// Provider that connects one process to the cloud.
pub(crate) struct CloudProvider {
    cloud: Cloud,
    process: Process,
    rng: Mutex<Rng>,
    faults: Vec<CloudFault>,
    calls: AtomicU32,
    witness: JournalWitness,
}

/// Schemas of all types, built once because they are the same in every life.
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
            Property::new("password", Shape::Any, Access::Optional, ""),
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

/// Returns the outputs of an object. The password, in some form, is a part of its etag.
pub(crate) fn outputs(id: &str, serial: i64, inputs: &Map) -> Map {
    let mut etag = inputs.get("size").map(Value::to_json).unwrap_or_default();
    if let Some(password) = password(inputs) {
        etag = format!("{etag} {}", some_form(password));
    }
    let outputs = [("key", Value::from(id)), ("serial", Value::from(serial)), ("etag", Value::from(etag))];
    outputs.map(|(name, value)| (name.to_owned(), value)).into()
}

fn password(inputs: &Map) -> Option<&str> {
    inputs.get("password").and_then(Value::as_str)
}

/// Returns a message of the cloud, which quotes the password of a request.
fn told(message: &str, inputs: &Map) -> String {
    match password(inputs) {
        Some(password) => format!("{message} {password}, {}", some_form(password)),
        None => message.to_owned(),
    }
}

fn serial(outputs: &Map) -> i64 {
    outputs.get("serial").and_then(Value::as_i64).unwrap_or_default()
}

fn id_of(resource: &Resource) -> &str {
    resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default()
}

impl CloudProvider {
    /// Begins a mutating call: tells the model whether the intent is durable, and returns the behaviour of the call.
    async fn begin_call(&self, receipt: &Receipt) -> CloudBehaviour {
        let (durable, about) = self.witness.intent(receipt).await;
        if self.process.is_alive() {
            self.cloud.model().call_started(self.process.id, receipt.idempotency_key(), about, durable);
        }
        self.check_reader_view().await;
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let delay = self.rng.lock().unwrap_or_else(PoisonError::into_inner).below(3);
        for _ in 0..delay {
            tokio::task::yield_now().await;
        }
        let behaviour = self.faults.iter().find(|fault| fault.at == number).map(|fault| fault.behaviour);
        if behaviour.is_some() {
            self.process.note_fault();
        }
        self.accept(receipt, behaviour.unwrap_or(CloudBehaviour::Succeeds))
    }

    /// Accepts the operation of a request that arrived. A repeated request is told the end of the first one.
    fn accept(&self, receipt: &Receipt, behaviour: CloudBehaviour) -> CloudBehaviour {
        let key = receipt.idempotency_key();
        if !self.process.is_alive() {
            return behaviour;
        }
        let mut model = self.cloud.model();
        if receipt.attempt() > 1 {
            model.operation_resumed(key, receipt.token());
            if arrives(behaviour) && model.has_failed(key) {
                return CloudBehaviour::Refused;
            }
        }
        let fails = behaviour == CloudBehaviour::Refused && receipt.attempt() == 1;
        if fails && has_token(receipt) {
            model.operation_failed(key);
        }
        behaviour
    }

    /// Tells the token of an accepted operation, by which a later attempt resumes it. The operation goes on meanwhile.
    async fn tell_token(&self, receipt: &Receipt, behaviour: CloudBehaviour) {
        let key = receipt.idempotency_key();
        if arrives(behaviour)
            && has_token(receipt)
            && let Ok(token) = OperationToken::try_from(format!("token-of-{key}"))
            && receipt.record_token(token.clone()).durable().await.is_ok()
        {
            self.cloud.model().token_recorded(key, token);
        }
    }

    /// Checks the state as a concurrent reader sees it.
    async fn check_reader_view(&self) {
        if !self.process.is_alive() || !self.cloud.model().watched {
            return;
        }
        let read = self.witness.state().await;
        let mut model = self.cloud.model();
        let reported = match read {
            Ok(state) => model.check_state(&state),
            Err(error) => Err(violation("state is sound", error.to_string())),
        };
        model.violations.extend(reported.err());
    }

    /// Applies the effect of a call, if any, and returns its answer: complete, partial, refused or lost.
    async fn answer<T>(
        &self,
        receipt: &Receipt,
        behaviour: CloudBehaviour,
        (inputs, half): (&Map, Map),
        effect: impl FnOnce(&mut Model, CloudBehaviour) -> T,
    ) -> CallOutcome<T> {
        let doubt = || CallOutcome::InDoubt(Doubt { message: told("no answer", inputs) });
        // A dead process cannot have sent a request.
        if !self.process.is_alive() {
            return doubt();
        }
        let done = match behaviour {
            CloudBehaviour::Refused
            | CloudBehaviour::Busy
            | CloudBehaviour::LostBefore
            | CloudBehaviour::HangsBefore => None,
            _ => Some(effect(&mut self.cloud.model(), behaviour)),
        };
        self.tell_token(receipt, behaviour).await;
        self.check_reader_view().await;
        if let CloudBehaviour::HangsBefore | CloudBehaviour::HangsAfter = behaviour {
            time_passes(Duration::from_secs(24 * 3600)).await;
        }
        self.process.until_awake().await;
        match (behaviour, done) {
            (CloudBehaviour::Refused, _) if self.cloud.model().has_failed(receipt.idempotency_key()) => {
                CallOutcome::Refused(Refusal::new(told("failed", inputs)).of_operation())
            }
            (CloudBehaviour::Refused, _) => CallOutcome::Refused(Refusal::new(told("refused", inputs))),
            (CloudBehaviour::Busy, _) => CallOutcome::Refused(Refusal::transient(told("busy", inputs))),
            (CloudBehaviour::Partly, Some(done)) => CallOutcome::Partial(PartialResult {
                done,
                inputs: half,
                refusal: Refusal::new(told("the rest was refused", inputs)),
            }),
            (CloudBehaviour::Succeeds | CloudBehaviour::Lies(_), Some(done)) => CallOutcome::Done(done),
            _ => doubt(),
        }
    }
}

/// Returns true if the request reaches the cloud.
fn arrives(behaviour: CloudBehaviour) -> bool {
    !matches!(behaviour, CloudBehaviour::Busy | CloudBehaviour::LostBefore | CloudBehaviour::HangsBefore)
}

/// Returns true if the cloud tells a token for the operation: for every second one.
fn has_token(receipt: &Receipt) -> bool {
    receipt.op().0.is_multiple_of(2)
}

/// Returns the inputs after half of a change: with the old size, or without one.
fn half_of(inputs: &Map, before: Option<&Map>) -> Map {
    let mut half = inputs.clone();
    match before.and_then(|before| before.get("size")) {
        Some(size) => drop(half.insert("size".to_owned(), size.clone())),
        None => drop(half.remove("size")),
    }
    half
}

fn reported(behaviour: CloudBehaviour, outputs: Map) -> Map {
    if let CloudBehaviour::Lies(lie) = behaviour { lie.tell(outputs) } else { outputs }
}

/// Returns the reported id of a created object.
fn reported_id(
    behaviour: CloudBehaviour,
    key: &str,
    id: String,
    resource: &TypeToken,
    model: &Model,
) -> String {
    match behaviour {
        CloudBehaviour::Lies(WrongAnswer::NoId) => String::new(),
        CloudBehaviour::Lies(WrongAnswer::OtherId) => {
            model.another_recorded(key, resource).unwrap_or_default()
        }
        _ => id,
    }
}

#[async_trait]
impl Provider for CloudProvider {
    fn name(&self) -> &str {
        "sim"
    }

    fn types(&self) -> Vec<TypeSchema> {
        schemas().to_vec()
    }

    async fn check(&self, _: &TypeToken, inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
        Ok(inputs)
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        Diff { changes: diff(&schemas()[0], &old.inputs, inputs), ..Diff::default() }
    }

    fn reads(&self, _: &TypeToken) -> Reads {
        Reads::RealResource
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        self.process.until_awake().await;
        let model = self.cloud.model();
        let found = model.objects.get(id_of(resource));
        Ok(found.map(|object| LiveState { outputs: object.outputs.clone(), inputs: object.inputs.clone() }))
    }

    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        self.process.until_awake().await;
        let model = self.cloud.model();
        // Objects created outside are all of this type.
        if resource.as_str() != "sim.Thing" {
            return Ok(None);
        }
        let found = model.objects.get(id.as_str());
        Ok(found.map(|object| LiveState { outputs: object.outputs.clone(), inputs: object.inputs.clone() }))
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        let behaviour = self.begin_call(&receipt).await;
        if request.inputs.get("inside").is_some_and(|container| container.as_str().is_none()) {
            return CallOutcome::Refused(Refusal::new("there is no such container"));
        }
        let key = receipt.idempotency_key();
        let half = half_of(request.inputs, None);
        let inputs = if behaviour == CloudBehaviour::Partly { half.clone() } else { request.inputs.clone() };
        let effect = |model: &mut Model, behaviour| {
            model.create(key, key.to_owned(), &inputs, |serial| outputs(key, serial, &inputs));
            let id = model.made(key).cloned().unwrap_or_default();
            let answer = match model.objects.get(&id) {
                Some(object) => object.outputs.clone(),
                None => outputs(&id, 0, &inputs),
            };
            Created {
                id: PhysicalId(reported_id(behaviour, key, id, request.resource, model)),
                outputs: reported(behaviour, answer),
            }
        };
        self.answer(&receipt, behaviour, (request.inputs, half), effect).await
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let behaviour = self.begin_call(&receipt).await;
        let id = id_of(request.resource);
        let there = self.cloud.model().objects.contains_key(id);
        if !there && behaviour == CloudBehaviour::Succeeds {
            return CallOutcome::Refused(Refusal::new("it does not exist"));
        }
        let half = half_of(&request.resource.inputs, Some(request.old_inputs));
        let inputs =
            if behaviour == CloudBehaviour::Partly { half.clone() } else { request.resource.inputs.clone() };
        let effect = |model: &mut Model, behaviour| {
            let mut now = outputs(id, serial(&request.resource.outputs), &inputs);
            if let Some(object) = model.objects.get_mut(id) {
                now = outputs(id, serial(&object.outputs), &inputs);
                object.inputs.clone_from(&inputs);
                object.outputs.clone_from(&now);
            }
            Updated { outputs: reported(behaviour, now) }
        };
        self.answer(&receipt, behaviour, (&request.resource.inputs, half), effect).await
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()> {
        let behaviour = self.begin_call(&receipt).await;
        let id = id_of(request.resource);
        // A deletion cannot take effect in part.
        let behaviour = if behaviour == CloudBehaviour::Partly { CloudBehaviour::Refused } else { behaviour };
        let effect = |model: &mut Model, _| {
            if *permit.copy() != request.resource.copy() {
                model.violations.push(violation("a permit allows the deletion of one copy", id));
            }
            model.delete(self.process.id, id);
        };
        self.answer(&receipt, behaviour, (&request.resource.inputs, Map::new()), effect).await
    }

    fn timeout(&self, _: Operation, _: &TypeToken) -> Duration {
        Duration::from_secs(20)
    }

    fn recovery(&self, _: Operation, _: &TypeToken, inputs: &Map) -> Recovery {
        if inputs.contains_key("asks") { Recovery::Ask } else { Recovery::Repeat }
    }
}
