//! An inventory: one stack of files, most of them without an id. People drop, insert and edit them, import files that
//! exist, retain files and take them back, and runs die in between. The provider `local` is the shipped one.
//!
//! A path identifies a file, so that a file without an id is found by its path, whatever its place in the program is. Notes
//! (`local.Data`) have no identity: only their content tells them from their siblings. Now and then the program declares a file
//! twice by mistake, spells a path in another way, or gives a declared file another id as well, or a declared file is changed outside, or the program protects a file under another name or counter, and a destroy,
//! a rollback or a saved plan comes before the next `up`.

mod unapplied;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_engine::ops::{Import, OpError, PlanRequest, Proposal, Wait, Workspace};
use stead_engine::{Engine, Stack, StackSecrets, Stop};
use stead_journal::StackKeys;
use stead_local::LocalProvider;
use stead_model::{
    DeletionPolicy, Graph, Inputs, Lifecycle, Name, Node, NodeKind, Options, PhysicalId, Resource, RunResult,
    SourceRef, TypeToken, Uid, Value,
};
use stead_plan::{MovePolicy, Request};
use stead_provider::Providers;
use stead_state::State;
use stead_store::{FileStore, Store};
use stead_world::World;
use tokio::sync::watch;

use crate::faults::process_faults::ProcessFaults;
use crate::life::operate::DeclaredGraph;
use crate::world::disk::Entry;
use crate::world::process::Process;
use crate::world::site::without_pinfile;
use crate::{Disk, Rng};

const ROOT: &str = "/p";
const FILES: u64 = 6;
const TYPE: &str = "local.File";
const NOTE: &str = "local.Data";

/// Id of a second declaration.
const TWIN: &str = "twin";

/// A declared file.
#[derive(Clone, Debug, PartialEq)]
struct DeclaredFile {
    file: u64,
    content: String,
    /// Without an id, only a counter tells the file from its siblings.
    id: Option<String>,
    retained: bool,
    /// The path is spelled with `./`.
    respelled: bool,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq)]
enum Ended {
    Succeeded,
    /// The plan looks like a rename, and the command asks.
    LooksMoved,
    Otherwise(String),
}

struct Inventory {
    rng: Rng,
    disk: Disk,
    program: Vec<DeclaredFile>,
    /// Values of the notes, in the order of the program. No two are equal.
    notes: Vec<i64>,
    /// The declared file that may not be deleted.
    protected: Option<u64>,
    processes: u64,
    contents: u64,
    trace: Vec<String>,
}

/// Runs the inventory of a seed. Returns its trace, or the failure with the trace that led to it.
pub fn inventory(seed: u64) -> Result<Vec<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let (rng, disk) = (Rng::new(seed ^ 0x696e_7665), Disk::default());
    let (program, notes, trace) = (Vec::new(), Vec::new(), Vec::new());
    let mut inventory =
        Inventory { rng, disk, program, notes, protected: None, processes: 0, contents: 0, trace };
    match runtime.block_on(inventory.run()) {
        Ok(()) => Ok(inventory.trace),
        Err(lost) => Err(format!("{lost}\ninventory {seed}:\n{}", inventory.trace.join("\n"))),
    }
}

impl Inventory {
    async fn run(&mut self) -> Result<(), String> {
        let world = self.process(ProcessFaults::NONE).1;
        world.files.ensure_folder(Path::new(ROOT)).map_err(|error| error.to_string())?;
        for _ in 0..6 + self.rng.below(8) {
            let before = self.state().await?;
            if self.rng.one_in(3) {
                self.import(&before).await?;
                continue;
            }
            if self.rng.one_in(6) {
                self.declare_twice().await?;
            }
            if self.rng.one_in(6) {
                self.change_outside().await?;
            }
            if self.rng.one_in(3) {
                unapplied::protect_without_up(self, &before).await?;
            }
            let before = self.state().await?;
            self.edit(&before)?;
            let dies_at = self.rng.one_in(5).then(|| 1 + self.rng.below(40));
            if dies_at.is_some() {
                let faults = ProcessFaults { dies_at, ..ProcessFaults::default() };
                self.up(faults, MovePolicy::Suggest).await;
            }
            let before = self.state().await?;
            let mut ended = self.up(ProcessFaults::NONE, MovePolicy::Suggest).await;
            let asked = ended == Ended::LooksMoved;
            if asked {
                // People say that nothing was renamed; then counters decide about files without an id.
                ended = self.up(ProcessFaults::NONE, MovePolicy::Refuse).await;
            }
            if ended != Ended::Succeeded {
                return Err(format!("a run without faults succeeds: {ended:?}"));
            }
            let after = self.state().await?;
            if !asked {
                self.check_records(&before, &after)?;
                self.check_notes(&before, &after)?;
            }
            self.check_files(&before)?;
        }
        Ok(())
    }

