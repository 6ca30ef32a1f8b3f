//! Applies a pinfile to a graph: frozen values replace those of the program, and new pins get an entry.
//!
//! This runs before planning, so that a refusal comes before any provider call. State is optional, because a compilation
//! has none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use stead_model::{
    Code, CopyRef, Diagnostic, Graph, Input, Map, Name, NodeId, NodeKind, Operation, Resource, TypeToken,
    Value,
};
use stead_state::State;

use super::ambiguous;
use super::file::{EntryPart, EntryStatus, PinEntry};
use super::path::{paths_of, physical_path};
use super::problems;
use super::section::Pins;
use super::settled::SettledGraph;
use super::stateful::is_stateful;
use super::verdict::PinfileStatus;

/// The properties of types.
pub trait Types {
    /// Returns the settable properties that identify the real resource; `None` if the type does not exist.
    fn identity(&self, resource: &TypeToken) -> Option<Vec<String>>;
    /// Returns all settable properties.
    fn settable(&self, resource: &TypeToken) -> Vec<String>;
}

/// How pins of resources that the program does not declare are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orphans {
    /// An orphaned pin is an error.
    #[default]
    Refuse,
    /// The user asked to update the pins: the pins end, in state too.
    Release,
    /// They stay, and so do their resources.
    Keep,
}

/// A change of the pinfile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PinfileChange {
    Removed(String),
    Added(String),
}

impl std::fmt::Display for PinfileChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PinfileChange::Removed(path) => write!(f, "[-pin] {path}"),
            PinfileChange::Added(path) => write!(f, "[+pin] {path}"),
        }
    }
}

/// A frozen value that differs from the program's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    pub node: NodeId,
    pub path: String,
    pub property: String,
    pub value: Value,
    /// The program's value; `None` if the program does not set the property.
    pub program: Option<Input>,
}

/// The result of applying a pinfile to a graph.
#[derive(Clone, Debug)]
pub struct AppliedPinfile {
    pub graph: SettledGraph,
    pub changes: Vec<PinfileChange>,
    pub overrides: Vec<Override>,
    pub warnings: Vec<Diagnostic>,
    pub pins: Pins,
    /// The pinfile, for the decision on deletions in this run.
    pub status: PinfileStatus,
    /// The names and paths of the new pins.
    added: Vec<(Name, String)>,
}

/// Why a pinfile cannot be applied.
#[derive(Clone, Debug)]
pub struct PinRefusal {
    /// The changes that the run would have made to the pinfile.
    pub changes: Vec<PinfileChange>,
    pub problems: Vec<Diagnostic>,
}

/// A leaf of the graph: a resource that a provider creates.
pub(crate) struct Leaf {
    pub id: NodeId,
    pub path: String,
    pub pinned: bool,
}

