//! Rules about operations under way, and about the counters.

use stead_model::Resource;

use super::{Look, Problems};
use crate::{Intent, Pending};

/// S09.
pub(crate) fn speaks_of_what_exists(look: &dyn Look, pending: &Pending, problems: &mut Problems) {
    match &pending.intent {
        Intent::Create { resource, .. } => {
            if look.copy(&resource.copy()).is_some() {
                problems.push(format!("it creates {}, which exists", resource.name));
            }
            if look.holders(&resource.name).iter().any(|holder| **holder != resource.uid) {
                problems.push(format!("it creates {}, and another has that name", resource.name));
            }
            needs_exist(look, resource, problems);
        }
        Intent::Update { resource, .. } => {
            if look.copy(&resource.copy()).is_none() {
                problems.push(format!("it updates {}, which does not exist", resource.name));
            }
            needs_exist(look, resource, problems);
        }
        Intent::Delete { copy, .. } => {
            if look.copy(copy).is_none() {
                problems.push(format!("it deletes {copy}, which does not exist"));
            }
        }
    }
}

/// What the record will refer to once the operation has ended is there already.
fn needs_exist(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    let copies = resource.dependencies.iter().chain(&resource.ties.provider);
    for copy in copies.filter(|copy| look.resolve(copy).is_none()) {
        problems.push(format!("{} needs {copy}, which does not exist", resource.name));
    }
}

/// S10, for uids.
pub(crate) fn uids_are_ahead(look: &dyn Look, problems: &mut Problems) {
    let (resources, uids, _) = look.counts();
    if uids < resources as u64 {
        problems.push(format!("there are {resources} resources, and {uids} uids were given out"));
    }
}

/// S10, for operations.
pub(crate) fn number_was_given_out(look: &dyn Look, pending: &Pending, problems: &mut Problems) {
    if pending.op >= look.counts().2 {
        problems.push("it is pending, and its number is not given out yet".to_owned());
    }
}

/// S22. No second request is sent while nobody knows what came of the first.
pub(crate) fn is_alone(look: &dyn Look, pending: &Pending, problems: &mut Problems) {
    let Pending { intent, .. } = pending;
    if look.pending_on(&intent.copy()) > 1 {
        problems.push(format!("another operation on {} is pending", intent.copy()));
    }
    if intent.key().is_empty() || look.pending_with_key(intent.key()) > 1 {
        problems.push("it has no idempotency key of its own".to_owned());
    }
    if let Intent::Create { resource, .. } = intent
        && look.pending_creates(&resource.name) > 1
    {
        problems.push(format!("another operation creates {}", resource.name));
    }
}
