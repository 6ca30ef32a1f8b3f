//! Repair proposals for a state that breaks a rule. Each proposal is a complete new snapshot.
//!
//! **Invariants:** a proposal adds no information, lists everything that it removes, and breaks no rule.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::Serialize;
use stead_model::{CopyRef, Generation, Name, OpId, Resource, Uid};

use crate::rules::{SnapshotView, StateView as _, is_current};
use crate::{Intent, Snapshot, verify};

/// How a proposal was derived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "way")]
pub enum RepairMethod {
    /// Lists are sorted and counters raised. No information is removed.
    Sort,
    /// References to missing resources, and operations on them, are removed.
    Prune { left_out: Vec<String> },
    /// The last snapshot, with the journal after it folded as far as it is readable.
    Rebuild { folded: usize, unreadable: Option<String> },
    /// The snapshot at the end of an earlier run.
    History { run: String },
}

/// A state that breaks no rule, proposed in place of one that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub method: RepairMethod,
    pub snapshot: Snapshot,
}

/// A difference between two snapshots in one copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    Added { name: Name, generation: Generation },
    Removed { name: Name, generation: Generation },
    Changed { name: Name, generation: Generation },
}

/// Returns the proposals that can be derived from the broken state alone.
pub fn propose_repairs(broken: &Snapshot) -> Vec<Proposal> {
    let sorted = sorted(broken.clone());
    let (pruned, left_out) = pruned(sorted.clone());
    let candidates = [(RepairMethod::Sort, sorted), (RepairMethod::Prune { left_out }, pruned)];
    let valid = candidates.into_iter().filter(|(_, snapshot)| verify(snapshot).is_empty());
    // Pruning is proposed only if sorting is not enough.
    valid.map(|(method, snapshot)| Proposal { method, snapshot }).take(1).collect()
}

/// Returns the differences between two snapshots, sorted by name.
pub fn compare(before: &Snapshot, after: &Snapshot) -> Vec<Difference> {
    let by_copy = |snapshot: &Snapshot| -> BTreeMap<(Name, CopyRef), Arc<Resource>> {
        let keyed = |resource: &Arc<Resource>| ((resource.name.clone(), resource.copy()), resource.clone());
        snapshot.resources.iter().map(keyed).collect()
    };
    let (before, after) = (by_copy(before), by_copy(after));
    let keys: BTreeSet<&(Name, CopyRef)> = before.keys().chain(after.keys()).collect();
    let mut differences = Vec::new();
    for key in keys {
        let (name, generation) = (key.0.clone(), key.1.generation);
        match (before.get(key), after.get(key)) {
            (None, Some(_)) => differences.push(Difference::Added { name, generation }),
            (Some(_), None) => differences.push(Difference::Removed { name, generation }),
            (Some(old), Some(new)) if old != new => {
                differences.push(Difference::Changed { name, generation });
            }
            _ => {}
        }
    }
    differences
}

/// Returns the snapshot with sorted lists, without duplicates and with raised counters.
fn sorted(mut snapshot: Snapshot) -> Snapshot {
    for resource in snapshot.resources.iter_mut().map(Arc::make_mut) {
        sort(&mut resource.dependencies);
        sort(&mut resource.ties.replace_with);
        sort(&mut resource.ties.aliases);
        resource.property_dependencies.values_mut().for_each(sort);
    }
    snapshot.resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    snapshot.resources.dedup();
    snapshot.pending.sort_by_key(|pending| pending.op);
    snapshot.pending.dedup();
    let version = snapshot.resources.iter().map(|resource| resource.version).max().unwrap_or_default();
    snapshot.serial = snapshot.serial.max(version);
    let uids: HashSet<&Uid> = snapshot.resources.iter().map(|resource| &resource.uid).collect();
    snapshot.uids = snapshot.uids.max(uids.len() as u64);
    let beyond = snapshot.pending.last().map_or(OpId(0), |pending| pending.op.next());
    snapshot.next_op = snapshot.next_op.max(beyond);
    snapshot
}

fn sort<T: Ord>(list: &mut Vec<T>) {
    list.sort_unstable();
    list.dedup();
}

