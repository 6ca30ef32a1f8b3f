//! S08: there is an order in which everything can be made, and the other way round deleted.

use std::collections::BTreeSet;

use stead_model::{Resource, Uid};

use super::{Look, View};
use crate::hash::HashMap;

/// The copies that must be there before this one, over every kind of edge. A reference to a resource means
/// its current copy, or its newest.
pub(crate) fn needs<'a>(look: &'a dyn Look, resource: &Resource) -> Vec<&'a Resource> {
    let ties = &resource.ties;
    let copies = resource.dependencies.iter().chain(&ties.provider);
    let uids = ties.parent.iter().chain(&ties.deleted_with).chain(&ties.replace_with);
    let meant = |uid: &Uid| look.current(uid).or_else(|| look.copies(uid).last().copied());
    copies.filter_map(|copy| look.resolve(copy)).chain(uids.filter_map(meant)).collect()
}

/// Removes what waits for nothing that is left, until nothing moves; what is left goes round in circles.
pub(crate) fn no_circle(view: &View<'_>, found: &mut Vec<(String, String)>) {
    let resources: Vec<&Resource> = view.resources().collect();
    let positions: HashMap<*const Resource, usize> =
        resources.iter().enumerate().map(|(at, resource)| (std::ptr::from_ref(*resource), at)).collect();
    let mut waiting = vec![0usize; resources.len()];
    let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); resources.len()];
    for (at, resource) in resources.iter().enumerate() {
        let position = |need: &Resource| positions.get(&std::ptr::from_ref(need)).copied();
        let needs: BTreeSet<usize> = needs(view, resource).into_iter().filter_map(position).collect();
        waiting[at] = needs.len();
        needs.into_iter().for_each(|need| dependants[need].push(at));
    }
    let mut free: Vec<usize> = (0..resources.len()).filter(|at| waiting[*at] == 0).collect();
    while let Some(at) = free.pop() {
        for &dependant in &dependants[at] {
            waiting[dependant] -= 1;
            if waiting[dependant] == 0 {
                free.push(dependant);
            }
        }
    }
    let stuck = resources.iter().zip(&waiting).filter(|(_, waiting)| **waiting > 0);
    found.extend(stuck.map(|(resource, _)| (resource.name.to_string(), "it waits for itself".to_owned())));
}
