//! A provider that gives secrets away: it echoes, embeds, trims, splits, digests and re-encodes what it gets, and puts it and parts of it
//! into error messages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use stead_model::{
    Digest, Input, Inputs, Map, Operation, PhysicalId, PropertyPath, Resource, TypeToken, Value,
};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Doubt, LiveState, PartialResult,
    Provider, Reads, Receipt, Recovery, Refusal, UpdateRequest, Updated,
};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema, diff};
use stead_secrets::leaves;

use crate::Rng;
use crate::secret::some_form;

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
    /// Passwords of the requests so far, which an answer about another object repeats.
    pub(super) seen: Mutex<Vec<String>>,
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

pub(super) fn schema() -> TypeSchema {
    let property = |name: &str| Property::new(name, Shape::Any, Access::Optional, "");
    let mut properties: Vec<Property> = ["password", "label", "once"].map(property).into();
    properties.push(property("pin").write_only());
    properties.push(Property::new("made", Shape::String, Access::ReadOnly, "").sensitive());
    properties.push(Property::new("neighbour", Shape::String, Access::ReadOnly, ""));
    properties.push(Property::new("echo", Shape::Any, Access::ReadOnly, ""));
    TypeSchema::new(TYPE, "", properties)
}

impl LeakyProvider {
    /// Returns true for some calls of a failing provider.
    fn fails(&self, one_in: u64) -> bool {
        self.answers == Answers::Failing && held(&self.rng).one_in(one_in)
    }

    fn call(&self, id: &str, inputs: &Map) -> CallOutcome<Map> {
        let mut objects = held(&self.objects);
        let shown = inputs.iter().find(|(_, value)| value.to_json().contains("[secret]"));
        if let Some((property, _)) = shown {
            objects.violation = Some(format!("the provider got `[secret]` in place of `{property}`"));
        }
        let all = told(inputs);
        if self.fails(6) {
            return CallOutcome::Refused(refusal(inputs));
        }
        if self.fails(8) {
            return CallOutcome::Refused(Refusal::transient(format!("too many requests: {all}")));
        }
        if self.fails(6) {
            return CallOutcome::InDoubt(Doubt {
                message: format!("no answer to {}", told_in_parts(inputs)),
            });
        }
        objects.by_id.insert(id.to_owned(), inputs.clone());
        let mut outputs = self.outputs(inputs);
        outputs.insert("neighbour", Value::from(self.neighbour(&text_of(inputs, "password"))));
        if self.fails(6) {
            return CallOutcome::InDoubt(Doubt { message: format!("lost the answer to {all}") });
        }
        if self.fails(8) {
            // All of it took effect, and the provider says that only a part did.
            let inputs = inputs.clone();
            let refusal = refusal(&inputs);
            return CallOutcome::Partial(PartialResult { done: outputs, inputs, refusal });
        }
        CallOutcome::Done(outputs)
    }

    /// Returns a text with the password of an earlier request of this process, and takes note of the one of this request.
    fn neighbour(&self, password: &str) -> String {
        let mut seen = held(&self.seen);
        let other = seen.last().map(|other| format!("seen: {}", some_form(other))).unwrap_or_default();
        seen.push(password.to_owned());
        other
    }

    /// Returns outputs that contain the secrets in some form. The same inputs always give the same ones.
    fn outputs(&self, inputs: &Map) -> Map {
        let password = inputs.get("password").map(text).unwrap_or_default();
        let once = inputs.get("once").map(text).unwrap_or_default();
        let form = some_form(&password);
        // Secrets begin with each other: a longer first part could be the whole of another secret, which this request does not have.
        // A line of a secret is a part of it, which is looked for in messages only.
        let middle = if password.contains(['\n', '\r']) { 0 } else { password.floor_char_boundary(7) };
        let (first, second) = password.split_at(middle);
        let inside = vec![
            Value::from(format!("key={form};")),
            Value::from(format!("{}\n{}", some_form(&once), some_form(&text_of(inputs, "pin")))),
            Value::from("open"),
        ];
        let as_key: Map = [(format!("of {form}"), Value::from("open"))].into();
        let echo: Map = [
            ("copy".to_owned(), Value::from(password.as_str())),
            ("inside".to_owned(), Value::from(inside)),
            ("parts".to_owned(), Value::from(vec![Value::from(first), Value::from(second)])),
            ("joined".to_owned(), Value::from(format!("{first}{second}"))),
            ("trimmed".to_owned(), Value::from(password.trim())),
            ("lines".to_owned(), Value::from(password.lines().collect::<Vec<_>>().join("\n"))),
            ("word".to_owned(), Value::from(password.split_whitespace().collect::<Vec<_>>().join(" "))),
            ("digest".to_owned(), Value::from(Digest::of(password.as_bytes()).as_str())),
            ("as_key".to_owned(), Value::Map(as_key)),
            ("whole".to_owned(), Value::from(told(inputs))),
        ]
        .into();
        [
            ("echo".to_owned(), Value::Map(echo)),
            ("made".to_owned(), Value::from(format!("token-for-{password}"))),
        ]
        .into()
    }
}

/// Returns the request with every secret twice: in JSON and in some other form.
fn told(inputs: &Map) -> String {
    let all = Value::Map(inputs.clone());
    let forms: Vec<String> =
        leaves(&all).iter().map(|leaf| some_form(&String::from_utf8_lossy(leaf))).collect();
    format!("{} ({})", all.to_json(), forms[..forms.len().saturating_sub(1)].join(" "))
}

/// Bytes from which on a line of a secret is looked for in messages.
const SEARCHED_LINE: usize = 16;

/// Returns the request as [`told`] does, with lines of its secrets: one by one, and behind many others, so that the message is cut.
fn told_in_parts(inputs: &Map) -> String {
    let all = Value::Map(inputs.clone());
    let mut parts = told(inputs);
    for leaf in leaves(&all) {
        let text = String::from_utf8_lossy(&leaf).into_owned();
        // Secrets begin with each other: a short line could be the whole of another secret, which this run does not know.
        let shown = |line: &'_ str| line.len() >= SEARCHED_LINE;
        let lines: Vec<&str> =
            text.lines().map(|line| Some(line.trim()).filter(|line| shown(line)).unwrap_or(".")).collect();
        parts += &format!("\n{}\n{}{}", lines.join(" | "), text.trim_end(), "\n.".repeat(lines.len() % 20));
    }
    parts
}

fn refusal(inputs: &Map) -> Refusal {
    let all = told_in_parts(inputs);
    Refusal {
        path: Some(PropertyPath::of("password")),
        ..Refusal::new(format!("cannot make {all}")).help(all)
    }
}

fn text_of(inputs: &Map, key: &str) -> String {
    inputs.get(key).map(text).unwrap_or_default()
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
        if !self.fails(40) {
            return Ok(inputs);
        }
        let known = inputs.into_iter().filter_map(|(key, input)| match input {
            Input::Known(value) => Some((key, value)),
            _ => None,
        });
        let all = told(&known.collect());
        let (path, message) = (PropertyPath::of("label"), format!("no label may be {all}"));
        Err(vec![Problem { path, message, help: Some(format!("write {all}")) }])
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
        // Nothing keeps these values, so nothing could recognise them in the answer.
        inputs.remove("pin");
        inputs.remove("once");
        if self.fails(12) {
            return Err(refusal(&inputs));
        }
        let outputs = self.outputs(&inputs);
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
