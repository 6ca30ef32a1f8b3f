//! Applies a pinfile to a graph: frozen values replace those of the program, and new pins get an entry.
//!
//! This runs before planning, so that a refusal comes before any provider call. State is optional, because a compilation
//! has none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use stead_model::{Code, Diagnostic, Graph, Input, Map, Name, NodeId, NodeKind, Resource, TypeToken, Value};
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
    /// Returns true if the provider sets the property where the program does not.
    fn is_filled_in(&self, resource: &TypeToken, property: &str) -> bool;
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
    /// The pin of a moved resource is removed.
    RemovedMoved {
        /// The path under which the resource was first pinned.
        original: String,
        path: String,
    },
    Added(String),
}

impl PinfileChange {
    /// Returns the path of the entry.
    pub fn path(&self) -> &str {
        match self {
            PinfileChange::Removed(path)
            | PinfileChange::RemovedMoved { path, .. }
            | PinfileChange::Added(path) => path,
        }
    }
}

impl std::fmt::Display for PinfileChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PinfileChange::Removed(path) => write!(f, "[-pin] {path}"),
            PinfileChange::RemovedMoved { original, path } => write!(f, "[-pin] {original} (now {path})"),
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
    /// The names and paths of pins with identity properties that are not frozen yet.
    pub(super) unfrozen: Vec<(Name, String)>,
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
        unfrozen: Vec::new(),
        removed: BTreeSet::new(),
        ended: BTreeSet::new(),
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    let moves = application.graph.nodes.iter().any(|node| node.options.moved_from.is_some());
    if moves || application.pins.saved().values().any(|entry| entry.original_path.is_some()) {
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

pub(super) struct PinfileApplication<'a> {
    pub(super) graph: Graph,
    pub(super) pins: Pins,
    pub(super) types: &'a dyn Types,
    pub(super) state: Option<&'a State>,
    /// The recorded resources by current and former paths; empty if the section has no `originalPath`.
    pub(super) recorded: HashMap<String, &'a Resource>,
    pub(super) overrides: Vec<Override>,
    pub(super) unfrozen: Vec<(Name, String)>,
    /// The paths of declared leaves that have an entry and are no longer pinned.
    pub(super) removed: BTreeSet<String>,
    /// The paths of declared leaves that are pinned in state only and are no longer pinned.
    pub(super) ended: BTreeSet<String>,
    pub(super) problems: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
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
            for (attribute, part) in entry.values() {
                if settable.contains(&attribute) {
                    continue;
                }
                let place = self.pins.file.place_in(&self.pins.key, path, &part);
                let (file, resource) = (&self.pins.file.name, &entry.resource);
                self.problems.push(problems::unknown_attribute(file, resource, &attribute, &settable, place));
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
        let moved_from = options.moved_from.clone();
        match (leaf.pinned, self.pins.saved().get(&leaf.path).cloned()) {
            (true, Some(entry)) => self.pinned(leaf, entry),
            (true, None) if moved_from.as_deref().is_some_and(|from| self.pins.is_pinned(from)) => {
                let entry = self.pins.move_to(&leaf.path, moved_from.as_deref().unwrap_or_default());
                entry.into_iter().for_each(|entry| self.pinned(leaf, entry));
            }
            (true, None) => {
                let node = &self.graph.nodes[leaf.id.index()];
                let identity = self.types.identity(&node.ty).unwrap_or_default();
                let known = |name: &String| Some((name.clone(), node.inputs.get(name)?.as_known()?.clone()));
                let attributes: Map = identity
                    .iter()
                    .filter_map(known)
                    .filter(|(_, value)| *value != Value::Null && !value.has_secrets())
                    .collect();
                let entry = PinEntry { attributes, ..PinEntry::new(node.ty.clone(), EntryStatus::Pinned) };
                self.pinned(leaf, PinEntry { original_path: moved_from, ..entry });
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

    /// Applies the entry of a pinned leaf.
    fn pinned(&mut self, leaf: &Leaf, entry: PinEntry) {
        let options = &mut self.graph.nodes[leaf.id.index()].options;
        options.original_path.clone_from(&entry.original_path);
        self.freeze(leaf, &entry);
        self.keep_generated(leaf, entry.original_path.as_deref());
        self.pins.add_pin(&leaf.path, entry);
        self.note_unfrozen(leaf);
    }

    pub(super) fn is_recorded(&self, state: &State, leaf: &Leaf, entry: &PinEntry) -> bool {
        let node = &self.graph.nodes[leaf.id.index()];
        let moved_from = node.options.moved_from.as_ref();
        state.by_name(&node.name).is_some()
            || self.is_elsewhere(entry)
            || moved_from.is_some_and(|from| self.recorded.contains_key(from))
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
        let mut current = self.pins.paths();
        current.extend(self.pins.original_paths());
        current.extend(self.graph.nodes.iter().filter_map(|node| node.options.moved_from.clone()));
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
        let unpinned = self.removed.union(&self.ended).cloned();
        let mut changes: Vec<PinfileChange> = unpinned.map(|path| self.pins.removal(path)).collect();
        let mut ended: BTreeSet<String> = self.pins.moved().clone();
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
        changes.extend(ended.into_iter().map(PinfileChange::Removed));
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
        let PinfileApplication { graph, pins, overrides, warnings, unfrozen, .. } = self;
        let graph = SettledGraph::applied(graph);
        Ok(AppliedPinfile { graph, changes, overrides, warnings, pins, status, unfrozen })
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
}

/// Returns true if a problem is an error in the pinfile itself and not a refusal by a guard.
pub fn is_pinfile_error(problem: &Diagnostic) -> bool {
    [Code::BAD_PINFILE, Code::PINFILE_CONFLICT].contains(&problem.code)
}
