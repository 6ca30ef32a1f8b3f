//! The oracle of pins: the pinfile on the simulated disk, the edits that people make to it, and the checks that no
//! pinned resource is deleted. The engine reads, applies and writes the pinfile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_engine::ops::{OpError, PinChange, PinEdit, Proposal};
use stead_engine::{PinfileLocation, PinfileWrite};
use stead_guard::pins::{EntryStatus, Pinfile, PinfileChange, Pins, Section, physical_path, print};
use stead_model::{Diagnostic, Environment, Graph, Lifecycle, Name, Node, NodeId, Resource, RunResult};
use stead_plan::{Action, Plan};
use stead_state::{Intent, Pending, State};
use stead_world::World;

use crate::Disk;
use crate::life::operate::{Attempt, CommandError, CommandResult};
use crate::life::program::{Program, ResourceFlag};
use crate::oracle::model::{Pin, Violation, violation};
use crate::world::disk::Entry;
use crate::world::site::Actor;

const FOLDER: &str = "/project";
const MAIN: &str = "main.ts";
/// Differs from the target of the stack, because no pins are kept for `sim`.
const TARGET: &str = "local";

/// Puts a program on the disk.
pub(crate) fn with_program(disk: Disk) -> Disk {
    let program = Entry::File { bytes: Arc::default(), mode: 0o644 };
    let mut content = disk.content();
    // An empty disk has no conflicting entry.
    let _ = content.put(Path::new(FOLDER), Entry::Folder { mode: 0o755 });
    let _ = content.put(&Path::new(FOLDER).join(MAIN), program);
    content.sync(Path::new("/"));
    content.sync(Path::new(FOLDER));
    drop(content);
    disk
}

pub(crate) fn place(world: World) -> PinfileLocation {
    let (root, main, target) = (PathBuf::from(FOLDER), MAIN.to_owned(), TARGET.to_owned());
    PinfileLocation { world, root, main, target, environment: Environment::new("dev") }
}

fn path_of_file() -> PathBuf {
    Path::new(FOLDER).join(format!("{MAIN}.pin.json"))
}

fn path(node: &Node) -> String {
    physical_path(&node.name, &node.ty)
}

fn is_pinned(node: &&Node) -> bool {
    node.options.pinned == Some(true)
}

/// Deletes the pinfile. Returns true if it existed.
pub(crate) fn lose(disk: &Disk) -> bool {
    let mut content = disk.content();
    let lost = content.remove(&path_of_file()).is_ok();
    content.sync(Path::new(FOLDER));
    lost
}

/// Removes every entry from the pinfile, leaving an empty section.
pub(crate) fn empty(disk: &Disk) {
    let text = format!("{{\"version\": \"1\", \"pinned\": {{\"{TARGET}\": {{}}}}}}\n");
    put(disk, Some(text.into_bytes()));
}

/// Returns the section that the stack of a life uses.
fn in_use(file: &Pinfile) -> Section {
    Pins::open(file.clone(), TARGET, &Environment::new("dev")).saved().clone()
}

/// Returns the entries that pin a resource.
fn pinned(file: &Pinfile) -> Section {
    in_use(file).into_iter().filter(|(_, entry)| entry.status == EntryStatus::Pinned).collect()
}

/// Returns the text of the pinfile, if it exists.
pub(crate) fn text(disk: &Disk) -> Option<Vec<u8>> {
    match disk.content().get(&path_of_file()) {
        Some(Entry::File { bytes, .. }) => Some(bytes.to_vec()),
        _ => None,
    }
}

/// Writes or removes the pinfile.
pub(crate) fn put(disk: &Disk, text: Option<Vec<u8>>) {
    let mut content = disk.content();
    let _ = content.remove(&path_of_file());
    if let Some(text) = text {
        let _ = content.put(&path_of_file(), Entry::File { bytes: Arc::new(text), mode: 0o644 });
    }
    content.sync(Path::new(FOLDER));
}

/// Adds a section for the environment of the stack, with the first pin of the target's section at most.
pub(crate) fn add_section(disk: &Disk) {
    let Ok(mut file) = Pinfile::read(MAIN, text(disk).as_deref()) else { return };
    let first = pinned(&file).into_iter().take(1).collect();
    file.sections.entry(format!("{TARGET}:dev")).or_insert(first);
    put(disk, Some(print(&file.sections).into_bytes()));
}

