//! A test bench: a builder of programs, and one call that plans, permits and runs.

use std::sync::Arc;

use stead_engine::{Engine, Executed, Stack, Stop};
use stead_guard::pins::SettledGraph;
use stead_journal::{Loaded, OpenRequest, Run, Takeover, load, open};
use stead_model::{
    Diagnostic, Event, Expr, Graph, Input, Inputs, Node, NodeId, NodeKind, Options, Resource, RunResult,
    SourceRef, TypeToken, Value,
};
use stead_plan::Request;
use stead_provider::Providers;
use stead_state::State;
use stead_store::{MemoryStore, Store};
use stead_world::World;
use tokio::sync::watch;

use crate::provider::{Scripted, keys};

pub(crate) struct Bench {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) provider: Arc<Scripted>,
    pub(crate) engine: Engine,
    pub(crate) world: World,
    pub(crate) events: Vec<Event>,
    claims: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(parallel: usize) -> Bench {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let provider = Arc::new(Scripted::new(store.clone()));
        let world = World::real();
        let engine = Engine::new(world.clone(), Providers::default().with(provider.clone()), parallel);
        Bench { store, provider, engine, world, events: Vec::new(), claims: tempfile::tempdir().unwrap() }
    }

    pub(crate) async fn load(&self) -> Loaded {
        load(&self.store, &keys()).await.unwrap()
    }

    pub(crate) fn stack(&self) -> Stack {
        let (store, world, claims) = (self.store.clone(), self.world.clone(), self.claims.path().to_owned());
        Stack { store, keys: keys(), world, claims, secrets: stead_engine::StackSecrets::in_memory() }
    }

    pub(crate) async fn open(&self) -> Run {
        open(OpenRequest {
            store: self.store.clone(),
            keys: keys(),
            world: self.world.clone(),
            command: "up".into(),
            claims: self.claims.path().to_owned(),
            planned_on: None,
            takeover: Takeover::IfDead,
            crypter: Arc::new(stead_model::NoKey),
        })
        .await
        .unwrap()
    }

    pub(crate) async fn try_up(
        &mut self,
        program: &Program,
        stop: watch::Receiver<Stop>,
    ) -> Result<Executed, Vec<Diagnostic>> {
        let base = self.load().await.state;
        self.run(program, Request::default(), base, stop).await
    }

    async fn run(
        &mut self,
        program: &Program,
        request: Request,
        base: Arc<State>,
        stop: watch::Receiver<Stop>,
    ) -> Result<Executed, Vec<Diagnostic>> {
        let plan = self.engine.plan(&base, &program.settled(), request).await?;
        let permitted = self.engine.permit(&plan, &base, &program.0)?;
        let run = self.open().await;
        let events = &mut self.events;
        let mut on_event = |event| events.push(event);
        Ok(self.engine.execute(run, permitted, &base, &program.0, &mut on_event, stop).await)
    }

    pub(crate) async fn up(&mut self, program: &Program) -> Executed {
        let (_keep, stop) = watch::channel(Stop::No);
        self.try_up(program, stop).await.unwrap()
    }

    /// Applies the program with a request other than the default.
    pub(crate) async fn up_with(&mut self, program: &Program, request: Request) -> Executed {
        let (_keep, stop) = watch::channel(Stop::No);
        let base = self.load().await.state;
        self.run(program, request, base, stop).await.unwrap()
    }

    /// Deletes the recorded resources that the request selects.
    pub(crate) async fn destroy(&mut self, request: Request) -> Result<Executed, Vec<Diagnostic>> {
        let (_keep, stop) = watch::channel(Stop::No);
        let base = self.load().await.state;
        self.run(&Program::default(), request, base, stop).await
    }

    /// Refreshes the selected resources, records the drift, and returns the names of the drifted ones.
    pub(crate) async fn refresh(&mut self, selected: impl Fn(&Resource) -> bool) -> Vec<String> {
        let base = self.load().await.state;
        let refreshed = self.engine.refresh_where(&base, selected).await.unwrap();
        let run = self.open().await;
        for record in refreshed.records {
            run.submit(record).durable().await.unwrap();
        }
        run.close(RunResult::Succeeded).await.unwrap();
        refreshed.drift.iter().map(|drift| drift.name.short().to_owned()).collect()
    }

    /// Removes the real object of the resource with this short name, behind the engine's back.
    pub(crate) async fn drop_real(&self, short: &str) {
        let state = self.load().await.state;
        let id =
            state.copies().find(|copy| copy.name.short() == short && copy.id.is_some()).unwrap().id.clone();
        self.provider.real.lock().unwrap().remove(id.unwrap().as_str()).unwrap();
    }

    /// Returns the short names of the recorded resources, each with its `size`.
    pub(crate) async fn recorded(&self) -> Vec<String> {
        let state = self.load().await.state;
        let show = |resource: &&stead_model::Resource| {
            let size = resource.inputs.get("size").map(Value::to_json).unwrap_or_default();
            format!("{}{size}", resource.name.short())
        };
        state.resources().iter().map(show).collect()
    }
}

#[derive(Clone, Default)]
pub(crate) struct Program(pub(crate) Graph);

impl Program {
    /// The graph with its pins as they are: no test here has a pinfile.
    pub(crate) fn settled(&self) -> SettledGraph {
        SettledGraph::from_records(self.0.clone())
    }

    pub(crate) fn node(mut self, name: &str, inputs: &[(&str, Input)]) -> Program {
        let mut inputs: Inputs =
            inputs.iter().map(|(key, input)| ((*key).to_owned(), input.clone())).collect();
        inputs.insert("name", Value::from(name).into());
        self.0.nodes.push(Node {
            name: format!("dev:main:t.T#{name}").parse().unwrap(),
            ty: TypeToken("t.T".into()),
            kind: NodeKind::Provisioned,
            parent: None,
            inputs,
            options: Options::default(),
            source: SourceRef { file: "main.ts".into(), line: self.0.nodes.len() as u32 + 1, column: 1 },
            marks: Default::default(),
        });
        self
    }

    /// Adds a provider resource.
    pub(crate) fn provider(self, name: &str, inputs: &[(&str, Input)]) -> Program {
        let mut program = self.node(name, inputs);
        let node = program.0.nodes.last_mut().unwrap();
        node.name = format!("dev:main:t.Provider#{name}").parse().unwrap();
        node.ty = TypeToken("t.Provider".into());
        program
    }

    pub(crate) fn options(mut self, set: impl FnOnce(&mut Options)) -> Program {
        set(&mut self.0.nodes.last_mut().unwrap().options);
        self
    }

    /// Returns the output `out` of an earlier node.
    pub(crate) fn of(&mut self, node: u32) -> Input {
        Input::Deferred(self.0.exprs.push(Expr::Property { node: NodeId(node), property: "out".into() }))
    }
}

pub(crate) fn text(text: &str) -> Input {
    Value::from(text).into()
}
