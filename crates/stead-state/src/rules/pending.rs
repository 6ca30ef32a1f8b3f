//! Rules about pending operations and counters.

use stead_model::Resource;

use super::{Problems, StateView};
use crate::{Intent, Pending};

/// S09.
pub(crate) fn refers_to_existing_copies(view: &dyn StateView, pending: &Pending, problems: &mut Problems) {
    match &pending.intent {
        Intent::Create { resource, .. } => {
            if view.copy(&resource.copy()).is_some() {
                problems.push(format!("it creates {}, which exists", resource.name));
            }
            if view.holders(&resource.name).iter().any(|holder| **holder != resource.uid) {
                problems.push(format!("it creates {}, and another resource has that name", resource.name));
            }
            references_exist(view, resource, problems);
        }
        Intent::Update { resource, .. } => {
            if view.copy(&resource.copy()).is_none() {
                problems.push(format!("it updates {}, which does not exist", resource.name));
            }
            references_exist(view, resource, problems);
        }
        Intent::Delete { copy, .. } => {
            if view.copy(copy).is_none() {
                problems.push(format!("it deletes {copy}, which does not exist"));
            }
        }
    }
}

/// Checks that the dependencies and the provider in the future record exist.
fn references_exist(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    let copies = resource.dependencies.iter().chain(&resource.ties.provider);
    for copy in copies.filter(|copy| view.resolve(copy).is_none()) {
        problems.push(format!("{} depends on {copy}, which does not exist", resource.name));
    }
}

/// S10, for uids.
pub(crate) fn uid_counter_is_beyond(view: &dyn StateView, problems: &mut Problems) {
    let (resources, uids, _) = view.counters();
    if uids < resources as u64 {
        problems.push(format!("there are {resources} resources, but only {uids} uids were allocated"));
    }
}

/// S10, for versions.
pub(crate) fn serial_is_beyond(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    if resource.version > view.serial() {
        let (version, serial) = (resource.version, view.serial());
        problems.push(format!("its version is {version}, but the serial of the stack is {serial}"));
    }
}

/// S10, for operations.
pub(crate) fn operation_counter_is_beyond(view: &dyn StateView, pending: &Pending, problems: &mut Problems) {
    if pending.op >= view.counters().2 {
        problems.push("it is pending, but its number was never allocated".to_owned());
    }
}

/// S22. No second request is sent while the outcome of the first is unknown.
pub(crate) fn is_alone(view: &dyn StateView, pending: &Pending, problems: &mut Problems) {
    let Pending { intent, .. } = pending;
    if view.pending_on(&intent.copy()) > 1 {
        problems.push(format!("another operation on {} is pending", intent.copy()));
    }
    if intent.key().is_empty() || view.pending_with_key(intent.key()) > 1 {
        problems.push("its idempotency key is not unique".to_owned());
    }
    if pending.token.as_ref().is_some_and(|token| view.pending_with_token(token) > 1) {
        problems.push("another pending operation has its token".to_owned());
    }
    if let Intent::Create { resource, .. } = intent
        && view.pending_creates(&resource.name) > 1
    {
        problems.push(format!("another operation creates {}", resource.name));
    }
}
