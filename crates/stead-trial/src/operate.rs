//! The operations of a life: each task is one call of the library that ships.
//!
//! Nothing here plans, guards or opens a run. This file says which operation a task stands for, and which graph a simulated program
//! declares.

use std::pin::Pin;

use async_trait::async_trait;
use stead_engine::OnFailure;
use stead_engine::ops::{
    Access, Approval, Declaration, Declares, EarlierRun, Import, Look, Nothing, OpError, PinUse, PlanRequest,
    Stale, Wait,
};
use stead_guard::pins::Orphans;
use stead_journal::JournalError;
use stead_model::{Graph, PhysicalId, RunId, TypeToken};
use stead_plan::{Follow, Glob, MovePolicy, Purpose, Reach, Request, Selection};

use crate::model::{Loss, loss};
use crate::program::{Program, name};
use crate::script::Task;
use crate::stage::Actor;

/// How an operation ended.
pub(crate) enum Attempt {
    Succeeded,
    /// The operation failed, was refused or was cut off; the next attempt goes on.
    Unfinished,
}

/// An approved plan, with the graph that its program declared.
#[derive(Clone)]
pub(crate) struct Saved {
    approval: Approval,
    graph: Graph,
}

/// Why an operation has no end.
pub(crate) enum Failed {
    Journal(JournalError),
    Lost(Loss),
}

impl From<JournalError> for Failed {
    fn from(error: JournalError) -> Failed {
        Failed::Journal(error)
    }
}

pub(crate) type Ended = Result<Attempt, Failed>;

/// A simulated program.
pub(crate) struct Declared(pub(crate) Graph);

#[async_trait(?Send)]
impl Declares for Declared {
    async fn declare(&self) -> Result<Declaration, OpError> {
        Ok(Declaration::of(self.0.clone()))
    }
}

