//! Finds a recorded resource by the text that a person gave.

use stead_model::{Code, Diagnostic, Hint, Lifecycle, Name, NextStep, Resource, nearest};
use stead_state::State;

use crate::ops::OpError;

/// Returns the resource with this full name, or with this short name if it is the only one.
///
/// A name may leave out the environment and have the spelling of earlier versions. A text that names two resources is
/// refused with both, except for a whole name as stead prints it.
pub fn find<'a>(state: &'a State, wanted: &str) -> Result<&'a Resource, OpError> {
    find_able(state, wanted, |_| false)
}

/// Returns a resource like [`find`]. Of several with one short name, the only one that is able to answer is meant.
pub(crate) fn find_able<'a>(
    state: &'a State,
    wanted: &str,
    able: impl Fn(&Resource) -> bool,
) -> Result<&'a Resource, OpError> {
    if let Some(resource) = wanted.parse().ok().and_then(|name| state.by_name(&name)) {
        return Ok(resource);
    }
    let all = state.resources();
    let current = || all.iter().copied().filter(|resource| resource.lifecycle != Lifecycle::Condemned);
    let own = current().next().map(|resource| resource.name.environment());
    let readings = own.and_then(|own| Name::readings_in(wanted, own).ok()).unwrap_or_default();
    let called = |resource: &&Resource| resource.name.short() == wanted || readings.contains(&resource.name);
    let found: Vec<&Resource> = current().filter(called).collect();
    let not_found = |message: String| Diagnostic::error(Code::NOT_FOUND, message);
    let answering: Vec<&Resource> = found.iter().copied().filter(|resource| able(resource)).collect();
    match (found.as_slice(), answering.as_slice()) {
        ([one], _) | (_, [one]) => Ok(*one),
        ([], _) => {
            let problem = not_found(format!("there is no resource {wanted:?} in this stack"));
            let hint = match nearest(wanted, current().map(|resource| resource.name.short())) {
                Some(meant) => Hint::text(format!("did you mean {meant:?}?")),
                None => Hint::from(NextStep::ListState).and(" lists all"),
            };
            Err(OpError::not_found(problem.help(hint)))
        }
        (several, _) => {
            let problem = not_found(format!("{} resources are called {wanted:?}", several.len()));
            let problem =
                several.iter().fold(problem, |problem, resource| problem.note(resource.name.to_string()));
            Err(OpError::not_found(problem.help("use the whole name")))
        }
    }
}
