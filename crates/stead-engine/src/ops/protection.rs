//! The protection that today's program and pinfile add to the recorded one.
//!
//! A mark or a pin counts from the moment at which a person writes it, also for an operation that the program does not declare: a
//! destroy, a rollback, a saved plan. The program may have another name for the resource: whatever a plan would take for it, suggest
//! as a rename of it, or could not tell from it protects it. The pinfile finds a resource by its name, so that a pin which only the
//! file has is recorded before the name changes. **Invariant:** nothing here removes protection.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use stead_guard::pins::{PinfileStatus, is_held, physical_path};
use stead_model::{
    CopyRef, Diagnostic, Graph, Hint, Lifecycle, Name, NextStep, Node, NodeId, Resource, SourceRef,
};
use stead_plan::{Action, Counterpart, Counterparts, Likeness, Plan, matches};
use stead_state::{Record, State};

use crate::Engine;

/// Today's program, compared with the records.
pub(super) struct Today<'a> {
    program: &'a Graph,
    counterparts: Counterparts,
}

impl<'a> Today<'a> {
    pub(super) async fn of(state: &State, program: Option<&'a Graph>, engine: &Engine) -> Option<Today<'a>> {
        let program = program?;
        let canonical = engine.canonical_identities(state, program).await;
        let counterparts = Counterparts::of(state, program, &engine.catalog, &canonical);
        Some(Today { program, counterparts })
    }
}

/// A state with the protection of today's program, and the records that lead there.
pub(super) struct Protected {
    pub(super) state: Arc<State>,
    /// Protection by declarations that a plan takes for the resource.
    pub(super) certain: Vec<Record>,
    /// Protection by declarations that may be the resource. It holds during the run, and is recorded for resources that are let go.
    pub(super) supposed: Vec<Record>,
    pub(super) by_other_names: OtherNames,
}

impl Protected {
    /// Returns the records that a run of the plan writes. A plan without steps leaves the records as they are.
    pub(super) fn into_records(self, plan: &Plan) -> impl Iterator<Item = Record> {
        let let_go: HashSet<CopyRef> = plan
            .steps
            .iter()
            .filter_map(|step| match &step.action {
                Action::Delete { copy, .. } | Action::Forget { copy, .. } => Some(copy.clone()),
                _ => None,
            })
            .collect();
        let is_let_go = move |record: &Record| match record {
            Record::Amend { resource } => let_go.contains(&resource.copy()),
            _ => false,
        };
        let certain = self.certain.into_iter().filter({
            let any = !plan.is_empty();
            move |_| any
        });
        certain.chain(self.supposed.into_iter().filter(is_let_go))
    }
}

/// Resources that the program protects under other names, by the recorded names.
#[derive(Clone, Debug, Default)]
pub(super) struct OtherNames(HashMap<Name, OtherName>);

#[derive(Clone, Debug)]
struct OtherName {
    declared: Name,
    source: SourceRef,
    likeness: Likeness,
}

impl OtherNames {
    /// Adds to a refusal the declaration that protects the resource, and why it counts.
    pub(super) fn explain(&self, name: &Name, problem: Diagnostic) -> Diagnostic {
        let Some(OtherName { declared, source, likeness }) = self.0.get(name) else { return problem };
        if likeness.is_certain() {
            return problem.note(format!("The program declares it as {declared} ({source}): {likeness}."));
        }
        let two = Hint::text("if they are two resources, ").then(NextStep::Apply);
        problem
            .note(format!("It may be {declared}, which the program protects ({source}): {likeness}."))
            .help(two.and(" first, which asks whether one was renamed, then try again"))
    }
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
pub(super) fn protect_listed(mut protected: Protected, pins: &PinfileStatus) -> Protected {
    let mut missing = missing_pins(protected.state.copies(), pins);
    if missing.is_empty() {
        return protected;
    }
    let mut state = protected.state.as_ref().clone();
    missing.retain(|record| state.apply(record).is_ok());
    protected.certain.extend(missing);
    Protected { state: Arc::new(state), ..protected }
}

/// Adds the marks and pins of the program to the recorded ones.
pub(super) fn protect(state: &Arc<State>, today: Option<&Today<'_>>) -> Protected {
    let mut protected = Protected {
        state: state.clone(),
        certain: Vec::new(),
        supposed: Vec::new(),
        by_other_names: OtherNames::default(),
    };
    let Some(today) = today else { return protected };
    let mut amended = state.as_ref().clone();
    for recorded in state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live) {
        let counterparts = today.counterparts.protecting(&recorded.uid);
        if counterparts.is_empty() {
            continue;
        }
        let mut resource = recorded.clone();
        for certain in [true, false] {
            let counted = counterparts.iter().filter(|one| one.likeness.is_certain() == certain);
            let adding: Vec<&Counterpart> =
                counted.filter(|one| today.adds_protection(&mut resource, one)).collect();
            let Some(first) = adding.first() else { continue };
            protected.by_other_names.add(today, recorded, first);
            let record = Record::Amend { resource: Box::new(resource.clone()) };
            // A record is the copy that it amends with more protection, so that it always applies.
            if amended.apply(&record).is_ok() {
                if certain { protected.certain.push(record) } else { protected.supposed.push(record) }
            }
        }
    }
    Protected { state: Arc::new(amended), ..protected }
}

impl Today<'_> {
    /// Adds the marks and the pin of a declaration. Returns true if the record had less.
    fn adds_protection(&self, resource: &mut Resource, counterpart: &Counterpart) -> bool {
        let marks = self.program.node(counterpart.node).map(Node::effective_marks).unwrap_or_default();
        resource.add_protection(&marks, self.program.pin_setting(counterpart.node))
    }
}