    /// Drops, inserts, edits or moves declarations. Declares an imported file under the name of its record.
    fn edit(&mut self, state: &State) -> Result<(), String> {
        for _ in 0..1 + self.rng.below(3) {
            let at = self.rng.below(self.program.len().max(1) as u64) as usize;
            match self.rng.below(6) {
                0 if !self.program.is_empty() => drop(self.program.remove(at)),
                1 if !self.program.is_empty() => self.program[at].content = self.content(),
                2 if !self.program.is_empty() => {
                    let mut declared = self.program.remove(at);
                    declared.respelled ^= self.rng.one_in(3);
                    self.program.insert(0, declared);
                }
                3 if !self.program.is_empty() => {
                    // A guarded resource needs an id, so that no sibling can take its place.
                    self.program[at].retained ^= self.program[at].id.is_some();
                }
                4 if !self.program.is_empty() => self.declare_anew(at, state),
                _ => self.insert(at, state),
            }
        }
        if self.rng.one_in(2) {
            let at = self.rng.below(self.notes.len() as u64 + 1) as usize;
            if self.rng.one_in(2) && at < self.notes.len() {
                self.notes.remove(at);
            } else {
                self.contents += 1;
                self.notes.insert(at, self.contents as i64);
            }
        }
        self.trace.push(format!("{:?}, notes {:?}", self.program, self.notes));
        Ok(())
    }

    /// Declares a file under another id, with another spelling of its path and other content, as a new resource in its place.
    fn declare_anew(&mut self, at: usize, state: &State) {
        let DeclaredFile { file, retained, .. } = self.program[at];
        let stays = |copy: &Resource| copy.imported || copy.recorded_policy() == Some(DeletionPolicy::Retain);
        if retained || state.copies().any(|copy| is_at(copy, file) && stays(copy)) {
            return;
        }
        let content = self.content();
        let id = Some(format!("anew{}of{file}", self.contents));
        let respelled = !self.program[at].respelled;
        self.program[at] = DeclaredFile { file, content, id, retained, respelled };
    }

    /// Declares one more file: a new one, or one that was imported. Files of others are left alone.
    fn insert(&mut self, at: usize, state: &State) {
        let file = self.rng.below(FILES);
        if self.program.iter().any(|declared| declared.file == file) {
            return;
        }
        let recorded = state.copies().find(|copy| is_at(copy, file));
        let id = match recorded {
            Some(copy) if copy.imported => Some(format!("i{file}")),
            Some(_) => return,
            None if self.text(file).is_some() => return,
            None => self.rng.one_in(4).then(|| format!("n{file}")),
        };
        let retained = id.is_some() && self.rng.one_in(2);
        let (content, respelled) = (self.content(), self.rng.one_in(4));
        let declared = DeclaredFile { file, content, id, retained, respelled };
        self.program.insert(at.min(self.program.len()), declared);
    }

    /// The program declares a file a second time, with another spelling of its path, and takes that back after the refusal.
    async fn declare_twice(&mut self) -> Result<(), String> {
        let Some(first) = self.rng.pick(&self.program).cloned() else { return Ok(()) };
        let found = self.text(first.file);
        let content = self.content();
        self.program.push(DeclaredFile {
            content,
            id: Some(TWIN.to_owned()),
            retained: false,
            respelled: !first.respelled,
            ..first.clone()
        });
        self.trace.push(format!("f{} is declared twice", first.file));
        let ended = self.up(ProcessFaults::NONE, MovePolicy::Suggest).await;
        self.program.pop();
        if ended == Ended::Succeeded {
            return Err(format!("two declarations of one file are refused: f{}", first.file));
        }
        if self.text(first.file) != found {
            return Err(format!("a refused program changes nothing: f{}", first.file));
        }
        Ok(())
    }

    /// A declared file is changed outside and in the program. The update is refused, and the program takes the content over.
    async fn change_outside(&mut self) -> Result<(), String> {
        if self.program.is_empty() {
            return Ok(());
        }
        let at = self.rng.below(self.program.len() as u64) as usize;
        let file = self.program[at].file;
        if self.text(file).is_none() {
            return Ok(());
        }
        let edit = self.content();
        let (process, world) = self.process(ProcessFaults::NONE);
        let written = world.files.write_atomically(&place(file), edit.as_bytes(), 0o644, "edit");
        written.map_err(|error| error.to_string())?;
        process.end(&self.disk);
        self.program[at].content = self.content();
        self.trace.push(format!("f{file} is changed outside to {edit}: {:?}", self.program[at]));
        let ended = self.up(ProcessFaults::NONE, MovePolicy::Refuse).await;
        if ended == Ended::Succeeded || self.text(file).as_ref() != Some(&edit) {
            return Err(format!("a file that was changed outside is not overwritten: f{file}, {ended:?}"));
        }
        self.program[at].content = edit;
        match self.up(ProcessFaults::NONE, MovePolicy::Refuse).await {
            Ended::Succeeded => Ok(()),
            ended => Err(format!("the program takes a changed file over: f{file}, {ended:?}")),
        }
    }

