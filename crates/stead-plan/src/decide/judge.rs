//! Decides about one declared resource, once its provider has given its verdict.

use stead_model::{DeletionPolicy, Input, Inputs, Lifecycle, Marks, NodeId, Resource};
use stead_schema::{Change, ReplaceOrder};

use super::{Identity, PlaceChange, Planner, RecordChange};
use crate::Purpose;
use crate::guard_input::current_marks;
use crate::plan::{Certainty, ReplacementCause};

/// The decision about a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    Group,
    Unchanged,
    /// Only the record changes.
    Record(Vec<RecordChange>),
    Create,
    Import,
    Update,
    Replace(Replacement),
    /// Not selected, and recorded.
    Untouched,
    /// Not selected, and not recorded.
    Absent,
}

impl Decision {
    /// Returns true if no update in place can take the place of the replacement.
    pub(super) fn replaces_for_certain(&self) -> bool {
        matches!(self, Decision::Replace(Replacement { certainty: Certainty::Certain, .. }))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replacement {
    pub order: ReplaceOrder,
    pub certainty: Certainty,
    pub cause: Option<ReplacementCause>,
}

impl Planner<'_> {
    /// Returns whether a replacement creates or deletes first, by the options, or else by the provider's `order`.
    ///
    /// Only one of two copies can have a physical name, so a copy that keeps it is created after the old one is deleted, except in
    /// another place. A retained old copy is not deleted, so with another physical name the new copy is created first.
    fn replace_order(
        &self,
        id: NodeId,
        (inputs, order): (&Inputs, ReplaceOrder),
        cause: Option<&ReplacementCause>,
    ) -> ReplaceOrder {
        let option = self.graph.nodes[id.index()].options.delete_before_replace;
        let elsewhere =
            matches!(cause, Some(ReplacementCause::Provider { .. } | ReplacementCause::DefaultProvider));
        let keeps_name =
            || !elsewhere && self.old(id).is_some_and(|old| self.identity(id, old, inputs) == Identity::Same);
        if self.requested.contains(&id) && keeps_name() {
            return ReplaceOrder::DeleteFirst;
        }
        let order = match option {
            Some(true) => ReplaceOrder::DeleteFirst,
            Some(false) => ReplaceOrder::CreateFirst,
            None if order == ReplaceOrder::CreateFirst && keeps_name() => ReplaceOrder::DeleteFirst,
            None => order,
        };
        let coexists = |old: &Resource| {
            self.retains(Some(id), old) && self.identity(id, old, inputs) == Identity::Differs
        };
        match self.old(id).filter(|_| order == ReplaceOrder::DeleteFirst) {
            Some(old) if coexists(old) => ReplaceOrder::CreateFirst,
            _ => order,
        }
    }

    pub(super) fn judge(
        &self,
        id: NodeId,
        changes: &[Change],
        wanted: (&Inputs, ReplaceOrder),
        place: PlaceChange,
    ) -> Decision {
        let node = &self.graph.nodes[id.index()];
        let Some(old) = self.old(id) else {
            return if node.options.import.is_some() { Decision::Import } else { Decision::Create };
        };
        if old.lifecycle != Lifecycle::Live {
            return Decision::Create;
        }
        let replaced = |certainty, cause: Option<ReplacementCause>| {
            let order = self.replace_order(id, wanted, cause.as_ref());
            Decision::Replace(Replacement { order, certainty, cause })
        };
        if old.ty != node.ty {
            return replaced(Certainty::Certain, None);
        }
        if self.requested.contains(&id) {
            return replaced(Certainty::Certain, Some(ReplacementCause::Requested));
        }
        let own = changes.iter().filter(|change| change.replaces).map(certainty).max();
        match (own, self.replacement_cause(id, old, place)) {
            (Some(own), other) => {
                let (by, cause) = other.map_or((own, None), |(by, cause)| (by, Some(cause)));
                replaced(own.max(by), cause)
            }
            (None, Some((by, cause))) => replaced(by, Some(cause)),
            (None, None) if !changes.is_empty() => Decision::Update,
            (None, None) => match self.record_changes(id, old) {
                changes if changes.is_empty() => Decision::Unchanged,
                changes => Decision::Record(changes),
            },
        }
    }

    /// Returns the replacement of another resource that causes the replacement of this one, the most certain one first.
    fn replacement_cause(
        &self,
        id: NodeId,
        old: &Resource,
        place: PlaceChange,
    ) -> Option<(Certainty, ReplacementCause)> {
        let options = &self.graph.nodes[id.index()].options;
        let name = |of: NodeId| self.graph.nodes[of.index()].name.clone();
        let with = options.replace_with.iter().filter_map(|with| {
            Some((self.replacement(*with)?.certainty, ReplacementCause::ReplaceWith { name: name(*with) }))
        });
        // The resource is deleted with the old copy of its container, or was in an interrupted run.
        let inside = options.deleted_with.and_then(|container| {
            let certainty = match self.replacement(container) {
                Some(replacement) => replacement.certainty,
                None => {
                    let recorded = self.old(container)?;
                    let was_deleted = recorded.lifecycle == Lifecycle::Replacing
                        && old.ties.deleted_with.as_ref() == Some(&recorded.uid);
                    if !was_deleted {
                        return None;
                    }
                    Certainty::Certain
                }
            };
            Some((certainty, ReplacementCause::DeletedWith { name: name(container) }))
        });
        let served = match (options.provider, place) {
            (Some(provider), place) => self
                .provider_moved(provider, old, place)
                .map(|certainty| (certainty, ReplacementCause::Provider { name: name(provider) })),
            (None, PlaceChange::Moved(certainty)) => Some((certainty, ReplacementCause::DefaultProvider)),
            (None, _) => None,
        };
        inside.into_iter().chain(with).chain(served).max_by_key(|(certainty, _)| *certainty)
    }

    /// Returns `Some` if the provider of a resource now manages another place than the one that created it.
    ///
    /// Only settings that cannot be changed in place count, such as the region, and not the credentials.
    fn provider_moved(&self, provider: NodeId, old: &Resource, place: PlaceChange) -> Option<Certainty> {
        let uid = |resource: &Resource| resource.uid.clone();
        let serves_already =
            old.ties.provider.as_ref().map(|copy| copy.uid.clone()) == self.old(provider).map(uid);
        if let Some(replacement) = self.replacement(provider).filter(|_| serves_already) {
            return Some(replacement.certainty);
        }
        match place {
            PlaceChange::Same => return None,
            PlaceChange::Moved(certainty) => return Some(certainty),
            PlaceChange::Untold => {}
        }
        let before = self.base.resolve(old.ties.provider.as_ref()?)?;
        // Another copy means that an interrupted run replaced the provider.
        if self.old(provider).is_some_and(|now| now.copy() == before.copy()) {
            return None;
        }
        let node = &self.graph.nodes[provider.index()];
        if before.ty != node.ty {
            return Some(Certainty::Certain);
        }
        let decided = self.decided[provider.index()].as_ref()?;
        let fixed = self.catalog.get(&node.ty)?.properties.iter().filter(|property| property.create_only);
        let differs = |name: &str| {
            let then = before.inputs.get(name);
            match (&decided.decision, decided.inputs.get(name)) {
                (Decision::Untouched | Decision::Unchanged | Decision::Record(_), _) => {
                    (then != self.old(provider)?.inputs.get(name)).then_some(Certainty::Certain)
                }
                (_, Some(Input::Known(now))) => (then != Some(now)).then_some(Certainty::Certain),
                (_, Some(_)) => Some(Certainty::Possible),
                (_, None) => then.map(|_| Certainty::Certain),
            }
        };
        fixed.filter_map(|property| differs(&property.name)).max()
    }

    pub(crate) fn replacement(&self, id: NodeId) -> Option<&Replacement> {
        match &self.decided[id.index()].as_ref()?.decision {
            Decision::Replace(replacement) => Some(replacement),
            _ => None,
        }
    }

    /// Returns the marks in effect for a recorded copy, from the program and the outer levels.
    fn current_marks(&self, node: Option<NodeId>, copy: &Resource) -> Marks {
        let declared = node.map(|id| self.graph.nodes[id.index()].effective_marks());
        current_marks(declared, copy, &self.request.outer)
    }

    /// Returns true if an undeclared resource stays because it was imported: the program is expected to declare it later.
    pub(crate) fn keeps_import(&self, copy: &Resource) -> bool {
        copy.imported && copy.lifecycle == Lifecycle::Live && self.request.purpose == Purpose::Up
    }

    /// Returns true if the current or the recorded deletion policy is to retain the physical resource.
    ///
    /// A resource that was imported and never declared is retained too: it existed before, and no program ever asked for it.
    pub(crate) fn retains(&self, node: Option<NodeId>, copy: &Resource) -> bool {
        let imported = node.is_none() && copy.imported;
        imported
            || copy.recorded_policy() == Some(DeletionPolicy::Retain)
            || self.current_marks(node, copy).retains()
    }
}

fn certainty(change: &Change) -> Certainty {
    match &change.new {
        _ if change.tried_in_place => Certainty::Possible,
        None | Some(Input::Known(_)) => Certainty::Certain,
        Some(_) => Certainty::Possible,
    }
}