impl Actor {
    /// Performs a task. Boxed: the future is large, and its owner is moved.
    pub(crate) fn perform<'a>(
        &'a self,
        task: &'a Task,
        program: &'a Program,
        saved: &'a mut Option<Saved>,
    ) -> Pin<Box<dyn Future<Output = Ended> + 'a>> {
        Box::pin(self.performs(task, program, saved))
    }

    async fn performs(&self, task: &Task, program: &Program, saved: &mut Option<Saved>) -> Ended {
        let up = PlanRequest::up(Request::default());
        let moves = |moves| PlanRequest::up(Request { moves, ..Request::default() });
        let select = |selection| PlanRequest::up(Request { selection, ..Request::default() });
        let globs = |names: &[String]| names.iter().map(Glob::new).collect();
        let request = match task {
            Task::Up => up,
            Task::FailFast => PlanRequest { on_failure: OnFailure::Stop, ..up },
            Task::UpRefreshed => PlanRequest { look: Look::Changed, ..up },
            Task::UpLooking => PlanRequest { look: Look::All, ..moves(MovePolicy::Refuse) },
            Task::UpPins => PlanRequest {
                look: Look::All,
                pins: PinUse::Apply(Orphans::Remove),
                ..moves(MovePolicy::Refuse)
            },
            Task::UpMoves { accept: true } => moves(MovePolicy::Accept),
            Task::UpMoves { accept: false } => moves(MovePolicy::Refuse),
            Task::Target(names, along) => {
                let reach = Reach { dependencies: Follow::from_flag(*along), ..Reach::default() };
                select(Selection { targets: globs(names), reach, ..Selection::default() })
            }
            Task::Exclude(names) => select(Selection { exclude: globs(names), ..Selection::default() }),
            Task::Wait => PlanRequest { wait: Wait::ForTheLock, ..up },
            Task::Destroy => {
                return self.run(&Nothing, PlanRequest::destroy(Purpose::Destroy.into()), None).await;
            }
            Task::Plan => return self.plan(program.graph(), saved).await,
            Task::UpSaved => return self.up_saved(saved.take()).await,
            Task::Rollback(back) => return self.rollback(*back).await,
            Task::Import(name, id) => return self.import(program, name, id).await,
            Task::PinsRestore => {
                *saved = None;
                return self.restore_pins().await;
            }
            Task::PinsFollow => return self.pins_follow(program).await,
            Task::Unpin(name) => return self.unpin(program, name).await,
            Task::Miswrites(name) => return self.miswrites(program, name).await,
            Task::Refresh
            | Task::Rename(..)
            | Task::Move(..)
            | Task::Remove(_)
            | Task::Reimport
            | Task::Resolve
            | Task::Unlock
            | Task::ToStack(_) => return self.amend(task, program).await,
        };
        let graph = program.graph();
        self.run(&Declared(graph.clone()), request, Some(&graph)).await
    }

    /// Previews, and applies if nothing stands against it.
    async fn run(&self, declares: &dyn Declares, request: PlanRequest, program: Option<&Graph>) -> Ended {
        let updates_pins = request.pins == PinUse::Apply(Orphans::Remove);
        let previewed =
            self.workspace.preview(declares, request, &mut |event| self.hears(event, program)).await;
        self.recovered();
        match previewed {
            Ok(proposal) => {
                if updates_pins {
                    self.releases_orphans(&proposal);
                }
                self.proceed(proposal).await
            }
            Err(error) => self.refused_by(error),
        }
    }

    async fn plan(&self, graph: Graph, saved: &mut Option<Saved>) -> Ended {
        let request = PlanRequest { access: Access::ReadOnly, ..PlanRequest::up(Request::default()) };
        let declared = Declared(graph.clone());
        match self.workspace.preview(&declared, request, &mut |_| ()).await {
            Ok(proposal) => {
                *saved = Some(Saved { approval: proposal.approval(), graph });
                Ok(Attempt::Succeeded)
            }
            Err(error) => self.refused_by(error),
        }
    }

    async fn up_saved(&self, saved: Option<Saved>) -> Ended {
        let Some(Saved { approval, graph }) = saved else { return Ok(Attempt::Unfinished) };
        let approved = (&approval, self.workspace.pinfile.main.as_str());
        let declared = Declared(graph.clone());
        let mut hears = |event| self.hears(event, Some(&graph));
        let previewed =
            self.workspace.preview_approved(&declared, approved, OnFailure::GoOn, Wait::No, &mut hears).await;
        self.recovered();
        match previewed {
            Ok(proposal) => {
                self.tape.reach("a saved plan was carried out");
                self.proceed(proposal).await
            }
            Err(OpError::Stale(Stale::StateChanged)) => {
                self.tape.reach("a saved plan was too old");
                self.refused("the plan is too old")
            }
            Err(OpError::Stale(stale)) => {
                Err(Failed::Lost(loss("a plan equals what then runs", format!("a saved plan: {stale:?}"))))
            }
            Err(OpError::Plan(_)) => {
                let what = "a saved plan cannot be made again";
                Err(Failed::Lost(loss("a plan equals what then runs", what)))
            }
            Err(error) => self.refused_by(error),
        }
    }

    async fn rollback(&self, back: u64) -> Ended {
        let epoch = self.workspace.stack.load().await?.head.map_or(0, |head| head.epoch.0);
        let run = RunId(format!("run-{}", epoch.saturating_sub(back)));
        let earlier = EarlierRun { stack: self.workspace.stack.clone(), run };
        let request = PlanRequest::rollback(Request { moves: MovePolicy::Refuse, ..Request::default() });
        let previewed = self.workspace.preview(&earlier, request, &mut |event| self.hears(event, None)).await;
        self.recovered();
        match previewed {
            Ok(proposal) => {
                self.tape.reach("a rollback");
                self.proceed(proposal).await
            }
            Err(error) => self.refused_by(error),
        }
    }

    async fn import(&self, program: &Program, wanted: &str, id: &str) -> Ended {
        let (id, ty) = (PhysicalId(id.to_owned()), TypeToken("sim.Thing".to_owned()));
        let import = Import { name: name(ty.clone(), Some(wanted.to_owned())), ty, id };
        let graph = program.graph();
        let declared = Declared(graph.clone());
        let mut hears = |event| self.hears(event, Some(&graph));
        let previewed = self.workspace.preview_import(&declared, &import, Wait::No, &mut hears).await;
        self.recovered();
        let attempt = match previewed {
            Ok(proposal) => self.proceed(proposal).await?,
            Err(error) => return self.refused_by(error),
        };
        if matches!(attempt, Attempt::Succeeded) {
            self.tape.reach("something was imported by command");
        }
        Ok(attempt)
    }

    pub(crate) fn refused(&self, what: &str) -> Ended {
        self.tape.say(format!("refused: {what}"));
        Ok(Attempt::Unfinished)
    }

    /// Notes why the library did not do what it was asked.
    pub(crate) fn refused_by(&self, error: OpError) -> Ended {
        let first = |problems: &[stead_model::Diagnostic]| {
            problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
        };
        match error {
            OpError::Stack(error) => Err(Failed::Journal(error)),
            OpError::InDoubt(_) => {
                self.tape.reach("only a person could tell");
                self.refused("operations are in doubt")
            }
            OpError::Recovery(_) => self.refused("the recovery did not finish"),
            OpError::Pins(refused) => {
                self.tape.reach("a pin stood against a program");
                self.refused(&format!("by the pins: {}", first(&refused.problems)))
            }
            OpError::Plan(problems) => {
                self.tape.reach("a plan was refused");
                self.refused(&format!("the plan: {}", first(&problems)))
            }
            OpError::Guarded(refusals) => {
                crate::marks::of_refusal(&refusals, &self.tape);
                self.refused("by a guard")
            }
            OpError::LooksMoved(_) => {
                self.tape.reach("something looked like a move");
                self.refused("it looks like a move")
            }
            OpError::Read(problems) | OpError::Refused(problems) | OpError::Invalid(problems) => {
                self.refused(&first(&problems))
            }
            OpError::Pinfile(problem) | OpError::NotFound(problem) => self.refused(&problem.message),
            other => Err(Failed::Lost(loss("an operation fails for a reason", format!("{other:?}")))),
        }
    }
}
