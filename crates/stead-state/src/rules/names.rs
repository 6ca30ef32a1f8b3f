//! Rules about names: those that resources have, and those that they had.

use stead_model::{NameParts, Resource};

use super::{Look, Problems, is_current};

/// S03.
pub(crate) fn belongs_to_one(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    if is_current(resource) && look.holders(&resource.name).first() != Some(&&resource.uid) {
        problems.push("two resources have this name".to_owned());
    }
}

/// S12. A global name says no type.
pub(crate) fn says_the_type(_: &dyn Look, resource: &Resource, problems: &mut Problems) {
    if resource.ty.as_str().is_empty() {
        problems.push("it has no type".to_owned());
    }
    if let NameParts::Placed { ty: said, .. } = &*resource.name
        && *said != resource.ty
    {
        problems.push(format!("its type is {}", resource.ty));
    }
}

/// S19. That another resource has the name now is no problem: a name that somebody has outranks one that
/// somebody had.
pub(crate) fn alias_belongs_to_one(look: &dyn Look, resource: &Resource, problems: &mut Problems) {
    if !is_current(resource) {
        return;
    }
    for alias in &resource.ties.aliases {
        if *alias == resource.name {
            problems.push("its own name is among its aliases".to_owned());
        }
        if look.alias_holders(alias).first() != Some(&&resource.uid) {
            problems.push(format!("{alias} is an alias of another resource too"));
        }
    }
}
