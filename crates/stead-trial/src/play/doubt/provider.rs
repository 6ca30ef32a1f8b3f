//! The provider of a play of doubts: its calls fail, lose answers and lose outputs, and it may not be able to look.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use stead_model::{Inputs, Map, Operation, PhysicalId, Resource, TypeToken, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, LiveState, Provider,
    Reads, Receipt, Recovery, Refusal, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, diff};

use crate::Rng;

/// The output of every object.
pub(super) const OUT: &str = "out";

/// What a provider can tell about its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ability {
    Looks,
    /// Says that it looks, and returns the record.
    Echoes,
    CannotLook,
}

impl Ability {
    pub(super) const ALL: [Ability; 4] =
        [Ability::Looks, Ability::Echoes, Ability::CannotLook, Ability::CannotLook];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    Good,
    /// Some calls are refused, lose their request or answer, or lose their outputs.
    Bad,
    /// Every call is refused.
    Refused,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) inputs: Map,
}

impl Object {
    /// Returns the output of the object, which follows from its inputs.
    pub(super) fn out(&self) -> String {
        format!("out-{}", self.inputs.get("size").map(Value::to_json).unwrap_or_default())
    }
}

/// The real objects, and the first broken promise.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) by_id: BTreeMap<String, Object>,
    pub(super) violation: Option<String>,
}

pub(super) struct DoubtProvider {
    pub(super) objects: Arc<Mutex<Objects>>,
    pub(super) ability: Ability,
    pub(super) answers: Answers,
    pub(super) rng: Mutex<Rng>,
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn schema() -> TypeSchema {
    let property = |name: &str| Property::new(name, Shape::Any, Access::Optional, "");
    let mut properties: Vec<Property> = ["title", "size", "from"].map(property).into();
    properties.push(Property::new(OUT, Shape::String, Access::ReadOnly, ""));
    TypeSchema::new("play.Doubt", "", properties)
}

impl DoubtProvider {
    /// Carries a call out, or not, and returns its outputs, or not.
    fn call(&self, id: &str, inputs: &Map) -> CallOutcome<Map> {
        let drawn = match self.answers {
            Answers::Good => 10,
            Answers::Bad => held(&self.rng).below(11),
            Answers::Refused => 0,
        };
        let doubt = || CallOutcome::InDoubt(Doubt { message: "no answer".into() });
        match drawn {
            0 | 1 => return CallOutcome::Refused(Refusal::new("refused")),
            2 | 3 => return doubt(),
            _ => {}
        }
        let mut objects = held(&self.objects);
        if inputs.get("from") == Some(&Value::Null) {
            objects.violation = Some("a missing value was passed on as null".to_owned());
        }
        let object = Object { inputs: inputs.clone() };
        let outputs = [(OUT.to_owned(), Value::from(object.out()))].into();
        objects.by_id.insert(id.to_owned(), object);
        match drawn {
            4 | 5 => doubt(),
            6 => CallOutcome::Done(Map::new()),
            _ => CallOutcome::Done(outputs),
        }
    }
}

fn id_of(resource: &Resource) -> &str {
    resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default()
}

#[async_trait]
impl Provider for DoubtProvider {
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
        if self.ability == Ability::CannotLook { Reads::Nothing } else { Reads::RealResource }
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        if self.ability == Ability::Echoes {
            let (inputs, outputs) = (resource.inputs.clone(), resource.outputs.clone());
            return Ok(Some(LiveState { inputs, outputs }));
        }
        self.find(&resource.ty, &PhysicalId(id_of(resource).to_owned())).await
    }

    async fn find(&self, _: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        let found = held(&self.objects).by_id.get(id.as_str()).cloned();
        let out = |object: &Object| [(OUT.to_owned(), Value::from(object.out()))].into();
        Ok(found.map(|object| LiveState { outputs: out(&object), inputs: object.inputs }))
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        let key = receipt.idempotency_key();
        self.call(key, request.inputs).map(|outputs| Created { id: PhysicalId(key.to_owned()), outputs })
    }

    async fn update(&self, _: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        self.call(id_of(request.resource), &request.resource.inputs).map(|outputs| Updated { outputs })
    }

    async fn delete(&self, _: Receipt, _: DeletePermit, request: DeleteRequest<'_>) -> CallOutcome<()> {
        let drawn = match self.answers {
            Answers::Good => 10,
            Answers::Bad => held(&self.rng).below(11),
            Answers::Refused => 0,
        };
        let doubt = || CallOutcome::InDoubt(Doubt { message: "no answer".into() });
        match drawn {
            0 | 1 => return CallOutcome::Refused(Refusal::new("refused")),
            2 | 3 => return doubt(),
            _ => {}
        }
        held(&self.objects).by_id.remove(id_of(request.resource));
        if drawn < 6 { doubt() } else { CallOutcome::Done(()) }
    }

    fn recovery(&self, _: Operation, _: &TypeToken, _: &Map) -> Recovery {
        if held(&self.rng).one_in(2) { Recovery::Repeat } else { Recovery::Ask }
    }
}
