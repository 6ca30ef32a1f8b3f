//! Stacks of tests: in memory, with placeholders for the answers of providers, and with the operations that every stack has.
//!
//! **Invariant:** nothing on this machine is read or written, no provider of the project is called, and no lock is taken.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use stead_engine::ops::{
    Accepts, Lineage, Losses, OpError, PlanRequest, Proposal, StateEdit, Wait, Workspace,
};
use stead_engine::{Engine, PinfileLocation, Stack, StackSecrets, Stop};
use stead_eval::Refused;
use stead_journal::StackKeys;
use stead_local::LocalProvider;
use stead_model::{Code, Diagnostic, RunResult};
use stead_plan::Request;
use stead_provider::{Provider, Providers};
use stead_schema::Catalog;
use stead_state::Snapshot;
use stead_store::{MemoryStore, Store};
use stead_world::World;

use super::declare::Declared;
use super::provider::{PlaceholderProvider, properties_read};
use super::requests::refused;

/// Provider calls in flight. They answer at once.
pub(super) const PARALLEL: usize = 8;

type Applied = Arc<OnceLock<Result<Arc<dyn Store>, Vec<Diagnostic>>>>;

/// Stacks that a test run made so far, by the program that was applied.
#[derive(Default)]
pub(super) struct Stacks {
    applied: Mutex<HashMap<String, Applied>>,
}

/// The state that a plan starts from.
pub(super) enum Base {
    Nothing,
    Applied(Arc<Declared>),
    Snapshot(Box<Snapshot>),
}

impl Stacks {
    /// Plans the changes that lead from a state to a program.
    pub(super) fn plan(&self, base: Base, to: &Declared, catalog: &Catalog) -> Result<Proposal, OpError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| {
            let message = format!("cannot start a runtime for a plan: {error}");
            OpError::refused(Diagnostic::error(Code::TEST_REQUEST, message))
        })?;
        let store = match base {
            Base::Nothing => Arc::new(MemoryStore::default()),
            Base::Applied(from) => {
                let applied = {
                    let mut applied = self.applied.lock().unwrap_or_else(PoisonError::into_inner);
                    applied.entry(from.key.clone()).or_default().clone()
                };
                let stack = applied.get_or_init(|| {
                    runtime.block_on(apply(&from, catalog)).map_err(|error| not_applied(&from, &error))
                });
                stack.clone().map_err(OpError::Refused)?
            }
            Base::Snapshot(snapshot) => runtime.block_on(import(*snapshot, to, catalog))?,
        };
        runtime.block_on(preview(to, catalog, store))
    }
}

async fn preview(declared: &Declared, catalog: &Catalog, store: Arc<dyn Store>) -> Result<Proposal, OpError> {
    let request = Request { outer: declared.levels.clone(), ..Request::default() };
    workspace(declared, catalog, store).preview(declared, PlanRequest::up(request), &mut |_| {}).await
}

/// Applies a program to a new stack, with placeholders for everything that its providers would answer.
async fn apply(declared: &Declared, catalog: &Catalog) -> Result<Arc<dyn Store>, OpError> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let permitted = preview(declared, catalog, store.clone()).await?.permit()?;
    let (_stop, stopped) = tokio::sync::watch::channel(Stop::No);
    let report = permitted.apply(stopped, &mut |_| {}).await?;
    match (report.result, report.closed) {
        (RunResult::Succeeded, Ok(_)) => Ok(store),
        (_, Err(error)) => Err(error.into()),
        (_, Ok(_)) => Err(OpError::Refused(report.problems)),
    }
}

/// Puts an exported state into a new stack.
async fn import(snapshot: Snapshot, to: &Declared, catalog: &Catalog) -> Result<Arc<dyn Store>, OpError> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let accepts = Accepts { lineage: Lineage::Other, losses: Losses::Accept };
    let edit = StateEdit::ImportState { snapshot: Box::new(snapshot), origin: None, accepts };
    let edit = workspace(to, catalog, store.clone()).edit(edit, Wait::No, &mut |_| {}).await?;
    edit.permit()?.apply(&mut |_| {}).await?;
    Ok(store)
}

