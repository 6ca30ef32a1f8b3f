//! What a recorded resource is bound to, over all kinds of ties.

use stead_model::{Resource, Uid};
use stead_state::State;

/// Everything that a recorded copy needs to be there: dependencies, provider, parent, and what it goes or is
/// replaced with. Each is the copy that is meant now.
pub(crate) fn needs<'a>(base: &'a State, resource: &'a Resource) -> impl Iterator<Item = &'a Resource> {
    let copies = resource.dependencies.iter().chain(&resource.ties.provider);
    let current = bound(resource).filter_map(|uid| base.current(uid));
    copies.filter_map(|copy| base.resolve(copy)).chain(current)
}

fn bound(resource: &Resource) -> impl Iterator<Item = &Uid> {
    let ties = &resource.ties;
    ties.parent.iter().chain(&ties.deleted_with).chain(&ties.replace_with)
}
