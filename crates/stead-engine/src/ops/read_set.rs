//! The records that a plan was made from.
//!
//! A plan reads more than it changes: the dependencies of a changed resource give it its values, and its dependants
//! order and forbid deletions. As long as all of them are unchanged, a saved plan stays good, whatever happens to the rest
//! of the stack.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stead_model::{Generation, Graph, Name, NodeId, StackId, Uid};
use stead_plan::{Action, Incarnation, Plan};
use stead_state::State;

/// The resources that a plan read, with the versions of their records, and the names that it found free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadSet {
    /// The stack; empty if there was none.
    stack: StackId,
    serial: u64,
    resources: BTreeMap<Uid, ReadResource>,
    free_names: BTreeSet<Name>,
}

/// A resource that a plan read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadResource {
    name: Name,
    /// The version of each copy, oldest first.
    versions: Vec<(Generation, u64)>,
}

impl ReadSet {
    /// Returns the records that `plan` was made from: of all resources that it changes, everything that these depend on,
    /// and everything that depends on them.
    pub(super) fn of(state: &State, graph: &Graph, plan: &Plan) -> ReadSet {
        let changed = changed_by(state, plan);
        let needed = needed_by(graph, plan);
        let links = state.outside_links(&changed);
        let declared = needed.iter().filter_map(|id| graph.node(*id)).map(|node| &node.name);
        let names: BTreeSet<&Name> = plan.steps.iter().map(|step| &step.name).chain(declared).collect();
        let recorded =
            names.iter().filter_map(|name| state.by_name(name)).map(|resource| resource.uid.clone());
        let mut uids: BTreeSet<Uid> = recorded.collect();
        // The record may have another name: a rename is planned.
        uids.extend(needed.iter().filter_map(|id| plan.existing.get(id)).map(|copy| copy.uid.clone()));
        uids.extend(changed.into_iter().chain(links.dependencies).chain(links.dependents));
        let free = names.into_iter().filter(|name| state.by_name(name).is_none());
        ReadSet {
            stack: state.stack().clone(),
            serial: state.serial(),
            free_names: free.cloned().collect(),
            resources: uids.into_iter().filter_map(|uid| Some((uid.clone(), read(state, &uid)?))).collect(),
        }
    }

    /// Returns true if the state is exactly the one that the plan was made on.
    pub(super) fn is_same_state(&self, state: &State) -> bool {
        self.stack == *state.stack() && self.serial == state.serial()
    }

    /// Returns true if the records belong to another stack than `state`. A plan that was made before there was a stack
    /// belongs to any.
    pub(super) fn is_of_another_stack(&self, state: &State) -> bool {
        !self.stack.as_str().is_empty() && self.stack != *state.stack()
    }

    /// Returns the resources of this set that are different in `state`, by name.
    pub(super) fn changed_in(&self, state: &State) -> BTreeSet<Name> {
        let changed =
            |(uid, read_then): &(&Uid, &ReadResource)| read(state, uid).as_ref() != Some(*read_then);
        let changed = self.resources.iter().filter(changed).map(|(_, resource)| &resource.name);
        let taken = self.free_names.iter().filter(|name| state.by_name(name).is_some());
        changed.chain(taken).cloned().collect()
    }

    /// Returns the resources that only one of the two sets contains, or that they contain in different versions.
    pub(super) fn differing(&self, other: &ReadSet) -> BTreeSet<Name> {
        let uids: BTreeSet<&Uid> = self.resources.keys().chain(other.resources.keys()).collect();
        let pairs = uids.into_iter().map(|uid| (self.resources.get(uid), other.resources.get(uid)));
        let differing = pairs.filter(|(one, two)| one != two).filter_map(|(one, two)| one.or(two));
        let free = self.free_names.symmetric_difference(&other.free_names);
        differing.map(|resource| &resource.name).chain(free).cloned().collect()
    }
}

/// Returns the recorded resources that have a step.
fn changed_by(state: &State, plan: &Plan) -> BTreeSet<Uid> {
    let mut uids = BTreeSet::new();
    for step in &plan.steps {
        uids.extend(step.node.and_then(|node| plan.existing.get(&node)).map(|copy| copy.uid.clone()));
        uids.extend(state.by_name(&step.name).map(|resource| resource.uid.clone()));
        match &step.action {
            Action::Update { copy, .. }
            | Action::Delete { copy, .. }
            | Action::Record { copy }
            | Action::Move { copy, .. }
            | Action::Forget { copy, .. } => uids.extend([copy.uid.clone()]),
            Action::Create { incarnation: Incarnation::Next { uid, .. }, .. } => uids.extend([uid.clone()]),
            Action::Create { .. } | Action::Import { .. } | Action::Barrier => {}
        }
    }
    uids
}

/// Returns the declared resources that have a step, or that a step needs, directly or not.
fn needed_by(graph: &Graph, plan: &Plan) -> BTreeSet<NodeId> {
    let edges = graph.needs();
    let mut todo: Vec<NodeId> = plan.steps.iter().filter_map(|step| step.node).collect();
    let mut seen: BTreeSet<NodeId> = todo.iter().copied().collect();
    while let Some(id) = todo.pop() {
        let needs = edges.get(id.index()).into_iter().flatten();
        todo.extend(needs.copied().filter(|need| seen.insert(*need)));
    }
    seen
}

fn read(state: &State, uid: &Uid) -> Option<ReadResource> {
    let name = state.name_of(uid)?.clone();
    let versions = state.copies_of(uid).map(|copy| (copy.generation, copy.version)).collect();
    Some(ReadResource { name, versions })
}