    fn content(&mut self) -> String {
        self.contents += 1;
        format!("content {}", self.contents)
    }

    /// Imports a file that no record has, and that exists: made outside, or retained earlier.
    async fn import(&mut self, state: &State) -> Result<(), String> {
        let file = self.rng.below(FILES);
        if state.copies().any(|copy| is_at(copy, file)) || self.program.iter().any(|one| one.file == file) {
            return Ok(());
        }
        let (process, world) = self.process(ProcessFaults::NONE);
        if self.text(file).is_none() {
            let content = self.content();
            let made = world.files.create_synced(&place(file), content.as_bytes(), 0o644);
            made.map_err(|error| error.to_string())?;
        }
        let retained = state.retained().find(|retained| retained.id.as_str().ends_with(&format!("f{file}")));
        let spelled = if self.rng.one_in(2) { "./f" } else { "f" };
        let id = PhysicalId(format!("{spelled}{file}"));
        let name = format!("dev:main:{TYPE}#i{file}").parse().map_err(|error| format!("{error}"))?;
        let import = Import { name, ty: TypeToken(TYPE.to_owned()), id, provider: None };
        let workspace = self.workspace(world);
        let declared = DeclaredGraph(self.graph()?);
        let previewed =
            workspace.preview_import(&declared, &import, (Wait::No, Vec::new()), &mut |_| ()).await;
        let ended = apply(previewed).await;
        process.end(&self.disk);
        self.trace.push(format!("import f{file}: {ended:?}"));
        let after = self.state().await?;
        let Some(record) = after.copies().find(|copy| is_at(copy, file)) else {
            return Err(format!("a file that exists is imported: {ended:?}"));
        };
        if retained.is_some() && record.recorded_policy() != Some(DeletionPolicy::Retain) {
            return Err(format!("a retained resource that is taken back stays retained: f{file}"));
        }
        Ok(())
    }

    async fn up(&mut self, faults: ProcessFaults, moves: MovePolicy) -> Ended {
        let (process, world) = self.process(faults);
        let workspace = self.workspace(world);
        let ended = match self.graph() {
            Ok(graph) => {
                let request = PlanRequest::up(Request { moves, ..Request::default() });
                apply(workspace.preview(&DeclaredGraph(graph), request, &mut |_| ()).await).await
            }
            Err(problem) => Ended::Otherwise(problem),
        };
        process.end(&self.disk);
        self.trace.push(format!("up: {ended:?}"));
        ended
    }

