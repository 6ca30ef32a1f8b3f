//! Deletions come last: after everything that is wanted is there, dependants before what they depend on.
//!
//! What is deleted with something else needs no call: its record goes once the other one is deleted. Until then the
//! other's record stays, so that no record ever speaks of one that is not there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use stead_model::{CopyRef, Lifecycle, NodeId, Resource, Uid};
use stead_schema::Change;
use stead_state::{AfterDelete, State};

use crate::identity::Identity;
use crate::judge::Decision;
use crate::plan::{Action, StepId, Why};
use crate::request::Purpose;
use crate::steps::Assembly;
use crate::ties;

/// A copy that has to go.
struct Doomed<'a> {
    resource: &'a Resource,
    why: Why,
    node: Option<NodeId>,
    changes: Vec<Change>,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Deleted,
    /// The real thing stays.
    Retained,
    /// The real thing stays, under the name that its replacement has to have.
    InTheWay,
    /// The real thing is gone already; only the record is left.
    OnlyRecord,
}

pub(crate) fn deletions(assembly: &mut Assembly<'_, '_>) {
    let doomed = doomed(assembly);
    if doomed.is_empty() {
        return;
    }
    let wanted: Vec<StepId> = (0..assembly.steps.len()).map(StepId).collect();
    let barrier = barrier(assembly, &doomed, wanted);
    #[cfg(stead_planted)]
    let barrier = barrier.filter(|_| !stead_model::planted::is("deletions-do-not-wait"));
    let base = assembly.planner.base;
    let containers = containers(&doomed);
    let early: HashSet<CopyRef> = assembly.early.keys().cloned().collect();
    let order = Order::of(base, &doomed, &containers, |copy| early.contains(copy));
    let (order, sorted) = match order.sorted() {
        Some(sorted) => (order, sorted),
        None => {
            // Containers that hold what the other ones depend on: then everything is deleted by itself.
            let order = Order::of(base, &doomed, &vec![None; doomed.len()], |copy| early.contains(copy));
            let sorted = order.sorted().unwrap_or_default();
            (order, sorted)
        }
    };
    let mut steps: BTreeMap<Unit, StepId> = BTreeMap::new();
    for unit in sorted {
        let mut after: Vec<StepId> =
            order.before[&unit].iter().filter_map(|unit| steps.get(unit)).copied().collect();
        after.extend(barrier);
        after.extend(assembly.names.parked.get(&doomed[unit.index()].resource.uid));
        after.sort_unstable();
        after.dedup();
        let Doomed { resource, node, changes, .. } = &doomed[unit.index()];
        let (action, why) = order.action(&doomed, unit);
        let about = (resource.name.clone(), resource.resource.clone(), resource.source.clone());
        let step = assembly.push(about, action, why, changes.clone(), after, *node);
        steps.insert(unit, step);
    }
}

