//! Rules about single copies, and about all copies of one resource.

use stead_model::{Lifecycle, Resource, Uid};

use super::{Problems, StateView, is_current};

/// S01.
pub(crate) fn stored_once(view: &dyn StateView, uid: &Uid, problems: &mut Problems) {
    let copies = view.copies(uid);
    for pair in copies.windows(2).filter(|pair| pair[0].generation == pair[1].generation) {
        problems.push(format!("the copy {} is stored twice", pair[1].copy()));
    }
}

/// S02.
pub(crate) fn one_current(view: &dyn StateView, uid: &Uid, problems: &mut Problems) {
    if view.copies(uid).into_iter().filter(|copy| is_current(copy)).count() > 1 {
        problems.push("two copies are current".to_owned());
    }
}

/// S04.
pub(crate) fn id_matches_lifecycle(_: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    let exists = resource.lifecycle != Lifecycle::Replacing;
    if exists != resource.id.as_ref().is_some_and(|id| !id.as_str().is_empty()) {
        let problem = if exists { "it exists and has no id" } else { "it is deleted and has an id" };
        problems.push(problem.to_owned());
    }
}

/// S05: generations grow in the order of creation, so that the current copy is newer than all condemned ones.
pub(crate) fn newest_is_current(view: &dyn StateView, uid: &Uid, problems: &mut Problems) {
    let copies = view.copies(uid);
    let current = copies.iter().filter(|copy| is_current(copy)).map(|copy| copy.generation).max();
    for copy in copies.iter().filter(|copy| !is_current(copy)) {
        if current.is_some_and(|current| current < copy.generation) {
            problems.push(format!("the condemned copy {} is newer than the current one", copy.copy()));
        }
    }
}

/// S11.
pub(crate) fn has_identity(_: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    if resource.uid.as_str().is_empty() {
        problems.push("it has no uid".to_owned());
    }
    if resource.generation.0 == 0 {
        problems.push("it has generation 0; the first copy is 1".to_owned());
    }
}

/// S21: a set has one encoding.
pub(crate) fn lists_are_sorted(_: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    let mut unsorted =
        |list: &str| problems.push(format!("its {list} are not sorted, or contain duplicates"));
    if !is_set(&resource.dependencies) {
        unsorted("dependencies");
    }
    if !is_set(&resource.ties.replace_with) {
        unsorted("replaceWith");
    }
    if !is_set(&resource.ties.aliases) {
        unsorted("aliases");
    }
    if resource.property_dependencies.values().any(|sources| !is_set(sources)) {
        unsorted("property dependencies");
    }
}

fn is_set<T: Ord>(list: &[T]) -> bool {
    list.windows(2).all(|pair| pair[0] < pair[1])
}
