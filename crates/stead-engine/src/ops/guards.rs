//! The one place in which guards are asked.
//!
//! A plan's deletions and the records that an edit forgets are decided as a whole, before the first side effect.

use stead_guard::pins::{PinfileStatus, is_held, physical_path};
use stead_guard::{OuterLevels, Permits, Refusal, forget_refusal};
use stead_model::{Code, Diagnostic, Graph, Hint, NextStep, Resource};
use stead_plan::Plan;
use stead_state::State;

use crate::Engine;
use crate::ops::OpError;
use crate::ops::protection::OtherNames;

/// Returns the permits for every deletion of a plan, or every refusal.
pub(super) fn permit_plan(
    engine: &Engine,
    plan: &Plan,
    base: &State,
    graph: &Graph,
    names: &OtherNames,
) -> Result<Permits, OpError> {
    engine.decide(plan, base, graph).map_err(|refused| {
        let explained = |refusal: &Refusal| names.explain(&refusal.name, refusal.diagnostic());
        OpError::Guarded(refused.iter().map(explained).collect())
    })
}

/// Refuses an approved plan that deletes resources which are to be retained by now.
pub(super) fn permit_retained(resources: &[&Resource], names: &OtherNames) -> Result<(), OpError> {
    let refusal = |resource: &&Resource| {
        let source = resource.recorded_marks().deletion_policy.map(|mark| mark.source.to_string());
        let set = source.map(|source| format!(" ({source})")).unwrap_or_default();
        let message = format!("cannot delete {}: the program retains it by now{set}", resource.name);
        let problem = Diagnostic::error(Code::GUARDED, message)
            .note("The plan was saved before. Nothing was changed.")
            .help(Hint::text("plan again, which shows the resource as one that stays"));
        names.explain(&resource.name, problem)
    };
    let refused: Vec<Diagnostic> = resources.iter().take(SHOWN).map(refusal).collect();
    if refused.is_empty() { Ok(()) } else { Err(OpError::Guarded(refused)) }
}

/// How many refusals to forget a resource are reported one by one.
const SHOWN: usize = 20;

/// Returns an error that names the resources whose records may not be forgotten.
pub(super) fn permit_forgetting<'a>(
    resources: impl Iterator<Item = &'a Resource>,
    levels: &OuterLevels,
    pins: &PinfileStatus,
) -> Result<(), OpError> {
    let refusal = |resource: &Resource| {
        forget_refusal(resource, &levels.marks_for(resource)).or_else(|| pinned(resource, pins))
    };
    let refused: Vec<Diagnostic> = resources.filter_map(refusal).collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(OpError::Guarded(several(refused)))
}

/// Returns at most as many refusals as a person reads, and the last one says how many more there are.
pub(super) fn several(mut refused: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let more = refused.len().saturating_sub(SHOWN);
    refused.truncate(SHOWN);
    if let Some(last) = refused.last_mut().filter(|_| more > 0) {
        last.notes.push(format!("The guards refuse {more} more resources."));
    }
    refused
}

/// Returns why a pin forbids to forget a resource, or `None` if no pin does.
pub(super) fn pinned(resource: &Resource, pins: &PinfileStatus) -> Option<Diagnostic> {
    if !is_held(resource, pins) {
        return None;
    }
    let problem = Diagnostic::error(Code::PINNED, format!("cannot forget {}: it is pinned", resource.name))
        .note("Losing track of a resource is as bad as losing it. Nothing was changed.");
    let path = physical_path(&resource.name, &resource.ty);
    Some(
        problem
            .help(Hint::text("set `pinned: false` on it, run ").then(NextStep::Apply).and(", then try again"))
            .help(
                Hint::text("if the program no longer declares it: ")
                    .then(NextStep::RemovePin { path })
                    .and(", then try again"),
            ),
    )
}