/// Returns the paths that a pinfile releases.
pub(crate) fn released(text: Option<&[u8]>) -> BTreeSet<String> {
    let Ok(file) = Pinfile::read(MAIN, text) else { return BTreeSet::new() };
    let released =
        file.sections.into_values().flatten().filter(|(_, entry)| entry.status == EntryStatus::Released);
    released.flat_map(|(path, entry)| [Some(path), entry.original_path].into_iter().flatten()).collect()
}

/// Returns the paths in the pinfile. An existing file must be readable, even after a crash.
pub(crate) fn listed(disk: &Disk) -> Result<BTreeSet<String>, Violation> {
    let content = disk.content();
    let Some(Entry::File { bytes, .. }) = content.get(&path_of_file()) else { return Ok(BTreeSet::new()) };
    match Pinfile::read(MAIN, Some(bytes)) {
        Ok(file) => Ok(pinned(&file).into_keys().collect()),
        Err(problem) => Err(violation("the pinfile can be read", problem.message)),
    }
}

/// Returns resources that a run changes and whose program does not pin them any more.
pub(crate) fn unpinned(plan: &Plan, base: &State, graph: &Graph) -> Vec<Resource> {
    let nodes: BTreeSet<NodeId> = plan.steps.iter().filter_map(|step| step.node).collect();
    let free = nodes.into_iter().filter(|id| !graph.node(*id).as_ref().is_some_and(is_pinned));
    let old = free.filter_map(|id| base.copy(plan.existing.get(&id)?));
    old.filter(|old| old.pinned).cloned().collect()
}

/// Returns resources whose pin only the pinfile can have, and whose program does not pin them.
///
/// The file ends such a pin when the run writes it, and a run that is killed then has written it.
pub(crate) fn unlisted(plan: &Plan, base: &State, graph: &Graph) -> Vec<Resource> {
    let free = plan.existing.iter().filter(|(id, _)| !graph.node(**id).as_ref().is_some_and(is_pinned));
    let old = free.filter_map(|(_, copy)| base.copy(copy));
    old.filter(|old| !old.pinned).cloned().collect()
}

