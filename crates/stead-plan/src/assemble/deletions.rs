//! Deletions, which come after all other steps, dependents before their dependencies.
//!
//! A resource inside a container needs no call: its record is removed once the container is deleted. The record of the container
//! stays until then, so that no record refers to a missing one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use stead_model::{CopyRef, Dag, Lifecycle, NodeId, Resource, Uid};
use stead_schema::Change;
use stead_state::{AfterDelete, State};

use super::steps::Assembly;
use crate::decide::{Decision, Identity};
use crate::plan::{Action, StepId, Why};
use crate::request::Purpose;
use crate::ties;

/// A recorded copy that the plan removes.
struct Removal<'a> {
    resource: &'a Resource,
    why: Why,
    node: Option<NodeId>,
    changes: Vec<Change>,
    kind: RemovalKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RemovalKind {
    Delete,
    /// The physical resource stays.
    Retain,
    /// The physical resource stays under the physical name that its replacement needs.
    RetainNameConflict,
    /// The physical resource is deleted already.
    RecordOnly,
}

/// Adds the steps that delete or forget copies.
pub(super) fn add_deletions(assembly: &mut Assembly<'_, '_>) {
    let removals = removals(assembly);
    if removals.is_empty() {
        return;
    }
    let earlier_steps: Vec<StepId> = (0..assembly.steps.len()).map(StepId).collect();
    let barrier = barrier(assembly, &removals, earlier_steps);
    let base = assembly.planner.base;
    let containers = containers(&removals);
    let early: HashSet<CopyRef> = assembly.early_steps.keys().cloned().collect();
    let order = RemovalOrder::of(base, &removals, &containers, |copy| early.contains(copy));
    let (order, sorted) = match order.sorted() {
        Some(sorted) => (order, sorted),
        None => {
            // Contents of two containers depend on each other's: then each resource is deleted by itself.
            let no_containers = vec![None; removals.len()];
            let order = RemovalOrder::of(base, &removals, &no_containers, |copy| early.contains(copy));
            let sorted = order.sorted().unwrap_or_default();
            (order, sorted)
        }
    };
    let mut steps: BTreeMap<Phase, StepId> = BTreeMap::new();
    for phase in sorted {
        let mut after: Vec<StepId> =
            order.before[&phase].iter().filter_map(|phase| steps.get(phase)).copied().collect();
        after.extend(barrier);
        after.extend(assembly.names.parked.get(&removals[phase.index()].resource.uid));
        after.sort_unstable();
        after.dedup();
        let Removal { resource, node, changes, .. } = &removals[phase.index()];
        let (action, why) = order.action(&removals, phase);
        let about = (resource.name.clone(), resource.ty.clone(), resource.source.clone());
        let step = assembly.push(about, action, why, changes.clone(), after, *node);
        steps.insert(phase, step);
    }
}