/// Applies the pinfile to a graph.
///
/// Fails if the pinfile is invalid, if a pin is orphaned, if a run would unpin and change a resource at once, or if a
/// pinned leaf has no stable path.
pub fn apply_pinfile(
    graph: Graph,
    pins: Pins,
    types: &dyn Types,
    state: Option<&State>,
    orphans: Orphans,
) -> Result<AppliedPinfile, PinRefusal> {
    let leaves = leaves(&graph, &pins, state);
    let mut application = PinfileApplication {
        graph,
        pins,
        types,
        state,
        recorded: HashMap::new(),
        overrides: Vec::new(),
        added: Vec::new(),
        removed: BTreeSet::new(),
        ended: BTreeSet::new(),
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    if application.pins.saved().values().any(|entry| entry.original_path.is_some()) {
        let paths = |resource| paths_of(resource).map(move |path| (path, resource));
        application.recorded = state.into_iter().flat_map(State::copies).flat_map(paths).collect();
    }
    application.check_entries(&leaves);
    application.problems.extend(ambiguous::problems(&application.graph, &leaves, application.pins.saved()));
    application.graph.nodes.iter_mut().for_each(|node| node.options.pinned = None);
    leaves.iter().for_each(|leaf| application.leaf(leaf));
    application.finish(orphans)
}

/// Returns the leaves of the types that have pins, in the order of the program.
///
/// A leaf is pinned by its nearest setting, or else by the default of its type.
pub(crate) fn leaves(graph: &Graph, pins: &Pins, state: Option<&State>) -> Vec<Leaf> {
    let is_leaf = |id: &NodeId| {
        let node = &graph.nodes[id.index()];
        node.kind == NodeKind::Provisioned && !node.ty.as_str().ends_with(".Provider")
    };
    let with_setting = |id: NodeId| {
        let resource = &graph.nodes[id.index()].ty;
        (id, graph.pin_setting(id).unwrap_or_else(|| is_stateful(resource)))
    };
    let all: Vec<(NodeId, bool)> = graph.ids().filter(is_leaf).map(with_setting).collect();
    let pinned = all.iter().filter(|(_, pinned)| *pinned).map(|(id, _)| &graph.nodes[id.index()].ty);
    let in_state = state.into_iter().flat_map(State::copies).filter(|copy| copy.pinned).map(|copy| &copy.ty);
    let pinned_types: HashSet<&TypeToken> =
        pinned.chain(pins.saved().values().map(|entry| &entry.resource)).chain(in_state).collect();
    let leaf = |(id, pinned): (NodeId, bool)| {
        let node = &graph.nodes[id.index()];
        pinned_types.contains(&node.ty).then(|| Leaf {
            id,
            path: physical_path(&node.name, &node.ty),
            pinned,
        })
    };
    all.into_iter().filter_map(leaf).collect()
}

struct PinfileApplication<'a> {
    graph: Graph,
    pins: Pins,
    types: &'a dyn Types,
    state: Option<&'a State>,
    /// The recorded resources by current and former paths; empty if the section has no `originalPath`.
    recorded: HashMap<String, &'a Resource>,
    overrides: Vec<Override>,
    added: Vec<(Name, String)>,
    /// The paths of declared leaves that have an entry and are no longer pinned.
    removed: BTreeSet<String>,
    /// The paths of declared leaves that are pinned in state only and are no longer pinned.
    ended: BTreeSet<String>,
    problems: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl PinfileApplication<'_> {
    /// Reports entries with unknown types or attributes, or with an `originalPath` that is in use.
    fn check_entries(&mut self, leaves: &[Leaf]) {
        let paths: BTreeSet<&str> = leaves.iter().map(|leaf| leaf.path.as_str()).collect();
        let pinned = |(_, entry): &(&String, &PinEntry)| entry.status == EntryStatus::Pinned;
        for (path, entry) in self.pins.saved().iter().filter(pinned) {
            let at = || self.pins.file.place(&self.pins.key, path);
            if self.types.identity(&entry.resource).is_none() {
                self.problems.push(problems::unknown_type(&self.pins.file.name, path, &entry.resource, at()));
                continue;
            }
            let settable = self.types.settable(&entry.resource);
            for attribute in
                entry.attributes.keys().filter(|name| !settable.iter().any(|known| *name == known))
            {
                let place = self.pins.file.place_in(
                    &self.pins.key,
                    path,
                    &EntryPart::Attribute(attribute.to_string()),
                );
                let (file, resource) = (&self.pins.file.name, &entry.resource);
                self.problems.push(problems::unknown_attribute(file, resource, attribute, &settable, place));
            }
            if let Some(original) = entry.original_path.as_deref().filter(|original| paths.contains(original))
            {
                let place = self.pins.file.place_in(&self.pins.key, path, &EntryPart::OriginalPath);
                self.problems.push(problems::original_is_declared(
                    &self.pins.file.name,
                    path,
                    original,
                    place,
                ));
            }
        }
    }

    fn leaf(&mut self, leaf: &Leaf) {
        let options = &mut self.graph.nodes[leaf.id.index()].options;
        options.pinned = leaf.pinned.then_some(true);
        match (leaf.pinned, self.pins.saved().get(&leaf.path).cloned()) {
            (true, Some(entry)) => {
                options.original_path.clone_from(&entry.original_path);
                self.freeze(leaf, &entry);
                self.keep_generated(leaf, entry.original_path.as_deref());
                self.pins.add_pin(&leaf.path, entry);
            }
            (true, None) => {
                let node = &self.graph.nodes[leaf.id.index()];
                let identity = self.types.identity(&node.ty).unwrap_or_default();
                let known = |name: &String| Some((name.clone(), node.inputs.get(name)?.as_known()?.clone()));
                let attributes: Map =
                    identity.iter().filter_map(known).filter(|(_, value)| *value != Value::Null).collect();
                let resource = node.ty.clone();
                self.added.push((node.name.clone(), leaf.path.clone()));
                let entry =
                    PinEntry { resource, original_path: None, status: EntryStatus::Pinned, attributes };
                self.pins.add_pin(&leaf.path, entry);
                self.keep_generated(leaf, None);
            }
            (false, Some(entry)) if entry.status == EntryStatus::Pinned => self.unpinned(leaf, &entry),
            (false, _) => {
                let name = &self.graph.nodes[leaf.id.index()].name;
                if self.state.and_then(|state| state.by_name(name)).is_some_and(|old| old.pinned) {
                    self.ended.insert(leaf.path.clone());
                }
            }
        }
    }

    /// Replaces the program's values with those of the entry.
    fn freeze(&mut self, leaf: &Leaf, entry: &PinEntry) {
        let node = &mut self.graph.nodes[leaf.id.index()];
        let mut identity_differs = false;
        let identity = self.types.identity(&node.ty).unwrap_or_default();
        for (property, value) in &entry.attributes {
            let program = node.inputs.insert(property.clone(), Input::Known(value.clone()));
            if program.as_ref().and_then(Input::as_known) == Some(value) {
                continue;
            }
            node.options.frozen.push(property.to_string());
            identity_differs |= identity.iter().any(|known| property == known);
            let (node, path) = (leaf.id, leaf.path.clone());
            let (property, value) = (property.to_string(), value.clone());
            self.overrides.push(Override { node, path, property, value, program });
        }
        let exists = self.state.is_none_or(|state| self.is_recorded(state, leaf, entry));
        if identity_differs && !exists && !self.pins.is_environment_specific() {
            let name = &self.graph.nodes[leaf.id.index()].name;
            self.warnings.push(problems::frozen_before_created(&self.pins, name, &leaf.path));
        }
    }

    /// Sets identity properties that the program does not set to their recorded values. A name that the provider
    /// generates from the name of the resource would otherwise change when the resource is renamed.
    fn keep_generated(&mut self, leaf: &Leaf, original: Option<&str>) {
        let node = &mut self.graph.nodes[leaf.id.index()];
        let named = self.state.and_then(|state| state.by_name(&node.name));
        let moved = || original.and_then(|original| self.recorded.get(original).copied());
        let Some(old) = named.or_else(moved).filter(|old| old.ty == node.ty) else { return };
        for property in self.types.identity(&node.ty).unwrap_or_default() {
            if let (None, Some(value)) = (node.inputs.get(&property), old.inputs.get(&property)) {
                node.inputs.insert(property, Input::Known(value.clone()));
            }
        }
    }

    fn is_recorded(&self, state: &State, leaf: &Leaf, entry: &PinEntry) -> bool {
        let node = &self.graph.nodes[leaf.id.index()];
        state.by_name(&node.name).is_some() || self.is_elsewhere(entry)
    }

    /// Returns true if a resource is recorded under the entry's `originalPath`.
    fn is_elsewhere(&self, entry: &PinEntry) -> bool {
        entry.original_path.as_ref().is_some_and(|original| self.recorded.contains_key(original))
    }

    /// Handles a leaf that is no longer pinned. Its frozen values apply in this run, so that only the pin changes.
    fn unpinned(&mut self, leaf: &Leaf, entry: &PinEntry) {
        self.removed.insert(leaf.path.clone());
        let node = &self.graph.nodes[leaf.id.index()];
        let moves =
            self.state.is_some_and(|state| state.by_name(&node.name).is_none() && self.is_elsewhere(entry));
        if moves {
            let name = &self.pins.file.name;
            self.problems.push(problems::unpinned_and_moved(name, node, &leaf.path, entry));
            return;
        }
        let before = self.overrides.len();
        self.freeze(leaf, entry);
        let node = &self.graph.nodes[leaf.id.index()];
        let identity = self.types.identity(&node.ty).unwrap_or_default();
        let differing: Vec<Override> = self.overrides.split_off(before);
        let differing: Vec<Override> =
            differing.into_iter().filter(|over| identity.contains(&over.property)).collect();
        if differing.is_empty() {
            return;
        }
        // After a move, different values are normal; without one, the program changes the identity.
        match entry.original_path {
            Some(_) => self.warnings.push(problems::last_time_frozen(&self.pins.file.name, node, &differing)),
            None => {
                self.problems.push(problems::unpinned_and_changed(&self.pins.file.name, node, &differing));
            }
        }
    }

    /// Returns the pinned resources in state that the program does not declare, by their paths.
    fn undeclared_pins(&self) -> BTreeMap<String, TypeToken> {
        let declared: HashSet<&Name> = self.graph.nodes.iter().map(|node| &node.name).collect();
        let current = self.pins.paths();
        let known = |copy: &Resource| {
            declared.contains(&copy.name) || paths_of(copy).any(|path| current.contains(&path))
        };
        let copies = self.state.into_iter().flat_map(State::copies);
        let undeclared = copies.filter(|copy| copy.pinned && !known(copy));
        undeclared.map(|copy| (physical_path(&copy.name, &copy.ty), copy.ty.clone())).collect()
    }

    fn finish(mut self, orphans: Orphans) -> Result<AppliedPinfile, PinRefusal> {
        let gone = self.pins.orphaned_pins();
        let orphaned: Vec<String> =
            gone.into_iter().filter(|path| !self.removed.contains(*path)).map(str::to_owned).collect();
        let mut status = PinfileStatus::of(&self.pins);
        let mut ended: BTreeSet<String> = self.removed.union(&self.ended).cloned().collect();
        match orphans {
            Orphans::Refuse => {
                ended.extend(orphaned.iter().cloned());
                if !orphaned.is_empty() {
                    let added: Vec<&str> = self.pins.new_pins();
                    self.problems.push(problems::orphaned(&self.pins, &orphaned, &added));
                }
            }
            Orphans::Keep => orphaned.iter().for_each(|path| self.pins.retain(path)),
            Orphans::Release => {
                ended.extend(self.release(&orphaned, &mut status));
            }
        }
        let mut changes: Vec<PinfileChange> = ended.into_iter().map(PinfileChange::Removed).collect();
        changes.extend(self.pins.new_pins().into_iter().map(|path| PinfileChange::Added(path.to_owned())));
        changes.sort();
        // The effects of an invalid file are unknown, so its errors are reported alone.
        if self.problems.iter().any(is_pinfile_error) {
            self.problems.retain(is_pinfile_error);
            return Err(PinRefusal { changes: Vec::new(), problems: self.problems });
        }
        if !self.problems.is_empty() {
            return Err(PinRefusal { changes, problems: self.problems });
        }
        let PinfileApplication { graph, pins, overrides, warnings, added, .. } = self;
        let graph = SettledGraph::applied(graph);
        Ok(AppliedPinfile { graph, changes, overrides, warnings, pins, status, added })
    }
}

