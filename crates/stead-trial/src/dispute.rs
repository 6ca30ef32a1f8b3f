//! A dispute: three stacks want the same few files, spell their paths differently, import and forget them, die in
//! between, and people change the files outside. Provider and owner marks are the shipped ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_engine::ops::{Import, OpError, PlanRequest, Proposal, StateEdit, Wait, Workspace};
use stead_engine::{Engine, Owners, Stack, StackSecrets, Stop, Stores};
use stead_journal::StackKeys;
use stead_local::LocalProvider;
use stead_model::{
    Graph, Lifecycle, Node, NodeKind, Options, PhysicalId, PhysicalIdentity, Resource, SourceRef, TypeToken,
    Value,
};
use stead_plan::{MovePolicy, Purpose, Request};
use stead_provider::{OwnerMark, Ownership as _, Providers, StatePlace};
use stead_store::{FileStore, Store};
use stead_world::World;
use tokio::sync::watch;

use crate::faults::process_faults::ProcessFaults;
use crate::life::operate::DeclaredGraph;
use crate::world::process::Process;
use crate::world::site::without_pinfile;
use crate::{Disk, Rng};

const ROOT: &str = "/p";
const STATE: &str = "/state";
const FILES: usize = 3;
const STACKS: [(&str, &str); 3] = [("shop", "dev"), ("shop", "prod"), ("blog", "dev")];

/// A declared file.
#[derive(Clone, Debug)]
struct DeclaredFile {
    file: usize,
    spelling: usize,
    content: u64,
    overwrite: bool,
}

impl DeclaredFile {
    fn draw(rng: &mut Rng) -> DeclaredFile {
        let (file, spelling) = (rng.below(FILES as u64) as usize, rng.below(3) as usize);
        DeclaredFile { file, spelling, content: rng.below(3), overwrite: rng.one_in(2) }
    }

    fn path(&self) -> String {
        format!("{}f{}", ["", "./", "d/../"][self.spelling], self.file)
    }
}

/// The programs of the three stacks, by id of each resource.
type DeclaredFiles = BTreeMap<&'static str, DeclaredFile>;

struct Dispute {
    rng: Rng,
    disk: Disk,
    programs: [DeclaredFiles; 3],
    processes: u64,
    changes_outside: u64,
    trace: Vec<String>,
}

pub(crate) struct StoresOnDisk(pub(crate) World);

impl Stores for StoresOnDisk {
    fn open(&self, store: &str) -> Option<Arc<dyn Store>> {
        Some(Arc::new(FileStore::new(self.0.clone(), PathBuf::from(store))))
    }
}

/// One file before or after a command.
#[derive(Clone, Debug)]
struct Seen {
    content: Option<String>,
    mark: Option<OwnerMark>,
    /// The record of each stack that has the file.
    records: Vec<Vec<Resource>>,
    /// Whether operations of each stack are pending: the next command of that stack finishes them first.
    pending: Vec<bool>,
}

/// Runs the dispute of a seed. Returns its trace, or the failure with the trace that led to it.
pub fn dispute(seed: u64) -> Result<Vec<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let rng = Rng::new(seed ^ 0x6469_7370);
    let (disk, programs, trace) = (Disk::default(), Default::default(), Vec::new());
    let mut dispute = Dispute { rng, disk, programs, processes: 0, changes_outside: 0, trace };
    match runtime.block_on(dispute.run()) {
        Ok(()) => Ok(dispute.trace),
        Err(lost) => Err(format!("dispute {seed}: {lost}\n{}", dispute.trace.join("\n"))),
    }
}

impl Dispute {
    async fn run(&mut self) -> Result<(), String> {
        let world = self.process(ProcessFaults::NONE).1;
        world.files.ensure_folder(Path::new("/p/d")).map_err(|error| error.to_string())?;
        for _ in 0..8 + self.rng.below(8) {
            let stack = self.rng.below(3) as usize;
            self.edit(stack);
            if self.rng.one_in(4) {
                self.change_outside()?;
            }
            let before = self.look().await?;
            let dies_at = self.rng.one_in(4).then(|| 1 + self.rng.below(40));
            let ended = self.command(stack, ProcessFaults { dies_at, ..ProcessFaults::default() }).await;
            self.trace.push(format!("  {ended}"));
            let after = self.look().await?;
            for (file, (before, after)) in before.iter().zip(&after).enumerate() {
                check(stack, before, after)
                    .map_err(|lost| format!("{lost}: f{file} by {:?}", STACKS[stack]))?;
            }
        }
        Ok(())
    }

    fn edit(&mut self, stack: usize) {
        let Some(id) = self.rng.pick(&["a", "b", "c"]).copied() else { return };
        if self.rng.one_in(3) {
            self.programs[stack].remove(id);
        } else if let Some(file) = self.programs[stack].get_mut(id).filter(|_| self.rng.one_in(2)) {
            file.spelling = self.rng.below(3) as usize;
        } else {
            self.programs[stack].insert(id, DeclaredFile::draw(&mut self.rng));
        }
    }