/// Adds one step that waits for all earlier ones, so that n deletions do not wait for n creations each.
fn barrier(
    assembly: &mut Assembly<'_, '_>,
    removals: &[Removal<'_>],
    earlier_steps: Vec<StepId>,
) -> Option<StepId> {
    if earlier_steps.len() < 2 {
        return earlier_steps.first().copied();
    }
    let about = removals.first().map(|first| &first.resource)?;
    let about = (about.name.clone(), about.ty.clone(), about.source.clone());
    Some(assembly.push(about, Action::Barrier, Why::Barrier, Vec::new(), earlier_steps, None))
}

/// Returns the copies to remove, sorted, and counts them in the summary.
fn removals<'a>(assembly: &mut Assembly<'_, 'a>) -> Vec<Removal<'a>> {
    let planner = assembly.planner;
    let declared: HashMap<&Uid, NodeId> =
        assembly.existing.iter().map(|(id, copy)| (&copy.uid, *id)).collect();
    let mut removals = Vec::new();
    for resource in planner.base.copies() {
        let node = declared.get(&resource.uid).copied();
        let touched = match node {
            Some(id) => planner.selected.touches(id),
            None => planner.selected.touches_removed(&resource.uid),
        };
        if !touched || (node.is_none() && planner.keeps_import(resource)) {
            assembly.summary.left_alone += usize::from(node.is_none());
        } else if let Some((why, changes, kind)) = removal(assembly, resource, node) {
            removals.push(Removal { resource, why, node, changes, kind });
        }
    }
    for Removal { why, kind, .. } in &removals {
        let removed = matches!(why, Why::Removed | Why::Destroyed);
        let retained = matches!(kind, RemovalKind::Retain | RemovalKind::RetainNameConflict);
        assembly.summary.delete += usize::from(removed && *kind == RemovalKind::Delete);
        assembly.summary.forget += usize::from(retained);
    }
    removals.sort_by(|a, b| a.resource.sort_key().cmp(&b.resource.sort_key()));
    removals
}

/// Returns why and how a copy is removed, or `None` if it stays or an early deletion removes it.
fn removal(
    assembly: &Assembly<'_, '_>,
    copy: &Resource,
    node: Option<NodeId>,
) -> Option<(Why, Vec<Change>, RemovalKind)> {
    let planner = assembly.planner;
    let early = assembly.early_steps.contains_key(&copy.copy());
    let decided = node.and_then(|id| planner.decided[id.index()].as_ref());
    let kind = if planner.retains(node, copy) { RemovalKind::Retain } else { RemovalKind::Delete };
    let reason = match planner.request.purpose {
        Purpose::Up => Why::Removed,
        Purpose::Destroy => Why::Destroyed,
    };
    Some(match (copy.lifecycle, decided) {
        (Lifecycle::Condemned, _) if early => return None,
        (Lifecycle::Condemned, _) => (Why::LeftOver, Vec::new(), kind),
        (_, None) if early => (Why::OldCopy, Vec::new(), RemovalKind::RecordOnly),
        (Lifecycle::Replacing, None) => (reason, Vec::new(), RemovalKind::RecordOnly),
        (Lifecycle::Live, None) => (reason, Vec::new(), kind),
        (Lifecycle::Live, Some(decided)) if !early && matches!(decided.decision, Decision::Replace(_)) => {
            let same_name = |id| planner.identity(id, copy, &decided.inputs) == Identity::Same;
            let kind = match kind {
                RemovalKind::Retain if node.is_some_and(same_name) => RemovalKind::RetainNameConflict,
                kind => kind,
            };
            (Why::OldCopy, decided.changes.clone(), kind)
        }
        _ => return None,
    })
}

/// Returns, for each removal, the container that it is deleted with, if the run deletes that.
///
/// A container that was deleted earlier, or a condemned copy of one, does not count: its contents get a call of their own.
fn containers(removals: &[Removal<'_>]) -> Vec<Option<usize>> {
    let deletes_live = |Removal { resource, kind, .. }: &Removal<'_>| {
        *kind == RemovalKind::Delete && resource.lifecycle == Lifecycle::Live
    };
    let mut deleted: HashMap<&Uid, usize> = HashMap::new();
    for (index, removal) in removals.iter().enumerate() {
        if deletes_live(removal) {
            deleted.insert(&removal.resource.uid, index);
        }
    }
    let container = |removal: &Removal<'_>| {
        let resource = removal.resource;
        let uid = resource.ties.deleted_with.as_ref().filter(|_| deletes_live(removal))?;
        deleted.get(uid).copied().filter(|index| is_in(resource, removals[*index].resource))
    };
    removals.iter().map(container).collect()
}

/// Returns true if the resource is in this copy of its container. It may still be in an older copy that was retained.
pub(crate) fn is_in(resource: &Resource, container: &Resource) -> bool {
    match resource.dependencies.iter().find(|copy| copy.uid == container.uid) {
        Some(copy) => copy.generation == container.generation,
        // Without a recorded dependency, the live copy is meant.
        None => container.lifecycle == Lifecycle::Live,
    }
}

/// Returns, for each removal, the outermost container that it is deleted with, or itself, in linear time.
fn roots(containers: &[Option<usize>]) -> Vec<usize> {
    let mut roots: Vec<Option<usize>> = vec![None; containers.len()];
    for start in 0..containers.len() {
        let (mut path, mut at) = (vec![start], start);
        // The length bounds the walk in a cycle of containers.
        while roots[at].is_none()
            && path.len() <= containers.len()
            && let Some(outer) = containers[at]
        {
            at = outer;
            path.push(at);
        }
        let root = roots[at].unwrap_or(at);
        path.into_iter().for_each(|index| roots[index] = Some(root));
    }
    roots.into_iter().enumerate().map(|(index, root)| root.unwrap_or(index)).collect()
}

/// A step of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Remove(usize),
    /// Forgets the record of a deleted container, after the records of its contents.
    ForgetContainer(usize),
}

impl Phase {
    fn index(self) -> usize {
        match self {
            Phase::Remove(index) | Phase::ForgetContainer(index) => index,
        }
    }
}

/// The order of all removals.
struct RemovalOrder {
    /// The phases that come before each phase.
    before: BTreeMap<Phase, BTreeSet<Phase>>,
    containers: Vec<Option<usize>>,
    /// The containers whose record is still needed after their deletion, for the records of their contents.
    holds: Vec<bool>,
}

