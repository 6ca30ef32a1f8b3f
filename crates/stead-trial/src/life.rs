//! One life: a program that changes, runs that crash, others that come in between, and in the end nothing lost.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use stead_journal::{JournalError, Takeover, UnrecordedAnswer};
use stead_model::{Environment, Node, Resource, RunResult, Value};
use stead_state::{Intent, Pending, Record, State};

use crate::Chance;
use crate::amend::{Doubts, OTHER, other_stack};
use crate::cloud::outputs;
use crate::edit::Edit;
use crate::fate::Boundary;
use crate::model::{Loss, loss};
use crate::operate::{Attempt, Failed, Saved};
use crate::oracle;
use crate::pinboard;
use crate::process::{time_passes, within};
use crate::program::{Declared, Program, Trait};
use crate::script::{Act, Outside, Rival, Script, Task, Weather};
use crate::stage::{Actor, Stage, Where};
use crate::start::Start;

/// More than any act takes, in virtual time.
const A_LONG_TIME: Duration = Duration::from_secs(2 * 3600);

/// In one of so many acts somebody reads state at every call. It takes as long as all the rest.
const WATCHED: u64 = 16;

/// What happened in a life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Life {
    pub operations: usize,
    pub faults: usize,
    pub most_resources: usize,
    pub reached: BTreeSet<String>,
    /// Every event, in order: two lives from one seed are equal here.
    pub trace: Vec<String>,
}

/// A life in which a promise was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub loss: Loss,
    /// The last things that happened.
    pub trace: String,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}\n{}", self.loss.oracle, self.loss.what, self.trace)
    }
}

/// Lives the life that a seed stands for. `Err`: what was lost, with the trace that led there.
pub fn live(seed: u64) -> Result<Life, String> {
    perform(&Script::draw(seed, None)).map_err(|broken| format!("seed {seed}: {broken}"))
}

/// Lives a life as it is written.
pub fn perform(script: &Script) -> Result<Life, Box<Broken>> {
    let mut story = Story::new(script.medium, script.program.clone());
    let outcome = on_runtime(async {
        if let Some(start) = &script.start {
            story.begin(start).await?;
        }
        for act in &script.acts {
            story.act(act).await?;
        }
        story.come_to_rest().await
    });
    match outcome {
        Ok(()) => Ok(story.life()),
        Err(loss) => Err(Box::new(Broken { loss, trace: story.trace() })),
    }
}

/// Single-threaded, in virtual time.
pub(crate) fn on_runtime<T>(work: impl Future<Output = Result<T, Loss>>) -> Result<T, Loss> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => Err(loss("the machine works", error.to_string())),
    }
}

pub(crate) struct Story {
    pub(crate) stage: Stage,
    pub(crate) program: Program,
    chance: Chance,
    saved: Option<Saved>,
    operations: usize,
    most_resources: usize,
    /// What the last loss of power in the middle of a sync had to take.
    pub(crate) boundary: Option<Boundary>,
    /// Something went to another stack, or was about to.
    uses_other: bool,
    /// Something was pinned at some time.
    pins: bool,
}

impl Story {
    pub(crate) fn new(medium: crate::script::Medium, program: Program) -> Story {
        Story {
            stage: Stage::new(medium),
            program,
            chance: Chance::new(0),
            saved: None,
            operations: 0,
            most_resources: 0,
            boundary: None,
            uses_other: false,
            pins: false,
        }
    }

    async fn begin(&mut self, start: &Start) -> Result<(), Loss> {
        let actor = self.calm();
        let begun = actor.begins_with(start).await;
        actor.process.end(&self.stage.disk);
        self.pins |= start.program.things.iter().any(|(_, thing)| thing.is(Trait::Pinned));
        self.told(begun.map(|()| Attempt::Succeeded))?;
        self.is_quiet().await.map(drop)
    }

    fn life(self) -> Life {
        let mut written = self.stage.tape.written();
        Life {
            operations: self.operations,
            faults: written.faults,
            most_resources: self.most_resources,
            reached: std::mem::take(&mut written.reached),
            trace: std::mem::take(&mut written.lines),
        }
    }

