//! One command's view of a stack: project, environment, target, store, engine.

use std::sync::Arc;

use stead_engine::{Doubtful, Engine, Settled, Stack, Today, awaited_targets};
use stead_eval::UnknownBranches;
use stead_guard::Outer;
use stead_guard::pins::{Orphans, Standing};
use stead_journal::{Loaded, Run, Seen, StackKeys, Takeover, is_dead};
use stead_local::LocalProvider;
use stead_model::{Code, Diagnostic, Environment, Event, Operation, RunResult};
use stead_provider::Providers;
use stead_state::Owner;
use stead_store::{FileStore, Store};
use stead_world::World;

use crate::args::Common;
use crate::failure::{Failure, Kind};
use crate::marks::MarkFlags;
use crate::pins;
use crate::project::Project;
use crate::ui::Ui;
use crate::wiring;

/// The targets that are built in.
const TARGETS: &[&str] = &["local"];

pub(crate) struct Session {
    pub project: Project,
    pub environment: Environment,
    pub target: String,
    pub stack: Stack,
    pub engine: Engine,
    pub world: World,
    pub yes: bool,
    /// What to do about a decision on a value that is not known yet.
    pub branches: UnknownBranches,
    patience: Patience,
}

/// What to do when somebody else holds the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    None,
    Wait,
}

impl Session {
    pub(crate) fn open(common: &Common, ui: &Ui) -> Result<Session, Failure> {
        let world = wiring::world();
        let folder = common.directory.clone().unwrap_or_else(wiring::current_folder);
        let root = Project::locate(&world, &folder)?;
        ui.knows(&root, &world);
        let project = Project::read(&world, root)?;
        let name = common.env.clone().unwrap_or_else(|| project.default_environment.clone());
        let environment = Environment { name, namespace: common.namespace.clone() };
        if environment.name.is_empty() || environment.namespace.as_deref() == Some("") {
            let problem = Diagnostic::error(Code::USAGE, "an environment and a namespace cannot be empty");
            return Err(Failure::new(Kind::Usage, problem));
        }
        let target = common.target.clone().unwrap_or_else(|| project.default_target.clone());
        if !TARGETS.contains(&target.as_str()) {
            let problem = Diagnostic::error(Code::USAGE, format!("there is no target {target:?}"));
            return Err(Failure::new(Kind::Usage, problem.help(format!("there is: {}", TARGETS.join(", ")))));
        }
        let store: Arc<dyn Store> = Arc::new(FileStore::new(world.clone(), project.state.clone()));
        let keys = StackKeys::new(&project.name, &environment.to_string(), &target);
        let local = LocalProvider::new(world.clone(), project.root.clone());
        let providers = Providers::default().with(Arc::new(local));
        let mut engine = Engine::new(world.clone(), providers, common.parallel);
        engine.catalog = engine.catalog.with_published();
        let claims = project.root.join(".stead").join("claims");
        let branches = match common.allow_unknown_branches {
            true => UnknownBranches::Allow,
            false => UnknownBranches::Refuse,
        };
        let patience = if common.wait { Patience::Wait } else { Patience::None };
        let stack = Stack { store, keys, world: world.clone(), claims };
        Ok(Session {
            project,
            environment,
            target,
            stack,
            engine,
            world,
            yes: common.yes,
            branches,
            patience,
        })
    }

    /// The marks around the program in this environment.
    pub(crate) fn outer(&self, flags: &MarkFlags) -> Outer {
        self.project.marks.outer(&self.environment, flags)
    }

    /// Another stack of the project: `environment[:namespace][@target]`.
    pub(crate) fn other(&self, text: &str) -> Result<Session, Failure> {
        let (environment, target) = match text.rsplit_once('@') {
            Some((environment, target)) => (environment, target.to_owned()),
            None => (text, self.target.clone()),
        };
        let environment: Environment = environment.parse().map_err(|error: stead_model::NameError| {
            let problem = Diagnostic::error(Code::USAGE, format!("{text:?} is not a stack: {error}"));
            problem.help("write `environment`, `environment:namespace`, or either with `@target`")
        })?;
        if !TARGETS.contains(&target.as_str()) {
            let problem = Diagnostic::error(Code::USAGE, format!("there is no target {target:?}"));
            return Err(Failure::new(Kind::Usage, problem.help(format!("there is: {}", TARGETS.join(", ")))));
        }
        let keys = self.stack.keys.sibling(&environment.to_string(), &target);
        let stack = Stack { keys, ..self.stack.clone() };
        let (project, engine, world) = (self.project.clone(), self.engine.clone(), self.world.clone());
        let (yes, branches, patience) = (self.yes, self.branches, self.patience);
        Ok(Session { project, environment, target, stack, engine, world, yes, branches, patience })
    }

    /// Reads the stack. Writes nothing.
    pub(crate) async fn load(&self) -> Result<Loaded, Failure> {
        Ok(self.stack.load().await?)
    }

    /// Reads the stack; a stack that nobody ever applied is an error.
    pub(crate) async fn load_existing(&self) -> Result<Loaded, Failure> {
        let loaded = self.load().await?;
        if loaded.head.is_none() {
            let message =
                format!("there is no stack for environment {} on target {}", self.environment, self.target);
            let problem = Diagnostic::error(Code::NOT_FOUND, message);
            return Err(Failure::new(
                Kind::Failed,
                problem.help("`stead up` makes one; `stead stack ls` lists those there are"),
            ));
        }
        Ok(loaded)
    }

    pub(crate) async fn run(
        &self,
        command: &str,
        planned_on: Option<Seen>,
        takeover: Takeover,
    ) -> Result<Run, Failure> {
        Ok(self.stack.open(command, planned_on, takeover).await?)
    }

