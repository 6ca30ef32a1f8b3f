//! People change the pinfile without a command: they lose it, empty it, add a section, or switch to another branch.
//!
//! None of these acts ends a pin that state has.

use stead_guard::pins::physical_path;

use crate::life::program::Program;
use crate::life::script::OutsideChange;
use crate::life::simulation::Simulation;
use crate::oracle::model::{Pin, Violation};
use crate::oracle::pins;

/// The branch of the project that is not checked out.
#[derive(Default)]
pub(crate) struct OtherBranch {
    program: Program,
    pinfile: Option<Vec<u8>>,
}

impl Simulation {
    /// Changes the pinfile, and tells the model that pins are gone which only the file had.
    pub(super) async fn change_pinfile(&mut self, outside: OutsideChange) -> Result<(), Violation> {
        let disk = &self.site.disk;
        match outside {
            OutsideChange::LosesPinfile if pins::lose(disk) => self.site.trace.mark("the pinfile was lost"),
            OutsideChange::EmptiesPinfile => pins::empty(disk),
            OutsideChange::AddsSection => {
                pins::add_section(disk);
                self.site.trace.mark("a section was added");
            }
            OutsideChange::SwitchesBranch => return self.switch_branch().await,
            _ => return Ok(()),
        }
        self.site.cloud.model().loses_pinfile();
        self.site.cloud.model().edits_pinfile();
        Ok(())
    }

    /// Swaps program and pinfile with those of the other branch. A release in its pinfile is a release.
    async fn switch_branch(&mut self) -> Result<(), Violation> {
        let now = OtherBranch { program: self.program.clone(), pinfile: pins::text(&self.site.disk) };
        // The first time, the other branch starts here.
        let other = self.branch.replace(now).unwrap_or_else(|| OtherBranch {
            program: self.program.clone(),
            pinfile: pins::text(&self.site.disk),
        });
        let released = pins::released(other.pinfile.as_deref());
        self.program = other.program;
        pins::put(&self.site.disk, other.pinfile);
        let state = self.load_state().await?;
        let mut model = self.site.cloud.model();
        model.loses_pinfile();
        model.edits_pinfile();
        for copy in state.copies() {
            if released.contains(&physical_path(&copy.name, &copy.ty)) {
                model.pin(copy, Pin::Released);
            }
        }
        drop(model);
        self.site.trace.mark("a branch was switched");
        Ok(())
    }
}
