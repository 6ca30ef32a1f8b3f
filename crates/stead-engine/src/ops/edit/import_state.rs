//! Import of state: the records of an export take the place of the recorded ones.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use stead_journal::{JournalError, StackKeys};
use stead_model::{Name, PhysicalId, Resource, RunId, StackId, TypeToken};
use stead_state::{Origin, RetainReason, Retained, Snapshot, State, verify};

use super::forget::forgotten;
use super::import_review::{Accepts, ImportReview, Lineage};
use super::{EditChange, ProposedEdit, Work};
use crate::finish_transfers;
use crate::ops::error::reserved_key;
use crate::ops::{OpError, Workspace};

impl Workspace {
    /// The resources of the snapshot get names of this environment; others would never be found.
    pub(super) async fn import_state(
        &self,
        snapshot: Snapshot,
        origin: Option<&Origin>,
        accepts: Accepts,
    ) -> Result<ProposedEdit, OpError> {
        let (stack, serial) = (snapshot.stack.clone(), snapshot.serial);
        let mut snapshot = snapshot.in_environment(self.environment());
        no_reserved_key(&snapshot)?;
        // Secrets in the clear are sealed when the import is applied.
        let mut violations = verify(&snapshot);
        violations.retain(|violation| violation.rule != "S23" || !snapshot.has_unsealed_secrets());
        if !violations.is_empty() {
            return Err(JournalError::Integrity(violations).into());
        }
        finish_transfers(&self.stack).await?;
        let loaded = self.load().await?;
        let state = loaded.state.clone();
        let sent_again = self.adopt_secrets(&mut snapshot, &state).await?;
        // An export of an earlier version tells no places, and this stack has not moved since.
        if snapshot.places.is_empty() && stack == *state.stack() {
            snapshot.places.clone_from(state.places());
        }
        let lineage = self.lineage(&stack, &state, origin);
        let matched = Matched::of(&state.snapshot(None), &snapshot);
        let records = matched.changes(&state, &snapshot);
        let (recorded, imported) = (state.len(), snapshot.resources.len());
        let mut changes = vec![EditChange::Replaced { recorded, imported, lineage }];
        let review = ImportReview::new(&state, &snapshot, accepts)
            .of_lineage(lineage)
            .of_age((state.serial(), serial), &records)
            .of_pairs(&matched.pairs);
        changes.extend(records);
        changes.extend(
            sent_again.into_iter().map(|(name, properties)| EditChange::SentAgain { name, properties }),
        );
        let forgets = matched.removed.iter().map(|resource| resource.as_ref().clone()).collect();
        let edit = self.proposed_on(loaded, Work::ImportState(Box::new(snapshot)), changes);
        Ok(ProposedEdit { forgets, review: Some(Box::new(review)), ..edit })
    }
}

impl Workspace {
    /// Tells whether an export is of this stack. A stack without state has no uuid, so that the names of the file decide.
    fn lineage(&self, exported: &StackId, state: &State, origin: Option<&Origin>) -> Lineage {
        let names_this = |origin: &Origin| {
            StackKeys::new(&origin.project, &origin.environment, &origin.target) == self.stack.keys
        };
        let is_restored = state.stack().0.is_empty() && origin.is_some_and(names_this);
        if exported == state.stack() || is_restored { Lineage::Own } else { Lineage::Other }
    }
}

/// The recorded copies and the imported ones, matched by the real resource that they stand for.
pub(super) struct Matched {
    pub(super) pairs: Pairs,
    pub(super) removed: Vec<Arc<Resource>>,
    added: Vec<Arc<Resource>>,
}

impl Matched {
    /// Two copies stand for one real resource if type and id are the same. Names decide between several such copies, and
    /// where no id is known.
    pub(super) fn of(before: &Snapshot, after: &Snapshot) -> Matched {
        let by_name = |copy: &Resource| Some((Some(copy.name.clone()), copy.ty.clone(), copy.id.clone()));
        let by_id = |copy: &Resource| Some((None, copy.ty.clone(), Some(copy.id.clone()?)));
        let (mut pairs, removed, added) = pair(before.resources.clone(), after.resources.clone(), by_name);
        let (renamed, removed, added) = pair(removed, added, by_id);
        pairs.extend(renamed);
        Matched { pairs, removed, added }
    }