/// Returns true for a name without an id.
fn is_unnamed(name: &Name) -> bool {
    name.to_string().split_once('#').is_none_or(|(_, id)| id.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Actor {
    /// Releases the pins of every resource that the program does not pin, as an update of the pins does.
    pub(crate) fn releases_orphans(&self, proposal: &Proposal) {
        if !self.process.is_alive() {
            return;
        }
        let declared: BTreeSet<&Name> =
            proposal.graph().nodes.iter().filter(is_pinned).map(|node| &node.name).collect();
        let mut model = self.cloud.model();
        let gone = proposal.base().copies().filter(|copy| !declared.contains(&copy.name));
        gone.for_each(|copy| model.pin(copy, Pin::Released));
    }

    /// Notes the resources that the current program or pinfile guards against deletions of an interrupted run.
    ///
    /// An old copy keeps the marks that it had as the current one.
    pub(crate) fn note_protected(&self, state: &State, program: Option<&Graph>) {
        let deletes = |pending: &Pending| matches!(pending.intent, Intent::Delete { .. });
        if state.pending().any(deletes) {
            self.note_protection(state, program);
        }
    }

    /// Notes the resources that the current program or pinfile guards, until the end of the recovery or of the command.
    pub(crate) fn note_protection(&self, state: &State, program: Option<&Graph>) {
        let named = |(graph, resource): (&Graph, &Resource)| {
            let (id, node) = graph.ids().zip(&graph.nodes).find(|(_, node)| node.name == resource.name)?;
            Some(graph.pin_setting(id) == Some(true) || node.options.prevent_delete == Some(true))
        };
        // Of several resources without an id, the counter of today does not tell which one a declaration is.
        let declared = program.into_iter().flat_map(|graph| graph.nodes.iter().map(|node| &node.name));
        let siblings = declared.filter(|name| is_unnamed(name)).count();
        let recorded = state.copies().filter(|copy| is_unnamed(&copy.name)).count();
        let tells = |name: &Name| !is_unnamed(name) || siblings.max(recorded) == 1;
        let listed = self.workspace.pinfile.read().map(|(file, _)| pinned(&file)).unwrap_or_default();
        let stays = |copy: &&Resource| {
            listed.contains_key(&physical_path(&copy.name, &copy.ty))
                || program.is_some_and(|graph| tells(&copy.name) && named((graph, copy)) == Some(true))
        };
        let current = state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live);
        let ids = current.filter(stays).filter_map(|copy| copy.id.as_ref());
        let ids = ids.map(|id| id.as_str().to_owned()).collect();
        self.cloud.model().protected_today.insert(self.process.id, ids);
    }

    /// Notes the pins of the program: they hold from the moment at which a run with this program begins.
    pub(crate) fn note_declared_pins(&self, plan: &Plan, base: &State, graph: &Graph) {
        let mut model = self.cloud.model();
        for (id, copy) in &plan.existing {
            let pinned = graph.node(*id).filter(is_pinned);
            if let Some(resource) = pinned.and_then(|_| base.copy(copy)) {
                model.pin_declared(self.process.id, resource);
            }
        }
    }

    /// Checks after a successful run that state and pinfile have the pins of the program.
    pub(crate) fn check_pins_recorded(
        &self,
        state: &State,
        graph: &Graph,
        plan: &Plan,
        result: RunResult,
        written: Option<Result<PinfileWrite, Diagnostic>>,
    ) -> Result<(), CommandError> {
        let Some(Ok(PinfileWrite::Done)) = written.filter(|_| result == RunResult::Succeeded) else {
            return Ok(());
        };
        // A barrier does not select its resource, whose record stays as it is.
        let touches = |step: &&stead_plan::Step| step.action != Action::Barrier;
        let touched: BTreeSet<&Name> = plan.steps.iter().filter(touches).map(|step| &step.name).collect();
        for node in &graph.nodes {
            let Some(resource) = state.by_name(&node.name) else { continue };
            let pinned = is_pinned(&node);
            if pinned && !resource.pinned && touched.contains(&node.name) {
                let detail = format!("{} is pinned, but recorded as unpinned", node.name);
                return Err(CommandError::Violation(violation("a pin is recorded", detail)));
            }
        }
        self.update_model_pins(state, graph);
        self.check_pinfile_matches(graph)
    }

    /// Updates the model after a successful run: pins of the program are held, all others are released.
    ///
    /// A targeted run leaves unselected records as they are, and removes their entries from the file nevertheless.
    pub(crate) fn update_model_pins(&self, state: &State, graph: &Graph) {
        let mut model = self.cloud.model();
        // An edit by a person in the meantime takes precedence.
        let known = model.knows_pinfile(self.process.id);
        for node in graph.nodes.iter().filter(|node| known || !is_pinned(node)) {
            let pin = |resource: &Resource| match (is_pinned(&node), resource.pinned) {
                (true, _) => Pin::Held,
                (false, true) => Pin::Released,
                (false, false) => Pin::None,
            };
            state.by_name(&node.name).into_iter().for_each(|resource| model.pin(resource, pin(resource)));
        }
    }

    /// Tells the model which releases the pinfile has: they stand for a resource that comes back, or that a run creates without
    /// getting as far as the pinfile.
    pub(crate) fn note_releases(&self) {
        let Ok((file, _)) = self.workspace.pinfile.read() else { return };
        // The most specific entry of a path counts, also if the section in use has none.
        let mut entries = file.sections.get(TARGET).cloned().unwrap_or_default();
        entries.extend(in_use(&file));
        let released = entries.into_iter().filter(|(_, entry)| entry.status == EntryStatus::Released);
        self.cloud.model().released_paths = released.map(|(path, _)| path).collect();
    }

    /// Checks that the pinfile has exactly the pins of the program after a successful run.
    pub(crate) fn check_pinfile_matches(&self, graph: &Graph) -> Result<(), CommandError> {
        let known = self.cloud.model().knows_pinfile(self.process.id);
        if !known || !self.process.is_alive() || self.process.saw_fault() {
            return Ok(());
        }
        let Ok((file, _)) = self.workspace.pinfile.read() else { return Ok(()) };
        let has: BTreeSet<String> = pinned(&file).into_keys().collect();
        let serves = |node: &&Node| node.ty.as_str().ends_with(".Provider");
        let wanted: BTreeSet<String> =
            graph.nodes.iter().filter(is_pinned).filter(|node| !serves(node)).map(path).collect();
        if has == wanted {
            if !wanted.is_empty() {
                self.trace.mark("the pinfile was written");
            }
            return Ok(());
        }
        Err(CommandError::Violation(violation(
            "the pinfile lists the pinned resources",
            format!("{has:?} instead of {wanted:?}"),
        )))
    }

    /// Applies an edit of the pinfile, and reaches a mark if the file was written.
    async fn edit_pins(&self, edit: PinEdit, mark: &str) -> Result<Vec<PinChange>, OpError> {
        let edit = self.workspace.edit_pins(edit).await?;
        if edit.changes().is_empty() {
            return Ok(Vec::new());
        }
        self.cloud.model().edits_pinfile();
        let changes = edit.apply()?;
        if self.process.is_alive() {
            self.trace.mark(mark);
        }
        Ok(changes)
    }

    fn to_result<T>(&self, outcome: Result<T, OpError>) -> CommandResult {
        outcome.map_or_else(|error| self.refused_by(error), |_| Ok(Attempt::Succeeded))
    }

    /// Resolves conflicts between pins and program: moves the pins of renamed resources, removes the pins of removed
    /// ones.
    pub(crate) async fn pins_follow(&self, program: &Program) -> CommandResult {
        let state = self.workspace.stack.load().await?.state;
        let graph = program.graph();
        let now: BTreeSet<String> = graph.nodes.iter().map(path).collect();
        let mut moved: BTreeMap<String, String> = BTreeMap::new();
        for ((name, resource), node) in program
            .resources
            .iter()
            .zip(&graph.nodes)
            .filter(|((_, resource), _)| resource.is(ResourceFlag::Pinned))
        {
            let type_of = node.ty.as_str();
            for old in resource.former_names.iter().chain([name]) {
                moved.insert(format!("{type_of}.{old}"), path(node));
            }
        }
        let Ok((first, _)) = self.workspace.pinfile.read() else { return self.refused("the pinfile") };
        for from in pinned(&first).into_keys().filter(|entry| !now.contains(entry)) {
            // Each edit reads the file again.
            let Ok((file, _)) = self.workspace.pinfile.read() else { return self.refused("the pinfile") };
            let taken = |to: &&String| in_use(&file).contains_key(*to);
            let outcome = match moved.get(&from).filter(|to| !taken(to)) {
                Some(to) => self.edit_pins(PinEdit::Move { from, to: to.clone() }, "a pin moved").await,
                None => self.remove_pin(&file, from, &state).await,
            };
            if let Attempt::Unfinished = self.to_result(outcome)? {
                return Ok(Attempt::Unfinished);
            }
        }
        Ok(Attempt::Succeeded)
    }

    /// Removes a pin. The model releases it from the moment at which the file may say so.
    async fn remove_pin(
        &self,
        file: &Pinfile,
        path: String,
        state: &State,
    ) -> Result<Vec<PinChange>, OpError> {
        let came_from = in_use(file).get(&path).and_then(|entry| entry.original_path.clone());
        let is_meant = |copy: &&Resource| {
            let mut paths = stead_guard::pins::paths_of(copy);
            paths.any(|other| other == path || Some(&other) == came_from.as_ref())
        };
        if self.process.is_alive() {
            let mut model = self.cloud.model();
            state.copies().filter(is_meant).for_each(|copy| model.pin(copy, Pin::Released));
            let created = state.pending().filter_map(|pending| match &pending.intent {
                Intent::Create { resource, .. } => Some(&**resource),
                _ => None,
            });
            created.filter(is_meant).for_each(|resource| model.release_create(resource));
        }
        self.edit_pins(PinEdit::Remove { path }, "a pin was removed").await
    }

    pub(crate) async fn unpin(&self, program: &Program, name: &str) -> CommandResult {
        let state = self.workspace.stack.load().await?.state;
        let Ok((file, _)) = self.workspace.pinfile.read() else { return self.refused("the pinfile") };
        let graph = program.graph();
        let node = program.position(name).and_then(|at| graph.nodes.get(at));
        let Some(entry) = node.map(path).filter(|path| pinned(&file).contains_key(path)) else {
            return self.refused("no such pin");
        };
        let outcome = self.remove_pin(&file, entry, &state).await;
        self.to_result(outcome)
    }

    pub(crate) async fn restore_pins(&self) -> CommandResult {
        let state = self.workspace.stack.load().await?.state;
        let outcome = self.edit_pins(PinEdit::Restore, "pins were restored").await;
        if let Ok(changes) = &outcome
            && self.process.is_alive()
        {
            let restored = |copy: &&Resource| {
                let line = PinfileChange::Added(physical_path(&copy.name, &copy.ty));
                copy.pinned && changes.iter().any(|change| change.line == line)
            };
            let mut model = self.cloud.model();
            for copy in state.copies().filter(restored) {
                if !copy.id.as_ref().is_some_and(|id| model.doomed.contains(id.as_str())) {
                    model.pin(copy, Pin::Held);
                }
            }
        }
        match outcome {
            // Without a stack there is nothing to restore.
            Err(OpError::NotFound(_)) => Ok(Attempt::Succeeded),
            other => self.to_result(other),
        }
    }
}
