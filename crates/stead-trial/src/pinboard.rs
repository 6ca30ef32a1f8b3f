//! Pins in a life: the pinfile on the simulated disk, what a person does to it, and what may never happen to what it
//! holds. Reading, settling and writing are the engine's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_engine::ops::{OpError, PinChange, PinEdit, Proposal};
use stead_engine::{PinfileLocation, PinfileWrite};
use stead_guard::pins::{Pinfile, PinfileChange, Section, physical_path};
use stead_model::{Diagnostic, Environment, Graph, Lifecycle, Name, Node, NodeId, Resource, RunResult};
use stead_plan::{Action, Plan};
use stead_state::{Intent, Pending, State};
use stead_world::World;

use crate::Disk;
use crate::disk::Entry;
use crate::model::{Loss, Pin, loss};
use crate::operate::{Attempt, Ended, Failed};
use crate::program::{Program, Trait};
use crate::stage::Actor;

const FOLDER: &str = "/project";
const MAIN: &str = "main.ts";
/// Another name than the stack's own target: for `sim`, no pins are kept.
const TARGET: &str = "local";

/// The disk, with a program on it.
pub(crate) fn with_program(disk: Disk) -> Disk {
    let program = Entry::File { bytes: Arc::default(), mode: 0o644 };
    let mut content = disk.content();
    // On an empty disk there is nothing in the way.
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

/// Somebody deletes the pinfile. Whether there was one.
pub(crate) fn lose(disk: &Disk) -> bool {
    let mut content = disk.content();
    let lost = content.remove(&path_of_file()).is_ok();
    content.sync(Path::new(FOLDER));
    lost
}

/// Somebody takes every entry out by hand, and says so with an empty section.
pub(crate) fn empty(disk: &Disk) {
    let text = format!("{{\"version\": \"1\", \"pinned\": {{\"{TARGET}\": {{}}}}}}\n");
    let mut content = disk.content();
    let _ = content.remove(&path_of_file());
    let bytes = Arc::new(text.into_bytes());
    let _ = content.put(&path_of_file(), Entry::File { bytes, mode: 0o644 });
    content.sync(Path::new(FOLDER));
}

/// The paths in the pinfile. A file that is there can be read, whatever happened to who wrote it.
pub(crate) fn listed(disk: &Disk) -> Result<BTreeSet<String>, Loss> {
    let content = disk.content();
    let Some(Entry::File { bytes, .. }) = content.get(&path_of_file()) else { return Ok(BTreeSet::new()) };
    match Pinfile::read(MAIN, Some(bytes)) {
        Ok(file) => Ok(file.sections.get(TARGET).into_iter().flat_map(Section::keys).cloned().collect()),
        Err(problem) => Err(loss("the pinfile is whole", problem.message)),
    }
}

/// Resources that a run changes and whose program does not pin them any more.
pub(crate) fn unpinned(plan: &Plan, base: &State, graph: &Graph) -> Vec<Resource> {
    let nodes: BTreeSet<NodeId> = plan.steps.iter().filter_map(|step| step.node).collect();
    let free = nodes.into_iter().filter(|id| !graph.node(*id).as_ref().is_some_and(is_pinned));
    let old = free.filter_map(|id| base.copy(plan.existing.get(&id)?));
    old.filter(|old| old.pinned).cloned().collect()
}

impl Actor {
    /// `--update-pins` lets go of every resource that the program does not pin.
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

    /// What is pinned or protected by what is written today, whatever an earlier run was about to do to it. An old copy
    /// has what was said of it when it was the current one.
    pub(crate) fn keeps(&self, state: &State, program: Option<&Graph>) {
        let deletes = |pending: &Pending| matches!(pending.intent, Intent::Delete { .. });
        if !state.pending().any(deletes) {
            return;
        }
        let named = |(graph, resource): (&Graph, &Resource)| {
            let (id, node) = graph.ids().zip(&graph.nodes).find(|(_, node)| node.name == resource.name)?;
            Some(graph.pin_setting(id) == Some(true) || node.options.prevent_delete == Some(true))
        };
        let listed = self
            .workspace
            .pinfile
            .read()
            .map(|(file, _)| file.sections.get(TARGET).cloned().unwrap_or_default());
        let listed = listed.unwrap_or_default();
        let stays = |copy: &&Resource| {
            listed.contains_key(&physical_path(&copy.name, &copy.ty))
                || program.is_some_and(|graph| named((graph, copy)) == Some(true))
        };
        let current = state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live);
        let ids = current.filter(stays).filter_map(|copy| copy.id.as_ref());
        let ids = ids.map(|id| id.as_str().to_owned()).collect();
        self.cloud.model().kept.insert(self.process.id, ids);
    }

    /// What the program pins is held from the moment at which a run that knows it begins.
    pub(crate) fn holds_pins(&self, plan: &Plan, base: &State, graph: &Graph) {
        let mut model = self.cloud.model();
        for (id, copy) in &plan.existing {
            let pinned = graph.node(*id).filter(is_pinned);
            if let Some(resource) = pinned.and_then(|_| base.copy(copy)) {
                model.declares(self.process.id, resource);
            }
        }
    }

    /// A run is over. If it went well, state and pinfile say of each thing what the program says.
    pub(crate) fn has_pinned(
        &self,
        state: &State,
        graph: &Graph,
        plan: &Plan,
        result: RunResult,
        written: Option<Result<PinfileWrite, Diagnostic>>,
    ) -> Result<(), Failed> {
        let Some(Ok(PinfileWrite::Done)) = written.filter(|_| result == RunResult::Succeeded) else {
            return Ok(());
        };
        // What only waits for others is not selected, and its record stays as it is.
        let touches = |step: &&stead_plan::Step| step.action != Action::Barrier;
        let touched: BTreeSet<&Name> = plan.steps.iter().filter(touches).map(|step| &step.name).collect();
        for node in &graph.nodes {
            let Some(resource) = state.by_name(&node.name) else { continue };
            let pinned = is_pinned(&node);
            if pinned && !resource.pinned && touched.contains(&node.name) {
                let what = format!("{} is pinned, and recorded as if it were not", node.name);
                return Err(Failed::Lost(loss("a pin is on record", what)));
            }
        }
        self.follows_program(state, graph);
        self.file_is(graph)
    }

    /// A run went well: what its program pins is held, and what it does not was unpinned on purpose. A run for a part
    /// leaves records as they are, and takes the entries out of the file all the same.
    pub(crate) fn follows_program(&self, state: &State, graph: &Graph) {
        let mut model = self.cloud.model();
        // Where a person edited the file meanwhile, that is what counts.
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

    /// After a run that went well the file has what the program pins, and nothing else.
    pub(crate) fn file_is(&self, graph: &Graph) -> Result<(), Failed> {
        let known = self.cloud.model().knows_pinfile(self.process.id);
        if !known || !self.process.is_alive() || self.process.disk_failed() {
            return Ok(());
        }
        let Ok((file, _)) = self.workspace.pinfile.read() else { return Ok(()) };
        let has: BTreeSet<String> =
            file.sections.get(TARGET).into_iter().flat_map(Section::keys).cloned().collect();
        let serves = |node: &&Node| node.ty.as_str().ends_with(".Provider");
        let wanted: BTreeSet<String> =
            graph.nodes.iter().filter(is_pinned).filter(|node| !serves(node)).map(path).collect();
        if has == wanted {
            if !wanted.is_empty() {
                self.tape.reach("the pinfile was written");
            }
            return Ok(());
        }
        Err(Failed::Lost(loss("the pinfile says what is pinned", format!("{has:?}, and not {wanted:?}"))))
    }

    /// Applies an edit of the pinfile, and reaches a mark if it was written.
    async fn edit_pins(&self, edit: PinEdit, mark: &str) -> Result<Vec<PinChange>, OpError> {
        let edit = self.workspace.edit_pins(edit).await?;
        if edit.changes().is_empty() {
            return Ok(Vec::new());
        }
        self.cloud.model().edits_pinfile();
        let changes = edit.apply()?;
        if self.process.is_alive() {
            self.tape.reach(mark);
        }
        Ok(changes)
    }

    fn told<T>(&self, outcome: Result<T, OpError>) -> Ended {
        outcome.map_or_else(|error| self.refused_by(error), |_| Ok(Attempt::Succeeded))
    }

    /// What people do when pins stand against their program: `pin mv` for a resource that moved, `pin rm` for one that is gone.
    pub(crate) async fn pins_follow(&self, program: &Program) -> Ended {
        let state = self.workspace.stack.load().await?.state;
        let graph = program.graph();
        let now: BTreeSet<String> = graph.nodes.iter().map(path).collect();
        let mut moved: BTreeMap<String, String> = BTreeMap::new();
        for ((name, thing), node) in
            program.things.iter().zip(&graph.nodes).filter(|((_, thing), _)| thing.is(Trait::Pinned))
        {
            let type_of = node.ty.as_str();
            for old in thing.was.iter().chain([name]) {
                moved.insert(format!("{type_of}.{old}"), path(node));
            }
        }
        let Ok((first, _)) = self.workspace.pinfile.read() else { return self.refused("the pinfile") };
        let entries: Vec<String> =
            first.sections.get(TARGET).into_iter().flat_map(Section::keys).cloned().collect();
        for from in entries.into_iter().filter(|entry| !now.contains(entry)) {
            // One command after the other, each of which reads the file.
            let Ok((file, _)) = self.workspace.pinfile.read() else { return self.refused("the pinfile") };
            let taken =
                |to: &&String| file.sections.get(TARGET).is_some_and(|section| section.contains_key(*to));
            let outcome = match moved.get(&from).filter(|to| !taken(to)) {
                Some(to) => self.edit_pins(PinEdit::Move { from, to: to.clone() }, "a pin moved").await,
                None => self.let_go(&file, from, &state).await,
            };
            if let Attempt::Unfinished = self.told(outcome)? {
                return Ok(Attempt::Unfinished);
            }
        }
        Ok(Attempt::Succeeded)
    }

    /// `pin rm`. The model lets go from the moment at which the file may say so.
    async fn let_go(&self, file: &Pinfile, path: String, state: &State) -> Result<Vec<PinChange>, OpError> {
        let came_from =
            file.sections.get(TARGET).and_then(|section| section.get(&path)?.original_path.clone());
        let is_meant = |copy: &&Resource| {
            let mut paths = stead_guard::pins::paths_of(copy);
            paths.any(|other| other == path || Some(&other) == came_from.as_ref())
        };
        if self.process.is_alive() {
            let mut model = self.cloud.model();
            state.copies().filter(is_meant).for_each(|copy| model.pin(copy, Pin::Released));
        }
        self.edit_pins(PinEdit::Remove { path }, "a pin was removed").await
    }

    pub(crate) async fn unpin(&self, program: &Program, name: &str) -> Ended {
        let state = self.workspace.stack.load().await?.state;
        let Ok((file, _)) = self.workspace.pinfile.read() else { return self.refused("the pinfile") };
        let graph = program.graph();
        let node = program.position(name).and_then(|at| graph.nodes.get(at));
        let Some(entry) = node
            .map(path)
            .filter(|path| file.sections.get(TARGET).is_some_and(|section| section.contains_key(path)))
        else {
            return self.refused("no such pin");
        };
        let outcome = self.let_go(&file, entry, &state).await;
        self.told(outcome)
    }

    pub(crate) async fn restore_pins(&self) -> Ended {
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
            other => self.told(other),
        }
    }
}
