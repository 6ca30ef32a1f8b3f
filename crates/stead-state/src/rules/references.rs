//! Rules about what a copy refers to.

use std::collections::BTreeSet;

use stead_model::{CopyRef, Resource, Uid};

use super::{Look, Problems, is_current};

/// S06.
pub(crate) fn dependencies_exist(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    for dependency in resource.dependencies.iter().filter(|copy| look.resolve(copy).is_none()) {
        problems.push(format!("it depends on {dependency}, which does not exist"));
    }
}

/// S07.
pub(crate) fn sources_are_dependencies(_: &dyn Look, resource: &Resource, problems: &mut Problems) {
    let known: BTreeSet<&Uid> = resource.dependencies.iter().map(|dependency| &dependency.uid).collect();
    for (property, sources) in &resource.property_dependencies {
        for uid in sources.iter().filter(|uid| !known.contains(uid)) {
            problems.push(format!("`{property}` comes from {uid}, which is not a dependency"));
        }
    }
}

/// S13.
pub(crate) fn provider_exists(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    if let Some(provider) = &resource.ties.provider
        && look.resolve(provider).is_none()
    {
        problems.push(format!("{provider} serves it, which does not exist"));
    }
}

/// S14.
pub(crate) fn provider_is_one(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    let provider = resource.ties.provider.as_ref().and_then(|provider| look.resolve(provider));
    if let Some(provider) = provider.filter(|provider| !provider.ty.as_str().ends_with(".Provider")) {
        problems.push(format!("{} serves it, which is no provider", provider.name));
    }
}

/// S15. A copy may go on being served by the old copy of a provider that was replaced, until its own turn
/// comes; but not by one that nothing takes the place of.
pub(crate) fn provider_is_current(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    if let Some(provider) = &resource.ties.provider
        && is_current(resource)
        && look.copy(provider).is_some()
        && look.current(&provider.uid).is_none()
    {
        problems.push(format!("{provider} serves it, which is to be deleted without a successor"));
    }
}

/// S16.
pub(crate) fn parent_exists(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    exists(look, "its parent", &resource.ties.parent, problems);
}

/// S17.
pub(crate) fn deleted_with_exists(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    exists(look, "it is deleted with", &resource.ties.deleted_with, problems);
}

/// S18.
pub(crate) fn replace_with_exists(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    for uid in &resource.ties.replace_with {
        exists(look, "it is replaced with", &Some(uid.clone()), problems);
    }
}

fn exists(look: &dyn Look, what: &str, uid: &Option<Uid>, problems: &mut Problems) {
    if let Some(uid) = uid
        && look.newest(uid).is_none()
    {
        problems.push(format!("{what} {uid}, which does not exist"));
    }
}

/// S20. A reference to a copy that is gone means the current one; a reference to a copy that is still to
/// come means nothing.
pub(crate) fn copies_were_made(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    let copies = resource.dependencies.iter().chain(&resource.ties.provider);
    let early = |copy: &&CopyRef| look.newest(&copy.uid).is_some_and(|newest| newest < copy.generation);
    for copy in copies.filter(early) {
        problems.push(format!("it refers to {copy}, and that copy was never made"));
    }
}
