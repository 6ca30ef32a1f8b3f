//! The fault matrix of stack operations: move, rename, create and repair, with a fault at every possible point.
//!
//! **Invariant:** at every moment each resource is in exactly one stack.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_engine::ops::{Losses, OpError, PlanRequest, StateEdit, Wait, Workspace};
use stead_engine::{Engine, PinfileLocation, Stack, StackSecrets, Stop};
use stead_journal::{JournalError, StackKeys, survey};
use stead_model::{Environment, Graph, Uid};
use stead_plan::{Follow, Purpose};
use stead_provider::Providers;
use stead_state::State;
use stead_store::FileStore;
use tokio::sync::watch;

use crate::faults::plan::FaultPlan;
use crate::life::operate::DeclaredGraph;
use crate::life::program::{DeclaredResource, Program, ResourceFlag};
use crate::oracle::snapshots;
use crate::world::journal_witness::JournalWitness;
use crate::world::process::Process;
use crate::world::site::without_pinfile;
use crate::{Cloud, Disk, Fault, Rng};

const FROM: &str = "dev";
const TO: &str = "prod";
const HEAD: &str = "/state/shop/dev/sim/head";

/// The operation under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackOperation {
    /// Moves two of four resources to another stack.
    Move,
    /// Renames the environment of the stack.
    Rename,
    /// Creates an empty stack.
    Create,
    /// Rebuilds a lost head.
    Repair,
}

impl StackOperation {
    pub const ALL: [StackOperation; 4] =
        [StackOperation::Move, StackOperation::Rename, StackOperation::Create, StackOperation::Repair];
}

/// A machine and a cloud with two stacks.
struct TwoStacks {
    rng: Rng,
    disk: Disk,
    cloud: Cloud,
    processes: u64,
    points: BTreeSet<&'static str>,
}

/// Returns the crash points that an operation passes.
pub fn crash_points_of_stack_operation(operation: StackOperation) -> Result<BTreeSet<&'static str>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    Ok(runtime.block_on(run_scenario(operation, Fault::Kill(u64::MAX), None))?.1)
}

/// Runs the operation with a fault, recovers with a second fault, and repeats it until it is done.
///
/// Returns false if the operation ended before the first fault could be injected.
pub fn run_stack_operation(
    operation: StackOperation,
    first: Fault,
    second: Option<Fault>,
) -> Result<bool, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let message = |lost: String| format!("{operation:?}, {first:?}, {second:?}: {lost}");
    runtime
        .block_on(run_scenario(operation, first, second))
        .map(|(fault_seen, _)| fault_seen)
        .map_err(message)
}

async fn run_scenario(
    operation: StackOperation,
    first: Fault,
    second: Option<Fault>,
) -> Result<(bool, BTreeSet<&'static str>), String> {
    let mut stacks = TwoStacks {
        rng: Rng::new(11),
        disk: Disk::default(),
        cloud: Cloud::default(),
        processes: 0,
        points: BTreeSet::new(),
    };
    stacks.up(FROM, &graph(FROM, &["a", "b", "c", "d"])).await?;
    if operation == StackOperation::Move {
        let (process, workspace) = stacks.process(&FaultPlan::default(), TO);
        edit(&workspace, StateEdit::CreateStack).await.map_err(|error| format!("{error:?}"))?;
        process.end(&stacks.disk);
    }
    if operation == StackOperation::Repair {
        let mut content = stacks.disk.content();
        content.remove(Path::new(HEAD)).map_err(|error| error.to_string())?;
        content.sync(Path::new(HEAD).parent().unwrap_or(Path::new("/")));
    }
    let fault_seen = stacks.attempt(operation, first).await?;
    stacks.check(operation).await?;
    if let Some(second) = second {
        stacks.attempt(operation, second).await?;
        stacks.check(operation).await?;
    }
    for _ in 0..3 {
        stacks.attempt(operation, Fault::Kill(u64::MAX)).await?;
        stacks.check(operation).await?;
    }
    stacks.check_converged(operation).await?;
    Ok((fault_seen, stacks.points))
}

/// `b` depends on `a`, and `d` on `c`; one of the two pairs moves.
fn graph(environment: &str, names: &[&str]) -> Graph {
    let needs: BTreeMap<&str, &str> = [("b", "a"), ("d", "c")].into();
    let resource = |name: &&str| {
        let from = needs.get(name).map(|name| (*name).to_owned());
        let flags = if *name == "b" { vec![ResourceFlag::Protected] } else { Vec::new() };
        let declared = DeclaredResource { size: 1, from, flags, ..DeclaredResource::default() };
        ((*name).to_owned(), declared)
    };
    let mut graph = Program { resources: names.iter().map(resource).collect() }.graph();
    for node in &mut graph.nodes {
        node.name = node.name.in_environment(&Environment::new(environment));
    }
    graph
}

