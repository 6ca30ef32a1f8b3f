//! Runs the commands of a life: each command is one call of the shipped library.
//!
//! No code here plans, guards or opens a run. It maps a command to an operation, and a simulated program to a graph.

use std::pin::Pin;

use async_trait::async_trait;
use stead_engine::OnFailure;
use stead_engine::ops::{
    Access, Approval, Declaration, Declares, EarlierRun, Import, Look, Nothing, OpError, PinUse, PlanRequest,
    Proposal, Protecting, Stale, Wait,
};
use stead_guard::pins::Orphans;
use stead_journal::JournalError;
use stead_model::{Graph, PhysicalId, RunId, TypeToken};
use stead_plan::{Follow, Glob, MovePolicy, Purpose, Reach, Request, Selection};

use crate::life::program::{Program, name};
use crate::life::script::Command;
use crate::oracle::model::{Violation, violation};
use crate::world::site::Actor;

/// Result of a command.
pub(crate) enum Attempt {
    Succeeded,
    /// The command failed, was refused or was cut off; a later command continues.
    Unfinished,
}

/// An approved plan, with the graph that its program declared.
#[derive(Clone)]
pub(crate) struct SavedPlan {
    approval: Approval,
    graph: Graph,
}

/// Error that ends a command.
pub(crate) enum CommandError {
    Journal(JournalError),
    Violation(Violation),
}

impl From<JournalError> for CommandError {
    fn from(error: JournalError) -> CommandError {
        CommandError::Journal(error)
    }
}

pub(crate) type CommandResult = Result<Attempt, CommandError>;

/// A simulated program.
pub(crate) struct DeclaredGraph(pub(crate) Graph);

#[async_trait(?Send)]
impl Declares for DeclaredGraph {
    async fn declare(&self) -> Result<Declaration, OpError> {
        Ok(Declaration::of(self.0.clone()))
    }
}