/// One step that stands for all that is wanted, so that n deletions do not wait for n creations each.
fn barrier(assembly: &mut Assembly<'_, '_>, doomed: &[Doomed<'_>], wanted: Vec<StepId>) -> Option<StepId> {
    if wanted.len() < 2 {
        return wanted.first().copied();
    }
    let about = doomed.first().map(|first| &first.resource)?;
    let about = (about.name.clone(), about.resource.clone(), about.source.clone());
    Some(assembly.push(about, Action::Gather, Why::Gathering, Vec::new(), wanted, None))
}

fn doomed<'a>(assembly: &mut Assembly<'_, 'a>) -> Vec<Doomed<'a>> {
    let planner = assembly.planner;
    let declared: HashMap<&Uid, NodeId> =
        assembly.existing.iter().map(|(id, copy)| (&copy.uid, *id)).collect();
    let mut doomed = Vec::new();
    for resource in planner.base.copies() {
        let node = declared.get(&resource.uid).copied();
        let touched = match node {
            Some(id) => planner.selected.touches(id),
            None => planner.selected.touches_removed(&resource.uid),
        };
        if !touched {
            assembly.summary.left_alone += usize::from(node.is_none());
        } else if let Some((why, changes, fate)) = verdict(assembly, resource, node) {
            doomed.push(Doomed { resource, why, node, changes, fate });
        }
    }
    for Doomed { why, fate, .. } in &doomed {
        let removed = matches!(why, Why::Removed | Why::Destroyed);
        assembly.summary.delete += usize::from(removed && *fate == Fate::Deleted);
        assembly.summary.forget += usize::from(matches!(fate, Fate::Retained | Fate::InTheWay));
    }
    doomed.sort_by(|a, b| a.resource.place().cmp(&b.resource.place()));
    doomed
}

/// Why a copy has to go, and how; `None`: it stays, or is gone.
fn verdict(
    assembly: &Assembly<'_, '_>,
    copy: &Resource,
    node: Option<NodeId>,
) -> Option<(Why, Vec<Change>, Fate)> {
    let planner = assembly.planner;
    let early = assembly.early.contains_key(&copy.copy());
    let decided = node.and_then(|id| planner.decided[id.index()].as_ref());
    let fate = if planner.retains(node, copy) { Fate::Retained } else { Fate::Deleted };
    let removal = match planner.request.purpose {
        Purpose::Up => Why::Removed,
        Purpose::Destroy => Why::Destroyed,
    };
    Some(match (copy.lifecycle, decided) {
        (Lifecycle::Condemned, _) if early => return None,
        (Lifecycle::Condemned, _) => (Why::LeftOver, Vec::new(), fate),
        (_, None) if early => (Why::OldCopy, Vec::new(), Fate::OnlyRecord),
        (Lifecycle::Replacing, None) => (removal, Vec::new(), Fate::OnlyRecord),
        (Lifecycle::Live, None) => (removal, Vec::new(), fate),
        (Lifecycle::Live, Some(decided)) if !early && matches!(decided.decision, Decision::Replace(_)) => {
            let same = |id| planner.identity(id, copy, &decided.inputs) == Identity::Same;
            let fate = match fate {
                Fate::Retained if node.is_some_and(same) => Fate::InTheWay,
                fate => fate,
            };
            (Why::OldCopy, decided.changes.clone(), fate)
        }
        _ => return None,
    })
}

/// For each doomed copy the one that it goes with, if that is deleted in this run. What an earlier run or somebody
/// outside deleted proves nothing, nor does an old copy left over: then a call makes sure.
fn containers(doomed: &[Doomed<'_>]) -> Vec<Option<usize>> {
    let mut deleted: HashMap<&Uid, usize> = HashMap::new();
    for (index, Doomed { resource, fate, .. }) in doomed.iter().enumerate() {
        if *fate == Fate::Deleted && resource.lifecycle == Lifecycle::Live {
            deleted.insert(&resource.uid, index);
        }
    }
    let container = |Doomed { resource, fate, .. }: &Doomed<'_>| {
        let goes = *fate == Fate::Deleted && resource.lifecycle == Lifecycle::Live;
        let uid = resource.ties.deleted_with.as_ref().filter(|_| goes)?;
        deleted.get(uid).copied().filter(|index| is_in(resource, doomed[*index].resource))
    };
    doomed.iter().map(container).collect()
}

/// Whether it is in this copy of its container. One that was retained may hold it still, after another took its place.
pub(crate) fn is_in(resource: &Resource, container: &Resource) -> bool {
    match resource.dependencies.iter().find(|copy| copy.uid == container.uid) {
        Some(copy) => copy.generation == container.generation,
        // Not on record: only what is there now can be meant.
        None => container.lifecycle == Lifecycle::Live,
    }
}

/// For each doomed copy the outermost one that it goes with, or itself. Every one is walked through once.
fn roots(containers: &[Option<usize>]) -> Vec<usize> {
    let mut roots: Vec<Option<usize>> = vec![None; containers.len()];
    for start in 0..containers.len() {
        let (mut path, mut at) = (vec![start], start);
        // A circle of containers cannot be longer than all of them.
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

/// One thing that happens to a doomed copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Goes(usize),
    /// The record of a container goes, after the records of what was in it.
    RecordGoes(usize),
}

impl Unit {
    fn index(self) -> usize {
        match self {
            Unit::Goes(index) | Unit::RecordGoes(index) => index,
        }
    }
}

/// For each doomed copy, what must happen before.
struct Order {
    before: BTreeMap<Unit, BTreeSet<Unit>>,
    containers: Vec<Option<usize>>,
    /// Which ones hold others whose records are still there when they are deleted.
    holds: Vec<bool>,
}

impl Order {
    /// `is_early`: which copies are gone by then.
    fn of(
        base: &State,
        doomed: &[Doomed<'_>],
        containers: &[Option<usize>],
        is_early: impl Fn(&CopyRef) -> bool,
    ) -> Order {
        let mut holds = vec![false; doomed.len()];
        for container in containers.iter().flatten() {
            // A copy whose resource lives on leaves nobody without a container.
            let Doomed { resource, node, .. } = &doomed[*container];
            holds[*container] = resource.lifecycle == Lifecycle::Live && node.is_none();
        }
        let last = |index: usize| if holds[index] { Unit::RecordGoes(index) } else { Unit::Goes(index) };
        let mut before: BTreeMap<Unit, BTreeSet<Unit>> = BTreeMap::new();
        for (index, holds) in holds.iter().enumerate() {
            before.insert(Unit::Goes(index), BTreeSet::new());
            if *holds {
                before.insert(Unit::RecordGoes(index), BTreeSet::from([Unit::Goes(index)]));
            }
        }
        let mut add = |unit: Unit, earlier: Unit| {
            if unit != earlier
                && let Some(set) = before.get_mut(&unit)
            {
                set.insert(earlier);
            }
        };
        let roots = roots(containers);
        let root = |index: usize| roots[index];
        let by_copy: HashMap<CopyRef, usize> =
            doomed.iter().enumerate().map(|(index, doomed)| (doomed.resource.copy(), index)).collect();
        for (index, Doomed { resource, .. }) in doomed.iter().enumerate() {
            if let Some(container) = containers[index] {
                add(Unit::Goes(index), Unit::Goes(container));
                if holds[container] {
                    add(last(container), last(index));
                }
            }
            // An old copy of a provider may serve it still, but not one that nothing takes the place of.
            let served =
                resource.ties.provider.as_ref().filter(|_| resource.lifecycle != Lifecycle::Condemned);
            let successor = served.and_then(|provider| base.current(&provider.uid));
            // A copy that is gone stands for the current one, which must not go before this.
            let gone = resource.dependencies.iter().filter(|copy| is_early(copy));
            let stand_ins = gone.filter_map(|copy| base.current(&copy.uid));
            let needs = ties::needs(base, resource).chain(successor).chain(stand_ins);
            for need in needs.filter_map(|need| by_copy.get(&need.copy())) {
                let (inner, outer) = (root(index), root(*need));
                #[cfg(stead_planted)]
                let (inner, outer) = match stead_model::planted::is("dependants-deleted-last") {
                    true => (outer, inner),
                    false => (inner, outer),
                };
                if inner != outer {
                    add(Unit::Goes(outer), Unit::Goes(inner));
                }
                if containers[index] != Some(*need) {
                    add(last(*need), last(index));
                }
            }
        }
        Order { before, containers: containers.to_vec(), holds }
    }

    fn action(&self, doomed: &[Doomed<'_>], unit: Unit) -> (Action, Why) {
        let index = unit.index();
        let Doomed { resource, why, fate, .. } = &doomed[index];
        let copy = resource.copy();
        let gone = AfterDelete::Gone;
        let forget = |why: Why| (Action::Forget { copy: copy.clone(), after_delete: gone }, why);
        let after_delete = if self.holds[index] { AfterDelete::Replacing } else { gone };
        match (unit, fate, self.containers[index]) {
            (Unit::RecordGoes(_), _, _) => forget(Why::OldCopy),
            (_, Fate::OnlyRecord, _) => forget(why.clone()),
            (_, Fate::Retained, _) => forget(Why::Retained),
            (_, Fate::InTheWay, _) => forget(Why::InTheWay),
            (_, _, Some(container)) => {
                let why = Why::GoneWith { name: doomed[container].resource.name.clone() };
                (Action::Forget { copy: copy.clone(), after_delete }, why)
            }
            (_, Fate::Deleted, None) => (Action::Delete { copy: copy.clone(), after_delete }, why.clone()),
        }
    }

    /// Dependants first; among the free ones, by name. `None`: they wait for each other.
    fn sorted(&self) -> Option<Vec<Unit>> {
        let mut waiting: BTreeMap<Unit, usize> =
            self.before.iter().map(|(unit, set)| (*unit, set.len())).collect();
        let mut behind: BTreeMap<Unit, Vec<Unit>> = BTreeMap::new();
        for (unit, earlier) in &self.before {
            earlier.iter().for_each(|earlier| behind.entry(*earlier).or_default().push(*unit));
        }
        let mut free: BinaryHeap<Reverse<Unit>> =
            waiting.iter().filter(|(_, count)| **count == 0).map(|(unit, _)| Reverse(*unit)).collect();
        let mut sorted = Vec::with_capacity(waiting.len());
        while let Some(Reverse(unit)) = free.pop() {
            sorted.push(unit);
            for next in behind.get(&unit).into_iter().flatten() {
                if let Some(count) = waiting.get_mut(next) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(Reverse(*next));
                    }
                }
            }
        }
        (sorted.len() == self.before.len()).then_some(sorted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_container_is_found_however_deep_and_in_whatever_order() {
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
