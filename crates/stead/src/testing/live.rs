//! Stacks on an embedded cloud: the operations of every stack, with the provider of AWS types and everything else in memory.
//!
//! **Invariant:** nothing on this machine is read or written but the files of the program; no state of the project is touched.

use std::cell::RefCell;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use stead_engine::ops::{
    Declares, Look, Nothing, OpError, PinUse, PlanRequest, Proposal, Report, StateEdit, Wait, Workspace,
};
use stead_engine::{Engine, Owners, PinfileLocation, Stack, StackSecrets, Stop};
use stead_eval::Refused;
use stead_guard::pins::Orphans;
use stead_journal::StackKeys;
use stead_model::{Code, Diagnostic, Environment, Map, Resource, RunResult, Value};
use stead_plan::{Glob, MovePolicy, Purpose, Request, Selection};
use stead_provider::StatePlace;
use stead_schema::Catalog;
use stead_store::{MemoryStore, Store};
use stead_world::World;

use super::cloud::TestCloud;
use super::declare::Declared;
use super::requests::{RunFlags, misuse, refused};
use super::stack::{PARALLEL, local_placeholders, problems, refusal};
use super::view;
use crate::Project;

/// A stack of a test file, on an embedded cloud.
pub(super) struct LiveStack {
    cloud: Rc<TestCloud>,
    stack: Stack,
    owners: Owners,
    world: World,
    /// Folder of the pinfile, the same for all versions of the program.
    root: PathBuf,
    pub(super) environment: Environment,
    pub(super) target: String,
    /// Pinfile of the version that was applied last, as the version has it.
    given_pins: RefCell<Option<Vec<u8>>>,
    /// Program that was applied last.
    last: RefCell<Option<Arc<Declared>>>,
}

/// The change of a stack that a test asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Up,
    Destroy,
}

impl LiveStack {
    pub(super) fn new(
        cloud: &Rc<TestCloud>,
        project: &Project,
        environment: Environment,
        target: String,
    ) -> LiveStack {
        let world = World {
            clock: Arc::new(cloud.clock.clone()),
            entropy: cloud.entropy.clone(),
            http: Arc::new(cloud.cloud.clone()),
            ..World::in_memory([])
        };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let place = StatePlace {
            store: cloud.stores.add(store.clone()),
            project: project.name.clone(),
            environment: environment.to_string(),
            target: target.clone(),
        };
        let stack = Stack {
            keys: StackKeys::new(&project.name, &environment.to_string(), &target),
            store,
            world: world.clone(),
            claims: PathBuf::from("/claims"),
            secrets: StackSecrets::in_memory(),
        };
        LiveStack {
            owners: Owners::new(place, cloud.stores.clone()),
            cloud: cloud.clone(),
            stack,
            world,
            root: project.root.clone(),
            environment,
            target,
            given_pins: RefCell::default(),
            last: RefCell::default(),
        }
    }

    /// Plans a change, asks the guards, and applies nothing.
    pub(super) fn plan(
        &self,
        declared: &Arc<Declared>,
        flags: &RunFlags,
        catalog: &Catalog,
    ) -> Result<Value, Refused> {
        let proposal = match self.preview(Change::Up, declared, flags, catalog)? {
            Ok(proposal) => proposal,
            Err(refused) => return Ok(Value::Map(refused)),
        };
        let plan = shown(&proposal);
        Ok(Value::Map(match proposal.permit() {
            Ok(_) => plan,
            Err(error) => view::with_refusal(plan, &problems(&error)),
        }))
    }

    /// Plans a change, asks the guards, and applies it.
    pub(super) fn apply(
        &self,
        change: Change,
        declared: &Arc<Declared>,
        flags: &RunFlags,
        catalog: &Catalog,
    ) -> Result<Value, Refused> {
        let proposal = match self.preview(change, declared, flags, catalog)? {
            Ok(proposal) => proposal,
            Err(refused) => return Ok(not_applied(refused)),
        };
        self.last.replace(Some(declared.clone()));
        let plan = shown(&proposal);
        let permitted = match proposal.permit() {
            Ok(permitted) => permitted,
            Err(error) => return Ok(not_applied(view::with_refusal(plan, &problems(&error)))),
        };
        let (_stop, stopped) = tokio::sync::watch::channel(Stop::No);
        let report = self.finish(permitted.apply(stopped, &mut |_| {}))?;
        report.closed.iter().for_each(|state| self.cloud.add_secrets(state));
        applied(plan, report)
    }

