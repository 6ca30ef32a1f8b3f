//! Resources that a plan would delete and that a pin holds.

use std::collections::BTreeSet;

use stead_guard::pins::{PinVerdict, PinfileStatus, physical_path};
use stead_model::{Graph, Name, TypeToken, Uid};
use stead_plan::Plan;
use stead_state::State;

/// A resource that a plan would delete, replace or forget, if no pin held it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPin {
    pub name: Name,
    pub ty: TypeToken,
    /// The path in the pinfile.
    pub path: String,
    pub verdict: PinVerdict,
    pub(super) uid: Uid,
}

impl HeldPin {
    /// Returns the resources that a plan would delete and that a pin holds.
    pub(super) fn all(plan: &Plan, base: &State, graph: &Graph, pins: &PinfileStatus) -> Vec<HeldPin> {
        let deletions = plan.deletions(base, graph);
        let held = deletions.iter().filter_map(|deletion| {
            let (verdict, resource) = (deletion.pin_verdict(pins), deletion.resource);
            let path = physical_path(&resource.name, &resource.ty);
            let (name, ty, uid) = (resource.name.clone(), resource.ty.clone(), resource.uid.clone());
            (verdict != PinVerdict::Free).then_some(HeldPin { name, ty, path, verdict, uid })
        });
        held.collect()
    }
}

/// Returns the resources that a plan must not delete: the held ones, and everything that they need.
pub(super) fn with_needs(held: &[HeldPin], plan: &Plan, base: &State, graph: &Graph) -> BTreeSet<Uid> {
    let needed = needs(held.iter().map(|held| held.uid.clone()).collect(), base);
    let deletions = plan.deletions(base, graph);
    let deleted = deletions.iter().map(|deletion| &deletion.resource.uid);
    deleted.filter(|uid| needed.contains(*uid)).cloned().collect()
}

/// Returns resources with their dependencies and ties, at any depth.
fn needs(mut todo: Vec<Uid>, base: &State) -> BTreeSet<Uid> {
    let mut all = BTreeSet::new();
    while let Some(uid) = todo.pop() {
        let copies = base.copies_of(&uid);
        let needs = copies.flat_map(|copy| {
            let ties = &copy.ties;
            let dependencies = copy.dependencies.iter().map(|need| &need.uid);
            let provider = ties.provider.iter().map(|need| &need.uid);
            dependencies.chain(provider).chain(&ties.parent).chain(&ties.deleted_with).cloned()
        });
        if !all.contains(&uid) {
            todo.extend(needs);
            all.insert(uid);
        }
    }
    all
}