    /// Reads the stack for a run: what an earlier run left under way is finished first, and what only a
    /// person can tell ends the command.
    pub(crate) async fn load_settled(&self, ui: &Ui) -> Result<Loaded, Failure> {
        let loaded = self.load_in_turn(ui).await?;
        let today = self.today(&loaded)?;
        self.settle(loaded, today, ui).await
    }

    /// Reads the stack, after whoever has it if the command waits for its turn.
    pub(crate) async fn load_in_turn(&self, ui: &Ui) -> Result<Loaded, Failure> {
        if self.patience == Patience::Wait {
            self.wait(ui).await?;
        }
        self.load().await
    }

    /// What is written today about what may be deleted, where no program is looked at.
    pub(crate) fn today(&self, loaded: &Loaded) -> Result<Today<'static>, Failure> {
        let pins = match pins::open(self, Orphans::Refuse) {
            Ok(pinning) => pinning.standing(),
            Err(failure) if loaded.state.pending().next().is_some() => return Err(failure),
            // Nobody needs it; and if somebody does after all, what state remembers holds.
            Err(_) => Standing::default(),
        };
        Ok(Today { pins, outer: self.outer(&MarkFlags::default()), program: None })
    }

    /// Finishes what an earlier run left under way; what only a person can tell ends the command.
    pub(crate) async fn settle(&self, loaded: Loaded, today: Today<'_>, ui: &Ui) -> Result<Loaded, Failure> {
        let mut progress = ui.progress();
        let mut on_event = |event: Event| progress.event(&event);
        match self.engine.settle_loaded(&self.stack, loaded, &today, &mut on_event).await? {
            Settled::Ready(loaded) => Ok(*loaded),
            Settled::InDoubt(doubtful) => Err(in_doubt(&doubtful)),
            Settled::Failed(problems) => Err(Failure::all(Kind::Failed, problems)),
        }
    }

    /// With `--wait`, somebody who was faster is no reason to give up: the command begins anew, on what they left.
    pub(crate) async fn patiently(
        &self,
        ui: &Ui,
        attempt: impl AsyncFn() -> Result<u8, Failure>,
    ) -> Result<u8, Failure> {
        loop {
            match attempt().await {
                Err(failure) if self.patience == Patience::Wait && failure.was_too_late() => {
                    ui.note("Somebody else was faster; looking again.");
                }
                other => return other,
            }
        }
    }

    /// Waits for whoever holds the stack, and those that it needs besides.
    async fn wait(&self, ui: &Ui) -> Result<(), Failure> {
        let mut waiting = |owner: &Owner| {
            ui.note(&format!(
                "Waiting: {} on {} holds the stack since {}.",
                owner.user, owner.host, owner.since
            ));
        };
        wait_for(&self.stack, &mut waiting, ui).await?;
        // What is on its way to another stack cannot be finished while somebody has that one.
        for target in awaited_targets(&self.stack).await? {
            wait_for(&target, &mut waiting, ui).await?;
        }
        Ok(())
    }

    /// For `plan`: says what is unfinished, and fails where only a person can tell.
    pub(crate) fn report_pending(&self, loaded: &Loaded, ui: &Ui) -> Result<(), Failure> {
        let owner = loaded.head.as_ref().and_then(|head| head.owner.as_ref());
        if let Some(owner) = owner.filter(|owner| !is_dead(&self.world, owner)) {
            let text = format!(
                "{} on {} holds the stack since {}; what it does is not in this plan.",
                owner.user, owner.host, owner.since
            );
            ui.note(&text);
            return Ok(());
        }
        for departure in &loaded.state.transfers().departing {
            ui.note(&format!(
                "A move of {} resources to {} was interrupted; the next command that writes settles it first.",
                departure.uids.len(),
                departure.to.environment
            ));
        }
        let (repeatable, doubtful) = self.engine.triage(&loaded.state);
        if !doubtful.is_empty() {
            return Err(in_doubt(&doubtful));
        }
        for pending in repeatable {
            if let Some(name) = loaded.state.subject(&pending.intent) {
                let verb = pending.intent.operation().verb();
                ui.note(&format!(
                    "The {verb} of {name} was under way when a run stopped; `stead up` finishes it first."
                ));
            }
        }
        Ok(())
    }
}

/// Waits for whoever holds a stack; one that shows no life any more is fenced.
async fn wait_for(stack: &Stack, waiting: &mut dyn FnMut(&Owner), ui: &Ui) -> Result<(), Failure> {
    if stack.wait(waiting).await? == Takeover::Always {
        ui.note("It shows no life any more; taking the stack over.");
        stack.open("unlock", None, Takeover::Always).await?.close(RunResult::Succeeded).await?;
    }
    Ok(())
}

/// Names each operation in doubt, and the commands that settle it.
pub(crate) fn in_doubt(doubtful: &[Doubtful]) -> Failure {
    let problem = |doubtful: &Doubtful| {
        let Doubtful { name, pending } = doubtful;
        let operation = pending.intent.operation();
        let why = pending.doubt.as_deref().unwrap_or("the run stopped while it was under way");
        let message = format!("nobody knows whether the {} of {name} happened: {why}", operation.verb());
        let problem = Diagnostic::error(Code::IN_DOUBT, message)
            .note("stead does not send it a second time by itself: it might then have happened twice.");
        let happened = match operation {
            Operation::Create => format!("if it was created: stead state resolve '{name}' --created ID"),
            Operation::Update | Operation::Delete => {
                format!("if it happened: stead state resolve '{name}' --done")
            }
        };
        problem
            .help(happened)
            .help(format!("if it did not happen: stead state resolve '{name}' --not-created"))
            .help(format!("if a second time does no harm: stead state resolve '{name}' --retry"))
    };
    Failure::all(Kind::InDoubt, doubtful.iter().map(problem).collect())
}
