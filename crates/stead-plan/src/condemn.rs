//! Delete-first replacements: what has to go before its replacement is made, and what has to go before that.
//!
//! A dependant that must be replaced itself cannot outlive what it was made with, so it goes first and is made
//! again afterwards; one that is gone from the program, or an old copy left over, goes first too.

use std::collections::{HashMap, HashSet};

use stead_model::{CopyRef, Lifecycle, NodeId, Resource, Uid};
use stead_schema::ReplaceOrder;
use stead_state::AfterDelete;

use crate::deletions::is_in;
use crate::judge::{Decision, Replacement};
use crate::plan::{Action, Certainty, StepId, Why};
use crate::planner::Planner;
use crate::steps::Assembly;

/// Everything that goes early.
#[derive(Default)]
pub(crate) struct Condemned<'a> {
    /// The copies that go early, and the declared resources they are copies of.
    copies: HashMap<CopyRef, Option<NodeId>>,
    /// For each of them, what must have gone before.
    before: HashMap<CopyRef, Vec<&'a Resource>>,
    nodes: HashSet<NodeId>,
    /// Those that others had to go before: too late to find out that it was not necessary.
    settled: HashSet<NodeId>,
}

impl<'a> Condemned<'a> {
    pub(crate) fn of(planner: &Planner<'a>) -> Condemned<'a> {
        let mut condemned = Condemned::default();
        let roots: Vec<(NodeId, &'a Resource)> =
            planner.graph.ids().filter_map(|id| delete_first(planner, id)).collect();
        if roots.is_empty() {
            return condemned;
        }
        let declared: HashMap<&Uid, NodeId> =
            planner.graph.ids().filter_map(|id| Some((&planner.old(id)?.uid, id))).collect();
        let dependants = dependants(planner);
        let mut todo: Vec<&'a Resource> = Vec::new();
        for (id, old) in roots {
            condemned.add(old, Some(id));
            todo.push(old);
        }
        while let Some(going) = todo.pop() {
            for &dependant in dependants.get(&going.copy()).into_iter().flatten() {
                let node = declared.get(&dependant.uid).copied();
                if !must_go(planner, going, dependant, node) {
                    continue;
                }
                condemned.before.entry(going.copy()).or_default().push(dependant);
                condemned.settled.extend(condemned.copies.get(&going.copy()).copied().flatten());
                condemned.settled.extend(node);
                if !condemned.copies.contains_key(&dependant.copy()) {
                    condemned.add(dependant, node);
                    todo.push(dependant);
                }
            }
        }
        condemned
    }

    fn add(&mut self, copy: &Resource, node: Option<NodeId>) {
        self.copies.insert(copy.copy(), node);
        if copy.lifecycle != Lifecycle::Condemned {
            self.nodes.extend(node);
        }
    }

    pub(crate) fn is_early(&self, id: NodeId) -> bool {
        self.nodes.contains(&id)
    }

    pub(crate) fn certainty(&self, id: NodeId, judged: Certainty) -> Certainty {
        if self.settled.contains(&id) { Certainty::Certain } else { judged }
    }
}

fn delete_first<'a>(planner: &Planner<'a>, id: NodeId) -> Option<(NodeId, &'a Resource)> {
    #[cfg(stead_planted)]
    if stead_model::planted::is("delete-first-ignored") {
        return None;
    }
    match &planner.decided[id.index()].as_ref()?.decision {
        Decision::Replace(Replacement { order: ReplaceOrder::DeleteFirst, .. }) => {
            Some((id, planner.old(id)?))
        }
        _ => None,
    }
}

/// Who was made with each copy, is in it, or is served by it.
fn dependants<'a>(planner: &Planner<'a>) -> HashMap<CopyRef, Vec<&'a Resource>> {
    let base = planner.base;
    let mut dependants: HashMap<CopyRef, Vec<&'a Resource>> = HashMap::new();
    for resource in base.resources() {
        let inside = resource.ties.deleted_with.as_ref().and_then(|uid| base.current(uid));
        let inside = inside.filter(|container| is_in(resource, container));
        let made_with = resource.dependencies.iter().filter_map(|copy| base.resolve(copy));
        let served_by = resource.ties.provider.as_ref().and_then(|copy| base.resolve(copy));
        let mut needs: Vec<CopyRef> = made_with.chain(inside).chain(served_by).map(Resource::copy).collect();
        needs.sort_unstable();
        needs.dedup();
        needs.into_iter().for_each(|need| dependants.entry(need).or_default().push(resource));
    }
    dependants
}