    /// The last things that happened.
    pub(crate) fn trace(&self) -> String {
        let written = self.stage.tape.written();
        let first = written.lines.len().saturating_sub(80);
        written.lines[first..].join("\n")
    }

    pub(crate) async fn act(&mut self, act: &Act) -> Result<(), Loss> {
        self.chance = Chance::new(act.seed);
        // People take their time, and what is late arrives.
        time_passes(Duration::from_secs(4)).await;
        for edit in &act.edits {
            self.program.apply(edit);
        }
        if let Some(outside) = act.outside {
            self.happens(outside);
        }
        self.pins |= self.program.things.iter().any(|(_, thing)| thing.is(Trait::Pinned));
        self.most_resources = self.most_resources.max(self.program.things.len());
        let (first, rivals) = self.cast(act);
        let mut saved = self.saved.take();
        let turns = in_turn(&first, &rivals, &act.rivals, &self.program, &act.task, &mut saved);
        let attempts = within(A_LONG_TIME, turns).await;
        let attempts = attempts.ok_or_else(|| loss("everything ends", "somebody waits for ever"))?;
        self.saved = saved;
        let actors: Vec<&Actor> = std::iter::once(&first).chain(&rivals).collect();
        self.over(&actors, &attempts)?;
        let tasks = std::iter::once(&act.task).chain(act.rivals.iter().map(|rival| &rival.task));
        for (task, attempt) in tasks.zip(&attempts) {
            self.follow(task, attempt);
        }
        pinboard::listed(&self.stage.disk)?;
        let left = first.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        let undisturbed = rivals.is_empty() && first.process.died_at().is_none() && !self.uses_other;
        match left.filter(|_| undisturbed) {
            // What it says it left; whoever comes next reads it, and finds whether that is so.
            Some(state) => {
                oracle::snapshots(&self.stage.disk, oracle::Which::AllButTheLast)?;
                self.stage.cloud.model().quiet(&state)
            }
            None => self.is_quiet().await.map(drop),
        }
    }

    /// What people change in their program after a command.
    fn follow(&mut self, task: &Task, attempt: &Result<Attempt, Failed>) {
        match task {
            Task::Rename(from, to) | Task::Move(from, to) => {
                let (from, to) = (from.clone(), to.clone());
                self.program.apply(&Edit::Rename { from, to, alias: false });
            }
            Task::Import(name, id) if matches!(attempt, Ok(Attempt::Succeeded)) => {
                let size = match self.stage.cloud.model().things.get(id) {
                    Some(thing) => thing.inputs.get("size").and_then(Value::as_i64).unwrap_or_default(),
                    None => 0,
                };
                self.program.apply(&Edit::Add(name.clone(), Declared { size, ..Declared::default() }));
            }
            Task::ToStack(_) => self.uses_other = true,
            _ => {}
        }
    }

    /// What went to the other stack is in one of the two, and the program declares it no more.
    async fn look_there(&mut self, here: &State) -> Result<(), Loss> {
        let actor = self.calm();
        let loaded = other_stack(&actor.workspace.stack).load().await;
        actor.process.end(&self.stage.disk);
        let there = loaded.map_err(|error| loss("state is sound", format!("{error:?}")))?.state;
        for copy in there.copies() {
            if here.copies_of(&copy.uid).next().is_some() && !here.transfers().is_departing(&copy.uid) {
                let what = format!("{} is in both stacks", copy.name);
                return Err(loss("a resource is in one stack", what));
            }
        }
        let ids = there.copies().filter_map(|copy| copy.id.as_ref());
        self.stage.cloud.model().elsewhere = ids.map(|id| id.as_str().to_owned()).collect();
        let environment = Environment::new(OTHER);
        let gone = |node: &Node| {
            let left = there.by_name(&node.name.in_environment(&environment)).is_some();
            left && here.by_name(&node.name).is_none()
        };
        let graph = self.program.graph();
        let names = self.program.things.iter().map(|(name, _)| name.clone());
        let left: Vec<String> =
            names.zip(&graph.nodes).filter(|(_, node)| gone(node)).map(|(name, _)| name).collect();
        left.into_iter().for_each(|name| self.program.apply(&Edit::Remove(name)));
        Ok(())
    }

