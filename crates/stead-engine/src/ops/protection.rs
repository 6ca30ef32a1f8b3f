//! The protection that today's program and pinfile add to the recorded one.
//!
//! A mark or a pin counts from the moment at which a person writes it, also for an operation that the program does not declare: a
//! destroy, a rollback, a saved plan. The pinfile finds a resource by its name, so that a pin which only the file has is recorded
//! before the name changes. **Invariant:** nothing here removes protection.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use stead_guard::pins::{PinfileStatus, is_held, physical_path};
use stead_model::{CopyRef, Graph, Lifecycle, Name, Node, Resource};
use stead_plan::{Action, Plan};
use stead_state::{Record, State};

/// A state with the protection of today's program, and the records that lead there.
pub(super) struct Protected {
    pub(super) state: Arc<State>,
    pub(super) records: Vec<Record>,
}

/// Returns the record with its pin, also if only the pinfile has the pin.
pub(super) fn with_pin(resource: &Resource, pins: &PinfileStatus) -> Resource {
    Resource { pinned: resource.pinned || is_held(resource, pins), ..resource.clone() }
}

/// Returns the records that state needs to have every pin of these copies.
pub(super) fn missing_pins<'a>(
    copies: impl Iterator<Item = &'a Resource>,
    pins: &PinfileStatus,
) -> Vec<Record> {
    if !pins.has_entries() {
        return Vec::new();
    }
    let missing = copies.filter(|copy| !copy.pinned && is_held(copy, pins));
    missing.map(|copy| Record::Amend { resource: Box::new(with_pin(copy, pins)) }).collect()
}

/// Adds the pins of the pinfile to the recorded ones.
pub(super) fn protect_listed(Protected { state, mut records }: Protected, pins: &PinfileStatus) -> Protected {
    let mut missing = missing_pins(state.copies(), pins);
    if missing.is_empty() {
        return Protected { state, records };
    }
    let mut protected = state.as_ref().clone();
    missing.retain(|record| protected.apply(record).is_ok());
    records.extend(missing);
    Protected { state: Arc::new(protected), records }
}

/// Adds the marks and pins of the program to the recorded ones.
pub(super) fn protect(state: &Arc<State>, program: Option<&Graph>) -> Protected {
    let Some(program) = program else { return Protected { state: state.clone(), records: Vec::new() } };
    let nodes = program.by_name();
    let mut records = Vec::new();
    for recorded in state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live) {
        let Some((id, node)) = nodes.get(&recorded.name).and_then(|id| Some((*id, program.node(*id)?)))
        else {
            continue;
        };
        let mut resource = recorded.clone();
        if resource.add_protection(&node.effective_marks(), program.pin_setting(id)) {
            records.push(Record::Amend { resource: Box::new(resource) });
        }
    }
    let mut protected = state.as_ref().clone();
    // A record is the copy that it amends with more protection, so that it always applies.
    records.retain(|record| protected.apply(record).is_ok());
    Protected { state: Arc::new(protected), records }
}

/// Returns the pinfile in which a release does not count while today's program pins the resource.
pub(super) fn hold_pins_of(program: Option<&Graph>, state: &State, mut pins: PinfileStatus) -> PinfileStatus {
    let Some(program) = program.filter(|_| pins.has_entries()) else { return pins };
    let nodes = program.by_name();
    let is_pinned =
        |copy: &&Resource| nodes.get(&copy.name).is_some_and(|id| program.pin_setting(*id) == Some(true));
    let paths = state.copies().filter(is_pinned).map(|copy| physical_path(&copy.name, &copy.ty));
    pins.take_back(&paths.collect::<BTreeSet<String>>());
    pins
}

/// Gives the resources of an earlier run the protection that they have now, and returns the resources that keep some.
pub(super) fn keep_protection(graph: &mut Graph, state: &State) -> Vec<Name> {
    let mut kept = Vec::new();
    let live = || state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live);
    let former = live().flat_map(|copy| copy.ties.aliases.iter().map(move |name| (name, copy)));
    let named: HashMap<&Name, &Resource> = former.chain(live().map(|copy| (&copy.name, copy))).collect();
    for node in &mut graph.nodes {
        // A declaration may get the record that has one of its earlier names today.
        let names: Vec<Name> = std::iter::once(&node.name).chain(&node.options.aliases).cloned().collect();
        let current = names.iter().filter_map(|name| named.get(name));
        let gained = current.filter(|current| keep_protection_of(current, node)).count();
        if gained > 0 {
            kept.push(node.name.clone());
        }
    }
    kept
}

/// Gives a declaration the protection of a record. Returns true if it had less.
fn keep_protection_of(current: &Resource, node: &mut Node) -> bool {
    let (now, before) = (current.recorded_marks(), node.effective_marks());
    // Protection of the record itself stays without a mark in the graph.
    let prevents = current.recorded_prevention() && !before.prevents_deletion();
    let retains = now.retains() && !before.retains();
    let pins = current.pinned && node.options.pinned != Some(true);
    if prevents {
        node.marks.prevent_delete = now.prevent_delete;
    }
    if retains {
        node.marks.deletion_policy = now.deletion_policy;
    }
    if pins {
        node.options.pinned = Some(true);
    }
    prevents || retains || pins
}

/// Returns the copies that an approved plan deletes although today's program retains them.
pub(super) fn retained_today<'s>(plan: &Plan, state: &State, protected: &'s State) -> Vec<&'s Resource> {
    let deleted = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Delete { copy, .. } => Some(copy),
        _ => None,
    });
    let policy = |state: &State, copy: &CopyRef| state.copy(copy).and_then(Resource::recorded_policy);
    deleted
        .filter(|copy| policy(state, copy) != policy(protected, copy))
        .filter_map(|copy| protected.copy(copy))
        .collect()
}