impl PinfileApplication<'_> {
    /// Releases the orphaned pins, and the pins in state of resources that the program does not declare.
    fn release(&mut self, orphaned: &[String], status: &mut PinfileStatus) -> BTreeSet<String> {
        let saved = self.pins.saved();
        let mut released: BTreeMap<String, TypeToken> = orphaned
            .iter()
            .filter_map(|path| Some((path.clone(), saved.get(path)?.resource.clone())))
            .collect();
        let originals: BTreeSet<String> =
            orphaned.iter().filter_map(|path| saved.get(path)?.original_path.clone()).collect();
        // The release of a moved pin counts for its original path too.
        let undeclared = self.undeclared_pins().into_iter().filter(|(path, _)| !originals.contains(path));
        released.extend(undeclared.filter(|(path, _)| !status.releases(path)));
        released.iter().for_each(|(path, resource)| self.pins.release(path, resource));
        status.release(&originals);
        let released = released.into_keys().collect();
        status.release(&released);
        released
    }
}

impl AppliedPinfile {
    /// Releases pins that state alone records, because a person asked for it.
    pub fn release(&mut self, pins: &BTreeMap<String, TypeToken>) {
        pins.iter().for_each(|(path, resource)| self.pins.release(path, resource));
        self.status.release(&pins.keys().cloned().collect());
        self.changes.extend(pins.keys().cloned().map(PinfileChange::Removed));
        self.changes.sort();
    }