    /// Who plays in an act.
    fn cast(&mut self, act: &Act) -> (Actor, Vec<Actor>) {
        let tape = self.stage.tape.clone();
        tape.say(format!("{:?} of {} in {:?}", act.task, self.program.things.len(), act.weather));
        let first = self.stage.actor(&act.weather, &mut self.chance, Where::Here);
        if act.rivals.is_empty() {
            first.process.wake(); // nobody would later
        }
        self.stage.cloud.model().watched =
            act.seed.is_multiple_of(WATCHED) && act.rivals.is_empty() && !self.uses_other;
        self.operations += 1 + act.rivals.len();
        let mut rivals = Vec::new();
        for rival in &act.rivals {
            let place = if rival.elsewhere { Where::Elsewhere } else { Where::Here };
            tape.say(format!("rival {:?} after {} in {:?}", rival.task, rival.after, rival.weather));
            rivals.push(self.stage.actor(&rival.weather, &mut self.chance, place));
        }
        rivals.last().into_iter().for_each(|last| last.process.wake());
        (first, rivals)
    }

    /// Everybody is gone, one way or another; sometimes the power with them.
    fn over(&mut self, actors: &[&Actor], attempts: &[Result<Attempt, Failed>]) -> Result<(), Loss> {
        let tape = self.stage.tape.clone();
        let mut power = None;
        for actor in actors {
            let process = &actor.process;
            let died = process.died_at();
            let struck = usize::from(process.disk_failed());
            process.end(&self.stage.disk);
            if let Some(point) = died {
                self.boundary = process.boundary();
                let how = if process.fate.power || self.boundary.is_some() { "lost power" } else { "killed" };
                tape.reach(format!("{how} at {point}"));
                tape.say(format!("{how} at {point}"));
                if how == "lost power" {
                    power = Some(process.fate.power_cut.filter(|_| self.boundary.is_some()));
                }
            }
            if process.clock_jumped() {
                tape.reach("the wall clock jumped");
            }
            let mut written = tape.written();
            written.faults += usize::from(died.is_some()) + struck;
            written.points.extend(process.passed());
        }
        match power {
            Some(Some(cut)) => self.stage.disk.lose_power_but(cut.survivors),
            Some(None) => self.stage.disk.lose_power(&mut self.chance),
            None => {}
        }
        if actors.len() > 2 {
            tape.reach("a third writer");
        }
        let rivalry = actors.len() > 1;
        for (actor, attempt) in actors.iter().zip(attempts) {
            self.judge(actor, attempt, rivalry)?;
        }
        Ok(())
    }

    /// An error is fine if something was wrong with the world; in calm weather it is a loss.
    fn judge(&self, actor: &Actor, attempt: &Result<Attempt, Failed>, rivalry: bool) -> Result<(), Loss> {
        let error = match attempt {
            Ok(_) => return Ok(()),
            Err(Failed::Lost(loss)) => return Err(loss.clone()),
            Err(Failed::Journal(error)) => error,
        };
        let tape = &self.stage.tape;
        tape.say(format!("error: {error}"));
        let mut cause = error;
        if let JournalError::Unrecorded { answers, cause: inner } = error {
            let kept = |kept: &UnrecordedAnswer| if kept.location.is_some() { "kept" } else { "told" };
            answers.iter().for_each(|answer| tape.reach(format!("an answer was {}", kept(answer))));
            cause = inner;
        }
        match cause {
            JournalError::Integrity(_)
            | JournalError::RecordRefused(_)
            | JournalError::Replay { .. }
            | JournalError::BrokenChain { .. }
            | JournalError::Format { .. }
            | JournalError::Missing { .. } => Err(loss("state is sound", format!("{cause:?}"))),
            JournalError::Fenced | JournalError::StateChanged if !rivalry && !actor.weather.can_end_it() => {
                Err(loss("nobody else is there", format!("{cause:?}")))
            }
            JournalError::Fenced => {
                tape.reach("a fenced writer woke up");
                Ok(())
            }
            // Everybody else has ended. On the machine of the holder that can be seen.
            JournalError::Held(owner) | JournalError::OtherStackHeld { owner, .. }
                if !rivalry && owner.host == actor.process.host && !actor.process.disk_failed() =>
            {
                Err(loss("who died on this machine holds nothing", format!("{owner:?}")))
            }
            JournalError::Held(_) | JournalError::OtherStackHeld { .. } | JournalError::StateChanged => {
                Ok(())
            }
            _ if rivalry || actor.weather.can_end_it() => Ok(()),
            error => Err(loss("calm runs work", format!("{error:?}"))),
        }
    }

