//! Coverage marks: situations that a long simulation must reach to be meaningful.

use stead_model::{Code, Diagnostic, Graph, Lifecycle};
use stead_plan::{Action, Certainty, Plan, Why};
use stead_schema::ReplaceOrder;
use stead_state::{AfterDelete, Intent, State};

use crate::world::trace::Trace;

/// Marks that many lives together must reach. Crash points are marked in addition, by name.
pub const MARKS: &[&str] = &[
    "a create was under way when the stack was taken over",
    "a delete was under way when the stack was taken over",
    "a delete-first replacement",
    "a branch was switched",
    "a fenced writer woke up",
    "a holder without a heartbeat was taken over",
    "a life began with an existing stack",
    "a person resolved an operation in doubt",
    "a pin conflicted with a program",
    "a pin moved",
    "a pin prevented a deletion",
    "a pin was removed",
    "a plan was refused",
    "a record that violates a rule was refused",
    "a replacement that may be unnecessary",
    "a resource looked moved",
    "a resource was deleted with its container",
    "a resource was imported by command",
    "a resource was imported",
    "a resource was moved to another stack",
    "a resource was retained",
    "a rollback",
    "a section was added",
    "a stack was renamed",
    "a saved plan was applied",
    "a saved plan was too old",
    "a started deletion was not repeated",
    "a step was retried",
    "a third writer",
    "an export of another stack was refused",
    "an old copy was left over",
    "an unrecorded answer was only reported",
    "an unrecorded answer was spooled",
    "an update was under way when the stack was taken over",
    "drift",
    "guard refused",
    "interrupted twice",
    "interrupted",
    "moved by alias",
    "moved by the pinfile",
    "only a person could resolve an operation",
    "pins were restored",
    "siblings told apart by content",
    "takeover during a delete-first replacement with a condemned copy",
    "takeover during a delete-first replacement",
    "takeover with a condemned copy",
    "the holder of another stack was taken over",
    "the holder was suspended",
    "the pinfile was lost",
    "the pinfile was written",
    "the provider of a resource changed",
    "the wall clock jumped",
];

/// Marks the remarkable steps of a plan that is about to be applied.
pub(crate) fn mark_plan(plan: &Plan, base: &State, graph: &Graph, trace: &Trace) {
    for step in &plan.steps {
        let mark = match (&step.action, &step.why) {
            (Action::Import { .. }, _) => "a resource was imported",
            (_, Why::Retained) => "a resource was retained",
            (_, Why::DeletedWithContainer { .. }) => "a resource was deleted with its container",
            (_, Why::LeftOver) => "an old copy was left over",
            (_, Why::Replaced { certainty: Certainty::Possible, .. }) => {
                "a replacement that may be unnecessary"
            }
            (_, Why::Replaced { order: ReplaceOrder::DeleteFirst, .. }) => "a delete-first replacement",
            (_, Why::Moved { by: stead_plan::Match::Alias }) => "moved by alias",
            (_, Why::Moved { by: stead_plan::Match::Pinfile }) => "moved by the pinfile",
            (_, Why::Moved { by: stead_plan::Match::Identity | stead_plan::Match::Content }) => {
                "siblings told apart by content"
            }
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
        trace.mark(mark);
    }
}

/// Marks the guard that refused a plan.
pub(crate) fn mark_refusals(refusals: &[Diagnostic], trace: &Trace) {
    let pins = [Code::PINNED, Code::PINFILE_LOST];
    for refusal in refusals {
        let pinned = pins.contains(&refusal.code);
        trace.mark(if pinned { "a pin prevented a deletion" } else { "guard refused" });
    }
}

/// Marks the operations that were under way when a stack was taken over.
pub(crate) fn mark_takeover(base: &State, trace: &Trace) {
    let condemned = base.copies().any(|copy| copy.lifecycle == Lifecycle::Condemned);
    let replacing = base.copies().any(|copy| copy.lifecycle == Lifecycle::Replacing);
    let mut early = false;
    for pending in base.pending() {
        trace.mark(match &pending.intent {
            Intent::Create { .. } => "a create was under way when the stack was taken over",
            Intent::Update { .. } => "an update was under way when the stack was taken over",
            Intent::Delete { after, .. } => {
                early |= *after == AfterDelete::Replacing;
                "a delete was under way when the stack was taken over"
            }
        });
    }
    if condemned {
        trace.mark("takeover with a condemned copy");
    }
    if replacing || early {
        trace.mark("takeover during a delete-first replacement");
        if condemned {
            trace.mark("takeover during a delete-first replacement with a condemned copy");
        }
    }
}