impl OtherNames {
    fn add(&mut self, today: &Today<'_>, recorded: &Resource, by: &Counterpart) {
        let Some(node) = today.program.node(by.node).filter(|node| node.name != recorded.name) else {
            return;
        };
        let (declared, source) = (node.name.clone(), node.source.clone());
        let other = OtherName { declared, source, likeness: by.likeness.clone() };
        self.0.entry(recorded.name.clone()).or_insert(other);
    }
}

/// Returns the pinfile in which a release does not count while today's program pins the resource.
pub(super) fn hold_pins_of(
    today: Option<&Today<'_>>,
    state: &State,
    mut pins: PinfileStatus,
) -> PinfileStatus {
    let Some(Today { program, counterparts }) = today.filter(|_| pins.has_entries()) else { return pins };
    let pins_it = |one: &Counterpart| program.pin_setting(one.node) == Some(true);
    let is_pinned = |copy: &&Resource| counterparts.protecting(&copy.uid).iter().any(pins_it);
    let paths = state.copies().filter(is_pinned).map(|copy| physical_path(&copy.name, &copy.ty));
    pins.take_back(&paths.collect::<BTreeSet<String>>());
    pins
}

/// Returns the places of the pins that today's program has and that no run recorded.
pub(super) fn pins_of(today: Option<&Today<'_>>, state: &State) -> BTreeMap<Name, SourceRef> {
    let Some(Today { program, counterparts }) = today else { return BTreeMap::new() };
    let place = |copy: &Resource| {
        let pinning = |one: &&Counterpart| program.pin_setting(one.node) == Some(true);
        let pinned = counterparts.protecting(&copy.uid).iter().find(pinning)?;
        Some((copy.name.clone(), program.node(pinned.node)?.source.clone()))
    };
    let unpinned = state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live && !copy.pinned);
    unpinned.filter_map(place).collect()
}

/// Gives the resources of an earlier run the protection that they have now, and returns the resources that keep some.
pub(super) async fn keep_protection(graph: &mut Graph, state: &State, engine: &Engine) -> Vec<Name> {
    let canonical = engine.canonical_identities(state, graph).await;
    let live = |(_, current): &(NodeId, &Resource)| current.lifecycle == Lifecycle::Live;
    let matched: Vec<(NodeId, Resource)> = matches(state, graph, &engine.catalog, &canonical)
        .into_iter()
        .filter(live)
        .map(|(id, current)| (id, current.clone()))
        .collect();
    let mut kept = Vec::new();
    for (id, current) in &matched {
        if let Some(node) = graph.nodes.get_mut(id.index())
            && keep_protection_of(current, node)
        {
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
