//! Graph + pinfile + target → the graph with its pins settled, what the pinfile will say, or why not.
//!
//! Pure, and before anything is planned: what is refused here has asked no provider anything. State is looked at where
//! there is one, never needed: `compile` has none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use stead_model::{
    Code, CopyRef, Diagnostic, Graph, Input, Map, Name, NodeId, NodeKind, Operation, Resource, TypeToken,
    Value,
};
use stead_state::State;

use super::ambiguous;
use super::file::{Entry, Part};
use super::hold::Standing;
use super::path::{paths_of, physical_path};
use super::refusals;
use super::section::Pins;
use super::stateful::is_stateful;

/// What the rules have to know about types.
pub trait Types {
    /// The settable properties that say which real thing it is; `None`: there is no such type.
    fn identity(&self, resource: &TypeToken) -> Option<Vec<String>>;
    /// All settable properties.
    fn settable(&self, resource: &TypeToken) -> Vec<String>;
}

/// What becomes of entries that nothing has any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    Refuse,
    /// `--update-pins`: they are removed.
    Remove,
}

/// One line about the pinfile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    Removed(String),
    Added(String),
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Line::Removed(path) => write!(f, "[-pin] {path}"),
            Line::Added(path) => write!(f, "[+pin] {path}"),
        }
    }
}

/// A value of the pinfile that holds against the program's.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    pub node: NodeId,
    pub path: String,
    pub property: String,
    pub value: Value,
    /// What the program says; `None`: nothing.
    pub program: Option<Input>,
}

/// A graph with its pins settled.
#[derive(Clone, Debug)]
pub struct Settled {
    pub graph: Graph,
    pub lines: Vec<Line>,
    pub overrides: Vec<Override>,
    pub warnings: Vec<Diagnostic>,
    pub pins: Pins,
    /// What the pinfile holds against a deletion in this run.
    pub standing: Standing,
    added: Vec<(Name, String)>,
}

/// Why nothing goes on.
#[derive(Clone, Debug)]
pub struct Refused {
    /// What would have become of the file.
    pub lines: Vec<Line>,
    pub problems: Vec<Diagnostic>,
}

/// A leaf: something that a provider makes.
pub(crate) struct Leaf {
    pub id: NodeId,
    pub path: String,
    pub pinned: bool,
}

/// The graph for a target that keeps no pins: nothing in it is pinned.
pub fn without_pins(mut graph: Graph) -> Graph {
    graph.nodes.iter_mut().for_each(|node| node.options.pinned = None);
    graph
}

