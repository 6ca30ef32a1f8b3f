//! A cloud in memory, and stacks on it with everything that a stack on AWS has.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use stead::ops::{Declares, Look, Nothing, OpClass, OpError, PlanRequest, Proposal, Report, Workspace};
use stead::plan::{MovePolicy, Purpose, Request};
use stead_aws::{AwsProvider, Settings};
use stead_cloud::{Cloud, DEFAULT_ACCOUNT, Place, Quotas};
use stead_engine::{Engine, Owners, PinfileLocation, Stack, StackSecrets, Stop, Stores};
use stead_guard::OuterLevels;
use stead_journal::StackKeys;
use stead_model::{Environment, Resource, RunResult};
use stead_provider::{Provider, Providers, StatePlace};
use stead_state::State;
use stead_store::{MemoryStore, Store};
use stead_world::{Clock, Entropy, Http, World};

pub(crate) const REGION: &str = "us-east-1";
pub(crate) const MAIN: &str = "main.ts";
pub(crate) const ENVIRONMENT: &str = "dev";
/// A target that keeps pins.
pub(crate) const TARGET: &str = "aws";
const PROJECT: &str = "types";
const PARALLEL: usize = 4;

/// A cloud, with the clock and the randomness that all its stacks share.
pub(crate) struct Bench {
    pub(crate) cloud: Cloud,
    clock: Arc<dyn Clock>,
    http: Arc<dyn Http>,
    entropy: Arc<dyn Entropy>,
    stores: Arc<MemoryStores>,
    endpoint: Option<String>,
}

#[derive(Default)]
struct MemoryStores(Mutex<HashMap<String, Arc<dyn Store>>>);

impl Stores for MemoryStores {
    fn open(&self, store: &str) -> Option<Arc<dyn Store>> {
        self.0.lock().unwrap().get(store).cloned()
    }
}

/// A stack with its state in memory.
pub(crate) struct TestStack {
    pub(crate) workspace: Workspace,
}

impl Bench {
    /// Returns an empty cloud in this process.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Bench {
        let settings = stead_cloud::Settings { quotas: Quotas::Ignored, ..Default::default() };
        let cloud = Cloud::new(clock.clone(), settings);
        Bench {
            http: Arc::new(cloud.clone()),
            cloud,
            clock,
            entropy: World::in_memory([]).entropy,
            stores: Arc::default(),
            endpoint: None,
        }
    }

    /// Returns the same cloud, reached over the network.
    pub(crate) fn over(self, http: Arc<dyn Http>, endpoint: String) -> Bench {
        Bench { http, endpoint: Some(endpoint), ..self }
    }

    pub(crate) fn place(&self) -> Place {
        Place::new(DEFAULT_ACCOUNT, REGION)
    }

    /// Returns a new stack on the cloud.
    pub(crate) fn stack(&self) -> TestStack {
        let world = World {
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            http: self.http.clone(),
            ..World::in_memory([(PathBuf::from("/project/main.ts"), Vec::new())])
        };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let name = {
            let mut stores = self.stores.0.lock().unwrap();
            let name = format!("store-{}", stores.len() + 1);
            stores.insert(name.clone(), store.clone());
            name
        };
        let settings =
            Settings { region: Some(REGION.into()), endpoint: self.endpoint.clone(), ..Default::default() };
        let provider: Arc<dyn Provider> = Arc::new(AwsProvider::embedded(world.clone(), settings));
        let mut engine = Engine::new(world.clone(), Providers::default().with(provider), PARALLEL);
        engine.catalog = engine.catalog.with_published();
        let (project, environment, target) = (PROJECT.into(), ENVIRONMENT.into(), TARGET.into());
        let place = StatePlace { store: name, project, environment, target };
        engine.owners = Some(Owners::new(place, self.stores.clone()));
        let stack = Stack {
            keys: StackKeys::new(PROJECT, ENVIRONMENT, TARGET),
            store,
            world: world.clone(),
            claims: PathBuf::from("/claims"),
            secrets: StackSecrets::in_memory(),
        };
        let pinfile = PinfileLocation {
            world,
            root: PathBuf::from("/project"),
            main: MAIN.to_owned(),
            target: TARGET.to_owned(),
            environment: Environment::new(ENVIRONMENT),
        };
        TestStack { workspace: Workspace { engine, stack, pinfile, levels: OuterLevels::default() } }
    }
}

/// Why an operation did not happen, as a line.
pub(crate) fn told(error: &OpError) -> String {
    let problems = error.problems();
    let texts = problems.iter().map(|problem| {
        let notes = problem.notes.iter().map(String::as_str);
        std::iter::once(problem.message.as_str()).chain(notes).collect::<Vec<_>>().join("; ")
    });
    match texts.collect::<Vec<_>>().join(" / ") {
        text if text.is_empty() => format!("{error:?}"),
        text => text,
    }
}

pub(crate) fn is_guarded(error: &OpError) -> bool {
    error.class() == OpClass::Guarded
}

impl TestStack {
    pub(crate) async fn plan(&self, declares: &dyn Declares, look: Look) -> Result<Proposal, OpError> {
        let request = PlanRequest { look, ..PlanRequest::up(Request::default()) };
        self.workspace.preview(declares, request, &mut |_| {}).await
    }

    /// Plans the deletion of everything.
    pub(crate) async fn plan_destroy(&self) -> Result<Proposal, OpError> {
        let (purpose, moves) = (Purpose::Destroy, MovePolicy::Refuse);
        let request = PlanRequest::destroy(Request { purpose, moves, ..Request::default() });
        self.workspace.preview(&Nothing::default(), request, &mut |_| {}).await
    }

    pub(crate) async fn state(&self) -> Arc<State> {
        self.workspace.load().await.unwrap().state
    }

    /// Returns the record of a declared resource by its id in the program.
    pub(crate) async fn record(&self, id: &str) -> Option<Resource> {
        let state = self.state().await;
        let named = |resource: &&&Resource| resource.name.to_string().ends_with(&format!("#{id}"));
        state.resources().iter().find(named).map(|resource| (*resource).clone())
    }
}

/// Asks the guards, and applies.
pub(crate) async fn apply(proposal: Proposal) -> Result<Report, String> {
    let permitted = proposal.permit().map_err(|error| format!("refused: {}", told(&error)))?;
    let (_stop, stopped) = tokio::sync::watch::channel(Stop::No);
    let report = permitted.apply(stopped, &mut |_| {}).await.map_err(|error| told(&error))?;
    if let Some(warning) = &report.marks_unavailable {
        return Err(format!("owner marks: {warning}"));
    }
    match (&report.result, &report.closed) {
        (RunResult::Succeeded, Ok(_)) => Ok(report),
        (result, _) => {
            let problem = |problem: &stead_model::Diagnostic| {
                [&[problem.message.clone()][..], &problem.notes[..]].concat().join("; ")
            };
            let problems: Vec<String> = report.problems.iter().map(problem).collect();
            Err(format!("{result:?}: {}", problems.join(" / ")))
        }
    }
}
