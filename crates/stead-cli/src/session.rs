//! Session: the project and the workspace of one command, and its common flags.

use std::sync::Arc;

use stead::config::Config;
use stead::guard::OuterLevels;
use stead::ops::{OpError, Wait, Workspace};
use stead::{FlagMarks, Notice, Program, Project, UnknownBranches};
use stead_model::{Code, Diagnostic, Environment};

use crate::args::{Common, MarkFlags, ProgramFlags};
use crate::ask::AskAtTerminal;
use crate::failure::Failure;
use crate::hints::ShownStack;
use crate::ui::Ui;
use crate::wiring;

pub(crate) struct Session {
    pub project: Project,
    pub workspace: Workspace,
    /// Set by `--yes`: confirmations are not asked.
    pub yes: bool,
    pub wait: Wait,
    branches: UnknownBranches,
    pub config: Config,
}

impl Session {
    /// Opens the project, in an environment that it has.
    pub(crate) async fn open(common: &Common, ui: &Ui) -> Result<Session, Failure> {
        let session = Session::open_any(common, ui)?;
        stead::check_environment(&session.project, &session.workspace).await?;
        Ok(session)
    }

    /// Opens the project, also in an environment that it does not have yet, or has no longer.
    pub(crate) fn open_any(common: &Common, ui: &Ui) -> Result<Session, Failure> {
        let world = wiring::world();
        let folder = common.directory.clone().unwrap_or_else(wiring::current_folder);
        let root = Project::locate(&world, &folder)?;
        ui.set_project(&root, &world);
        let project = Project::read(&world, root)?;
        let project = match ui.can_ask() {
            true => project.asking(Arc::new(AskAtTerminal::default())),
            false => project,
        };
        let environment = environment(&project, common)?;
        let target = common.target.clone().unwrap_or_else(|| project.default_target.clone());
        ui.set_stack(shown_stack(&project, &environment, &target));
        let workspace = project.workspace(&environment, &target, common.parallel)?;
        ui.set_reads(workspace.engine.providers.reads());
        let branches = match common.allow_unknown_branches {
            true => UnknownBranches::Allow,
            false => UnknownBranches::Refuse,
        };
        let wait = if common.wait { Wait::ForTheLock } else { Wait::No };
        let config = project.config(&environment.name, &common.config.inputs(&folder))?;
        Ok(Session { project, workspace, yes: common.yes, wait, branches, config })
    }

    pub(crate) fn environment(&self) -> &Environment {
        self.workspace.environment()
    }

    /// Returns the flags of the stack for printed commands.
    pub(crate) fn shown_stack(&self) -> ShownStack {
        self.shown_stack_of(self.environment(), self.target())
    }

    /// Returns the flags of another stack of the project for printed commands.
    pub(crate) fn shown_stack_of(&self, environment: &Environment, target: &str) -> ShownStack {
        shown_stack(&self.project, environment, target)
    }

    pub(crate) fn target(&self) -> &str {
        self.workspace.target()
    }

    /// Returns the marks of all levels outside the program, flags included.
    pub(crate) fn levels(&self, flags: &MarkFlags) -> OuterLevels {
        self.project.levels(self.environment(), &flags.marks())
    }

    /// Returns the marks of all levels outside the program, without flags.
    pub(crate) fn levels_without_flags(&self) -> OuterLevels {
        self.project.levels(self.environment(), &FlagMarks::default())
    }

    /// Returns the program of the project.
    pub(crate) fn program<'a>(&self, levels: OuterLevels, listener: &'a dyn Fn(Notice<'_>)) -> Program<'a> {
        self.program_with(self.config.clone(), levels, listener)
    }

    /// Returns the program of the project with another config.
    pub(crate) fn program_with<'a>(
        &self,
        config: Config,
        levels: OuterLevels,
        listener: &'a dyn Fn(Notice<'_>),
    ) -> Program<'a> {
        Program::of(&self.project, &self.workspace, config, self.branches, levels, listener)
    }

    /// Returns the program that an operation asks for protection; `None` if it was told not to.
    pub(crate) fn protection<'a>(
        &self,
        flags: ProgramFlags,
        listener: &'a dyn Fn(Notice<'_>),
    ) -> Option<Program<'a>> {
        (!flags.without_program).then(|| self.program(self.levels_without_flags(), listener))
    }

    /// Runs a command; with `--wait`, repeats the command after each conflict with another run.
    pub(crate) async fn retry_on_conflict(
        &self,
        ui: &Ui,
        attempt: impl AsyncFn() -> Result<u8, Failure>,
    ) -> Result<u8, Failure> {
        loop {
            match attempt().await {
                Err(failure) if self.wait == Wait::ForTheLock && failure.is_conflict() => {
                    ui.note("Another run changed the state first; starting again on the new state.");
                }
                other => return other,
            }
        }
    }

    /// Returns the workspace of another stack of the project: `environment[:namespace][@target]`.
    pub(crate) fn sibling(&self, text: &str) -> Result<Workspace, OpError> {
        self.project.sibling(&self.workspace, text)
    }
}

fn shown_stack(project: &Project, environment: &Environment, target: &str) -> ShownStack {
    let target = (target != project.default_target).then(|| target.to_owned());
    ShownStack { environment: environment.clone(), target }
}

/// Returns the environment that the flags name: `-e environment[:namespace]`, and `--namespace`.
fn environment(project: &Project, common: &Common) -> Result<Environment, Failure> {
    let environment = match &common.env {
        Some(text) => stead::read_environment(text)?,
        None => project.default_environment()?,
    };
    match (&environment.namespace, &common.namespace) {
        (Some(one), Some(other)) if one != other => {
            let message = format!("two namespaces are given: {one:?} by `-e`, {other:?} by `--namespace`");
            Err(Diagnostic::error(Code::USAGE, message).into())
        }
        (_, Some(namespace)) => Ok(Environment { namespace: Some(namespace.clone()), ..environment }),
        (_, None) => Ok(environment),
    }
}
