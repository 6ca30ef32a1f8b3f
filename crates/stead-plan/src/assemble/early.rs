//! Early deletions: old copies that are deleted before their replacements are created, and their dependents.
//!
//! A dependent that is replaced itself cannot outlive the copy that it depends on, so it is deleted first and created again
//! afterwards. Removed dependents and condemned copies are deleted first too, and so is a copy whose physical name another resource
//! takes over.

use std::collections::{BTreeMap, HashMap, HashSet};

use stead_model::{CopyRef, Inputs, Lifecycle, NodeId, Resource, Uid};
use stead_schema::ReplaceOrder;
use stead_state::AfterDelete;

use super::deletions::is_in;
use super::in_the_way::in_the_way;
use super::steps::Assembly;
use crate::decide::{Decision, Planner, Replacement};
use crate::plan::{Action, Certainty, StepId, Why};

/// The copies that are deleted early.
#[derive(Default)]
pub(super) struct EarlyDeletions<'a> {
    /// The copies, each with its node if the resource is declared.
    copies: HashMap<CopyRef, Option<NodeId>>,
    /// For each copy, the copies that must be deleted before it.
    before: HashMap<CopyRef, Vec<&'a Resource>>,
    nodes: HashSet<NodeId>,
    /// For each node that is created, the copies of other resources that have its physical name until they are deleted.
    in_the_way: BTreeMap<NodeId, Vec<&'a Resource>>,
    /// The copies in the way that no declaration has any more.
    removed: HashSet<CopyRef>,
    /// Nodes whose replacement is certain, because another deletion depends on it: a run could not do less any more.
    certain: HashSet<NodeId>,
}

impl<'a> EarlyDeletions<'a> {
    /// Finds the copies to delete early. `inputs` has the inputs of each node.
    pub(super) fn of(planner: &Planner<'a>, inputs: &[Inputs]) -> EarlyDeletions<'a> {
        let in_the_way = in_the_way(planner, inputs);
        let mut early = EarlyDeletions { in_the_way, ..EarlyDeletions::default() };
        let roots: Vec<(NodeId, &'a Resource)> =
            planner.graph.ids().filter_map(|id| delete_first(planner, id)).collect();
        if roots.is_empty() && early.in_the_way.is_empty() {
            return early;
        }
        let declared: HashMap<&Uid, NodeId> =
            planner.graph.ids().filter_map(|id| Some((&planner.old(id)?.uid, id))).collect();
        let dependents = dependents(planner);
        let mut todo: Vec<&'a Resource> = Vec::new();
        for (id, old) in roots {
            early.add(old, Some(id));
            todo.push(old);
        }
        let in_the_way: Vec<&'a Resource> = early.in_the_way.values().flatten().copied().collect();
        for copy in in_the_way {
            if !early.copies.contains_key(&copy.copy()) {
                let node = declared.get(&copy.uid).copied();
                if node.is_none() {
                    early.removed.insert(copy.copy());
                }
                early.add(copy, node);
                todo.push(copy);
            }
        }
        while let Some(deleted) = todo.pop() {
            for &dependent in dependents.get(&deleted.copy()).into_iter().flatten() {
                let node = declared.get(&dependent.uid).copied();
                if !must_be_deleted(planner, deleted, dependent, node) {
                    continue;
                }
                early.before.entry(deleted.copy()).or_default().push(dependent);
                early.certain.extend(early.copies.get(&deleted.copy()).copied().flatten());
                early.certain.extend(node);
                if !early.copies.contains_key(&dependent.copy()) {
                    early.add(dependent, node);
                    todo.push(dependent);
                }
            }
        }
        early
    }

    fn add(&mut self, copy: &Resource, node: Option<NodeId>) {
        self.copies.insert(copy.copy(), node);
        if copy.lifecycle != Lifecycle::Condemned {
            self.nodes.extend(node);
        }
    }

    /// Returns true if the old copy of the node is deleted early.
    pub(super) fn contains(&self, id: NodeId) -> bool {
        self.nodes.contains(&id)
    }

    /// Returns the certainty of a replacement, which is certain if another early deletion depends on it.
    pub(super) fn certainty(&self, id: NodeId, judged: Certainty) -> Certainty {
        if self.certain.contains(&id) { Certainty::Certain } else { judged }
    }
}

fn delete_first<'a>(planner: &Planner<'a>, id: NodeId) -> Option<(NodeId, &'a Resource)> {
    match &planner.decided[id.index()].as_ref()?.decision {
        Decision::Replace(Replacement { order: ReplaceOrder::DeleteFirst, .. }) => {
            Some((id, planner.old(id)?))
        }
        _ => None,
    }
}

/// Returns the recorded dependents, contents and served resources of each copy.
fn dependents<'a>(planner: &Planner<'a>) -> HashMap<CopyRef, Vec<&'a Resource>> {
    let base = planner.base;
    let mut dependents: HashMap<CopyRef, Vec<&'a Resource>> = HashMap::new();
    for resource in base.resources() {
        let inside = resource.ties.deleted_with.as_ref().and_then(|uid| base.current(uid));
        let inside = inside.filter(|container| is_in(resource, container));
        let made_with = resource.dependencies.iter().filter_map(|copy| base.resolve(copy));
        let served_by = resource.ties.provider.as_ref().and_then(|copy| base.resolve(copy));
        let mut needs: Vec<CopyRef> = made_with.chain(inside).chain(served_by).map(Resource::copy).collect();
        needs.sort_unstable();
        needs.dedup();
        needs.into_iter().for_each(|need| dependents.entry(need).or_default().push(resource));
    }
    dependents
}