impl RemovalOrder {
    /// Orders the removals. `is_early` returns true for copies that are deleted early.
    fn of(
        base: &State,
        removals: &[Removal<'_>],
        containers: &[Option<usize>],
        is_early: impl Fn(&CopyRef) -> bool,
    ) -> RemovalOrder {
        let mut holds = vec![false; removals.len()];
        for container in containers.iter().flatten() {
            // The successor of an old copy serves as container in the records.
            let Removal { resource, node, .. } = &removals[*container];
            holds[*container] = resource.lifecycle == Lifecycle::Live && node.is_none();
        }
        let last =
            |index: usize| if holds[index] { Phase::ForgetContainer(index) } else { Phase::Remove(index) };
        let mut before: BTreeMap<Phase, BTreeSet<Phase>> = BTreeMap::new();
        for (index, holds) in holds.iter().enumerate() {
            before.insert(Phase::Remove(index), BTreeSet::new());
            if *holds {
                before.insert(Phase::ForgetContainer(index), BTreeSet::from([Phase::Remove(index)]));
            }
        }
        let mut add = |phase: Phase, earlier: Phase| {
            if phase != earlier
                && let Some(set) = before.get_mut(&phase)
            {
                set.insert(earlier);
            }
        };
        let roots = roots(containers);
        let root = |index: usize| roots[index];
        let by_copy: HashMap<CopyRef, usize> =
            removals.iter().enumerate().map(|(index, removal)| (removal.resource.copy(), index)).collect();
        for (index, Removal { resource, .. }) in removals.iter().enumerate() {
            if let Some(container) = containers[index] {
                add(Phase::Remove(index), Phase::Remove(container));
                if holds[container] {
                    add(last(container), last(index));
                }
            }
            // An old copy of the provider may still serve the resource, and then its successor must outlive the resource too.
            let served =
                resource.ties.provider.as_ref().filter(|_| resource.lifecycle != Lifecycle::Condemned);
            let successor = served.and_then(|provider| base.current(&provider.uid));
            // A deleted copy stands for the current one, which must outlive this resource.
            let deleted = resource.dependencies.iter().filter(|copy| is_early(copy));
            let stand_ins = deleted.filter_map(|copy| base.current(&copy.uid));
            let needs = ties::needs(base, resource).chain(successor).chain(stand_ins);
            for need in needs.filter_map(|need| by_copy.get(&need.copy())) {
                let (inner, outer) = (root(index), root(*need));
                if inner != outer {
                    add(Phase::Remove(outer), Phase::Remove(inner));
                }
                if containers[index] != Some(*need) {
                    add(last(*need), last(index));
                }
            }
        }
        RemovalOrder { before, containers: containers.to_vec(), holds }
    }

    fn action(&self, removals: &[Removal<'_>], phase: Phase) -> (Action, Why) {
        let index = phase.index();
        let Removal { resource, why, kind, .. } = &removals[index];
        let copy = resource.copy();
        let gone = AfterDelete::Gone;
        let forget = |why: Why| (Action::Forget { copy: copy.clone(), after_delete: gone }, why);
        let after_delete = if self.holds[index] { AfterDelete::Replacing } else { gone };
        match (phase, kind, self.containers[index]) {
            (Phase::ForgetContainer(_), _, _) => forget(Why::OldCopy),
            (_, RemovalKind::RecordOnly, _) => forget(why.clone()),
            (_, RemovalKind::Retain, _) => forget(Why::Retained),
            (_, RemovalKind::RetainNameConflict, _) => forget(Why::RetainedNameConflict),
            (_, _, Some(container)) => {
                let why = Why::DeletedWithContainer { name: removals[container].resource.name.clone() };
                (Action::Forget { copy: copy.clone(), after_delete }, why)
            }
            (_, RemovalKind::Delete, None) => {
                (Action::Delete { copy: copy.clone(), after_delete }, why.clone())
            }
        }
    }

    /// Returns the phases in order, dependents first and otherwise by name, or `None` if there is a cycle.
    fn sorted(&self) -> Option<Vec<Phase>> {
        let phases: Vec<Phase> = self.before.keys().copied().collect();
        let positions = |before: &BTreeSet<Phase>| -> Vec<usize> {
            before.iter().filter_map(|phase| phases.binary_search(phase).ok()).collect()
        };
        let order = Dag::new(self.before.values().map(positions)).order();
        (order.len() == phases.len()).then(|| order.into_iter().map(|at| phases[at]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outermost_container_is_found_at_any_depth_and_in_any_order() {
        // 0 in 1 in 2; 3 alone; 4 and 5 in each other.
        let roots_of = roots(&[Some(1), Some(2), None, None, Some(5), Some(4)]);
        assert_eq!(roots_of[..4], [2, 2, 2, 3]);
        assert_eq!(roots_of[4], roots_of[5]);
        let deep: Vec<Option<usize>> = (0..100_000).map(|index| (index > 0).then(|| index - 1)).collect();
        assert!(roots(&deep).iter().all(|root| *root == 0));
        let deep: Vec<Option<usize>> = (1..100_000).map(Some).chain([None]).collect();
        assert!(roots(&deep).iter().all(|root| *root == 99_999));
    }
}