    /// Adds generated identity values to the new entries, after a run.
    ///
    /// This applies to sections of one environment only, because other environments have other generated values.
    pub fn complete(&mut self, state: &State, types: &dyn Types) {
        if !self.pins.is_environment_specific() {
            return;
        }
        for (name, path) in &self.added {
            let (Some(created), Some(entry)) = (state.by_name(name), self.pins.entry_mut(path)) else {
                continue;
            };
            for (property, value) in identity_attributes(created, types) {
                entry.attributes.entry(property).or_insert(value);
            }
        }
    }

    /// Returns true if [`complete`](AppliedPinfile::complete) may add values.
    pub fn wants_completion(&self) -> bool {
        self.pins.is_environment_specific() && !self.added.is_empty()
    }
}

/// Returns the identity properties of a recorded resource.
pub fn identity_attributes(resource: &Resource, types: &dyn Types) -> Map {
    let identity = types.identity(&resource.ty).unwrap_or_default();
    let value = |name: &String| Some((name.clone(), resource.property(name)?.clone()));
    identity.iter().filter_map(value).filter(|(_, value)| *value != Value::Null).collect()
}

/// Returns entries for all pinned resources in state, to restore a lost pinfile.
///
/// Resources with a pending deletion are left out: the deletion was permitted and may already have happened.
pub fn entries_from_state(state: &State, types: &dyn Types) -> BTreeMap<String, PinEntry> {
    let being_deleted: HashSet<CopyRef> = state
        .pending()
        .filter(|pending| pending.intent.operation() == Operation::Delete)
        .map(|pending| pending.intent.copy())
        .collect();
    let pinned = state.resources().into_iter().filter(|resource| resource.pinned);
    let pinned = pinned.filter(|resource| !being_deleted.contains(&resource.copy()));
    let current = pinned.filter(|resource| {
        state.current(&resource.uid).is_some_and(|current| current.copy() == resource.copy())
    });
    let entry = |resource: &Resource| {
        let path = physical_path(&resource.name, &resource.ty);
        let attributes = identity_attributes(resource, types);
        let (resource, status) = (resource.ty.clone(), EntryStatus::Pinned);
        (path, PinEntry { resource, original_path: None, status, attributes })
    };
    current.map(entry).collect()
}

/// Returns true if a problem is an error in the pinfile itself and not a refusal by a guard.
pub fn is_pinfile_error(problem: &Diagnostic) -> bool {
    [Code::BAD_PINFILE, Code::PINFILE_CONFLICT].contains(&problem.code)
}
