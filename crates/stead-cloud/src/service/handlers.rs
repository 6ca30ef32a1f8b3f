//! Handlers: the effects of operations, when their time has come.

use stead_model::{Map, Value};
use stead_world::Timestamp;

use super::error::HandlerError;
use super::machine::Machine;
use super::progress::shown;
use super::settings::{Delay, Quotas};
use super::state::{Fate, Operation, Request, RequestKey, ResourceKey, Settling, Status, Stored};
use super::{quotas, references};

/// Reason for which an operation failed, with the words of the service.
pub(crate) type Failure = (HandlerError, String);

/// Reads that see the state before, after an operation that a fault made stale.
const STALE_READS: u32 = 2;

/// Types whose names are unique in the whole partition, not only in an account.
const UNIQUE_EVERYWHERE: &[&str] = &["AWS::S3::Bucket"];

/// Carries out an operation and sets the end of its request.
pub(crate) fn run(machine: &mut Machine, key: &RequestKey, request: &mut Request, now: Timestamp) {
    let target = ResourceKey {
        place: key.place.of_type(&request.type_name),
        type_name: request.type_name.clone(),
        identifier: request.identifier.clone(),
    };
    let done = match request.fate {
        Fate::Fails(code) => Err((code, words(code, request))),
        _ => carried_out(machine, key, request, &target, now),
    };
    let done = done.and_then(|()| match request.fate {
        Fate::HalfMade => Err((HandlerError::NotStabilized, words(HandlerError::NotStabilized, request))),
        _ => Ok(()),
    });
    match done {
        Ok(()) => {
            request.status = Status::Success;
            if let Some(schema) = machine.schema(&request.type_name)
                && request.operation != Operation::Delete
            {
                request.shown = Some(shown(&schema, &request.model));
            }
        }
        Err(failure) => {
            request.status = Status::Failed;
            request.failure = Some(failure);
        }
    }
}

fn carried_out(
    machine: &mut Machine,
    key: &RequestKey,
    request: &Request,
    target: &ResourceKey,
    now: Timestamp,
) -> Result<(), Failure> {
    let stored = machine.state.resource(target).cloned();
    match (request.operation, stored) {
        (Operation::Create, Some(_)) => {
            Err((HandlerError::AlreadyExists, words(HandlerError::AlreadyExists, request)))
        }
        (Operation::Create, None) => {
            unique(machine, request)?;
            if machine.settings.quotas == Quotas::Enforced {
                quotas::allow(&machine.state, target)?;
            }
            references::exist(machine, &key.place, &request.type_name, &request.model)?;
            let stored = Stored { model: request.model.clone(), contents: 0, settling: None };
            put(machine, target, stored, None, request, now);
            Ok(())
        }
        (_, None) => Err((HandlerError::NotFound, words(HandlerError::NotFound, request))),
        (Operation::Update, Some(stored)) => {
            references::exist(machine, &key.place, &request.type_name, &request.model)?;
            let after = Stored { model: request.model.clone(), ..stored.clone() };
            put(machine, target, after, Some(stored.model), request, now);
            Ok(())
        }
        (Operation::Delete, Some(stored)) => {
            if stored.contents > 0 {
                return Err(references::not_empty(target));
            }
            protected(target, &stored.model)?;
            references::unheld(machine, &key.place, target, &stored.model)?;
            machine.state.set_resource(target.clone(), None);
            Ok(())
        }
    }
}

/// Stores a resource. Reads may still return the earlier model.
fn put(
    machine: &mut Machine,
    key: &ResourceKey,
    stored: Stored,
    before: Option<Map>,
    request: &Request,
    now: Timestamp,
) {
    let wait = match request.fate {
        Fate::Stale => Delay::looks(STALE_READS),
        _ => machine.settings.consistency,
    };
    let settling =
        (!wait.is_none()).then(|| Settling { before, until: wait.end(now).0, looks_left: wait.looks });
    machine.state.set_resource(key.clone(), Some(Stored { settling, ..stored }));
}

fn unique(machine: &Machine, request: &Request) -> Result<(), Failure> {
    if !UNIQUE_EVERYWHERE.contains(&request.type_name.as_str()) {
        return Ok(());
    }
    let taken = machine
        .state
        .resources()
        .any(|(key, _)| key.type_name == request.type_name && key.identifier == request.identifier);
    if taken {
        Err((HandlerError::AlreadyExists, words(HandlerError::AlreadyExists, request)))
    } else {
        Ok(())
    }
}

/// Refuses to delete a resource whose own settings protect it.
fn protected(key: &ResourceKey, model: &Map) -> Result<(), Failure> {
    let on = |name: &str| match model.get(name) {
        Some(Value::Bool(on)) => *on,
        Some(Value::String(text)) => matches!(&**text, "ACTIVE" | "ENABLED"),
        _ => false,
    };
    if ["DeletionProtection", "DeletionProtectionEnabled"].into_iter().any(on) {
        let message = format!(
            "Resource of type '{}' with identifier '{}' cannot be deleted: deletion protection is enabled.",
            key.type_name, key.identifier
        );
        return Err((HandlerError::InvalidRequest, message));
    }
    Ok(())
}

/// Returns the words of a failure, as handlers write them.
fn words(code: HandlerError, request: &Request) -> String {
    let Request { type_name, identifier, operation, .. } = request;
    let operation = operation.name();
    let resource = format!("Resource of type '{type_name}' with identifier '{identifier}'");
    match code {
        HandlerError::AlreadyExists => format!("{resource} already exists."),
        HandlerError::NotFound => format!("{resource} was not found."),
        HandlerError::NotStabilized => format!("{resource} did not stabilize."),
        HandlerError::ResourceConflict => {
            format!("{resource} has a conflict. Reason: another change is in progress.")
        }
        HandlerError::NotUpdatable => format!("{resource} is not updatable with parameters provided."),
        HandlerError::Throttling => format!("Rate exceeded for operation '{operation}'."),
        HandlerError::AccessDenied => format!("Access denied for operation '{operation}'."),
        HandlerError::ServiceInternalError => {
            format!("Internal error reported from downstream service during operation '{operation}'.")
        }
        HandlerError::NetworkFailure => format!("Network failure occurred during operation '{operation}'."),
        HandlerError::ServiceTimeout => {
            format!("Timeout reported from downstream service during operation '{operation}'.")
        }
        HandlerError::ServiceLimitExceeded => {
            format!("Limit exceeded for resource of type '{type_name}'. Reason: quota.")
        }
        _ => format!("Error occurred during operation '{operation}'."),
    }
}

impl Machine {
    /// Returns the full model that a read sees now. Each look counts against the time of settling.
    pub(crate) fn seen(&mut self, key: &ResourceKey, now: Timestamp) -> Option<Map> {
        let model = self.state.resource(key)?.model.clone();
        let settling = self.state.settling_mut(key)?;
        let Some(Settling { before, until, looks_left }) = settling else { return Some(model) };
        if *until <= now.0 || *looks_left == Some(0) {
            *settling = None;
            return Some(model);
        }
        *looks_left = looks_left.map(|left| left.saturating_sub(1));
        before.clone()
    }
}
