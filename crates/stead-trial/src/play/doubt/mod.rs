//! A play about answers: providers that cannot look, that return the record instead of looking, or that lose outputs, and
//! people who answer for operations in doubt, wrongly at first and rightly then.
//!
//! Sizes only grow, so that an update that was lost always shows: the program and the real object differ at the end.

mod provider;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use stead_engine::ops::{OpError, PlanRequest, ResolveTarget, StateEdit, Wait, Workspace};
use stead_engine::{Engine, Resolution, Stack, StackSecrets, StatedOutputs, Stop};
use stead_journal::StackKeys;
use stead_model::{
    Code, Diagnostic, Expr, Graph, Input, Node, NodeId, NodeKind, Options, PhysicalId, RunResult, SourceRef,
    TypeToken, Value,
};
use stead_plan::Request;
use stead_provider::Providers;
use stead_state::{Intent, Pending, State};
use stead_store::MemoryStore;
use tokio::sync::watch;

use self::provider::{Ability, Answers, DoubtProvider, OUT, Objects};
use crate::faults::process_faults::ProcessFaults;
use crate::life::operate::DeclaredGraph;
use crate::world::process::Process;
use crate::world::site::without_pinfile;
use crate::{Disk, Rng};

/// A running play of doubts.
struct DoubtPlay {
    rng: Rng,
    ability: Ability,
    objects: Arc<Mutex<Objects>>,
    store: Arc<MemoryStore>,
    disk: Disk,
    size: i64,
    spare: Spare,
    processes: u64,
    trace: Vec<String>,
}

/// Whether the program declares a third object, on which nothing depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spare {
    Declared,
    Removed,
}

/// End of an `up`.
enum UpEnd {
    Succeeded,
    /// A step failed, or an operation is in doubt.
    Unfinished,
    /// An output that a provider lost is needed.
    OutputMissing,
}

/// Runs the play of a seed.
pub(super) async fn play(seed: u64) -> Result<Vec<String>, String> {
    let mut rng = Rng::new(seed ^ 0x646f_7562);
    let ability = *rng.pick(&Ability::ALL).unwrap_or(&Ability::CannotLook);
    let mut play = DoubtPlay {
        rng,
        ability,
        objects: Arc::default(),
        store: Arc::default(),
        disk: Disk::default(),
        size: 1,
        spare: Spare::Declared,
        processes: 0,
        trace: vec![format!("{ability:?}")],
    };
    match play.run().await {
        Ok(()) => Ok(play.trace),
        Err(lost) => Err(format!("play of doubts {seed}: {lost}\n{}", play.trace.join("\n"))),
    }
}

impl DoubtPlay {
    async fn run(&mut self) -> Result<(), String> {
        for _ in 0..2 + self.rng.below(4) {
            let workspace = self.workspace(Answers::Bad);
            if let UpEnd::OutputMissing = self.up(&workspace).await? {
                return Ok(());
            }
            // Without an answer, the next run repeats what its provider allows.
            if self.rng.one_in(2) {
                self.answer_doubts().await?;
            }
            if self.rng.one_in(2) {
                self.size += 1;
            }
            if self.rng.one_in(3) {
                self.spare = if self.spare == Spare::Declared { Spare::Removed } else { Spare::Declared };
            }
        }
        if self.rng.one_in(2) {
            let workspace = self.workspace(Answers::Refused);
            self.up(&workspace).await?;
        }
        for _ in 0..4 {
            let workspace = self.workspace(Answers::Good);
            match self.up(&workspace).await? {
                UpEnd::Succeeded => return self.check_agreement(),
                UpEnd::OutputMissing => return Ok(()),
                UpEnd::Unfinished => self.answer_doubts().await?,
            }
        }
        Err("four runs without faults did not finish the work".to_owned())
    }

