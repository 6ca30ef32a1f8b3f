//! The crash matrix of what is no run: resources that go to another stack, a stack that gets another name, one that
//! is made, one that is repaired, with a blow at every place. At every moment each resource is in exactly one stack.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_engine::ops::{OpError, PlanRequest, StateEdit, Wait, Workspace};
use stead_engine::{Engine, PinfileLocation, Stack, Stop};
use stead_journal::{JournalError, StackKeys, survey};
use stead_model::{Environment, Graph, Uid};
use stead_plan::{Follow, Purpose};
use stead_provider::Providers;
use stead_state::State;
use stead_store::FileStore;
use tokio::sync::watch;

use crate::ledger::Ledger;
use crate::operate::Declared as DeclaredGraph;
use crate::process::Process;
use crate::program::{Declared, Program, Trait};
use crate::script::Weather;
use crate::stage::without_pinfile;
use crate::{Blow, Chance, Cloud, Disk, oracle};

const FROM: &str = "dev";
const TO: &str = "prod";
const HEAD: &str = "/state/shop/dev/sim/head";

/// What is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Two of four resources go to another stack.
    Move,
    /// The whole stack gets another environment.
    Rename,
    /// An empty stack is made.
    Found,
    /// The head is gone, and is made again from what there is.
    Repair,
}

impl Errand {
    pub const ALL: [Errand; 4] = [Errand::Move, Errand::Rename, Errand::Found, Errand::Repair];
}

/// A machine, a cloud, and two environments.
struct Estate {
    chance: Chance,
    disk: Disk,
    cloud: Cloud,
    processes: u64,
    points: BTreeSet<&'static str>,
}

/// The crash points that an errand passes.
pub fn points_of_errand(errand: Errand) -> Result<BTreeSet<&'static str>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    Ok(runtime.block_on(rehearse(errand, Blow::Kill(u64::MAX), None))?.1)
}

/// Runs the errand with a blow, a second blow in the recovery, and then until it is done. `Ok(false)`: the first
/// blow fell on nothing.
pub fn run_errand(errand: Errand, first: Blow, second: Option<Blow>) -> Result<bool, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let told = |lost: String| format!("{errand:?}, {first:?}, {second:?}: {lost}");
    runtime.block_on(rehearse(errand, first, second)).map(|(struck, _)| struck).map_err(told)
}

async fn rehearse(
    errand: Errand,
    first: Blow,
    second: Option<Blow>,
) -> Result<(bool, BTreeSet<&'static str>), String> {
    let mut estate = Estate {
        chance: Chance::new(11),
        disk: Disk::default(),
        cloud: Cloud::default(),
        processes: 0,
        points: BTreeSet::new(),
    };
    estate.up(FROM, &graph(FROM, &["a", "b", "c", "d"])).await?;
    if errand == Errand::Move {
        let (process, workspace) = estate.process(&Weather::default(), TO);
        edit(&workspace, StateEdit::CreateStack).await.map_err(|error| format!("{error:?}"))?;
        process.end(&estate.disk);
    }
    if errand == Errand::Repair {
        let mut content = estate.disk.content();
        content.remove(Path::new(HEAD)).map_err(|error| error.to_string())?;
        content.sync(Path::new(HEAD).parent().unwrap_or(Path::new("/")));
    }
    let struck = estate.attempt(errand, first).await?;
    estate.check(errand).await?;
    if let Some(second) = second {
        estate.attempt(errand, second).await?;
        estate.check(errand).await?;
    }
    for _ in 0..3 {
        estate.attempt(errand, Blow::Kill(u64::MAX)).await?;
        estate.check(errand).await?;
    }
    estate.at_rest(errand).await?;
    Ok((struck, estate.points))
}

