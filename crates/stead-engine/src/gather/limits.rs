//! Limits of state: a plan that could exceed them while it runs is refused.

use stead_model::{Code, Diagnostic, Extent, Graph, Hint, Limits, NextStep};
use stead_plan::{Action, Plan};
use stead_state::State;

/// Checks the upper bound, at which all old resources still exist when all new ones are created.
pub(crate) fn fits(base: &State, graph: &Graph, plan: &Plan, limits: &Limits) -> Result<(), Vec<Diagnostic>> {
    let edges = graph.edges();
    let needs: Vec<Vec<usize>> =
        edges.iter().map(|needs| needs.iter().map(|need| need.index()).collect()).collect();
    let (old, new) = (base.extent(), Extent::of(&needs));
    let created = plan.steps.iter().filter(|step| matches!(step.action, Action::Create { .. })).count();
    let bound = Extent {
        resources: old.resources + created,
        edges: old.edges + new.edges,
        depth: old.depth + new.depth,
    };
    let Some(excess) = limits.of_state().exceeded(&bound) else { return Ok(()) };
    let problem = Diagnostic::error(Code::LIMIT, format!("during this run, state may hold {excess}"))
        .note("Earlier runs replaced many resources and did not delete the old copies.")
        .help(
            Hint::text("remove part of the program, ")
                .then(NextStep::Apply)
                .and(", and then add that part again"),
        );
    Err(vec![problem])
}
