//! One command's view of a project: its workspace, and the answers that flags give.

use stead::guard::OuterLevels;
use stead::ops::{OpError, Wait, Workspace};
use stead::{FlagMarks, Notice, Program, Project, UnknownBranches};
use stead_model::Environment;

use crate::args::{Common, MarkFlags};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::wiring;

pub(crate) struct Session {
    pub project: Project,
    pub workspace: Workspace,
    /// `--yes` was given.
    pub yes: bool,
    pub wait: Wait,
    branches: UnknownBranches,
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
        let target = common.target.clone().unwrap_or_else(|| project.default_target.clone());
        let workspace = project.workspace(&environment, &target, common.parallel)?;
        let branches = match common.allow_unknown_branches {
            true => UnknownBranches::Allow,
            false => UnknownBranches::Refuse,
        };
        let wait = if common.wait { Wait::ForTheLock } else { Wait::No };
        Ok(Session { project, workspace, yes: common.yes, wait, branches })
    }

    pub(crate) fn environment(&self) -> &Environment {
        self.workspace.environment()
    }

    pub(crate) fn target(&self) -> &str {
        self.workspace.target()
    }

    /// The mark settings around the program, with those of flags.
    pub(crate) fn levels(&self, flags: &MarkFlags) -> OuterLevels {
        self.project.levels(self.environment(), &flags.marks())
    }

    /// The mark settings around the program.
    pub(crate) fn plain_levels(&self) -> OuterLevels {
        self.project.levels(self.environment(), &FlagMarks::default())
    }

    /// The project's program.
    pub(crate) fn program<'a>(&self, levels: OuterLevels, listener: &'a dyn Fn(Notice<'_>)) -> Program<'a> {
        Program::of(&self.project, &self.workspace, self.branches, levels, listener)
    }

    /// With `--wait`, a command that another run was faster than begins again on the state that the other run left.
    pub(crate) async fn patiently(
        &self,
        ui: &Ui,
        attempt: impl AsyncFn() -> Result<u8, Failure>,
    ) -> Result<u8, Failure> {
        loop {
            match attempt().await {
                Err(failure) if self.wait == Wait::ForTheLock && failure.was_too_late() => {
                    ui.note("Another run was faster; starting over on the new state.");
                }
                other => return other,
            }
        }
    }

    /// Another stack of the project: `environment[:namespace][@target]`.
    pub(crate) fn sibling(&self, text: &str) -> Result<Workspace, OpError> {
        self.project.sibling(&self.workspace, text)
    }
}