    /// Plans a change. The inner error is the answer for a program that the pinfile refuses.
    fn preview(
        &self,
        change: Change,
        declared: &Arc<Declared>,
        flags: &RunFlags,
        catalog: &Catalog,
    ) -> Result<Result<Proposal, Map>, Refused> {
        self.give_pinfile(declared)?;
        let workspace = self.workspace(declared, catalog);
        let request = request(change, declared, flags);
        let program: &dyn Declares = declared.as_ref();
        let nothing = Nothing { program: Some(program) };
        let declares = if change == Change::Destroy { &nothing as &dyn Declares } else { program };
        let previewed =
            self.cloud.clock.block_on(workspace.preview(declares, request, &mut |_| {})).map_err(stuck)?;
        match previewed {
            Ok(proposal) => Ok(Ok(proposal)),
            // The guards of the pinfile object before there is a plan.
            Err(error @ OpError::Pins(_)) => Ok(Err(view::with_refusal(view::no_plan(), &problems(&error)))),
            Err(error) => Err(refusal(&error)),
        }
    }

    /// Records what was changed outside, and returns it.
    pub(super) fn refresh(&self, catalog: &Catalog) -> Result<Value, Refused> {
        let Some(declared) = self.last.borrow().clone() else { return Ok(Value::from(Vec::<Value>::new())) };
        let workspace = self.workspace(&declared, catalog);
        let refresh = async {
            let edit = StateEdit::Refresh { selection: Selection::default() };
            let edit = workspace.edit(edit, Wait::No, &mut |_| {}).await?;
            let drift = view::drift(edit.drift(), &declared.graph);
            if !edit.is_empty() {
                edit.permit()?.apply(&mut |_| {}).await?;
            }
            Ok(drift)
        };
        self.finish(refresh)
    }

    /// Returns the recorded resources, sorted by name.
    pub(super) fn resources(&self) -> Result<Value, Refused> {
        let loaded = self.finish(async { Ok(self.stack.load().await?) })?;
        let mut all: Vec<&Resource> = loaded.state.copies().collect();
        all.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        Ok(all.into_iter().map(view::record).collect())
    }

    /// Returns one recorded resource by its name, with or without the environment.
    pub(super) fn find(&self, name: &str) -> Result<Value, Refused> {
        let all = self.resources()?;
        let texts = |record: &Value, key: &str| {
            record.as_map().and_then(|record| record.get(key)).and_then(Value::as_str) == Some(name)
        };
        let is = |record: &&Value| texts(record, "name") || texts(record, "fullName");
        let found = all.as_list().and_then(|all| all.iter().find(is)).cloned();
        found.ok_or_else(|| {
            let message = format!("the stack records no `{name}`");
            refused(
                Diagnostic::error(Code::NOT_FOUND, message).note("`stack.resources` lists what it records."),
            )
        })
    }

