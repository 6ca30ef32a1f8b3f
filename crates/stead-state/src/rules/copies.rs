//! Rules about the copies of one resource, each for itself and all together.

use stead_model::{Lifecycle, Resource, Uid};

use super::{Look, Problems, is_current};

/// S01.
pub(crate) fn stored_once(look: &dyn Look, uid: &Uid, problems: &mut Problems) {
    let copies = look.copies(uid);
    for pair in copies.windows(2).filter(|pair| pair[0].generation == pair[1].generation) {
        problems.push(format!("the copy {} is there twice", pair[1].copy()));
    }
}

/// S02.
pub(crate) fn one_current(look: &dyn Look, uid: &Uid, problems: &mut Problems) {
    if look.copies(uid).into_iter().filter(|copy| is_current(copy)).count() > 1 {
        problems.push("two copies are current".to_owned());
    }
}

/// S04.
pub(crate) fn id_fits(_: &dyn Look, resource: &Resource, problems: &mut Problems) {
    let exists = resource.lifecycle != Lifecycle::Replacing;
    if exists != resource.id.as_ref().is_some_and(|id| !id.as_str().is_empty()) {
        let problem = if exists { "it exists and has no id" } else { "it is deleted and has an id" };
        problems.push(problem.to_owned());
    }
}

/// S05: the order between a live copy and condemned ones is the order in which they were made.
pub(crate) fn newest_is_current(look: &dyn Look, uid: &Uid, problems: &mut Problems) {
    let copies = look.copies(uid);
    let current = copies.iter().filter(|copy| is_current(copy)).map(|copy| copy.generation).max();
    for copy in copies.iter().filter(|copy| !is_current(copy)) {
        if current.is_some_and(|current| current < copy.generation) {
            problems.push(format!("the condemned copy {} is newer than the current one", copy.copy()));
        }
    }
}

/// S11.
pub(crate) fn has_identity(_: &dyn Look, resource: &Resource, problems: &mut Problems) {
    if resource.uid.as_str().is_empty() {
        problems.push("it has no uid".to_owned());
    }
    if resource.generation.0 == 0 {
        problems.push("it has generation 0; the first copy is 1".to_owned());
    }
}

/// S21: what is a set is written in one way only.
pub(crate) fn lists_are_sorted(_: &dyn Look, resource: &Resource, problems: &mut Problems) {
    let mut unsorted = |list: &str| problems.push(format!("its {list} are not sorted, or say a thing twice"));
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