/// Returns the snapshot without references to missing resources, and a description of each removed reference.
///
/// One pass is enough, because removing a reference does not invalidate another.
fn pruned(mut snapshot: Snapshot) -> (Snapshot, Vec<String>) {
    let before = snapshot.clone();
    let view = SnapshotView::of(&before);
    let mut left_out = Vec::new();
    for resource in snapshot.resources.iter_mut().map(Arc::make_mut) {
        let name = resource.name.clone();
        let current = is_current(resource);
        let mut drop = |reference: String| left_out.push(format!("{name}: {reference}"));
        resource.dependencies.retain(|copy| {
            let keep = view.resolve(copy).is_some();
            if !keep {
                drop(format!("its dependency on {copy}"));
            }
            keep
        });
        let known: BTreeSet<&Uid> = resource.dependencies.iter().map(|copy| &copy.uid).collect();
        for (property, sources) in &mut resource.property_dependencies {
            sources.retain(|uid| {
                let keep = known.contains(uid);
                if !keep {
                    drop(format!("the source {uid} of its `{property}`"));
                }
                keep
            });
        }
        resource.property_dependencies.retain(|_, sources| !sources.is_empty());
        let ties = &mut resource.ties;
        if let Some(provider) = ties.provider.take_if(|copy| view.resolve(copy).is_none()) {
            drop(format!("its provider {provider}"));
        }
        let gone = |uid: &Uid| view.newest(uid).is_none();
        if let Some(uid) = ties.parent.take_if(|uid| gone(uid)) {
            drop(format!("its parent {uid}"));
        }
        if let Some(uid) = ties.deleted_with.take_if(|uid| gone(uid)) {
            drop(format!("its `deletedWith` {uid}"));
        }
        for uid in ties.replace_with.extract_if(.., |uid| gone(uid)) {
            drop(format!("its `replaceWith` {uid}"));
        }
        let others = |alias: &Name| view.alias_holders(alias).first() != Some(&&resource.uid);
        for alias in ties.aliases.extract_if(.., |alias| current && (*alias == name || others(alias))) {
            drop(format!("its alias {alias}"));
        }
    }
    snapshot.pending.retain(|pending| {
        let keep = match &pending.intent {
            Intent::Create { .. } => true,
            Intent::Update { resource, .. } => view.copy(&resource.copy()).is_some(),
            Intent::Delete { copy, .. } => view.copy(copy).is_some(),
        };
        if !keep {
            let (verb, copy) = (pending.intent.operation().verb(), pending.intent.copy());
            left_out.push(format!("operation {}: the {verb} of {copy}", pending.op));
        }
        keep
    });
    (snapshot, left_out)
}

#[cfg(test)]
mod tests {
    use stead_model::{Lifecycle, StackId, Ties};

    use super::*;
    use crate::rules::tests::{copy, depends, resource, tied, uid};
    use crate::{AfterDelete, Pending};

    fn snapshot(resources: Vec<Resource>) -> Snapshot {
        Snapshot { uids: 9, ..Snapshot::empty(StackId("s".into())).with(resources) }
    }

    #[test]
    fn unsorted_lists_are_sorted_without_removing_anything() {
        let unsorted = depends(depends(resource("c", 1), "b", 1), "a", 1);
        let broken = Snapshot { uids: 1, ..snapshot(vec![unsorted, resource("b", 1), resource("a", 1)]) };
        assert!(!verify(&broken).is_empty());
        let proposals = propose_repairs(&broken);
        assert_eq!(proposals.len(), 1);
        assert_eq!(proposals[0].method, RepairMethod::Sort);
        assert_eq!(proposals[0].snapshot.uids, 3);
        let changed: Vec<Difference> = compare(&broken, &proposals[0].snapshot);
        let c = resource("c", 1).name;
        assert_eq!(changed, [Difference::Changed { name: c, generation: Generation(1) }]);
    }