/// `b` needs `a`, `d` needs `c`; one of the two pairs moves.
fn graph(environment: &str, names: &[&str]) -> Graph {
    let needs: BTreeMap<&str, &str> = [("b", "a"), ("d", "c")].into();
    let thing = |name: &&str| {
        let from = needs.get(name).map(|name| (*name).to_owned());
        let traits = if *name == "b" { vec![Trait::Protected] } else { Vec::new() };
        let declared = Declared { size: 1, from, traits, ..Declared::default() };
        ((*name).to_owned(), declared)
    };
    let mut graph = Program { things: names.iter().map(thing).collect() }.graph();
    for node in &mut graph.nodes {
        node.name = node.name.in_environment(&Environment::new(environment));
    }
    graph
}

impl Estate {
    fn process(&mut self, weather: &Weather, environment: &str) -> (Process, Workspace) {
        self.processes += 1;
        let process = Process::new(self.processes, weather.fate);
        let world = process.world(&self.disk, &mut self.chance);
        let journal = format!("/state/shop/{environment}/sim/journal");
        let ledger = Ledger::Files { disk: self.disk.clone(), journal };
        let connection = self.cloud.provider(process.clone(), self.chance.fork(), Vec::new(), ledger);
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(connection)), 4);
        let store = Arc::new(FileStore::new(world.clone(), PathBuf::from("/state")));
        let keys = StackKeys::new("shop", environment, "sim");
        let stack = Stack { store, keys, world, claims: PathBuf::from("/claims") };
        (process, without_pinfile(engine, stack, environment))
    }

    /// Calm weather: everything must work. Gives the number of steps that were needed.
    async fn up(&mut self, environment: &str, graph: &Graph) -> Result<usize, String> {
        let (process, workspace) = self.process(&Weather::default(), environment);
        let steps = apply(&workspace, graph, Purpose::Up).await;
        process.end(&self.disk);
        steps
    }

    async fn attempt(&mut self, errand: Errand, blow: Blow) -> Result<bool, String> {
        let (process, workspace) = self.process(&blow.weather(), FROM);
        let outcome = run(errand, &workspace).await;
        self.points.extend(process.passed());
        let died = process.died_at().is_some();
        process.end(&self.disk);
        if died && matches!(blow, Blow::PowerLoss(_)) {
            self.disk.lose_power(&mut self.chance);
        }
        let struck = died || process.disk_failed();
        match outcome {
            Err(error) if !struck => Err(format!("in calm weather: {error:?}")),
            Err(OpError::Stack(
                error @ (JournalError::Integrity(_)
                | JournalError::Replay { .. }
                | JournalError::Missing { .. }),
            )) => Err(format!("state is not sound: {error:?}")),
            _ => Ok(struck),
        }
    }

    /// What anybody who looks now sees.
    async fn look(&mut self, environment: &str) -> Result<Option<Arc<State>>, String> {
        let (process, workspace) = self.process(&Weather::default(), environment);
        let loaded = workspace.stack.load().await;
        process.end(&self.disk);
        match loaded {
            Ok(loaded) => Ok(loaded.head.is_some().then_some(loaded.state)),
            Err(JournalError::Renamed { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Each of the four is in one place: never in neither, never usable in both.
    async fn check(&mut self, errand: Errand) -> Result<(), String> {
        oracle::snapshots(&self.disk, oracle::Which::All).map_err(|loss| loss.what)?;
        if let Some(violation) = self.cloud.model().violations.first() {
            return Err(format!("{}: {}", violation.oracle, violation.what));
        }
        if errand == Errand::Repair {
            return Ok(()); // what is damaged is damaged until it is mended
        }
        let (from, to) = (self.look(FROM).await?, self.look(TO).await?);
        if errand == Errand::Rename && from.is_some() == to.is_some() {
            return Err(format!("old there: {}, new there: {}", from.is_some(), to.is_some()));
        }
        let uids = |state: &Option<Arc<State>>| -> BTreeSet<Uid> {
            state.iter().flat_map(|state| state.copies()).map(|resource| resource.uid.clone()).collect()
        };
        let (old, new) = (uids(&from), uids(&to));
        if old.union(&new).count() != 4 {
            return Err(format!("{old:?} and {new:?} are not four"));
        }
        let departing = |uid: &&Uid| from.as_ref().is_some_and(|state| state.transfers().is_departing(uid));
        match old.intersection(&new).find(|uid| !departing(uid)) {
            Some(uid) => Err(format!("{uid} is live in both")),
            None => Ok(()),
        }
    }

    /// Done: nothing is under way, names and marks are right, and nothing real was touched.
    async fn at_rest(&mut self, errand: Errand) -> Result<(), String> {
        let (left, moved): (&[&str], &[&str]) = match errand {
            Errand::Found => (&["a", "b", "c", "d"], &[]),
            Errand::Repair => {
                return match self.up(FROM, &graph(FROM, &["a", "b", "c", "d"])).await? {
                    0 => Ok(()),
                    steps => Err(format!("{steps} steps were left after the repair")),
                };
            }
            Errand::Move => (&["c", "d"], &["a", "b"]),
            Errand::Rename => (&[], &["a", "b", "c", "d"]),
        };
        let to = self.look(TO).await?.ok_or("the new stack is not there")?;
        let protected = to.resources().iter().filter(|resource| resource.prevent_delete).count();
        let wanted = usize::from(moved.contains(&"b"));
        if protected != wanted || to.transfers().departing.len() + to.resources().len() != moved.len() {
            return Err(format!("{} are there, {protected} protected", to.resources().len()));
        }
        if self.up(TO, &graph(TO, moved)).await? != 0 {
            return Err("the new stack is not as declared".to_owned());
        }
        match self.look(FROM).await? {
            None if errand == Errand::Rename => {}
            Some(from) if from.transfers().is_empty() && from.resources().len() == left.len() => {
                if self.up(FROM, &graph(FROM, left)).await? != 0 {
                    return Err("the old stack is not as declared".to_owned());
                }
            }
            _ => return Err("the old stack is not what it should be".to_owned()),
        }
        match self.cloud.model().count_made() {
            4 => Ok(()),
            made => Err(format!("{made} were made, and four declared")),
        }
    }
}

/// Applies a graph in calm weather. Returns how many steps that took.
pub(crate) async fn apply(workspace: &Workspace, graph: &Graph, purpose: Purpose) -> Result<usize, String> {
    let told = |error: OpError| format!("{error:?}");
    let request = match purpose {
        Purpose::Up => PlanRequest::up(purpose.into()),
        Purpose::Destroy => PlanRequest::destroy(purpose.into()),
    };
    let declared = DeclaredGraph(graph.clone());
    let proposal = workspace.preview(&declared, request, &mut |_| ()).await.map_err(told)?;
    let steps = proposal.plan().steps.len();
    let report = proposal.permit().map_err(told)?.apply(watch::channel(Stop::No).1, &mut |_| ()).await;
    let report = report.map_err(told)?;
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

/// Runs the errand once. An errand that was finished before succeeds.
async fn run(errand: Errand, workspace: &Workspace) -> Result<(), OpError> {
    let other = || Workspace {
        stack: Stack { keys: StackKeys::new("shop", TO, "sim"), ..workspace.stack.clone() },
        pinfile: PinfileLocation { environment: Environment::new(TO), ..workspace.pinfile.clone() },
        ..workspace.clone()
    };
    match errand {
        Errand::Move => {
            let names = vec!["a".to_owned(), "b".to_owned()];
            let to = Box::new(other());
            match edit(workspace, StateEdit::MoveToStack { names, to, dependencies: Follow::No }).await {
                Err(OpError::NotFound(_)) => Ok(()),
                outcome => outcome,
            }
        }
        Errand::Rename => match edit(workspace, StateEdit::RenameStack { to: Environment::new(TO) }).await {
            Err(OpError::Stack(JournalError::Renamed { .. })) => Ok(()),
            outcome => outcome,
        },
        Errand::Found => match edit(&other(), StateEdit::CreateStack).await {
            Err(OpError::Stack(JournalError::Exists { .. })) => Ok(()),
            outcome => outcome,
        },
        Errand::Repair => {
            let survey = survey(&workspace.stack.store, &workspace.stack.keys).await?;
            if survey.proposals.is_empty() {
                return Ok(());
            }
            edit(workspace, StateEdit::Repair { survey: Box::new(survey), number: 1 }).await
        }
    }
}