    fn changes(&self, before: &State, after: &Snapshot) -> Vec<EditChange> {
        let added = self.added.iter().map(|copy| {
            let (name, ty, id) = described(copy);
            EditChange::Added { name, ty, id }
        });
        let changed = self.pairs.iter().filter_map(|(old, new)| {
            let ((name, ty, id), parts) = (described(new), changed_parts(old, new));
            (!parts.is_empty()).then_some(EditChange::Changed { name, ty, id, parts })
        });
        let removed = self.removed.iter().map(|copy| forgotten(copy));
        let outputs = (*before.outputs() != after.outputs).then_some(EditChange::OutputsChanged);
        removed.chain(changed).chain(added).chain(outputs).collect()
    }
}

/// A name, where names count, with a type and an id.
type Key = (Option<Name>, TypeToken, Option<PhysicalId>);
type Copies = Vec<Arc<Resource>>;
/// Recorded copies with their imported ones.
pub(super) type Pairs = Vec<(Arc<Resource>, Arc<Resource>)>;

/// Returns the pairs with equal keys, and the copies on both sides that are in no pair.
fn pair(before: Copies, after: Copies, key: impl Fn(&Resource) -> Option<Key>) -> (Pairs, Copies, Copies) {
    let mut found: BTreeMap<Key, VecDeque<usize>> = BTreeMap::new();
    for (at, copy) in after.iter().enumerate() {
        if let Some(key) = key(copy) {
            found.entry(key).or_default().push_back(at);
        }
    }
    let (mut pairs, mut unpaired, mut taken) = (Vec::new(), Vec::new(), BTreeSet::new());
    for old in before {
        let at = key(&old).and_then(|key| found.get_mut(&key)?.pop_front());
        match at.and_then(|at| Some((at, after.get(at)?))) {
            Some((at, new)) => {
                taken.insert(at);
                pairs.push((old, new.clone()));
            }
            None => unpaired.push(old),
        }
    }
    let rest = after.into_iter().enumerate().filter(|(at, _)| !taken.contains(at)).map(|(_, copy)| copy);
    (pairs, unpaired, rest.collect())
}

fn described(copy: &Resource) -> (Name, TypeToken, Option<PhysicalId>) {
    (copy.name.clone(), copy.ty.clone(), copy.id.clone())
}

/// Returns the parts of a record that differ. The version is the number of the change, and no part of its own.
fn changed_parts(old: &Resource, new: &Resource) -> Vec<&'static str> {
    let parts = [
        ("name", old.name != new.name),
        ("inputs", old.inputs != new.inputs),
        ("outputs", old.outputs != new.outputs),
        ("prevent-delete", old.prevents_deletion() != new.prevents_deletion()),
        ("deletion-policy", old.recorded_policy() != new.recorded_policy()),
        ("pin", old.pinned != new.pinned),
        ("dependencies", old.dependencies != new.dependencies),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part).collect();
    let same = || Resource { version: old.version, ..new.clone() } == *old;
    if parts.is_empty() && !same() { vec!["record"] } else { parts }
}

/// Returns the imported state with the list of retained resources that the stack must not lose: its own list, and the
/// real resources whose records the import removes.
pub(super) fn retaining(
    mut imported: Snapshot,
    base: Option<&State>,
    removed: &[Resource],
    run: &RunId,
) -> Snapshot {
    let managed: BTreeSet<(TypeToken, PhysicalId)> =
        imported.resources.iter().filter_map(|copy| Some((copy.ty.clone(), copy.id.clone()?))).collect();
    let left = removed.iter().filter_map(|copy| {
        let (name, resource, id) = (copy.name.clone(), copy.ty.clone(), copy.id.clone()?);
        Some(Retained { name, resource, id, reason: RetainReason { run: run.clone(), source: None } })
    });
    let own = base.into_iter().flat_map(State::retained).cloned();
    let all = left.chain(own).chain(std::mem::take(&mut imported.retained));
    let keyed = all.map(|entry| ((entry.resource.clone(), entry.id.clone()), entry));
    let kept: BTreeMap<_, Retained> = keyed.filter(|(key, _)| !managed.contains(key)).collect();
    imported.retained = kept.into_values().collect();
    imported
}

/// Fails if a value of the file looks like a secret: no version that this one reads has written any.
fn no_reserved_key(snapshot: &Snapshot) -> Result<(), OpError> {
    let maps = snapshot.resources.iter().flat_map(|resource| {
        [(resource.name.to_string(), &resource.inputs), (resource.name.to_string(), &resource.outputs)]
    });
    for (what, map) in maps.chain([("the outputs".to_owned(), &snapshot.outputs)]) {
        if let Some((property, _)) = map.iter().find(|(_, value)| value.reserved_path().is_some()) {
            return Err(reserved_key(&format!("`{property}` of {what}")));
        }
    }
    Ok(())
}
