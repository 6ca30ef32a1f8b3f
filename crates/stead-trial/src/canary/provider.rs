//! A provider that gives secrets away: it echoes, embeds and re-encodes what it gets, and puts it into error messages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use stead_model::{Inputs, Map, Operation, PhysicalId, Resource, TypeToken, Value};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, LiveState, Provider,
    Reads, Receipt, Recovery, Refusal, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, diff};
use stead_secrets::forms;

use crate::Rng;

/// The type of every object.
pub(super) const TYPE: &str = "leaky.Thing";

/// The real objects, by id, and the first broken promise.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) by_id: BTreeMap<String, Map>,
    pub(super) violation: Option<String>,
}

pub(super) struct LeakyProvider {
    pub(super) objects: Arc<Mutex<Objects>>,
    pub(super) rng: Mutex<Rng>,
    pub(super) answers: Answers,
}

/// How a provider answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    Good,
    /// Some calls fail, with their request in the message.
    Failing,
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn schema() -> TypeSchema {
    let property = |name: &str| Property::new(name, Shape::Any, Access::Optional, "");
    let mut properties: Vec<Property> = ["password", "label", "from"].map(property).into();
    properties.push(property("pin").write_only());
    properties.push(Property::new("made", Shape::String, Access::ReadOnly, "").sensitive());
    properties.push(Property::new("echo", Shape::Any, Access::ReadOnly, ""));
    TypeSchema::new(TYPE, "", properties)
}

impl LeakyProvider {
    fn call(&self, id: &str, inputs: &Map) -> CallOutcome<Map> {
        let mut objects = held(&self.objects);
        let shown = inputs.iter().find(|(_, value)| value.to_json().contains("[secret]"));
        if let Some((property, _)) = shown {
            objects.violation = Some(format!("the provider got `[secret]` in place of `{property}`"));
        }
        let all = Value::Map(inputs.clone()).to_json();
        match (self.answers, held(&self.rng).below(6)) {
            (Answers::Failing, 0) => {
                return CallOutcome::Refused(Refusal::new(format!("cannot make {all}")).help(all.clone()));
            }
            (Answers::Failing, 1) => {
                return CallOutcome::InDoubt(Doubt { message: format!("no answer to {all}") });
            }
            _ => {}
        }
        objects.by_id.insert(id.to_owned(), inputs.clone());
        let outputs = self.outputs(inputs);
        if self.answers == Answers::Failing && held(&self.rng).one_in(6) {
            return CallOutcome::InDoubt(Doubt { message: format!("lost the answer to {all}") });
        }
        CallOutcome::Done(outputs)
    }

    /// Returns outputs that contain the password in some form. The same password always gives the same ones.
    fn outputs(&self, inputs: &Map) -> Map {
        let password = inputs.get("password").map(text).unwrap_or_default();
        let forms = forms(password.as_bytes());
        let form = forms.get(password.len() % forms.len().max(1)).cloned().unwrap_or_default();
        let form = String::from_utf8_lossy(&form).into_owned();
        let inside = Value::from(vec![Value::from(format!("key={form};")), Value::from("open")]);
        let echo: Map =
            [("copy".to_owned(), Value::from(password.as_str())), ("inside".to_owned(), inside)].into();
        [
            ("echo".to_owned(), Value::Map(echo)),
            ("made".to_owned(), Value::from(format!("token-for-{password}"))),
        ]
        .into()
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}

#[async_trait]
impl Provider for LeakyProvider {
    fn name(&self) -> &str {
        "leaky"
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
        let mut inputs = match held(&self.objects).by_id.get(id) {
            Some(inputs) => inputs.clone(),
            None => return Ok(None),
        };
        let outputs = self.outputs(&inputs);
        inputs.remove("pin");
        Ok(Some(LiveState { inputs, outputs }))
    }

    async fn find(&self, _: &TypeToken, _: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        Ok(None)
    }

    async fn create(&self, _: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        // The name identifies the object, so that a repeated create is the same one.
        let id = request.name.to_string();
        self.call(&id, request.inputs).map(|outputs| Created { id: PhysicalId(id.clone()), outputs })
    }

    async fn update(&self, _: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let id = request.resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
        self.call(id, &request.resource.inputs).map(|outputs| Updated { outputs })
    }

    async fn delete(&self, _: Receipt, _: DeletePermit, request: DeleteRequest<'_>) -> CallOutcome<()> {
        let id = request.resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
        held(&self.objects).by_id.remove(id);
        CallOutcome::Done(())
    }

    fn recovery(&self, _: Operation, _: &TypeToken, _: &Map) -> Recovery {
        Recovery::Repeat
    }
}