pub fn settle(
    graph: Graph,
    pins: Pins,
    types: &dyn Types,
    state: Option<&State>,
    orphans: Orphans,
) -> Result<Settled, Refused> {
    let leaves = leaves(&graph, &pins);
    let mut settling = Settling {
        graph,
        pins,
        types,
        state,
        recorded: HashMap::new(),
        overrides: Vec::new(),
        added: Vec::new(),
        removed: BTreeSet::new(),
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    if settling.pins.saved().values().any(|entry| entry.original_path.is_some()) {
        let paths = |resource| paths_of(resource).map(move |path| (path, resource));
        settling.recorded = state.into_iter().flat_map(State::copies).flat_map(paths).collect();
    }
    settling.check_entries(&leaves);
    settling.problems.extend(ambiguous::problems(&settling.graph, &leaves, settling.pins.saved()));
    settling.graph = without_pins(settling.graph);
    leaves.iter().for_each(|leaf| settling.leaf(leaf));
    settling.finish(orphans)
}

/// The leaves that matter in the order of the program, each with what holds for it: the nearest setting, else its
/// type's. Those of types that nobody pinned have no path worth knowing.
pub(crate) fn leaves(graph: &Graph, pins: &Pins) -> Vec<Leaf> {
    let real = |id: &NodeId| {
        let node = &graph.nodes[id.index()];
        node.kind == NodeKind::Provisioned && !node.ty.as_str().ends_with(".Provider")
    };
    let holds = |id: NodeId| {
        let resource = &graph.nodes[id.index()].ty;
        (id, graph.pin_setting(id).unwrap_or_else(|| is_stateful(resource)))
    };
    let all: Vec<(NodeId, bool)> = graph.ids().filter(real).map(holds).collect();
    let pinned = all.iter().filter(|(_, pinned)| *pinned).map(|(id, _)| &graph.nodes[id.index()].ty);
    let matter: HashSet<&TypeToken> =
        pinned.chain(pins.saved().values().map(|entry| &entry.resource)).collect();
    let leaf = |(id, pinned): (NodeId, bool)| {
        let node = &graph.nodes[id.index()];
        matter.contains(&node.ty).then(|| Leaf { id, path: physical_path(&node.name, &node.ty), pinned })
    };
    all.into_iter().filter_map(leaf).collect()
}

struct Settling<'a> {
    graph: Graph,
    pins: Pins,
    types: &'a dyn Types,
    state: Option<&'a State>,
    /// What is recorded under each path that it has or had; empty unless something moved.
    recorded: HashMap<String, &'a Resource>,
    overrides: Vec<Override>,
    added: Vec<(Name, String)>,
    /// Entries of leaves that are there and not pinned any more.
    removed: BTreeSet<String>,
    problems: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl Settling<'_> {
    /// Entries that cannot be meant.
    fn check_entries(&mut self, leaves: &[Leaf]) {
        let paths: BTreeSet<&str> = leaves.iter().map(|leaf| leaf.path.as_str()).collect();
        for (path, entry) in self.pins.saved() {
            let at = || self.pins.file.place(&self.pins.key, path);
            if self.types.identity(&entry.resource).is_none() {
                self.problems.push(refusals::unknown_type(&self.pins.file.name, path, &entry.resource, at()));
                continue;
            }
            let settable = self.types.settable(&entry.resource);
            for attribute in entry.attributes.keys().filter(|name| !settable.contains(name)) {
                let place =
                    self.pins.file.place_in(&self.pins.key, path, &Part::Attribute(attribute.clone()));
                let (file, resource) = (&self.pins.file.name, &entry.resource);
                self.problems.push(refusals::unknown_attribute(file, resource, attribute, &settable, place));
            }
            if let Some(original) = entry.original_path.as_deref().filter(|original| paths.contains(original))
            {
                let place = self.pins.file.place_in(&self.pins.key, path, &Part::OriginalPath);
                self.problems.push(refusals::original_is_declared(
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
                self.pins.add_pin(&leaf.path, Entry { resource, original_path: None, attributes });
                self.keep_generated(leaf, None);
            }
            (false, Some(entry)) => self.unpinned(leaf, &entry),
            (false, None) => {}
        }
    }

    /// The values of the file hold, whatever the program says.
    fn freeze(&mut self, leaf: &Leaf, entry: &Entry) {
        let node = &mut self.graph.nodes[leaf.id.index()];
        let mut identity_differs = false;
        let identity = self.types.identity(&node.ty).unwrap_or_default();
        for (property, value) in &entry.attributes {
            let program = node.inputs.insert(property.clone(), Input::Known(value.clone()));
            if program.as_ref().and_then(Input::as_known) == Some(value) {
                continue;
            }
            node.options.frozen.push(property.clone());
            identity_differs |= identity.contains(property);
            let (node, path) = (leaf.id, leaf.path.clone());
            let (property, value) = (property.clone(), value.clone());
            self.overrides.push(Override { node, path, property, value, program });
        }
        let made = self.state.is_none_or(|state| self.is_recorded(state, leaf, entry));
        if identity_differs && !made && !self.pins.is_special() {
            let name = &self.graph.nodes[leaf.id.index()].name;
            self.warnings.push(refusals::frozen_before_made(&self.pins, name, &leaf.path));
        }
    }

    /// What the program leaves to others, and by which the real thing is known, stays what was made of it: a name that
    /// is made from another name would change with it.
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

    fn is_recorded(&self, state: &State, leaf: &Leaf, entry: &Entry) -> bool {
        let node = &self.graph.nodes[leaf.id.index()];
        state.by_name(&node.name).is_some() || self.is_elsewhere(entry)
    }

    /// What the entry came from is recorded, under its old name still or a later one.
    fn is_elsewhere(&self, entry: &Entry) -> bool {
        entry.original_path.as_ref().is_some_and(|original| self.recorded.contains_key(original))
    }

    /// No longer pinned. Its frozen values hold for this one run, so that nothing but the pin changes.
    fn unpinned(&mut self, leaf: &Leaf, entry: &Entry) {
        self.removed.insert(leaf.path.clone());
        let node = &self.graph.nodes[leaf.id.index()];
        let moves =
            self.state.is_some_and(|state| state.by_name(&node.name).is_none() && self.is_elsewhere(entry));
        if moves {
            let name = &self.pins.file.name;
            self.problems.push(refusals::unpinned_and_moved(name, node, &leaf.path, entry));
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
        // What moved may well be called otherwise by now; what stayed where it was is being changed.
        match entry.original_path {
            Some(_) => self.warnings.push(refusals::last_time(&self.pins.file.name, node, &differing)),
            None => {
                self.problems.push(refusals::unpinned_and_changed(&self.pins.file.name, node, &differing));
            }
        }
    }

    /// State remembers a pin of something that the program does not have.
    fn remembers_more(&self) -> bool {
        let declared: HashSet<&Name> = self.graph.nodes.iter().map(|node| &node.name).collect();
        let current = self.pins.paths();
        let known = |copy: &Resource| {
            declared.contains(&copy.name) || paths_of(copy).any(|path| current.contains(&path))
        };
        self.state.into_iter().flat_map(State::copies).any(|copy| copy.pinned && !known(copy))
    }

    fn finish(mut self, orphans: Orphans) -> Result<Settled, Refused> {
        let gone = self.pins.orphaned_pins();
        let orphaned: Vec<String> =
            gone.into_iter().filter(|path| !self.removed.contains(*path)).map(str::to_owned).collect();
        let mut lines: Vec<Line> =
            self.removed.iter().chain(&orphaned).map(|path| Line::Removed(path.clone())).collect();
        lines.extend(self.pins.new_pins().into_iter().map(|path| Line::Added(path.to_owned())));
        lines.sort();
        let mut standing = Standing::of(&self.pins);
        if orphans == Orphans::Remove {
            standing.release_unlisted();
        }
        if !orphaned.is_empty() {
            match orphans {
                Orphans::Refuse => {
                    let added: Vec<&str> = self.pins.new_pins();
                    self.problems.push(refusals::orphaned(&self.pins, &orphaned, &added));
                }
                Orphans::Remove => standing.release(&orphaned.iter().cloned().collect()),
            }
        }
        if !self.pins.is_there() && self.remembers_more() {
            self.pins.withhold();
            lines.clear();
        }
        // What a file that is not understood comes to, nobody knows.
        if self.problems.iter().any(is_mistake) {
            self.problems.retain(is_mistake);
            return Err(Refused { lines: Vec::new(), problems: self.problems });
        }
        if !self.problems.is_empty() {
            return Err(Refused { lines, problems: self.problems });
        }
        let Settling { graph, pins, overrides, warnings, added, .. } = self;
        Ok(Settled { graph, lines, overrides, warnings, pins, standing, added })
    }
}

impl Settled {
    /// After a run: what was generated for this environment is frozen too, where the section is of this environment
    /// alone. Anywhere else it would be another's name.
    pub fn complete(&mut self, state: &State, types: &dyn Types) {
        if !self.pins.is_special() {
            return;
        }
        for (name, path) in &self.added {
            let (Some(made), Some(entry)) = (state.by_name(name), self.pins.entry_mut(path)) else {
                continue;
            };
            let generated = attributes_of(made, types);
            for (property, value) in generated {
                entry.attributes.entry(property).or_insert(value);
            }
        }
    }

    /// Whether [`complete`](Settled::complete) has something to look up.
    pub fn wants_completion(&self) -> bool {
        self.pins.is_special() && !self.added.is_empty()
    }
}

/// The values of a recorded resource that say which real thing it is.
pub fn attributes_of(resource: &Resource, types: &dyn Types) -> Map {
    let identity = types.identity(&resource.ty).unwrap_or_default();
    let value = |name: &String| Some((name.clone(), resource.property(name)?.clone()));
    identity.iter().filter_map(value).filter(|(_, value)| *value != Value::Null).collect()
}

/// Entries for everything that state says is pinned: what the file would say had it not been lost. What was let go and
/// is being deleted is left out: it may be gone, and whoever finishes that does not ask again.
pub fn entries_of(state: &State, types: &dyn Types) -> BTreeMap<String, Entry> {
    let going: HashSet<CopyRef> = state
        .pending()
        .filter(|pending| pending.intent.operation() == Operation::Delete)
        .map(|pending| pending.intent.copy())
        .collect();
    let pinned = state.resources().into_iter().filter(|resource| resource.pinned);
    let pinned = pinned.filter(|resource| !going.contains(&resource.copy()));
    let current = pinned.filter(|resource| {
        state.current(&resource.uid).is_some_and(|current| current.copy() == resource.copy())
    });
    let entry = |resource: &Resource| {
        let path = physical_path(&resource.name, &resource.ty);
        let attributes = attributes_of(resource, types);
        (path, Entry { resource: resource.ty.clone(), original_path: None, attributes })
    };
    current.map(entry).collect()
}

/// Whether a problem is a mistake in the file, which no guard decided on.
pub fn is_mistake(problem: &Diagnostic) -> bool {
    [Code::BAD_PINFILE, Code::PINFILE_CONFLICT].contains(&problem.code)
}