    /// Returns the workspace of a new process.
    fn workspace(&mut self, answers: Answers) -> Workspace {
        self.processes += 1;
        let process = Process::new(self.processes, ProcessFaults::NONE);
        let world = process.world(&self.disk, &mut self.rng);
        let rng = Mutex::new(self.rng.fork());
        let provider = DoubtProvider { objects: self.objects.clone(), ability: self.ability, answers, rng };
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(provider)), 2);
        let keys = StackKeys::new("shop", "dev", "play");
        let stack = Stack {
            store: self.store.clone(),
            keys,
            world,
            claims: PathBuf::from("/claims"),
            secrets: StackSecrets::in_memory(),
        };
        without_pinfile(engine, stack, "dev")
    }

    async fn up(&mut self, workspace: &Workspace) -> Result<UpEnd, String> {
        let declared = DeclaredGraph(graph(self.size, self.spare));
        let ended = async {
            let proposal =
                workspace.preview(&declared, PlanRequest::up(Request::default()), &mut |_| ()).await?;
            proposal.permit()?.apply(watch::channel(Stop::No).1, &mut |_| ()).await
        };
        let (end, problems) = match ended.await {
            Ok(report) if report.result == RunResult::Succeeded => (UpEnd::Succeeded, Vec::new()),
            Ok(report) => (UpEnd::Unfinished, report.problems),
            Err(OpError::Stack(error)) => return Err(format!("state is not sound: {error:?}")),
            Err(error) => (UpEnd::Unfinished, error.problems()),
        };
        let (size, spare) = (self.size, self.spare);
        self.trace.push(format!("up to size {size}, spare {spare:?}: {}", described(&problems)));
        if let Some(violation) = self.objects().violation.clone() {
            return Err(violation);
        }
        let missing =
            |problem: &Diagnostic| problem.message.contains(&format!("no value of `{OUT}` is recorded"));
        Ok(if problems.iter().any(missing) { UpEnd::OutputMissing } else { end })
    }

    /// Answers for every operation in doubt: perhaps wrongly first, and then as the objects show.
    async fn answer_doubts(&mut self) -> Result<(), String> {
        let workspace = self.workspace(Answers::Good);
        let state = workspace.load().await.map_err(|error| error.to_string())?.state;
        for pending in state.pending().cloned().collect::<Vec<_>>() {
            if self.rng.one_in(2) {
                self.answer_wrongly(&workspace, &state, &pending).await?;
            }
            let answer = self.right_answer(&state, &pending.intent, self.ability == Ability::CannotLook);
            self.trace.push(format!("answer: {answer:?}"));
            if let Err(problem) = resolve(&workspace, &pending, answer).await {
                return Err(format!("a right answer is refused: {problem}"));
            }
        }
        Ok(())
    }

    /// Gives an answer that must be refused: one for another operation, one without the outputs, or the deletion of an object that
    /// can be read.
    async fn answer_wrongly(
        &mut self,
        workspace: &Workspace,
        state: &State,
        pending: &Pending,
    ) -> Result<(), String> {
        let right = self.right_answer(state, &pending.intent, false);
        let deletes = matches!(pending.intent, Intent::Delete { .. });
        let needs_outputs = self.ability == Ability::CannotLook && right != Resolution::DidNotHappen;
        let is_read = self.ability != Ability::CannotLook && right == Resolution::DidNotHappen;
        let wrong = match &pending.intent {
            _ if needs_outputs && !deletes => right,
            Intent::Delete { .. } if is_read => Resolution::Done { outputs: StatedOutputs::default() },
            Intent::Create { .. } => Resolution::Done { outputs: StatedOutputs::default() },
            _ => Resolution::Created { id: PhysicalId("wrong".into()), outputs: StatedOutputs::default() },
        };
        self.trace.push(format!("wrong answer: {wrong:?}"));
        match resolve(workspace, pending, wrong).await {
            Ok(()) => Err("a wrong answer was recorded".to_owned()),
            Err(_) => Ok(()),
        }
    }

    /// Returns the answer that a person finds by looking at the objects.
    fn right_answer(&self, state: &State, intent: &Intent, with_outputs: bool) -> Resolution {
        let objects = self.objects();
        if let Intent::Delete { copy, .. } = intent {
            let id = state.copy(copy).and_then(|copy| copy.id.as_ref());
            let exists = id.is_some_and(|id| objects.by_id.contains_key(id.as_str()));
            // A provider that returns the record says that every object exists, so that the person has the deletion made again.
            return match exists || self.ability == Ability::Echoes {
                true => Resolution::DidNotHappen,
                false => Resolution::Done { outputs: StatedOutputs::default() },
            };
        }
        let object = match intent {
            Intent::Create { key, .. } => objects.by_id.get(key),
            Intent::Update { resource, .. } => {
                let id = resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
                objects.by_id.get(id).filter(|object| object.inputs == resource.inputs)
            }
            Intent::Delete { .. } => None,
        };
        // A provider that returns the record cannot tell the new outputs, so that the person has the update made again.
        let unsure = self.ability == Ability::Echoes && matches!(intent, Intent::Update { .. });
        let Some(object) = object.filter(|_| !unsure) else { return Resolution::DidNotHappen };
        let mut outputs = StatedOutputs::default();
        if with_outputs {
            outputs.0.insert(OUT.to_owned(), object.out());
        }
        match intent {
            Intent::Create { key, .. } => Resolution::Created { id: PhysicalId(key.clone()), outputs },
            _ => Resolution::Done { outputs },
        }
    }

    /// Checks that the real objects are the declared ones, and that the value of one has reached the other.
    fn check_agreement(&self) -> Result<(), String> {
        let objects = self.objects();
        let found = |title: &str| {
            let mut named =
                objects.by_id.values().filter(|object| object.inputs.get("title") == Some(&title.into()));
            named.next().filter(|_| named.next().is_none()).ok_or_else(|| format!("there is not one {title}"))
        };
        let (maker, user) = (found("maker")?, found("user")?);
        match (found("spare"), self.spare) {
            (Ok(_), Spare::Declared) | (Err(_), Spare::Removed) => {}
            (found, spare) => return Err(format!("the spare object is {spare:?}, and is {found:?}")),
        }
        if maker.inputs.get("size") != Some(&Value::from(self.size)) {
            return Err(format!(
                "an update was lost: the program has size {}, and {maker:?} is real",
                self.size
            ));
        }
        if user.inputs.get("from") != Some(&Value::from(maker.out())) {
            return Err(format!("a value was lost: {user:?} uses another output than {}", maker.out()));
        }
        Ok(())
    }

    fn objects(&self) -> std::sync::MutexGuard<'_, Objects> {
        provider::held(&self.objects)
    }
}

