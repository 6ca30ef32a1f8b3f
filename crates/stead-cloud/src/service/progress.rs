//! Operations in progress: acceptance, repetition by client token, and their end.

use stead_model::{Digest, Map, Value};
use stead_schema::cfn::{Class, Schema};
use stead_world::Timestamp;

use super::error::{ErrorKind, ServiceError};
use super::faults::Fault;
use super::handlers;
use super::machine::{Call, Machine};
use super::settings::Delay;
use super::state::{Fate, Operation, Request, RequestKey, ResourceKey, Status};
use super::wire::{CLIENT_TOKEN, object, text, time};
use crate::sample::without;

/// Requests between two searches for old ones.
const PRUNE_EVERY: usize = 256;

/// Wait of a slow operation.
const SLOW: Delay = Delay { duration: std::time::Duration::from_secs(600), looks: Some(5) };

/// An operation whose parameters are valid.
pub(crate) struct Accepted {
    pub(crate) operation: Operation,
    pub(crate) key: ResourceKey,
    pub(crate) identifier_known: bool,
    /// Full model that the resource gets.
    pub(crate) model: Map,
}

impl Machine {
    /// Returns the event of an earlier call with the same client token and the same parameters.
    pub(crate) fn replayed(
        &self,
        call: &Call<'_>,
        operation: Operation,
    ) -> Result<Option<Value>, ServiceError> {
        let Some(token) = call.parameters.optional(&CLIENT_TOKEN)? else { return Ok(None) };
        let Some((key, request)) = self.state.by_client(call.place, token, call.now) else { return Ok(None) };
        if request.operation != operation || request.parameters != fingerprint(call) {
            let message = format!("Client token {token} was already used with different parameters.");
            return Err(ServiceError::new(ErrorKind::ClientTokenConflict, message));
        }
        Ok(Some(object([("ProgressEvent", Some(event(key, request)))])))
    }

    /// Refuses a call on a resource that another operation works on.
    pub(crate) fn idle(&self, key: &ResourceKey) -> Result<(), ServiceError> {
        let busy = self.state.active().any(|(request_key, request)| {
            request.type_name == key.type_name
                && request.identifier == key.identifier
                && request_key.place.of_type(&key.type_name) == key.place
        });
        if !busy {
            return Ok(());
        }
        let ResourceKey { type_name, identifier, .. } = key;
        let message = format!(
            "Another operation on resource of type '{type_name}' with identifier '{identifier}' is in progress."
        );
        Err(ServiceError::new(ErrorKind::ConcurrentOperation, message))
    }

    /// Starts an operation and returns its first event.
    pub(crate) fn accept(&mut self, call: &Call<'_>, accepted: Accepted) -> Result<Value, ServiceError> {
        let now = call.now;
        let token = self.state.ids.uuid();
        let wait = if call.fault == Some(Fault::Slow) { SLOW } else { self.settings.operations };
        let request = Request {
            operation: accepted.operation,
            type_name: accepted.key.type_name,
            identifier: accepted.key.identifier,
            identifier_known: accepted.identifier_known,
            client_token: call.parameters.optional(&CLIENT_TOKEN)?.map(str::to_owned),
            parameters: fingerprint(call),
            status: Status::InProgress,
            accepted: now.0,
            event_time: now.0,
            due: wait.end(now).0,
            looks_left: wait.looks,
            model: accepted.model,
            fate: match call.fault {
                Some(Fault::Fails(code)) => Fate::Fails(code),
                Some(Fault::HalfMade) => Fate::HalfMade,
                Some(Fault::Stale) => Fate::Stale,
                _ => Fate::None,
            },
            failure: None,
            shown: None,
        };
        let key = RequestKey { place: call.place.clone(), token };
        let answer = object([("ProgressEvent", Some(event(&key, &request)))]);
        if self.state.request_count().is_multiple_of(PRUNE_EVERY) {
            self.state.prune(now);
        }
        self.state.set_request(key, request);
        Ok(answer)
    }

    /// Ends all operations whose time has come, the earliest first.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        let is_due = |request: &Request| request.due <= now.0 || request.looks_left == Some(0);
        let mut due: Vec<(u64, u64, RequestKey)> = self
            .state
            .active()
            .filter(|(_, request)| is_due(request))
            .map(|(key, request)| (request.due, request.accepted, key.clone()))
            .collect();
        due.sort();
        for (_, _, key) in due {
            let Some(mut request) = self.state.request(&key).cloned() else { continue };
            request.event_time = now.0;
            if request.status == Status::CancelInProgress {
                request.status = Status::CancelComplete;
            } else {
                handlers::run(self, &key, &mut request, now);
            }
            // Only the event is of use from now on.
            request.model = Map::new();
            self.state.set_request(key, request);
        }
    }
}

/// Returns a digest of the parameters of a call, which may contain secrets.
fn fingerprint(call: &Call<'_>) -> String {
    Digest::of(Value::Map(call.parameters.0.clone()).to_json().as_bytes()).to_string()
}

/// Returns the properties that an event shows: the inputs that are not write-only, and the primary identifier.
pub(crate) fn shown(schema: &Schema, model: &Map) -> Map {
    let mut shown = without(&crate::read(schema, model), &schema.classes.of(Class::ReadOnly).cursor());
    for path in &schema.primary_identifier {
        if let ([stead_model::Segment::Key(key)], Some(value)) =
            (path.0.as_slice(), super::identity::at(model, path))
        {
            shown.insert(key.clone(), value.clone());
        }
    }
    shown
}

/// Returns the progress event of a request.
pub(crate) fn event(key: &RequestKey, request: &Request) -> Value {
    let over = request.status.is_over();
    let identifier = (over || request.identifier_known).then(|| request.identifier.clone());
    let failed_create = request.operation == Operation::Create && request.failure.is_some();
    let identifier =
        identifier.filter(|_| !failed_create || request.identifier_known || request.fate == Fate::HalfMade);
    object([
        ("TypeName", text(&*request.type_name)),
        ("Identifier", identifier.and_then(text)),
        ("RequestToken", text(&*key.token)),
        ("Operation", text(request.operation.name())),
        ("OperationStatus", text(request.status.name())),
        ("EventTime", time(request.event_time)),
        ("ResourceModel", request.shown.clone().and_then(|shown| text(Value::Map(shown).to_json()))),
        ("StatusMessage", request.failure.as_ref().and_then(|(_, message)| text(&**message))),
        ("ErrorCode", request.failure.as_ref().and_then(|(code, _)| text(code.name()))),
        // A wait that looks can end need not be waited for.
        (
            "RetryAfter",
            (!over).then(|| time(request.looks_left.map_or(request.due, |_| request.event_time))).flatten(),
        ),
    ])
}