    /// Nobody is at work: what state says must be true.
    async fn is_quiet(&mut self) -> Result<Arc<State>, Loss> {
        oracle::snapshots(&self.stage.disk, oracle::Which::AllButTheLast)?;
        let state = self.look().await?;
        if self.uses_other {
            self.look_there(&state).await?;
        }
        self.stage.cloud.model().quiet(&state)?;
        Ok(state)
    }

    async fn look(&mut self) -> Result<Arc<State>, Loss> {
        let actor = self.calm();
        let loaded = actor.workspace.stack.load().await;
        actor.process.end(&self.stage.disk);
        loaded.map(|loaded| loaded.state).map_err(|error| loss("state is sound", format!("{error:?}")))
    }

    fn calm(&mut self) -> Actor {
        self.stage.actor(&Weather::default(), &mut self.chance, Where::Here)
    }

    /// Somebody changes, removes or makes something outside.
    fn happens(&mut self, outside: Outside) {
        if outside == Outside::LosesPinfile && pinboard::lose(&self.stage.disk) {
            self.stage.tape.reach("the pinfile was lost");
            self.stage.cloud.model().loses_pinfile();
        }
        let mut model = self.stage.cloud.model();
        let ids: Vec<String> = model.things.keys().cloned().collect();
        let pick = |which: u64| ids.get(which as usize % ids.len().max(1));
        match outside {
            Outside::Deletes(which) => pick(which).into_iter().for_each(|id| model.delete_outside(id)),
            Outside::Changes(which) => {
                if let Some(thing) = pick(which).and_then(|id| model.things.get_mut(id)) {
                    thing.inputs.insert("size".into(), Value::from(99));
                    thing.drifted = true;
                }
            }
            Outside::Makes(which) => {
                let id = format!("outside-{which}");
                let size = ("size".to_owned(), Value::from(1));
                let inputs = [size, ("place".to_owned(), Value::from("p0"))].into();
                let outputs = outputs(&id, 1000 + which as i64, &inputs);
                model.make_outside(id, inputs, outputs);
            }
            Outside::LosesPinfile => {}
        }
        self.stage.tape.say(format!("{outside:?}"));
    }

    /// In calm weather everything must settle within two runs, and nothing may be missing.
    pub(crate) async fn come_to_rest(&mut self) -> Result<(), Loss> {
        time_passes(Duration::from_secs(60)).await;
        self.release().await?;
        for _ in 0..2 {
            // What was changed outside is seen only by who looks.
            if let Attempt::Succeeded = self.calmly(&Task::UpPins).await? {
                let state = self.is_quiet().await?;
                let graph = self.program.graph();
                if let Some(path) = pinboard::listed(&self.stage.disk)?.first() {
                    let what = format!("{path} is in the pinfile, and nothing is pinned");
                    return Err(loss("the pinfile says what is pinned", what));
                }
                return self.stage.cloud.model().at_rest(&state, &graph);
            }
        }
        Err(loss("recovery converges", "two calm runs did not finish the work"))
    }

    async fn calmly(&mut self, task: &Task) -> Result<Attempt, Loss> {
        let actor = self.calm();
        self.stage.tape.say(format!("calm {task:?}"));
        let attempt = actor.perform(task, &self.program, &mut None).await;
        actor.process.end(&self.stage.disk);
        self.told(attempt)
    }

    fn told(&self, attempt: Result<Attempt, Failed>) -> Result<Attempt, Loss> {
        attempt.map_err(|failed| match failed {
            Failed::Lost(loss) => loss,
            Failed::Journal(error) => loss("calm runs work", format!("{error:?}")),
        })
    }