async fn resolve(workspace: &Workspace, pending: &Pending, answer: Resolution) -> Result<(), String> {
    let edit = StateEdit::Resolve { target: ResolveTarget::Operation(pending.op), answer: Some(answer) };
    let applied = async {
        let edit = workspace.edit(edit, Wait::No, &mut |_| ()).await?;
        edit.permit()?.apply(&mut |_| ()).await
    };
    match applied.await {
        Ok(_) => Ok(()),
        Err(error) => Err(described(&error.problems())),
    }
}

fn described(problems: &[Diagnostic]) -> String {
    let code = |problem: &Diagnostic| if problem.code == Code::IN_DOUBT { "in doubt: " } else { "" };
    let all: Vec<String> = problems.iter().map(|one| format!("{}{}", code(one), one.message)).collect();
    all.join("; ")
}

/// Returns a program with a maker of the size and a user of its output.
fn graph(size: i64, spare: Spare) -> Graph {
    let mut graph = Graph::default();
    let out = graph.exprs.push(Expr::Property { node: NodeId(0), property: OUT.into() });
    let inputs = [
        ("size", Input::from(Value::from(size))),
        ("from", Input::Deferred(out)),
        ("size", Input::from(Value::from(0))),
    ];
    let titles = match spare {
        Spare::Declared => &["maker", "user", "spare"][..],
        Spare::Removed => &["maker", "user"],
    };
    for (line, (title, input)) in titles.iter().copied().zip(inputs).enumerate() {
        let Ok(name) = format!("dev:main:play.Doubt#{title}").parse() else { continue };
        graph.nodes.push(Node {
            name,
            ty: TypeToken("play.Doubt".into()),
            kind: NodeKind::Provisioned,
            parent: None,
            inputs: [("title".to_owned(), Input::from(Value::from(title))), (input.0.to_owned(), input.1)]
                .into(),
            options: Options::default(),
            source: SourceRef { file: "main.ts".into(), line: line as u32 + 1, column: 1 },
            marks: Default::default(),
        });
    }
    graph
}