/// Explains that the version that a plan starts from could not be applied.
fn not_applied(from: &Declared, error: &OpError) -> Vec<Diagnostic> {
    let version = if from.version.key == "current" { "the program" } else { "the earlier version" };
    let message =
        format!("{version} cannot be applied with placeholders, so that nothing can be planned from it");
    let problem = Diagnostic::error(Code::NO_SUCH_VERSION, message)
        .note("Each value that a provider would set has a placeholder of the schema's form.");
    std::iter::once(problem).chain(problems(error)).collect()
}

/// Returns the problems of an operation, also where an error has none of its own.
pub(super) fn problems(error: &OpError) -> Vec<Diagnostic> {
    let problems = error.problems();
    if !problems.is_empty() {
        return problems;
    }
    vec![match error {
        OpError::LooksMoved(plan) => {
            let moved: Vec<String> = plan
                .suggestions
                .iter()
                .map(|suggestion| format!("{} → {}", suggestion.from, suggestion.to))
                .collect();
            let message = "resources look like they were renamed, not removed";
            moved.into_iter().fold(Diagnostic::error(Code::LOOKS_MOVED, message), Diagnostic::note)
        }
        OpError::Stack(error) => Diagnostic::error(Code::NO_SUCH_VERSION, error.to_string()),
        other => Diagnostic::error(Code::NO_SUCH_VERSION, format!("{other:?}")),
    }]
}

/// Returns the refusal of an operation.
pub(super) fn refusal(error: &OpError) -> Refused {
    match problems(error) {
        problems if !problems.is_empty() => Refused::Expectable(problems),
        _ => refused(Diagnostic::error(Code::NO_SUCH_VERSION, "the plan cannot be made")),
    }
}

/// Returns the workspace of a declared program, on a store in memory.
fn workspace(declared: &Declared, catalog: &Catalog, store: Arc<dyn Store>) -> Workspace {
    let root = declared.version.project.root.clone();
    let world = memory(declared, &root);
    let mut engine = Engine::new(world.clone(), providers(declared, catalog), PARALLEL);
    engine.catalog = catalog.clone();
    let environment = declared.environment.clone();
    let keys = StackKeys::new("test", &environment.to_string(), &declared.target);
    let pinfile = PinfileLocation {
        world: world.clone(),
        root,
        main: declared.main.clone(),
        target: declared.target.clone(),
        environment,
    };
    let stack =
        Stack { store, keys, world, claims: PathBuf::from("/claims"), secrets: StackSecrets::in_memory() };
    Workspace { engine, stack, pinfile, levels: declared.levels.clone() }
}

/// Returns a world with the entry point and the pinfile of a version, and nothing else.
fn memory(declared: &Declared, root: &std::path::Path) -> World {
    let pinfile = format!("{}.pin.json", declared.main);
    let pins = declared.version.bytes(&pinfile).ok().flatten();
    let files = [(declared.main.clone(), Some(Vec::new())), (pinfile, pins)];
    World::in_memory(files.into_iter().filter_map(|(path, bytes)| Some((root.join(path), bytes?))))
}

/// Returns placeholders for the providers of all types.
fn providers(declared: &Declared, catalog: &Catalog) -> Providers {
    local_placeholders(declared, catalog).with(placeholder("aws", None, declared, catalog))
}

/// Returns placeholders for resources on this machine.
pub(super) fn local_placeholders(declared: &Declared, catalog: &Catalog) -> Providers {
    let root = declared.version.project.root.clone();
    let local: Arc<dyn Provider> = Arc::new(LocalProvider::new(World::in_memory([]), root));
    Providers::default().with(placeholder("local", Some(local), declared, catalog))
}

fn placeholder(
    name: &'static str,
    real: Option<Arc<dyn Provider>>,
    declared: &Declared,
    catalog: &Catalog,
) -> Arc<PlaceholderProvider> {
    let read = properties_read(&declared.graph);
    let lookups = declared.options.lookups.clone();
    Arc::new(PlaceholderProvider { name, real, catalog: catalog.clone(), read, lookups })
}
