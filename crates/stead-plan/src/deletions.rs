//! Deletions come last: after everything that is wanted is there, dependants before what they depend on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use stead_model::{CopyRef, Lifecycle, NodeId, Resource, Uid};
use stead_schema::{Change, ReplaceOrder};
use stead_state::AfterDelete;

use crate::plan::{Action, Purpose, StepId, Why};
use crate::planner::Decision;
use crate::steps::Assembly;

/// A copy that has to go.
struct Doomed<'a> {
    resource: &'a Resource,
    why: Why,
    node: Option<NodeId>,
    changes: Vec<Change>,
}

pub(crate) fn deletions(assembly: &mut Assembly<'_, '_>) {
    let doomed = doomed(assembly);
    if doomed.is_empty() {
        return;
    }
    let wanted: Vec<StepId> = (0..assembly.steps.len()).map(StepId).collect();
    let barrier = barrier(assembly, &doomed, wanted);
    let mut steps: BTreeMap<usize, StepId> = BTreeMap::new();
    let order = Order::of(assembly, &doomed);
    for index in order.sorted() {
        let Doomed { resource, why, node, changes } = &doomed[index];
        let mut after: Vec<StepId> =
            order.dependants[index].iter().filter_map(|i| steps.get(i)).copied().collect();
        after.extend(barrier);
        after.sort_unstable();
        let action = match resource.lifecycle {
            Lifecycle::Replacing => Action::Forget { copy: resource.copy() },
            _ => Action::Delete { copy: resource.copy(), after_delete: AfterDelete::Gone },
        };
        let about = (resource.name.clone(), resource.resource.clone(), resource.source.clone());
        let step = assembly.push(about, action, why.clone(), changes.clone(), after, *node);
        steps.insert(index, step);
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
    let mut removed = 0;
    let removal = match planner.purpose {
        Purpose::Up => Why::Removed,
        Purpose::Destroy => Why::Destroyed,
    };
    for resource in planner.base.copies() {
        let node = declared.get(&resource.uid).copied();
        let decided = node.and_then(|id| planner.decided[id.index()].as_ref());
        let (why, changes) = match (resource.lifecycle, decided) {
            (Lifecycle::Condemned, _) => (Why::LeftOver, Vec::new()),
            (_, None) => {
                removed += 1;
                (removal.clone(), Vec::new())
            }
            (Lifecycle::Live, Some(decided))
                if decided.decision == Decision::Replace(ReplaceOrder::CreateFirst) =>
            {
                (Why::OldCopy, decided.changes.clone())
            }
            _ => continue,
        };
        doomed.push(Doomed { resource, why, node, changes });
    }
    assembly.summary.delete += removed;
    doomed.sort_by(|a, b| a.resource.place().cmp(&b.resource.place()));
    doomed
}

/// For each doomed copy, the doomed ones that depend on it and so must go first.
struct Order {
    dependants: Vec<BTreeSet<usize>>,
}

impl Order {
    fn of(assembly: &Assembly<'_, '_>, doomed: &[Doomed<'_>]) -> Order {
        let by_copy: HashMap<CopyRef, usize> =
            doomed.iter().enumerate().map(|(index, doomed)| (doomed.resource.copy(), index)).collect();
        let mut dependants = vec![BTreeSet::new(); doomed.len()];
        for (index, Doomed { resource, .. }) in doomed.iter().enumerate() {
            for dependency in &resource.dependencies {
                let meant = assembly.planner.base.resolve(dependency).map(Resource::copy);
                if let Some(dependency) = meant.and_then(|copy| by_copy.get(&copy)) {
                    dependants[*dependency].insert(index);
                }
            }
        }
        Order { dependants }
    }

    /// Dependants first; among the free ones, by name.
    fn sorted(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = self.dependants.iter().map(BTreeSet::len).collect();
        let mut needs: Vec<Vec<usize>> = vec![Vec::new(); waiting.len()];
        for (index, dependants) in self.dependants.iter().enumerate() {
            dependants.iter().for_each(|dependant| needs[*dependant].push(index));
        }
        let mut free: BinaryHeap<Reverse<usize>> =
            (0..waiting.len()).filter(|index| waiting[*index] == 0).map(Reverse).collect();
        let mut sorted = Vec::with_capacity(waiting.len());
        while let Some(Reverse(index)) = free.pop() {
            sorted.push(index);
            for &need in &needs[index] {
                waiting[need] -= 1;
                if waiting[need] == 0 {
                    free.push(Reverse(need));
                }
            }
        }
        sorted
    }
}