    /// Checks after a successful run that the record of each declared file is the one that it had.
    fn check_records(&self, before: &State, after: &State) -> Result<(), String> {
        let uid = |state: &State, file: u64| -> Option<Uid> {
            let mut live = state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live);
            live.find(|copy| is_at(copy, file)).map(|copy| copy.uid.clone())
        };
        let is_anew = |file: u64, id: &Option<String>| {
            let recorded = before.copies().find(|copy| is_at(copy, file));
            id.as_ref().is_some_and(|id| recorded.is_some_and(|copy| copy.name.short() != id))
        };
        for DeclaredFile { file, .. } in self.program.iter().filter(|one| !is_anew(one.file, &one.id)) {
            if uid(before, *file).is_some_and(|old| uid(after, *file) != Some(old)) {
                return Err(format!("a file that stays declared keeps its record: f{file}"));
            }
        }
        Ok(())
    }

    /// Checks after a successful run that each note with the content of before has the record of before.
    fn check_notes(&self, before: &State, after: &State) -> Result<(), String> {
        let uid = |state: &State, note: i64| -> Option<Uid> {
            let mut live =
                state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live && copy.ty.0 == NOTE);
            let found = live.find(|copy| copy.inputs.get("value") == Some(&Value::from(note)));
            found.map(|copy| copy.uid.clone())
        };
        for note in &self.notes {
            if uid(before, *note).is_some_and(|old| uid(after, *note) != Some(old)) {
                return Err(format!("a note that stays as it is keeps its record: {note}"));
            }
        }
        Ok(())
    }

    /// Checks after a successful run that the declared files have their contents, and that no file is gone that stays.
    fn check_files(&self, before: &State) -> Result<(), String> {
        for DeclaredFile { file, content, .. } in &self.program {
            let found = self.text(*file);
            if found.as_ref() != Some(content) {
                return Err(format!("a declared file has its content: f{file} has {found:?}"));
            }
        }
        let gone = |copy: &&Resource| (0..FILES).any(|file| is_at(copy, file) && self.text(file).is_none());
        for copy in before.copies().filter(|copy| copy.lifecycle == Lifecycle::Live).filter(gone) {
            if copy.imported {
                return Err(format!("a file that was imported and never declared is kept: {}", copy.name));
            }
            if copy.recorded_policy() == Some(DeletionPolicy::Retain) {
                return Err(format!("no retained file is deleted: {}", copy.name));
            }
        }
        Ok(())
    }

    fn graph(&self) -> Result<Graph, String> {
        let (mut graph, mut unnamed) = (Graph::default(), 0u32);
        for (line, declared) in self.program.iter().enumerate() {
            let id = match &declared.id {
                Some(id) => format!("#{id}"),
                None => {
                    unnamed += 1;
                    if unnamed > 1 { format!("#{unnamed}") } else { String::new() }
                }
            };
            let name = format!("dev:main:{TYPE}{id}").parse().map_err(|error| format!("{error}"))?;
            let is_twin = declared.id.as_deref() == Some(TWIN);
            let spelled = if declared.respelled { "./f" } else { "f" };
            let inputs = [
                ("path".to_owned(), Value::from(format!("{spelled}{}", declared.file)).into()),
                ("content".to_owned(), Value::from(declared.content.as_str()).into()),
                ("overwrite".to_owned(), Value::from(is_twin).into()),
            ];
            let deletion_policy = declared.retained.then_some(DeletionPolicy::Retain);
            let prevent_delete = (self.protected == Some(declared.file)).then_some(true);
            let options = Options { deletion_policy, prevent_delete, ..Options::default() };
            graph.nodes.push(Node { options, ..node(name, TYPE, inputs.into(), line) });
        }
        for (at, note) in self.notes.iter().enumerate() {
            let id = if at > 0 { format!("#{}", at + 1) } else { String::new() };
            let name = format!("dev:main:{NOTE}{id}").parse().map_err(|error| format!("{error}"))?;
            let inputs = [("value".to_owned(), Value::from(*note).into())];
            graph.nodes.push(node(name, NOTE, inputs.into(), self.program.len() + at));
        }
        Ok(graph)
    }

    async fn state(&mut self) -> Result<Arc<State>, String> {
        let world = self.process(ProcessFaults::NONE).1;
        let loaded = self.workspace(world).stack.load().await;
        Ok(loaded.map_err(|error| error.to_string())?.state)
    }

    fn text(&self, file: u64) -> Option<String> {
        match self.disk.content().get(&place(file)) {
            Some(Entry::File { bytes, .. }) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    fn process(&mut self, faults: ProcessFaults) -> (Process, World) {
        self.processes += 1;
        let process = Process::new(self.processes, faults);
        let world = process.world(&self.disk, &mut self.rng);
        (process, world)
    }

    fn workspace(&mut self, world: World) -> Workspace {
        let provider = LocalProvider::new(world.clone(), PathBuf::from(ROOT));
        let parallel = 1 + self.rng.below(3) as usize;
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(provider)), parallel);
        let store: Arc<dyn Store> = Arc::new(FileStore::new(world.clone(), PathBuf::from("/state")));
        let keys = StackKeys::new("shop", "dev", "sim");
        without_pinfile(
            engine,
            Stack {
                store,
                keys,
                world,
                claims: PathBuf::from("/claims"),
                secrets: StackSecrets::in_memory(),
            },
            "dev",
        )
    }
}

fn node(name: Name, ty: &str, inputs: Inputs, line: usize) -> Node {
    Node {
        name,
        ty: TypeToken(ty.to_owned()),
        kind: NodeKind::Provisioned,
        parent: None,
        inputs,
        options: Options::default(),
        source: SourceRef { file: "main.ts".into(), line: line as u32 + 1, column: 1 },
        marks: Default::default(),
    }
}

fn place(file: u64) -> PathBuf {
    Path::new(ROOT).join(format!("f{file}"))
}

/// Returns true if the record is of this file.
fn is_at(resource: &Resource, file: u64) -> bool {
    let path = resource.inputs.get("path").and_then(Value::as_str).unwrap_or_default();
    path.ends_with(&format!("f{file}"))
}

async fn apply(previewed: Result<Proposal, OpError>) -> Ended {
    let applied = async { previewed?.permit()?.apply(watch::channel(Stop::No).1, &mut |_| ()).await };
    match applied.await {
        Ok(report) if report.result == RunResult::Succeeded => Ended::Succeeded,
        Ok(report) => {
            let problems: Vec<&str> =
                report.problems.iter().map(|problem| problem.message.as_str()).collect();
            Ended::Otherwise(format!("{:?}: {}", report.result, problems.join("; ")))
        }
        Err(OpError::LooksMoved(_)) => Ended::LooksMoved,
        Err(error) => Ended::Otherwise(error.to_string()),
    }
}
