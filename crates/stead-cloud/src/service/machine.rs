//! The cloud as a state machine: a request and the time in, an answer out. No clock, no file, no socket.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use stead_model::{Map, Value};
use stead_schema::cfn::{Schema, bundle};
use stead_world::{HttpRequest, HttpResponse, Timestamp};

use super::caller::{Caller, caller};
use super::calls::{self, Function};
use super::error::{ErrorKind, ServiceError};
use super::faults::{Fault, Faults};
use super::place::Place;
use super::rate::Limiter;
use super::settings::Settings;
use super::state::State;
use super::wire::{Parameters, answer};
use super::{control, logs, metrics, sts};

/// Answer to a request.
pub(crate) enum Reply {
    Answer(HttpResponse),
    /// The connection is closed without an answer.
    Lost,
}

pub(crate) struct Machine {
    pub(crate) settings: Settings,
    pub(crate) state: State,
    pub(crate) faults: Faults,
    limiter: Limiter,
    schemas: BTreeMap<String, Option<Arc<Schema>>>,
    /// Number of calls by name.
    pub(crate) counts: BTreeMap<String, u64>,
    /// Number of calls by name that were refused because of their rate.
    pub(crate) throttled: BTreeMap<String, u64>,
    /// Principals of assumed roles, by access key.
    pub(crate) sessions: BTreeMap<String, String>,
}

/// One call of a service.
pub(crate) struct Call<'a> {
    pub(crate) place: &'a Place,
    pub(crate) now: Timestamp,
    pub(crate) parameters: Parameters<'a>,
    pub(crate) fault: Option<Fault>,
}

impl Call<'_> {
    /// Returns the parameters as a value of a type.
    pub(crate) fn parsed<T: DeserializeOwned>(&self) -> Result<T, ServiceError> {
        let text = Value::Map(self.parameters.0.clone()).to_json();
        serde_json::from_str(&text)
            .map_err(|error| ServiceError::new(ErrorKind::Serialization, error.to_string()))
    }
}

impl Machine {
    pub(crate) fn new(settings: Settings) -> Machine {
        Machine {
            state: State::new(settings.seed),
            faults: Faults::of(settings.faults),
            limiter: Limiter::default(),
            schemas: BTreeMap::new(),
            counts: BTreeMap::new(),
            throttled: BTreeMap::new(),
            sessions: BTreeMap::new(),
            settings,
        }
    }

    /// Returns the schema of a type, which is read from the bundle at its first use.
    pub(crate) fn schema(&mut self, type_name: &str) -> Option<Arc<Schema>> {
        if let Some(known) = self.schemas.get(type_name) {
            return known.clone();
        }
        let schema = bundle::shipped().schema(type_name).map(Arc::new);
        self.schemas.insert(type_name.to_owned(), schema.clone());
        schema
    }

    /// Adds a type, or replaces a published one.
    pub(crate) fn add_type(&mut self, schema: Schema) {
        self.schemas.insert(schema.type_name.clone(), Some(Arc::new(schema)));
    }

    pub(crate) fn answer(&mut self, now: Timestamp, request: &HttpRequest) -> Reply {
        let path = path_of(&request.url);
        if let Some(path) = path.strip_prefix(control::PREFIX) {
            return Reply::Answer(control::answer(self, now, request.method, path, &request.body));
        }
        let request_id = self.state.ids.uuid();
        let caller = match caller(&request.headers) {
            Ok(caller) => caller,
            Err(error) => return Reply::Answer(answer(Err(error), &request_id)),
        };
        if caller.service == "sts" {
            return Reply::Answer(sts::answer(self, now, &caller, &request.body, &request_id));
        }
        let target = request.headers.get("x-amz-target").unwrap_or_default();
        let (prefix, named): (_, fn(&str) -> Option<Function>) = match caller.service.as_str() {
            "logs" => (logs::TARGET, logs::named),
            "monitoring" => (metrics::TARGET, metrics::named),
            _ => ("CloudApiService.", calls::named),
        };
        let call = target.strip_prefix(prefix).unwrap_or_default();
        match self.call(now, &caller, (call, named(call)), &request.body) {
            Ok(result) => Reply::Answer(answer(result, &request_id)),
            Err(Lost) => Reply::Lost,
        }
    }

    /// Carries out one call. Faults refuse it, or lose its answer before or after its effect.
    fn call(
        &mut self,
        now: Timestamp,
        caller: &Caller,
        (name, function): (&str, Option<Function>),
        body: &[u8],
    ) -> Result<Result<Value, ServiceError>, Lost> {
        let Some(function) = function else {
            return Ok(Err(ServiceError::new(ErrorKind::UnknownOperation, "")));
        };
        let Ok(Value::Map(parameters)) = serde_json::from_slice::<Value>(body) else {
            return Ok(Err(ServiceError::new(
                ErrorKind::Serialization,
                "Start of structure or map found where not expected.",
            )));
        };
        *self.counts.entry(name.to_owned()).or_default() += 1;
        if let Some(rate) = self.settings.rate
            && !self.limiter.admits(&caller.place, rate, now)
        {
            *self.throttled.entry(name.to_owned()).or_default() += 1;
            return Ok(Err(ServiceError::new(ErrorKind::Throttling, "Rate exceeded")));
        }
        let type_name = self.type_of(&caller.place, &parameters).to_owned();
        let fault = self.faults.take(name, &type_name);
        if let Some(refusal) = fault.and_then(Fault::refusal) {
            return Ok(Err(refusal));
        }
        if fault == Some(Fault::LostBefore) {
            return Err(Lost);
        }
        self.settle(now);
        let call = Call { place: &caller.place, now, parameters: Parameters(&parameters), fault };
        let result = function(self, &call);
        if fault == Some(Fault::LostAfter) { Err(Lost) } else { Ok(result) }
    }

    /// Returns the type that a call is about, or an empty text.
    fn type_of<'a>(&'a self, place: &Place, parameters: &'a Map) -> &'a str {
        let text = |name: &str| parameters.get(name).and_then(Value::as_str);
        let of_request = |token: &str| {
            let key = super::state::RequestKey { place: place.clone(), token: token.to_owned() };
            self.state.request(&key).map(|request| request.type_name.as_str())
        };
        text("TypeName").or_else(|| text("RequestToken").and_then(of_request)).unwrap_or_default()
    }
}

/// The connection closes without an answer.
struct Lost;

fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or_default()
}