    /// Whoever holds it still is taken over, doubts are settled, and marks and pins go: to unprotect and to replace
    /// or remove are two runs.
    async fn release(&mut self) -> Result<(), Loss> {
        for (_, thing) in &mut self.program.things {
            thing.traits.retain(|found| !matches!(found, Trait::Protected | Trait::Retained | Trait::Pinned));
            thing.import = None;
        }
        let actor = self.calm();
        if self.pins {
            self.stage.cloud.model().releases_pins();
            pinboard::empty(&self.stage.disk);
        }
        let outcome = release(&actor).await;
        actor.process.end(&self.stage.disk);
        self.told(outcome.map(|()| Attempt::Succeeded)).map(drop)
    }
}

async fn release(actor: &Actor) -> Result<(), Failed> {
    actor.waits().await?;
    let mut loaded = actor.workspace.stack.load().await?;
    if !loaded.state.transfers().is_empty() {
        // What is leaving for another stack is not for anybody to change.
        actor.perform(&Task::Refresh, &Program::default(), &mut None).await?;
        loaded = actor.workspace.stack.load().await?;
    }
    if loaded.state.pending().next().is_some() {
        actor.resolve(Doubts::OnlyAPersonCanTell).await?;
        actor.perform(&Task::Refresh, &Program::default(), &mut None).await?;
        let looked_at = |pending: &&Pending| !matches!(pending.intent, Intent::Create { .. });
        let left = actor.workspace.stack.load().await?.state;
        if let Some(pending) = left.pending().find(looked_at) {
            let what = format!("operation {} is in doubt, and everything answers", pending.op);
            return Err(Failed::Lost(loss("a look settles updates and deletions", what)));
        }
        // What is refused whenever it is tried again, a person looks after.
        actor.resolve(Doubts::All).await?;
        loaded = actor.workspace.stack.load().await?;
    }
    let marked = |resource: &&Resource| {
        resource.prevents_deletion() || resource.deletion_policy.is_some() || !resource.marks.is_empty()
    };
    let mut free: Vec<Resource> = loaded.state.copies().filter(marked).cloned().collect();
    free.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    if free.is_empty() {
        return Ok(());
    }
    let run = actor.workspace.stack.open("unprotect", Some(loaded.version), Takeover::IfDead).await?;
    for mut resource in free {
        resource.marks = Default::default();
        (resource.prevent_delete, resource.deletion_policy) = (false, None);
        drop(run.submit(Record::Amend { resource: Box::new(resource) }));
    }
    let freed = run.close(RunResult::Succeeded).await?;
    actor.cloud.model().learn(&freed.state);
    Ok(())
}

type Attempts = Vec<Result<Attempt, Failed>>;

/// The first one does its task; each rival begins while the one before it is under way.
async fn in_turn(
    first: &Actor,
    rivals: &[Actor],
    scripts: &[Rival],
    program: &Program,
    task: &Task,
    saved: &mut Option<Saved>,
) -> Attempts {
    let alone = async {
        let attempt = first.perform(task, program, saved).await;
        first.process.is_over();
        attempt
    };
    let (attempt, mut others) = tokio::join!(alone, follow(&first.process, rivals, scripts, program));
    others.insert(0, attempt);
    others
}

fn follow<'a>(
    before: &'a crate::process::Process,
    rivals: &'a [Actor],
    scripts: &'a [Rival],
    program: &'a Program,
) -> Pin<Box<dyn Future<Output = Attempts> + 'a>> {
    Box::pin(async move {
        let (Some((actor, rest)), Some((script, scripts))) = (rivals.split_first(), scripts.split_first())
        else {
            before.wake();
            return Vec::new();
        };
        before.reaches(script.after).await;
        if before.is_stopped() {
            actor.tape.reach("the holder was stopped");
        }
        let task = async {
            let attempt = actor.perform(&script.task, program, &mut None).await;
            actor.process.is_over();
            attempt
        };
        let waking = async {
            actor.process.reaches(script.wakes).await;
            before.wake();
        };
        let next = follow(&actor.process, rest, scripts, program);
        let (attempt, (), mut others) = tokio::join!(task, waking, next);
        others.insert(0, attempt);
        others
    })
}
