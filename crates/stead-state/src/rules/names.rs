//! Rules about the names and aliases of resources.

use stead_model::{NameParts, Resource};

use super::{Problems, StateView, is_current};

/// S03.
pub(crate) fn belongs_to_one(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    if is_current(resource) && view.holders(&resource.name).first() != Some(&&resource.uid) {
        problems.push("two resources have this name".to_owned());
    }
}

/// S12. A global name contains no type.
pub(crate) fn type_matches(_: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    if resource.ty.as_str().is_empty() {
        problems.push("it has no type".to_owned());
    }
    if let NameParts::Placed { ty: in_name, .. } = &*resource.name
        && *in_name != resource.ty
    {
        problems.push(format!("its type is {}, which its name contradicts", resource.ty));
    }
}

/// S19. An alias may equal the current name of another resource, which then takes precedence.
pub(crate) fn alias_belongs_to_one(view: &dyn StateView, resource: &Resource, problems: &mut Problems) {
    if !is_current(resource) {
        return;
    }
    for alias in &resource.ties.aliases {
        if *alias == resource.name {
            problems.push("its own name is among its aliases".to_owned());
        }
        if view.alias_holders(alias).first() != Some(&&resource.uid) {
            problems.push(format!("{alias} is also an alias of another resource"));
        }
    }
}