impl TwoStacks {
    fn process(&mut self, fault_plan: &FaultPlan, environment: &str) -> (Process, Workspace) {
        self.processes += 1;
        let process = Process::new(self.processes, fault_plan.process);
        let world = process.world(&self.disk, &mut self.rng);
        let journal = format!("/state/shop/{environment}/sim/journal");
        let witness = JournalWitness::Files { disk: self.disk.clone(), journal };
        let connection = self.cloud.provider(process.clone(), self.rng.fork(), Vec::new(), witness);
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(connection)), 4);
        let store = Arc::new(FileStore::new(world.clone(), PathBuf::from("/state")));
        let keys = StackKeys::new("shop", environment, "sim");
        let stack = Stack {
            store,
            keys,
            world,
            claims: PathBuf::from("/claims"),
            secrets: StackSecrets::in_memory(),
        };
        (process, without_pinfile(engine, stack, environment))
    }

    /// Applies a graph without faults. Returns the number of steps.
    async fn up(&mut self, environment: &str, graph: &Graph) -> Result<usize, String> {
        let (process, workspace) = self.process(&FaultPlan::default(), environment);
        let steps = apply(&workspace, graph, Purpose::Up).await;
        process.end(&self.disk);
        steps
    }

    async fn attempt(&mut self, operation: StackOperation, fault: Fault) -> Result<bool, String> {
        let (process, workspace) = self.process(&fault.fault_plan(), FROM);
        let outcome = run(operation, &workspace).await;
        self.points.extend(process.passed());
        let died = process.died_at().is_some();
        process.end(&self.disk);
        if died && matches!(fault, Fault::PowerLoss(_)) {
            self.disk.lose_power(&mut self.rng);
        }
        let fault_seen = died || process.saw_fault();
        match outcome {
            Err(error) if !fault_seen => Err(format!("without faults: {error:?}")),
            Err(OpError::Stack(
                error @ (JournalError::Integrity(_)
                | JournalError::Replay { .. }
                | JournalError::HeadMissing { .. }
                | JournalError::JournalGap { .. }
                | JournalError::Missing { .. }),
            )) => Err(format!("state is not sound: {error:?}")),
            _ => Ok(fault_seen),
        }
    }

    /// Returns the state as a reader sees it now.
    async fn load_state(&mut self, environment: &str) -> Result<Option<Arc<State>>, String> {
        let (process, workspace) = self.process(&FaultPlan::default(), environment);
        let loaded = workspace.stack.load().await;
        process.end(&self.disk);
        match loaded {
            Ok(loaded) => Ok(loaded.head.is_some().then_some(loaded.state)),
            Err(JournalError::Renamed { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Checks that each of the four resources is in exactly one stack.
    async fn check(&mut self, operation: StackOperation) -> Result<(), String> {
        snapshots::check(&self.disk, snapshots::SnapshotScope::All).map_err(|violation| violation.detail)?;
        if let Some(violation) = self.cloud.model().violations.first() {
            return Err(format!("{}: {}", violation.oracle, violation.detail));
        }
        if operation == StackOperation::Repair {
            return Ok(()); // the stack is damaged until it is repaired
        }
        let (from, to) = (self.load_state(FROM).await?, self.load_state(TO).await?);
        if operation == StackOperation::Rename && from.is_some() == to.is_some() {
            return Err(format!("old stack exists: {}, new stack exists: {}", from.is_some(), to.is_some()));
        }
        let uids = |state: &Option<Arc<State>>| -> BTreeSet<Uid> {
            state.iter().flat_map(|state| state.copies()).map(|resource| resource.uid.clone()).collect()
        };
        let (old, new) = (uids(&from), uids(&to));
        if old.union(&new).count() != 4 {
            return Err(format!("{old:?} and {new:?} are not four resources"));
        }
        let departing = |uid: &&Uid| from.as_ref().is_some_and(|state| state.transfers().is_departing(uid));
        match old.intersection(&new).find(|uid| !departing(uid)) {
            Some(uid) => Err(format!("{uid} is live in both stacks")),
            None => Ok(()),
        }
    }

    /// Checks the finished operation: names and marks are right, nothing is pending, and no object was touched.
    async fn check_converged(&mut self, operation: StackOperation) -> Result<(), String> {
        let (left, moved): (&[&str], &[&str]) = match operation {
            StackOperation::Create => (&["a", "b", "c", "d"], &[]),
            StackOperation::Repair => {
                return match self.up(FROM, &graph(FROM, &["a", "b", "c", "d"])).await? {
                    0 => Ok(()),
                    steps => Err(format!("{steps} steps were left after the repair")),
                };
            }
            StackOperation::Move => (&["c", "d"], &["a", "b"]),
            StackOperation::Rename => (&[], &["a", "b", "c", "d"]),
        };
        let to = self.load_state(TO).await?.ok_or("the new stack does not exist")?;
        let protected = to.resources().iter().filter(|resource| resource.prevent_delete).count();
        let wanted = usize::from(moved.contains(&"b"));
        if protected != wanted || to.transfers().departing.len() + to.resources().len() != moved.len() {
            return Err(format!("{} resources, {protected} protected", to.resources().len()));
        }
        if self.up(TO, &graph(TO, moved)).await? != 0 {
            return Err("the new stack is not as declared".to_owned());
        }
        match self.load_state(FROM).await? {
            None if operation == StackOperation::Rename => {}
            Some(from) if from.transfers().is_empty() && from.resources().len() == left.len() => {
                if self.up(FROM, &graph(FROM, left)).await? != 0 {
                    return Err("the old stack is not as declared".to_owned());
                }
            }
            _ => return Err("the old stack is in an unexpected state".to_owned()),
        }
        match self.cloud.model().count_made() {
            4 => Ok(()),
            made => Err(format!("{made} objects were created for four resources")),
        }
    }
}

/// Applies a graph without faults. Returns the number of steps.
pub(crate) async fn apply(workspace: &Workspace, graph: &Graph, purpose: Purpose) -> Result<usize, String> {
    let message = |error: OpError| format!("{error:?}");
    let request = match purpose {
        Purpose::Up => PlanRequest::up(purpose.into()),
        Purpose::Destroy => PlanRequest::destroy(purpose.into()),
    };
    let declared = DeclaredGraph(graph.clone());
    let proposal = workspace.preview(&declared, request, &mut |_| ()).await.map_err(message)?;
    let steps = proposal.plan().steps.len();
    let report = proposal.permit().map_err(message)?.apply(watch::channel(Stop::No).1, &mut |_| ()).await;
    let report = report.map_err(message)?;
    report.closed.map_err(|error| error.to_string())?;
    match report.problems.first() {
        Some(problem) => Err(problem.message.clone()),
        None => Ok(steps),
    }
}

async fn edit(workspace: &Workspace, edit: StateEdit) -> Result<(), OpError> {
    let edit = workspace.edit(edit, Wait::No, &mut |_| ()).await?;
    edit.permit()?.apply(&mut |_| ()).await.map(drop)
}

/// Runs the operation once. An operation that was finished before succeeds.
async fn run(operation: StackOperation, workspace: &Workspace) -> Result<(), OpError> {
    let other = || Workspace {
        stack: Stack { keys: StackKeys::new("shop", TO, "sim"), ..workspace.stack.clone() },
        pinfile: PinfileLocation { environment: Environment::new(TO), ..workspace.pinfile.clone() },
        ..workspace.clone()
    };
    match operation {
        StackOperation::Move => {
            let names = vec!["a".to_owned(), "b".to_owned()];
            let to = Box::new(other());
            match edit(workspace, StateEdit::MoveToStack { names, to, dependencies: Follow::No }).await {
                Err(OpError::NotFound(_)) => Ok(()),
                outcome => outcome,
            }
        }
        StackOperation::Rename => {
            match edit(workspace, StateEdit::RenameStack { to: Environment::new(TO) }).await {
                Err(OpError::Stack(JournalError::Renamed { .. })) => Ok(()),
                outcome => outcome,
            }
        }
        StackOperation::Create => match edit(&other(), StateEdit::CreateStack).await {
            Err(OpError::Stack(JournalError::Exists { .. })) => Ok(()),
            outcome => outcome,
        },
        StackOperation::Repair => {
            let survey = survey(&workspace.stack.store, &workspace.stack.keys).await?;
            if survey.proposals.is_empty() {
                return Ok(());
            }
            edit(workspace, StateEdit::Repair { survey: Box::new(survey), number: 1, losses: Losses::Refuse })
                .await
        }
    }
}