/// Returns true if the dependent of a copy that is deleted early must be deleted before it.
fn must_be_deleted(
    planner: &Planner<'_>,
    deleted: &Resource,
    dependent: &Resource,
    node: Option<NodeId>,
) -> bool {
    if dependent.lifecycle == Lifecycle::Condemned {
        return node.map_or_else(
            || planner.selected.touches_removed(&dependent.uid),
            |id| planner.selected.touches(id),
        ) && !planner.retains(node, dependent);
    }
    if dependent.lifecycle == Lifecycle::Replacing {
        return false;
    }
    let Some(id) = node else {
        return planner.selected.touches_removed(&dependent.uid)
            && !planner.retains(None, dependent)
            && !is_inside(dependent, deleted);
    };
    let replaced = matches!(
        planner.decided[id.index()].as_ref().map(|decided| &decided.decision),
        Some(Decision::Replace(_))
    );
    let comes_from = dependent.property_dependencies.values().flatten().any(|uid| *uid == deleted.uid);
    let served = dependent.ties.provider.as_ref().is_some_and(|provider| provider.uid == deleted.uid);
    replaced && (comes_from || served || is_inside(dependent, deleted))
}

impl<'a> Assembly<'_, 'a> {
    /// Adds the deletions of copies that have the physical name of a node, and returns the steps that its creation waits for.
    pub(super) fn make_way(&mut self, id: NodeId, mut after: Vec<StepId>) -> Vec<StepId> {
        let copies = self.early_deletions.in_the_way.get(&id).cloned().unwrap_or_default();
        if copies.is_empty() {
            return after;
        }
        let ready = self.after(id);
        for copy in copies {
            self.delete_old_copy_first(id, copy, &ready);
            after.extend(self.early_steps.get(&copy.copy()));
        }
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Adds the early deletion of the old copy of a node, after the deletions that must come before it.
    pub(super) fn delete_old_copy_first(&mut self, root: NodeId, old: &'a Resource, ready: &[StepId]) {
        let mut todo: Vec<(&'a Resource, bool)> = vec![(old, false)];
        while let Some((deleted, others_deleted)) = todo.pop() {
            let copy = deleted.copy();
            if self.early_steps.contains_key(&copy) {
                continue;
            }
            let before = self.early_deletions.before.get(&copy).cloned().unwrap_or_default();
            if !others_deleted {
                todo.push((deleted, true));
                let outside = before.iter().filter(|other| !is_inside(other, deleted));
                todo.extend(outside.map(|other| (*other, false)));
                // Dependents of its contents must be deleted before it too.
                for inner in before.iter().filter(|other| is_inside(other, deleted)) {
                    let theirs = self.early_deletions.before.get(&inner.copy()).cloned().unwrap_or_default();
                    todo.extend(
                        theirs
                            .into_iter()
                            .filter(|other| !is_inside(other, deleted))
                            .map(|other| (other, false)),
                    );
                }
                continue;
            }
            let step = self.delete_early(root, deleted, ready);
            for inner in before.into_iter().filter(|other| is_inside(other, deleted)) {
                self.delete_with_container(inner, deleted, step);
            }
        }
    }

    fn delete_early(&mut self, root: NodeId, deleted: &'a Resource, ready: &[StepId]) -> StepId {
        let copy = deleted.copy();
        let node = self.early_deletions.copies.get(&copy).copied().flatten();
        let before = self.early_deletions.before.get(&copy).into_iter().flatten();
        let mut after: Vec<StepId> =
            before.filter_map(|other| self.early_steps.get(&other.copy())).copied().collect();
        after.extend(ready);
        after.extend(node.and_then(|node| self.names.free[node.index()]));
        after.extend(self.names.parked.get(&copy.uid));
        after.sort_unstable();
        after.dedup();
        let condemned = deleted.lifecycle == Lifecycle::Condemned;
        let after_delete = if condemned { AfterDelete::Gone } else { AfterDelete::Replacing };
        let retained = self.planner.retains(node, deleted);
        let (action, why) = match (retained, node) {
            (true, _) => (Action::Forget { copy: copy.clone(), after_delete }, Why::RetainedNameConflict),
            (false, _) if condemned => (Action::Delete { copy: copy.clone(), after_delete }, Why::LeftOver),
            (false, Some(_)) => (Action::Delete { copy: copy.clone(), after_delete }, Why::OldCopy),
            (false, None) => (Action::Delete { copy: copy.clone(), after_delete }, Why::Removed),
        };
        let decided =
            |id: NodeId| self.planner.decided[id.index()].as_ref().map(|decided| decided.changes.clone());
        let cause = node.or((!self.early_deletions.removed.contains(&copy)).then_some(root));
        let changes = cause.and_then(decided).unwrap_or_default();
        if node.is_none() && !condemned {
            self.summary.delete += 1;
        }
        let about = (deleted.name.clone(), deleted.ty.clone(), deleted.source.clone());
        let step = self.push(about, action, why, changes, after, node);
        self.early_steps.insert(copy, step);
        step
    }

    /// Adds the step for a resource that is deleted with its container and needs no call.
    fn delete_with_container(
        &mut self,
        inner: &'a Resource,
        container: &'a Resource,
        container_deleted: StepId,
    ) {
        let copy = inner.copy();
        if self.early_steps.contains_key(&copy) {
            return;
        }
        let node = self.early_deletions.copies.get(&copy).copied().flatten();
        let mut after = vec![container_deleted];
        after.extend(node.and_then(|node| self.names.free[node.index()]));
        after.extend(self.names.parked.get(&copy.uid));
        let before = self.early_deletions.before.get(&copy).into_iter().flatten();
        after.extend(before.filter_map(|other| self.early_steps.get(&other.copy())));
        after.sort_unstable();
        after.dedup();
        let after_delete = match inner.lifecycle {
            Lifecycle::Condemned => AfterDelete::Gone,
            _ => AfterDelete::Replacing,
        };
        let action = Action::Forget { copy: copy.clone(), after_delete };
        let why = Why::DeletedWithContainer { name: container.name.clone() };
        let about = (inner.name.clone(), inner.ty.clone(), inner.source.clone());
        let step = self.push(about, action, why, Vec::new(), after, node);
        self.early_steps.insert(copy, step);
    }
}

fn is_inside(inner: &Resource, container: &Resource) -> bool {
    inner.ties.deleted_with.as_ref() == Some(&container.uid) && is_in(inner, container)
}
