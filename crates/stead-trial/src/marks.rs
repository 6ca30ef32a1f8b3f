//! Coverage marks: situations that a long trial must have seen, or it proves less than it says.

use stead_model::{Code, Diagnostic, Graph, Lifecycle};
use stead_plan::{Action, Certainty, Plan, Why};
use stead_schema::ReplaceOrder;
use stead_state::{AfterDelete, Intent, State};

use crate::stage::Tape;

/// What a trial of many lives must have reached. Where a process died is marked besides, by crash point.
pub const MARKS: &[&str] = &[
    "a create was under way when the stack was taken over",
    "a delete was under way when the stack was taken over",
    "a delete-first replacement",
    "a deletion that was begun was not sent again",
    "a fenced writer woke up",
    "a holder without a sign of life was taken over",
    "a life began with a stack that was there before",
    "a person settled a doubt",
    "a pin kept something from being deleted",
    "a pin moved",
    "a pin stood against a program",
    "a pin was removed",
    "a plan was refused",
    "a record that breaks a rule was refused",
    "a replacement that may turn out to be none",
    "a resource was imported",
    "a resource was let go, and stays",
    "a resource went with its container",
    "a rollback",
    "a saved plan was carried out",
    "a saved plan was too old",
    "a step was tried again",
    "a third writer",
    "an answer was kept",
    "an answer was told",
    "an old copy was left over",
    "an update was under way when the stack was taken over",
    "drift",
    "guard refused",
    "interrupted",
    "interrupted twice",
    "moved by alias",
    "moved by the pinfile",
    "only a person could tell",
    "pins were restored",
    "siblings told apart by content",
    "something looked like a move",
    "something was imported by command",
    "something went to another stack",
    "takeover during a delete-first replacement",
    "takeover during a delete-first replacement with a condemned copy",
    "takeover with a condemned copy",
    "the holder of another stack was taken over",
    "the holder was stopped",
    "the pinfile was lost",
    "the pinfile was written",
    "the provider of a resource changed",
    "the wall clock jumped",
];

/// What is remarkable about a plan that is about to be carried out.
pub(crate) fn of_plan(plan: &Plan, base: &State, graph: &Graph, tape: &Tape) {
    for step in &plan.steps {
        let mark = match (&step.action, &step.why) {
            (Action::Import { .. }, _) => "a resource was imported",
            (_, Why::Retained) => "a resource was let go, and stays",
            (_, Why::DeletedWithContainer { .. }) => "a resource went with its container",
            (_, Why::LeftOver) => "an old copy was left over",
            (_, Why::Replaced { certainty: Certainty::Possible, .. }) => {
                "a replacement that may turn out to be none"
            }
            (_, Why::Replaced { order: ReplaceOrder::DeleteFirst, .. }) => "a delete-first replacement",
            (_, Why::Moved { by: stead_plan::Match::Alias }) => "moved by alias",
            (_, Why::Moved { by: stead_plan::Match::Pinfile }) => "moved by the pinfile",
            (_, Why::Moved { by: stead_plan::Match::Content }) => "siblings told apart by content",
            (Action::Record { copy } | Action::Update { copy, .. }, _) => {
                let node = step.node.and_then(|id| graph.node(id));
                let wanted = node.is_some_and(|node| node.options.provider.is_some());
                let recorded = base.copy(copy).is_some_and(|old| old.ties.provider.is_some());
                if wanted == recorded {
                    continue;
                }
                "the provider of a resource changed"
            }
            _ => continue,
        };
        tape.reach(mark);
    }
}

/// Who refused a plan.
pub(crate) fn of_refusal(refusals: &[Diagnostic], tape: &Tape) {
    let pins = [Code::PINNED, Code::PINFILE_LOST];
    for refusal in refusals {
        let pinned = pins.contains(&refusal.code);
        tape.reach(if pinned { "a pin kept something from being deleted" } else { "guard refused" });
    }
}

/// What a taker finds.
pub(crate) fn of_takeover(base: &State, tape: &Tape) {
    let condemned = base.copies().any(|copy| copy.lifecycle == Lifecycle::Condemned);
    let replacing = base.copies().any(|copy| copy.lifecycle == Lifecycle::Replacing);
    let mut early = false;
    for pending in base.pending() {
        tape.reach(match &pending.intent {
            Intent::Create { .. } => "a create was under way when the stack was taken over",
            Intent::Update { .. } => "an update was under way when the stack was taken over",
            Intent::Delete { after, .. } => {
                early |= *after == AfterDelete::Replacing;
                "a delete was under way when the stack was taken over"
            }
        });
    }
    if condemned {
        tape.reach("takeover with a condemned copy");
    }
    if replacing || early {
        tape.reach("takeover during a delete-first replacement");
        if condemned {
            tape.reach("takeover during a delete-first replacement with a condemned copy");
        }
    }
}
