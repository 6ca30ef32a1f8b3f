//! Edits of a whole stack: removed, renamed, repaired.

use stead_journal::{Survey, exists};
use stead_model::{Code, Diagnostic, Environment, Hint, NextStep, Resource};
use stead_state::State;

use super::forget::forgotten;
use super::import_review::{Accepts, ImportReview, Losses};
use super::import_state::Matched;
use super::{EditChange, ProposedEdit, Purge, Remaining, Work};
use crate::ops::protection::missing_pins;
use crate::ops::{OpError, OpEvent, Wait, Workspace};
use crate::waiting_sources;

/// How many resources a problem names.
const SHOWN: usize = 20;

impl Workspace {
    pub(super) async fn remove_stack(
        &self,
        resources: Remaining,
        history: Purge,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        if history == Purge::Delete && !exists(&self.stack.store, &self.stack.keys).await? {
            return Ok(self.proposed(Work::DeleteHistory, vec![EditChange::HistoryDeleted]));
        }
        self.load_existing().await?;
        let loaded = self.load_finished(wait, events).await?;
        self.no_move_is_unfinished().await?;
        if loaded.state.copies().next().is_some() && resources == Remaining::Refuse {
            return Err(not_empty(self, &loaded.state));
        }
        let forgets: Vec<Resource> = loaded.state.resources().into_iter().cloned().collect();
        let changes = forgets.iter().map(forgotten).chain([EditChange::StackRemoved { history }]).collect();
        Ok(ProposedEdit { forgets, ..self.proposed_on(loaded, Work::RemoveStack(history), changes) })
    }

    pub(super) async fn rename_stack(
        &self,
        to: Environment,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        if to == *self.environment() {
            return Err(OpError::invalid(Diagnostic::error(
                Code::USAGE,
                format!("it is environment {to} already"),
            )));
        }
        self.load_existing().await?;
        let loaded = self.load_finished(wait, events).await?;
        self.no_move_is_unfinished().await?;
        let change = EditChange::StackRenamed { resources: loaded.state.resources().len() };
        let pins = missing_pins(loaded.state.copies(), &self.listed_pins()?);
        Ok(self.proposed_on(loaded, Work::RenameStack { to, pins }, vec![change]))
    }

    /// The guards compare the proposal with the recorded state, as far as that can be read: a repair may lose a guarded
    /// record only if the user accepts it.
    pub(super) fn repair(
        &self,
        survey: Box<Survey>,
        number: usize,
        losses: Losses,
    ) -> Result<ProposedEdit, OpError> {
        let chosen = number.checked_sub(1).and_then(|at| survey.proposals.get(at));
        let Some(chosen) = chosen else {
            let message = format!("there is no proposal {number}; there are {}", survey.proposals.len());
            let problem = Diagnostic::error(Code::NOTHING_TO_REPAIR, message);
            return Err(OpError::invalid(problem.note("Nothing was changed.")));
        };
        let change = EditChange::Repaired { resources: chosen.snapshot.resources.len() };
        let (mut forgets, mut review) = (Vec::new(), None);
        if let Some(recorded) = &survey.recorded {
            let matched = Matched::of(recorded, &chosen.snapshot);
            forgets.extend(matched.removed.iter().map(|resource| resource.as_ref().clone()));
            let (state, accepts) = (State::from(recorded.clone()), Accepts { losses, ..Accepts::default() });
            review =
                Some(Box::new(ImportReview::new(&state, &chosen.snapshot, accepts).of_pairs(&matched.pairs)));
        }
        let edit = self.proposed(Work::Repair { survey, number }, vec![change]);
        Ok(ProposedEdit { forgets, review, ..edit })
    }

    /// A stack from which resources were moved here must learn that they arrived before this one goes elsewhere.
    async fn no_move_is_unfinished(&self) -> Result<(), OpError> {
        let waiting = waiting_sources(&self.stack).await?;
        if waiting.is_empty() {
            return Ok(());
        }
        let message = "a move of resources to this stack is not finished";
        let problem = waiting.into_iter().fold(
            Diagnostic::error(Code::TRANSFER_UNFINISHED, message),
            |problem, from| {
                let (environment, target) = (from.environment, from.target);
                problem
                    .help(Hint::text("finish it with ").then(NextStep::RefreshStack { environment, target }))
            },
        );
        Err(OpError::refused(problem.note("Nothing was changed.")))
    }
}

fn not_empty(workspace: &Workspace, state: &State) -> OpError {
    let resources = state.resources();
    let message = format!("the stack still holds {} resources", resources.len());
    let named = resources.iter().take(SHOWN).map(|resource| resource.name.to_string());
    let more =
        resources.len().checked_sub(SHOWN).filter(|more| *more > 0).map(|more| format!("and {more} more"));
    let problem = named.chain(more).fold(Diagnostic::error(Code::STACK_NOT_EMPTY, message), Diagnostic::note);
    let environment = workspace.environment().clone();
    let problem = problem
        .note("Nothing was changed.")
        .help(Hint::from(NextStep::Destroy { environment }).and(" deletes them"))
        .help(Hint::from(NextStep::ForgetResources).and(" removes the stack and leaves them unmanaged"));
    OpError::refused(problem)
}
