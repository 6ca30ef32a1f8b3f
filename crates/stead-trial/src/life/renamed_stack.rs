//! People rename the stack to another environment, and back. Whatever stops them in between, there is one stack, and its
//! resources keep their records, marks and pins.

use stead_engine::ops::{OpError, StateEdit, Wait, Workspace};
use stead_engine::{PinfileLocation, Stack};
use stead_journal::StackKeys;
use stead_model::Environment;

use crate::life::operate::{Attempt, CommandResult};
use crate::world::site::Actor;

/// Environment to which the stack is renamed.
const RENAMED: &str = "qa";

impl Actor {
    /// Renames the stack to another environment, and back.
    pub(crate) async fn rename_stack(&self) -> CommandResult {
        let to = Environment::new(RENAMED);
        let renamed = match self.edit(StateEdit::RenameStack { to }).await {
            Ok(_) => self.rename_back().await,
            Err(error) => Err(error),
        };
        if let Err(error) = renamed {
            return self.refused_by(error);
        }
        if self.process.is_alive() {
            self.trace.mark("a stack was renamed");
        }
        Ok(Attempt::Succeeded)
    }

    /// Gives a renamed stack its first name again.
    pub(crate) async fn rename_back(&self) -> Result<(), OpError> {
        let to = self.workspace.environment().clone();
        self.edit_renamed(StateEdit::RenameStack { to }).await
    }

    /// Finishes the rename of a process that died with the lock. Without a stack there is nothing to rename.
    pub(crate) async fn finish_renaming(&self) -> Result<(), OpError> {
        match self.edit_renamed(StateEdit::Unlock).await {
            Err(OpError::NotFound(_)) => Ok(()),
            unlocked => {
                unlocked?;
                self.rename_back().await
            }
        }
    }

    async fn edit_renamed(&self, edit: StateEdit) -> Result<(), OpError> {
        let renamed = Workspace {
            stack: Stack { keys: StackKeys::new("shop", RENAMED, "sim"), ..self.workspace.stack.clone() },
            pinfile: PinfileLocation {
                environment: Environment::new(RENAMED),
                ..self.workspace.pinfile.clone()
            },
            ..self.workspace.clone()
        };
        let edit = renamed.edit(edit, Wait::No, &mut |event| self.on_event(event, None)).await?;
        edit.permit()?.apply(&mut |event| self.on_event(event, None)).await?;
        Ok(())
    }
}