    #[test]
    fn references_to_missing_resources_are_removed_and_listed() {
        let ties = Ties {
            parent: Some(uid("gone")),
            provider: Some(copy("gone", 1)),
            deleted_with: Some(uid("gone")),
            replace_with: vec![uid("a"), uid("gone")],
            aliases: vec![resource("b", 1).name],
        };
        let mut odd = depends(depends(tied(resource("b", 1), ties), "a", 1), "gone", 1);
        odd.property_dependencies =
            [("x".to_owned(), vec![uid("a"), uid("gone")]), ("y".to_owned(), vec![uid("gone")])].into();
        let intent = Intent::Delete { key: "k".into(), copy: copy("gone", 1), after: AfterDelete::Gone };
        let known = Intent::Delete { key: "l".into(), copy: copy("a", 1), after: AfterDelete::Gone };
        let pending = [(1, intent), (2, known)];
        let pending = pending.map(|(op, intent)| Pending::new(OpId(op), intent)).to_vec();
        let broken = Snapshot { pending, next_op: OpId(3), ..snapshot(vec![resource("a", 1), odd]) };
        let proposals = propose_repairs(&broken);
        let RepairMethod::Prune { left_out } = &proposals[0].method else { panic!("{proposals:?}") };
        let b = resource("b", 1).name;
        let of_b = [
            "its dependency on uid-gone@1",
            "the source uid-gone of its `x`",
            "the source uid-gone of its `y`",
            "its provider uid-gone@1",
            "its parent uid-gone",
            "its `deletedWith` uid-gone",
            "its `replaceWith` uid-gone",
            "its alias dev:main:t.T#b",
        ];
        let mut expected: Vec<String> = of_b.iter().map(|reference| format!("{b}: {reference}")).collect();
        expected.push("operation 1: the delete of uid-gone@1".to_owned());
        assert_eq!(*left_out, expected);
        let kept = &proposals[0].snapshot.resources[1];
        assert_eq!(kept.dependencies, [copy("a", 1)]);
        assert_eq!(kept.property_dependencies, [("x".to_owned(), vec![uid("a")])].into());
        assert_eq!(kept.ties, Ties { replace_with: vec![uid("a")], ..Ties::default() });
        assert_eq!(proposals[0].snapshot.pending.len(), 1);
    }

    #[test]
    fn shared_alias_stays_with_one_resource_and_all_its_copies() {
        let formerly = |short: &str, generation: u32| {
            let aliases = vec![resource("old", 1).name];
            tied(resource(short, generation), Ties { aliases, ..Ties::default() })
        };
        let condemned = Resource { lifecycle: Lifecycle::Condemned, ..formerly("a", 1) };
        let broken = snapshot(vec![condemned, formerly("a", 2), formerly("b", 1)]);
        let proposals = propose_repairs(&broken);
        let left_out = vec![format!("{}: its alias dev:main:t.T#old", resource("b", 1).name)];
        assert_eq!(proposals[0].method, RepairMethod::Prune { left_out });
    }

    #[test]
    fn compare_lists_added_removed_and_changed_copies_by_name() {
        let before = snapshot(vec![resource("a", 1), resource("b", 1), resource("c", 1)]);
        let after = snapshot(vec![resource("b", 1), depends(resource("c", 1), "b", 1), resource("d", 1)]);
        let (name, generation) = (|short: &str| resource(short, 1).name, Generation(1));
        let expected = [
            Difference::Removed { name: name("a"), generation },
            Difference::Changed { name: name("c"), generation },
            Difference::Added { name: name("d"), generation },
        ];
        assert_eq!(compare(&before, &after), expected);
    }

    #[test]
    fn ambiguous_repair_is_not_proposed() {
        let cycle = vec![depends(resource("a", 1), "b", 1), depends(resource("b", 1), "a", 1)];
        assert!(propose_repairs(&snapshot(cycle)).is_empty());
        let two = vec![resource("a", 1), resource("a", 2)];
        assert!(propose_repairs(&snapshot(two)).is_empty());
        let without_id = vec![Resource { lifecycle: Lifecycle::Live, id: None, ..resource("a", 1) }];
        assert!(propose_repairs(&snapshot(without_id)).is_empty());
    }
}
