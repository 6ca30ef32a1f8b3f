//! What can be done about a state that breaks its rules: proposals, each a whole new snapshot.
//!
//! Nothing is invented and nothing is dropped unsaid. A proposal that breaks a rule itself is not made.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::Serialize;
use stead_model::{CopyRef, Generation, Name, OpId, Resource, Uid};

use crate::rules::{Look as _, View, is_current};
use crate::{Intent, Snapshot, verify};

/// How a proposal came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "way")]
pub enum Way {
    /// Lists are sorted, and counters put ahead; nothing is left out.
    Sort,
    /// These references and operations, which lead nowhere, are left out.
    Prune { left_out: Vec<String> },
    /// The snapshot that is the base, with the journal after it as far as it can be read.
    Rebuild { folded: usize, unreadable: Option<String> },
    /// As it was at the end of an earlier run.
    History { run: String },
}

/// A sound state to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub way: Way,
    pub snapshot: Snapshot,
}

/// What a proposal changes of one copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    Added { name: Name, generation: Generation },
    Removed { name: Name, generation: Generation },
    Changed { name: Name, generation: Generation },
}

/// The proposals that need nothing but the state itself.
pub fn mend(broken: &Snapshot) -> Vec<Proposal> {
    let sorted = sorted(broken.clone());
    let (pruned, left_out) = pruned(sorted.clone());
    let ways = [(Way::Sort, sorted), (Way::Prune { left_out }, pruned)];
    let sound = ways.into_iter().filter(|(_, snapshot)| verify(snapshot).is_empty());
    // What sorting alone mends needs no pruning.
    sound.map(|(way, snapshot)| Proposal { way, snapshot }).take(1).collect()
}

/// What is different, by name.
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

/// The same, written as it must be.
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

/// The same without references that lead nowhere, and what was left out. One round is enough: leaving out
/// a reference makes no other one lead nowhere.
fn pruned(mut snapshot: Snapshot) -> (Snapshot, Vec<String>) {
    let before = snapshot.clone();
    let view = View::of(&before);
    let mut left_out = Vec::new();
    for resource in snapshot.resources.iter_mut().map(Arc::make_mut) {
        let name = resource.name.clone();
        let current = is_current(resource);
        let mut drop = |what: String| left_out.push(format!("{name}: {what}"));
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
                    drop(format!("that `{property}` comes from {uid}"));
                }
                keep
            });
        }
        resource.property_dependencies.retain(|_, sources| !sources.is_empty());
        let ties = &mut resource.ties;
        if let Some(provider) = ties.provider.take_if(|copy| view.resolve(copy).is_none()) {
            drop(format!("that {provider} serves it"));
        }
        let gone = |uid: &Uid| view.newest(uid).is_none();
        if let Some(uid) = ties.parent.take_if(|uid| gone(uid)) {
            drop(format!("its parent {uid}"));
        }
        if let Some(uid) = ties.deleted_with.take_if(|uid| gone(uid)) {
            drop(format!("that it is deleted with {uid}"));
        }
        for uid in ties.replace_with.extract_if(.., |uid| gone(uid)) {
            drop(format!("that it is replaced with {uid}"));
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
    fn what_is_out_of_order_is_sorted_and_nothing_is_left_out() {
        let unsorted = depends(depends(resource("c", 1), "b", 1), "a", 1);
        let broken = Snapshot { uids: 1, ..snapshot(vec![unsorted, resource("b", 1), resource("a", 1)]) };
        assert!(!verify(&broken).is_empty());
        let proposals = mend(&broken);
        assert_eq!(proposals.len(), 1);
        assert_eq!(proposals[0].way, Way::Sort);
        assert_eq!(proposals[0].snapshot.uids, 3);
        let changed: Vec<Difference> = compare(&broken, &proposals[0].snapshot);
        let c = resource("c", 1).name;
        assert_eq!(changed, [Difference::Changed { name: c, generation: Generation(1) }]);
    }

    #[test]
    fn what_leads_nowhere_is_left_out_and_named() {
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
        let pending = pending.map(|(op, intent)| Pending { op: OpId(op), intent, doubt: None }).to_vec();
        let broken = Snapshot { pending, next_op: OpId(3), ..snapshot(vec![resource("a", 1), odd]) };
        let proposals = mend(&broken);
        let Way::Prune { left_out } = &proposals[0].way else { panic!("{proposals:?}") };
        let b = resource("b", 1).name;
        let of_b = [
            "its dependency on uid-gone@1",
            "that `x` comes from uid-gone",
            "that `y` comes from uid-gone",
            "that uid-gone@1 serves it",
            "its parent uid-gone",
            "that it is deleted with uid-gone",
            "that it is replaced with uid-gone",
            "its alias dev:main:t.T#b",
        ];
        let mut expected: Vec<String> = of_b.iter().map(|what| format!("{b}: {what}")).collect();
        expected.push("operation 1: the delete of uid-gone@1".to_owned());
        assert_eq!(*left_out, expected);
        let kept = &proposals[0].snapshot.resources[1];
        assert_eq!(kept.dependencies, [copy("a", 1)]);
        assert_eq!(kept.property_dependencies, [("x".to_owned(), vec![uid("a")])].into());
        assert_eq!(kept.ties, Ties { replace_with: vec![uid("a")], ..Ties::default() });
        assert_eq!(proposals[0].snapshot.pending.len(), 1);
    }

    #[test]
    fn an_alias_stays_with_one_resource_and_with_all_its_copies() {
        let formerly = |short: &str, generation: u32| {
            let aliases = vec![resource("old", 1).name];
            tied(resource(short, generation), Ties { aliases, ..Ties::default() })
        };
        let condemned = Resource { lifecycle: Lifecycle::Condemned, ..formerly("a", 1) };
        let broken = snapshot(vec![condemned, formerly("a", 2), formerly("b", 1)]);
        let proposals = mend(&broken);
        let left_out = vec![format!("{}: its alias dev:main:t.T#old", resource("b", 1).name)];
        assert_eq!(proposals[0].way, Way::Prune { left_out });
    }

    #[test]
    fn what_was_added_removed_and_changed_is_told_by_name() {
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
    fn what_would_need_a_guess_is_not_proposed() {
        let circle = vec![depends(resource("a", 1), "b", 1), depends(resource("b", 1), "a", 1)];
        assert!(mend(&snapshot(circle)).is_empty());
        let two = vec![resource("a", 1), resource("a", 2)];
        assert!(mend(&snapshot(two)).is_empty());
        let nameless = vec![Resource { lifecycle: Lifecycle::Live, id: None, ..resource("a", 1) }];
        assert!(mend(&snapshot(nameless)).is_empty());
    }
}
