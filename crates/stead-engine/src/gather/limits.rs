//! Refuses a plan that could leave more in the state than may be read from it.

use stead_model::{Code, Diagnostic, Extent, Graph, Limits};
use stead_plan::{Action, Plan};
use stead_state::State;

/// The upper bound: everything old is still there when everything new is made.
pub(crate) fn fits(base: &State, graph: &Graph, plan: &Plan, limits: &Limits) -> Result<(), Vec<Diagnostic>> {
    let edges = graph.edges();
    let needs: Vec<Vec<usize>> =
        edges.iter().map(|needs| needs.iter().map(|need| need.index()).collect()).collect();
    let (old, new) = (base.extent(), Extent::of(&needs));
    let made = plan.steps.iter().filter(|step| matches!(step.action, Action::Create { .. })).count();
    let bound = Extent {
        resources: old.resources + made,
        edges: old.edges + new.edges,
        depth: old.depth + new.depth,
    };
    let Some(excess) = limits.of_state().exceeded(&bound) else { return Ok(()) };
    let problem = Diagnostic::error(Code::LIMIT, format!("while this runs, the state may hold {excess}"))
        .note("Earlier runs replaced much and did not get to delete the old.")
        .help("remove part of the program, run `stead up`, and add it again after that");
    Err(vec![problem])
}
