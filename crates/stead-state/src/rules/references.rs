//! Rules about the references of a copy.

use std::collections::BTreeSet;

use stead_model::{CopyRef, Resource, Uid};

use super::{Problems, StateView, is_current};

/// S06.
pub(crate) fn dependencies_exist(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    for dependency in resource.dependencies.iter().filter(|copy| view.resolve(copy).is_none()) {
        problems.push(format!("it depends on {dependency}, which does not exist"));
    }
}

/// S07.
pub(crate) fn sources_are_dependencies(_: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    let known: BTreeSet<&Uid> = resource.dependencies.iter().map(|dependency| &dependency.uid).collect();
    for (property, sources) in &resource.property_dependencies {
        for uid in sources.iter().filter(|uid| !known.contains(uid)) {
            problems.push(format!("`{property}` comes from {uid}, which is not a dependency"));
        }
    }
}

/// S13.
pub(crate) fn provider_exists(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    if let Some(provider) = &resource.ties.provider
        && view.resolve(provider).is_none()
    {
        problems.push(format!("its provider {provider} does not exist"));
    }
}

/// S14.
pub(crate) fn provider_is_one(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    let provider = resource.ties.provider.as_ref().and_then(|provider| view.resolve(provider));
    if let Some(provider) = provider.filter(|provider| !provider.ty.as_str().ends_with(".Provider")) {
        problems.push(format!("its provider {} is not a provider resource", provider.name));
    }
}

/// S15. After a provider was replaced, a copy may use its condemned copy until it is updated itself. A condemned provider
/// without a successor is a violation.
pub(crate) fn provider_is_current(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    if let Some(provider) = &resource.ties.provider
        && is_current(resource)
        && view.copy(provider).is_some()
        && view.current(&provider.uid).is_none()
    {
        problems.push(format!("its provider {provider} is condemned and has no successor"));
    }
}

/// S16.
pub(crate) fn parent_exists(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    exists(view, "its parent is", &resource.ties.parent, problems);
}

/// S17.
pub(crate) fn deleted_with_exists(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    exists(view, "it is deleted with", &resource.ties.deleted_with, problems);
}

/// S18.
pub(crate) fn replace_with_exists(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    for uid in &resource.ties.replace_with {
        exists(view, "it is replaced with", &Some(uid.clone()), problems);
    }
}

fn exists(view: &dyn StateView, relation: &str, uid: &Option<Uid>, problems: &mut Problems) {
    if let Some(uid) = uid
        && view.newest(uid).is_none()
    {
        problems.push(format!("{relation} {uid}, which does not exist"));
    }
}

/// S20. A reference to a removed copy means the current one. A reference to a later generation than the newest has no
/// meaning.
pub(crate) fn generations_exist(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    let copies = resource.dependencies.iter().chain(&resource.ties.provider);
    let is_later = |copy: &&CopyRef| view.newest(&copy.uid).is_some_and(|newest| newest < copy.generation);
    for copy in copies.filter(is_later) {
        problems.push(format!("it refers to {copy}, which was never created"));
    }
}
