//! S08: the copies can be created in some order, and deleted in the reverse order.

use std::collections::BTreeSet;

use stead_model::{Resource, Uid};

use super::{SnapshotView, StateView};
use crate::hash::HashMap;

/// Returns the copies that a copy needs, over references of every kind. A reference to a resource means its current copy,
/// or else its newest.
pub(crate) fn needs<'a>(view: &'a dyn StateView, resource: &Resource) -> Vec<&'a Resource> {
    let ties = &resource.ties;
    let copies = resource.dependencies.iter().chain(&ties.provider);
    let uids = ties.parent.iter().chain(&ties.deleted_with).chain(&ties.replace_with);
    let copy_of = |uid: &Uid| view.current(uid).or_else(|| view.copies(uid).last().copied());
    copies.filter_map(|copy| view.resolve(copy)).chain(uids.filter_map(copy_of)).collect()
}

/// Removes copies without remaining needs until none is left to remove. The rest is on a cycle or needs a copy on one.
pub(crate) fn no_cycle(view: &SnapshotView<'_>, found: &mut Vec<(String, String)>) {
    let resources: Vec<&Resource> = view.resources().collect();
    let positions: HashMap<*const Resource, usize> =
        resources.iter().enumerate().map(|(at, resource)| (std::ptr::from_ref(*resource), at)).collect();
    let mut waiting = vec![0usize; resources.len()];
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); resources.len()];
    for (at, resource) in resources.iter().enumerate() {
        let position = |need: &Resource| positions.get(&std::ptr::from_ref(need)).copied();
        let needs: BTreeSet<usize> = needs(view, resource).into_iter().filter_map(position).collect();
        waiting[at] = needs.len();
        needs.into_iter().for_each(|need| dependents[need].push(at));
    }
    let mut free: Vec<usize> = (0..resources.len()).filter(|at| waiting[*at] == 0).collect();
    while let Some(at) = free.pop() {
        for &dependent in &dependents[at] {
            waiting[dependent] -= 1;
            if waiting[dependent] == 0 {
                free.push(dependent);
            }
        }
    }
    let stuck = resources.iter().zip(&waiting).filter(|(_, waiting)| **waiting > 0);
    found.extend(stuck.map(|(resource, _)| (resource.name.to_string(), "it is part of a cycle".to_owned())));
}
