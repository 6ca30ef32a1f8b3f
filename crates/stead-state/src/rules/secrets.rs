//! The rule about secrets: a state without their keys could never be read.

use stead_model::{Map, Resource, Stored};

use super::{Problems, StateView};
use crate::{Intent, Pending};

pub(super) fn of_copy(state: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    check(state, &resource.inputs, problems);
    check(state, &resource.outputs, problems);
}

pub(super) fn of_pending(state: &dyn StateView, pending: &Pending, problems: &mut Problems) {
    if let Intent::Create { resource, .. } | Intent::Update { resource, .. } = &pending.intent {
        of_copy(state, resource, problems);
    }
    if let Intent::Update { previous, .. } = &pending.intent {
        check(state, previous, problems);
    }
}

fn check(state: &dyn StateView, values: &Map, problems: &mut Problems) {
    let mut path = Vec::new();
    for (key, value) in values.iter() {
        if !value.has_secrets() {
            continue;
        }
        path.push(key.as_str().to_owned());
        value.each_secret(&mut path, &mut |secret, path| {
            let named = match secret.form() {
                Stored::Unsealed(_) => {
                    problems.push(format!("the secret `{}` is not encrypted", path.join(".")));
                    return;
                }
                Stored::Sealed(text) => text.key(),
                Stored::WriteOnly { digest, .. } => digest.key(),
                Stored::Ephemeral => return,
            };
            if !named.as_ref().is_some_and(|key| state.has_key(key)) {
                let key = named.map_or_else(|| "no key".to_owned(), |key| format!("the key {key}"));
                problems
                    .push(format!("the secret `{}` names {key}, which is not in the ring", path.join(".")));
            }
        });
        path.pop();
    }
}