fn must_go(planner: &Planner<'_>, going: &Resource, dependant: &Resource, node: Option<NodeId>) -> bool {
    if dependant.lifecycle == Lifecycle::Condemned {
        return node.map_or_else(
            || planner.selected.touches_removed(&dependant.uid),
            |id| planner.selected.touches(id),
        ) && !planner.retains(node, dependant);
    }
    if dependant.lifecycle == Lifecycle::Replacing {
        return false;
    }
    let Some(id) = node else {
        return planner.selected.touches_removed(&dependant.uid)
            && !planner.retains(None, dependant)
            && !is_inside(dependant, going);
    };
    let replaced = matches!(
        planner.decided[id.index()].as_ref().map(|decided| &decided.decision),
        Some(Decision::Replace(_))
    );
    let comes_from = dependant.property_dependencies.values().flatten().any(|uid| *uid == going.uid);
    let served = dependant.ties.provider.as_ref().is_some_and(|provider| provider.uid == going.uid);
    replaced && (comes_from || served || is_inside(dependant, going))
}

impl<'a> Assembly<'_, 'a> {
    /// Takes the old copy of a declared resource away, after everything that must go before it.
    pub(crate) fn take_away(&mut self, root: NodeId, old: &'a Resource, ready: &[StepId]) {
        let mut todo: Vec<(&'a Resource, bool)> = vec![(old, false)];
        while let Some((going, others_gone)) = todo.pop() {
            let copy = going.copy();
            if self.early.contains_key(&copy) {
                continue;
            }
            let before = self.condemned.before.get(&copy).cloned().unwrap_or_default();
            if !others_gone {
                todo.push((going, true));
                let outside = before.iter().filter(|other| !is_inside(other, going));
                todo.extend(outside.map(|other| (*other, false)));
                // What depends on something in it cannot stay either.
                for inner in before.iter().filter(|other| is_inside(other, going)) {
                    let theirs = self.condemned.before.get(&inner.copy()).cloned().unwrap_or_default();
                    todo.extend(
                        theirs
                            .into_iter()
                            .filter(|other| !is_inside(other, going))
                            .map(|other| (other, false)),
                    );
                }
                continue;
            }
            let step = self.delete_early(root, going, ready);
            for inner in before.into_iter().filter(|other| is_inside(other, going)) {
                self.lose(inner, going, step);
            }
        }
    }

    fn delete_early(&mut self, root: NodeId, going: &'a Resource, ready: &[StepId]) -> StepId {
        let copy = going.copy();
        let node = self.condemned.copies.get(&copy).copied().flatten();
        let before = self.condemned.before.get(&copy).into_iter().flatten();
        let mut after: Vec<StepId> =
            before.filter_map(|other| self.early.get(&other.copy())).copied().collect();
        after.extend(ready);
        after.extend(node.and_then(|node| self.names.free[node.index()]));
        after.extend(self.names.parked.get(&copy.uid));
        after.sort_unstable();
        after.dedup();
        let condemned = going.lifecycle == Lifecycle::Condemned;
        let after_delete = if condemned { AfterDelete::Gone } else { AfterDelete::Replacing };
        let retained = self.planner.retains(node, going);
        let (action, why) = match (retained, node) {
            (true, _) => (Action::Forget { copy: copy.clone(), after_delete }, Why::InTheWay),
            (false, _) if condemned => (Action::Delete { copy: copy.clone(), after_delete }, Why::LeftOver),
            (false, Some(_)) => (Action::Delete { copy: copy.clone(), after_delete }, Why::OldCopy),
            (false, None) => (Action::Delete { copy: copy.clone(), after_delete }, Why::Removed),
        };
        let decided =
            |id: NodeId| self.planner.decided[id.index()].as_ref().map(|decided| decided.changes.clone());
        let changes = node.or(Some(root)).and_then(decided).unwrap_or_default();
        if node.is_none() && !condemned {
            self.summary.delete += 1;
        }
        let about = (going.name.clone(), going.resource.clone(), going.source.clone());
        let step = self.push(about, action, why, changes, after, node);
        self.early.insert(copy, step);
        step
    }

    /// It was in something that is deleted now: it needs no call, and is made again.
    fn lose(&mut self, inner: &'a Resource, container: &'a Resource, gone: StepId) {
        let copy = inner.copy();
        if self.early.contains_key(&copy) {
            return;
        }
        let node = self.condemned.copies.get(&copy).copied().flatten();
        let mut after = vec![gone];
        after.extend(node.and_then(|node| self.names.free[node.index()]));
        after.extend(self.names.parked.get(&copy.uid));
        let before = self.condemned.before.get(&copy).into_iter().flatten();
        after.extend(before.filter_map(|other| self.early.get(&other.copy())));
        after.sort_unstable();
        after.dedup();
        let after_delete = match inner.lifecycle {
            Lifecycle::Condemned => AfterDelete::Gone,
            _ => AfterDelete::Replacing,
        };
        let action = Action::Forget { copy: copy.clone(), after_delete };
        let why = Why::GoneWith { name: container.name.clone() };
        let about = (inner.name.clone(), inner.resource.clone(), inner.source.clone());
        let step = self.push(about, action, why, Vec::new(), after, node);
        self.early.insert(copy, step);
    }
}

fn is_inside(inner: &Resource, container: &Resource) -> bool {
    inner.ties.deleted_with.as_ref() == Some(&container.uid) && is_in(inner, container)
}