impl Actor {
    /// Runs a command. The future is boxed because it is large and is moved.
    pub(crate) fn run_command<'a>(
        &'a self,
        command: &'a Command,
        program: &'a Program,
        saved: &'a mut Option<SavedPlan>,
    ) -> Pin<Box<dyn Future<Output = CommandResult> + 'a>> {
        Box::pin(self.dispatch(command, program, saved))
    }

    async fn dispatch(
        &self,
        command: &Command,
        program: &Program,
        saved: &mut Option<SavedPlan>,
    ) -> CommandResult {
        let up = PlanRequest::up(Request::default());
        let moves = |moves| PlanRequest::up(Request { moves, ..Request::default() });
        let select = |selection| PlanRequest::up(Request { selection, ..Request::default() });
        let globs = |names: &[String]| names.iter().map(Glob::new).collect();
        let request = match command {
            Command::Up => up,
            Command::FailFast => PlanRequest { on_failure: OnFailure::Stop, ..up },
            Command::UpRefreshed => PlanRequest { look: Look::Changed, ..up },
            Command::UpRefreshAll => PlanRequest { look: Look::All, ..moves(MovePolicy::Refuse) },
            Command::UpPins => PlanRequest {
                look: Look::All,
                pins: PinUse::Apply(Orphans::Release),
                ..moves(MovePolicy::Refuse)
            },
            Command::UpMoves { accept: true } => moves(MovePolicy::Accept),
            Command::UpMoves { accept: false } => moves(MovePolicy::Refuse),
            Command::Target(names, along) => {
                let reach = Reach { dependencies: Follow::from_flag(*along), ..Reach::default() };
                select(Selection { targets: globs(names), reach, ..Selection::default() })
            }
            Command::Exclude(names) => select(Selection { exclude: globs(names), ..Selection::default() }),
            Command::Wait => PlanRequest { wait: Wait::ForTheLock, ..up },
            Command::Destroy => {
                let graph = program.graph();
                let today = DeclaredGraph(graph.clone());
                let request = PlanRequest::destroy(Purpose::Destroy.into());
                return self.run(&Nothing { program: Some(&today) }, request, Some(&graph)).await;
            }
            Command::Plan => return self.plan(program.graph(), saved).await,
            Command::UpSaved => return self.up_saved(saved.take(), &program.graph()).await,
            Command::Rollback(back) => return self.rollback(*back, &program.graph()).await,
            Command::Import(name, id) => return self.import(program, name, id).await,
            Command::PinsRestore => {
                *saved = None;
                return self.restore_pins().await;
            }
            Command::PinsFollow => return self.pins_follow(program).await,
            Command::Unpin(name) => return self.unpin(program, name).await,
            Command::WriteInvalidRecord(name) => return self.write_invalid_record(program, name).await,
            Command::Refresh
            | Command::Rename(..)
            | Command::Move(..)
            | Command::Remove(_)
            | Command::Reimport
            | Command::Resolve
            | Command::Unlock
            | Command::RenameStack
            | Command::ToStack(_) => return self.amend(command, program).await,
        };
        let graph = program.graph();
        self.run(&DeclaredGraph(graph.clone()), request, Some(&graph)).await
    }

    /// Previews, and applies if nothing refuses the plan.
    async fn run(
        &self,
        declares: &dyn Declares,
        request: PlanRequest,
        program: Option<&Graph>,
    ) -> CommandResult {
        let updates_pins = request.pins == PinUse::Apply(Orphans::Release);
        let previewed =
            self.workspace.preview(declares, request, &mut |event| self.on_event(event, program)).await;
        self.end_recovery();
        match previewed {
            Ok(proposal) => {
                if updates_pins {
                    self.releases_orphans(&proposal);
                }
                self.apply_protected(proposal, program).await
            }
            Err(error) => self.refused_by(error),
        }
    }

    /// Applies a proposal that must leave everything alone that the program protects now.
    async fn apply_protected(&self, proposal: Proposal, program: Option<&Graph>) -> CommandResult {
        if proposal.pins().is_none() {
            self.note_protection(proposal.base(), program);
        }
        let attempt = self.permit_and_apply(proposal).await;
        self.end_recovery();
        attempt
    }

    async fn plan(&self, graph: Graph, saved: &mut Option<SavedPlan>) -> CommandResult {
        let request = PlanRequest { access: Access::ReadOnly, ..PlanRequest::up(Request::default()) };
        let declared = DeclaredGraph(graph.clone());
        match self.workspace.preview(&declared, request, &mut |_| ()).await {
            Ok(proposal) => {
                if let Ok(approval) = proposal.approval() {
                    self.trace.report(|| serde_json::to_string(&approval).unwrap_or_default());
                    *saved = Some(SavedPlan { approval, graph });
                }
                Ok(Attempt::Succeeded)
            }
            Err(error) => self.refused_by(error),
        }
    }

    async fn up_saved(&self, saved: Option<SavedPlan>, today: &Graph) -> CommandResult {
        let Some(SavedPlan { approval, graph }) = saved else { return Ok(Attempt::Unfinished) };
        let approved = (&approval, self.workspace.pinfile.main.as_str());
        let (declared, program) = (DeclaredGraph(graph), DeclaredGraph(today.clone()));
        let protected = Protecting { declared: &declared, program: Some(&program) };
        let mut on_event = |event| self.on_event(event, Some(today));
        let previewed = self
            .workspace
            .preview_approved(&protected, approved, (OnFailure::GoOn, Vec::new()), Wait::No, &mut on_event)
            .await;
        self.end_recovery();
        match previewed {
            Ok(proposal) => {
                self.trace.mark("a saved plan was applied");
                self.note_protection(proposal.base(), Some(today));
                let attempt = self.permit_and_apply(proposal).await;
                self.end_recovery();
                attempt
            }
            Err(OpError::Stale(
                Stale::StateChanged { .. } | Stale::PlanChanged { .. } | Stale::AnotherStack,
            )) => {
                self.trace.mark("a saved plan was too old");
                self.refused("the plan is too old")
            }
            Err(OpError::Stale(stale)) => Err(CommandError::Violation(violation(
                "a run equals its plan",
                format!("a saved plan: {stale:?}"),
            ))),
            Err(OpError::Plan(_)) => {
                let detail = "a saved plan cannot be reproduced";
                Err(CommandError::Violation(violation("a run equals its plan", detail)))
            }
            Err(error) => self.refused_by(error),
        }
    }

    async fn rollback(&self, back: u64, today: &Graph) -> CommandResult {
        let epoch = self.workspace.stack.load().await?.head.map_or(0, |head| head.epoch.0);
        let run = RunId(format!("run-{}", epoch.saturating_sub(back)));
        let program = DeclaredGraph(today.clone());
        let earlier = EarlierRun { stack: self.workspace.stack.clone(), run, program: Some(&program) };
        let request = PlanRequest::rollback(Request { moves: MovePolicy::Refuse, ..Request::default() });
        let previewed =
            self.workspace.preview(&earlier, request, &mut |event| self.on_event(event, Some(today))).await;
        self.end_recovery();
        match previewed {
            Ok(proposal) => {
                self.trace.mark("a rollback");
                self.apply_protected(proposal, Some(today)).await
            }
            Err(error) => self.refused_by(error),
        }
    }

    async fn import(&self, program: &Program, wanted: &str, id: &str) -> CommandResult {
        let (id, ty) = (PhysicalId(id.to_owned()), TypeToken("sim.Thing".to_owned()));
        let import = Import { name: name(ty.clone(), Some(wanted.to_owned())), ty, id, provider: None };
        let graph = program.graph();
        let declared = DeclaredGraph(graph.clone());
        let mut on_event = |event| self.on_event(event, Some(&graph));
        let previewed =
            self.workspace.preview_import(&declared, &import, (Wait::No, Vec::new()), &mut on_event).await;
        self.end_recovery();
        let attempt = match previewed {
            Ok(proposal) => self.permit_and_apply(proposal).await?,
            Err(error) => return self.refused_by(error),
        };
        if matches!(attempt, Attempt::Succeeded) {
            self.trace.mark("a resource was imported by command");
        }
        Ok(attempt)
    }

    pub(crate) fn refused(&self, detail: &str) -> CommandResult {
        self.trace.log(format!("refused: {detail}"));
        Ok(Attempt::Unfinished)
    }

    /// Logs and marks the reason for which the library refused an operation.
    pub(crate) fn refused_by(&self, error: OpError) -> CommandResult {
        self.trace.report(|| format!("{error} {error:?}"));
        let first = |problems: &[stead_model::Diagnostic]| {
            problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
        };
        match error {
            OpError::Stack(error) => Err(CommandError::Journal(error)),
            OpError::InDoubt(_) => {
                self.trace.mark("only a person could resolve an operation");
                self.refused("operations are in doubt")
            }
            OpError::Recovery(_) => self.refused("the recovery did not finish"),
            OpError::Pins(refused) => {
                self.trace.mark("a pin conflicted with a program");
                self.refused(&format!("by the pins: {}", first(&refused.problems)))
            }
            OpError::Plan(problems) => {
                self.trace.mark("a plan was refused");
                self.refused(&format!("the plan: {}", first(&problems)))
            }
            OpError::Guarded(refusals) => {
                crate::oracle::coverage::mark_refusals(&refusals, &self.trace);
                self.refused("by a guard")
            }
            OpError::LooksMoved(_) => {
                self.trace.mark("a resource looked moved");
                self.refused("it looks like a move")
            }
            OpError::Read(problems) | OpError::Refused(problems) | OpError::Invalid(problems) => {
                self.refused(&first(&problems))
            }
            OpError::Pinfile(problem) | OpError::NotFound(problem) => self.refused(&problem.message),
            other => Err(CommandError::Violation(violation(
                "an operation fails with a known error",
                format!("{other:?}"),
            ))),
        }
    }
}
