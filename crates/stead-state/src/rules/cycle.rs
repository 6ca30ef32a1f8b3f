//! S08: the copies can be created in some order, and deleted in the reverse order.

use std::collections::BTreeSet;

use stead_model::{Dag, Resource, Uid};

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

/// Finds the copies that are on a cycle, or need a copy on one.
pub(crate) fn no_cycle(view: &SnapshotView<'_>, found: &mut Vec<(String, String)>) {
    let resources: Vec<&Resource> = view.resources().collect();
    let positions: HashMap<*const Resource, usize> =
        resources.iter().enumerate().map(|(at, resource)| (std::ptr::from_ref(*resource), at)).collect();
    let needs_of = |resource: &&Resource| -> BTreeSet<usize> {
        let position = |need: &Resource| positions.get(&std::ptr::from_ref(need)).copied();
        needs(view, resource).into_iter().filter_map(position).collect()
    };
    let mut dag = Dag::new(resources.iter().map(needs_of));
    dag.finish_all();
    let stuck = resources.iter().enumerate().filter(|(at, _)| dag.is_blocked(*at));
    found.extend(stuck.map(|(_, resource)| (resource.name.to_string(), "it is part of a cycle".to_owned())));
}