    /// Returns the text of the pinfile, as the last run left it.
    pub(super) fn pinfile(&self) -> Value {
        let last = self.last.borrow();
        let path = last.as_ref().map(|declared| self.root.join(pinfile_of(&declared.main)));
        let text = path.and_then(|path| self.world.files.read(&path).ok());
        text.map_or(Value::Null, |text| Value::from(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Gives the stack the entry point and the pinfile of a version. A version that has the same pinfile as the one before keeps
    /// the file that the last run wrote.
    fn give_pinfile(&self, declared: &Declared) -> Result<(), Refused> {
        self.write(&self.root.join(&declared.main), b"")?;
        let name = pinfile_of(&declared.main);
        let given = match declared.options.files.get(&name) {
            Some(text) => Some(text.clone().into_bytes()),
            None => declared.version.bytes(&name).map_err(misuse)?,
        };
        if let Some(bytes) = &given
            && *self.given_pins.borrow() != given
        {
            self.write(&self.root.join(&name), bytes)?;
        }
        self.given_pins.replace(given);
        Ok(())
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Refused> {
        self.world.files.write_atomically(path, bytes, 0o644, "test").map_err(stuck)
    }

    /// Runs an operation to its end, on the simulated clock.
    fn finish<T>(&self, operation: impl Future<Output = Result<T, OpError>>) -> Result<T, Refused> {
        self.cloud.clock.block_on(operation).map_err(stuck)?.map_err(|error| refusal(&error))
    }

    fn workspace(&self, declared: &Declared, catalog: &Catalog) -> Workspace {
        let project = &declared.version.project;
        let aws = project.embedded_provider(&self.target, self.world.clone());
        let providers = local_placeholders(declared, catalog).with(Arc::new(aws));
        let mut engine = Engine::new(self.world.clone(), providers, PARALLEL);
        engine.catalog = catalog.clone();
        engine.owners = Some(self.owners.clone());
        let pinfile = PinfileLocation {
            world: self.world.clone(),
            root: self.root.clone(),
            main: declared.main.clone(),
            target: self.target.clone(),
            environment: self.environment.clone(),
        };
        Workspace { engine, stack: self.stack.clone(), pinfile, levels: declared.levels.clone() }
    }
}

fn pinfile_of(main: &str) -> String {
    format!("{main}.pin.json")
}

/// Returns the request of a command with these flags.
fn request(change: Change, declared: &Declared, flags: &RunFlags) -> PlanRequest {
    let outer = declared.levels.clone();
    let request = match change {
        Change::Up => PlanRequest {
            look: if flags.refresh { Look::All } else { Look::Recorded },
            pins: PinUse::Apply(if flags.update_pins { Orphans::Release } else { Orphans::Refuse }),
            ..PlanRequest::up(Request { outer, ..Request::default() })
        },
        Change::Destroy => {
            let (purpose, moves) = (Purpose::Destroy, MovePolicy::Refuse);
            PlanRequest::destroy(Request { purpose, moves, outer, ..Request::default() })
        }
    };
    PlanRequest { take_over: flags.take_over.iter().map(Glob::new).collect(), ..request }
}

/// Returns a plan as data, with the drift that was found.
fn shown(proposal: &Proposal) -> Map {
    let mut plan = view::plan(proposal.plan(), proposal.graph());
    plan.insert("drift", view::drift(proposal.drift(), proposal.graph()));
    plan
}

/// Returns the run of a plan that was refused.
fn not_applied(mut plan: Map) -> Value {
    for (key, value) in [("result", Value::from("refused")), ("problems", Value::from(Vec::<Value>::new()))] {
        plan.insert(key, value);
    }
    for key in ["done", "skipped"] {
        plan.insert(key, Value::from(0));
    }
    plan.insert("outputs", Value::Map(Map::new()));
    Value::Map(plan)
}

/// Returns the run of a plan that was applied.
fn applied(mut plan: Map, report: Report) -> Result<Value, Refused> {
    if let Err(error) = report.closed {
        return Err(refusal(&error.into()));
    }
    let result = match report.result {
        RunResult::Succeeded => "succeeded",
        RunResult::Failed => "failed",
        RunResult::InDoubt => "in_doubt",
        RunResult::Interrupted => "interrupted",
    };
    let members = [
        ("result", Value::from(result)),
        ("problems", view::problems(&report.problems)),
        ("done", Value::from(report.done as i64)),
        ("skipped", Value::from(report.skipped as i64)),
        ("outputs", Value::Map(report.outputs).blinded()),
    ];
    for (key, value) in members {
        plan.insert(key, value);
    }
    Ok(Value::Map(plan))
}

fn stuck(error: std::io::Error) -> Refused {
    misuse(format!("the stack of the test cannot be used: {error}"))
}