    fn change_outside(&mut self) -> Result<(), String> {
        let world = self.process(ProcessFaults::NONE).1;
        let path = place(self.rng.below(FILES as u64) as usize);
        let _ = world.files.remove_file(&path);
        if !self.rng.one_in(4) {
            self.changes_outside += 1;
            let text = format!("outside {}", self.changes_outside);
            self.trace.push(format!("{} becomes {text:?}", path.display()));
            world.files.create_synced(&path, text.as_bytes(), 0o644).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn process(&mut self, faults: ProcessFaults) -> (Process, World) {
        self.processes += 1;
        let process = Process::new(self.processes, faults);
        let world = process.world(&self.disk, &mut self.rng);
        (process, world)
    }

    fn workspace(&mut self, stack: usize, world: World) -> Workspace {
        let (project, environment) = STACKS[stack];
        let provider = LocalProvider::new(world.clone(), PathBuf::from(ROOT));
        let parallel = 1 + self.rng.below(3) as usize;
        let mut engine = Engine::new(world.clone(), Providers::default().with(Arc::new(provider)), parallel);
        let place = StatePlace {
            store: STATE.to_owned(),
            project: project.to_owned(),
            environment: environment.to_owned(),
            target: "sim".to_owned(),
        };
        engine.owners = Some(Owners::new(place, Arc::new(StoresOnDisk(world.clone()))));
        let store: Arc<dyn Store> = Arc::new(FileStore::new(world.clone(), PathBuf::from(STATE)));
        let keys = StackKeys::new(project, environment, "sim");
        without_pinfile(
            engine,
            Stack {
                store,
                keys,
                world,
                claims: PathBuf::from("/claims"),
                secrets: StackSecrets::in_memory(),
            },
            environment,
        )
    }

    /// Runs a command of a stack, and returns how it ended.
    async fn command(&mut self, stack: usize, faults: ProcessFaults) -> String {
        let (process, world) = self.process(faults);
        let workspace = self.workspace(stack, world);
        let graph = graph(STACKS[stack].1, &self.programs[stack]);
        let draw = self.rng.below(8);
        let file = self.rng.below(FILES as u64);
        self.trace.push(format!("{:?} does {draw} with f{file}: {:?}", STACKS[stack], self.programs[stack]));
        let ended = match draw {
            0 => {
                let request =
                    Request { purpose: Purpose::Destroy, moves: MovePolicy::Refuse, ..Request::default() };
                let declared = DeclaredGraph(Graph::default());
                apply(workspace.preview(&declared, PlanRequest::destroy(request), &mut |_| ()).await).await
            }
            1 => {
                let name = format!("{}:main:local.File#i{file}", STACKS[stack].1);
                let (ty, id) = (TypeToken("local.File".into()), PhysicalId(format!("./f{file}")));
                match name.parse() {
                    Ok(name) => {
                        let import = Import { name, ty, id, provider: None };
                        let settings = (Wait::No, Vec::new());
                        let declared = DeclaredGraph(graph);
                        apply(workspace.preview_import(&declared, &import, settings, &mut |_| ()).await).await
                    }
                    Err(error) => error.to_string(),
                }
            }
            2 => forget(&workspace).await,
            _ => {
                let request = Request { moves: MovePolicy::Refuse, ..Request::default() };
                let declared = DeclaredGraph(graph);
                apply(workspace.preview(&declared, PlanRequest::up(request), &mut |_| ()).await).await
            }
        };
        process.end(&self.disk);
        ended
    }

    /// Looks at every file, its mark, and the records of it.
    async fn look(&mut self) -> Result<Vec<Seen>, String> {
        let world = self.process(ProcessFaults::NONE).1;
        let mut states = Vec::new();
        for stack in 0..STACKS.len() {
            let loaded = self.workspace(stack, world.clone()).stack.load().await;
            states.push(loaded.map_err(|error| error.to_string())?.state);
        }
        let provider = LocalProvider::new(world.clone(), PathBuf::from(ROOT));
        let mut seen = Vec::new();
        for file in 0..FILES {
            let path = place(file);
            let identity = PhysicalIdentity::new(path.display().to_string());
            let mark = provider.owners(vec![identity]).await.pop().and_then(|mark| mark.ok().flatten());
            let has = |resource: &&Resource| {
                let spelled = resource.inputs.get("path").and_then(Value::as_str).unwrap_or_default();
                resource.lifecycle != Lifecycle::Replacing && spelled.ends_with(&format!("f{file}"))
            };
            let records = states.iter().map(|state| state.copies().filter(has).cloned().collect()).collect();
            let content =
                world.files.read(&path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let pending = states.iter().map(|state| state.pending().next().is_some()).collect();
            seen.push(Seen { content, mark, records, pending });
        }
        Ok(seen)
    }
}

/// Checks what a command of a stack did to one file.
fn check(stack: usize, before: &Seen, after: &Seen) -> Result<(), String> {
    let own = &after.records[stack];
    let live = own.iter().filter(|record| record.lifecycle == Lifecycle::Live).count();
    if live > 1 {
        return Err("two records of one stack have one file".to_owned());
    }
    if before.content == after.content {
        return Ok(());
    }
    for (other, records) in before.records.iter().enumerate().filter(|(other, _)| *other != stack) {
        let (project, environment) = STACKS[other];
        let marked = |record: &Resource| {
            let mark = before.mark.as_ref().filter(|mark| mark.uid == record.uid);
            mark.is_some_and(|mark| mark.place.project == project && mark.place.environment == environment)
        };
        if records.iter().any(marked) {
            return Err(format!("a file that {:?} owns was changed", STACKS[other]));
        }
    }
    if before.pending[stack] || after.pending[stack] {
        return Ok(());
    }
    let known = |content: &str| {
        let recorded =
            |record: &Resource| record.inputs.get("content").and_then(Value::as_str) == Some(content);
        before.records[stack].iter().any(recorded)
    };
    match (&before.content, &after.content) {
        (Some(lost), None) if !known(lost) => Err("a file that was changed outside was deleted".to_owned()),
        (Some(_), None) if live > 0 && !before.records[stack].is_empty() => {
            Err("a file that the stack still records was deleted".to_owned())
        }
        _ => Ok(()),
    }
}

fn place(file: usize) -> PathBuf {
    Path::new(ROOT).join(format!("f{file}"))
}

fn graph(environment: &str, files: &DeclaredFiles) -> Graph {
    let mut graph = Graph::default();
    for (line, (id, file)) in files.iter().enumerate() {
        let Ok(name) = format!("{environment}:main:local.File#{id}").parse() else { continue };
        let inputs = [
            ("path".to_owned(), Value::from(file.path()).into()),
            ("content".to_owned(), Value::from(format!("{id} {}", file.content)).into()),
            ("overwrite".to_owned(), Value::from(file.overwrite).into()),
        ];
        graph.nodes.push(Node {
            name,
            ty: TypeToken("local.File".into()),
            kind: NodeKind::Provisioned,
            parent: None,
            inputs: inputs.into(),
            options: Options::default(),
            source: SourceRef { file: "main.ts".into(), line: line as u32 + 1, column: 1 },
            marks: Default::default(),
        });
    }
    graph
}

async fn apply(previewed: Result<Proposal, OpError>) -> String {
    let applied = async { previewed?.permit()?.apply(watch::channel(Stop::No).1, &mut |_| ()).await };
    match applied.await {
        Ok(report) => format!("{:?}", report.result),
        Err(error) => error.to_string(),
    }
}

/// Forgets the first recorded resource.
async fn forget(workspace: &Workspace) -> String {
    let forgotten = async {
        let loaded = workspace.load().await?;
        let Some(first) = loaded.state.resources().first().map(|first| first.name.to_string()) else {
            return Ok("nothing to forget".to_owned());
        };
        let edit = workspace.edit(StateEdit::Forget { name: first.clone() }, Wait::No, &mut |_| ()).await?;
        edit.permit()?.apply(&mut |_| ()).await?;
        Ok(format!("forgot {first}"))
    };
    forgotten.await.unwrap_or_else(|error: OpError| error.to_string())
}

#[cfg(test)]
mod tests {
    use stead_model::Code;

    use super::*;

    /// Both stacks plan while no stack owns the file.
    #[test]
    fn owner_that_came_after_the_plan_refuses_the_call_as_a_guard() {
        let rng = Rng::new(0);
        let (disk, programs, trace) = (Disk::default(), Default::default(), Vec::new());
        let mut dispute = Dispute { rng, disk, programs, processes: 0, changes_outside: 0, trace };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let world = dispute.process(ProcessFaults::NONE).1;
            world.files.ensure_folder(Path::new(ROOT)).unwrap();
            let file = DeclaredFile { file: 0, spelling: 0, content: 1, overwrite: true };
            let files: DeclaredFiles = [("a", file)].into();
            let mut planned = Vec::new();
            for (stack, (_, environment)) in STACKS.iter().enumerate().take(2) {
                let declared = DeclaredGraph(graph(environment, &files));
                let request = PlanRequest::up(Request::default());
                let workspace = dispute.workspace(stack, world.clone());
                planned.push(workspace.preview(&declared, request, &mut |_| ()).await.unwrap());
            }
            let mut reports = Vec::new();
            for proposal in planned {
                let permitted = proposal.permit().unwrap();
                reports.push(permitted.apply(watch::channel(Stop::No).1, &mut |_| ()).await.unwrap());
            }
            assert!(reports[0].problems.is_empty() && !reports[0].is_guarded());
            assert_eq!(reports[1].problems[0].code, Code::OWNED_ELSEWHERE);
            assert!(reports[1].is_guarded());
        });
    }
}
