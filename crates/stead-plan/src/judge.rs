//! What has to happen to one declared resource, once its provider has answered.

use std::collections::BTreeMap;

use stead_model::{DeletionPolicy, Input, Lifecycle, Marks, NodeId, Resource};
use stead_schema::{Change, ReplaceOrder};

use crate::guarded::today;
use crate::identity::Identity;
use crate::noted::Noted;
use crate::plan::{Certainty, Drag};
use crate::planner::Planner;

/// What happens to a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    Group,
    Same,
    Record(Vec<Noted>),
    Create,
    Import,
    Update,
    Replace(Replacement),
    /// Not selected, and there: it stays as it is recorded.
    Untouched,
    /// Not selected, and not there.
    Absent,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replacement {
    pub order: ReplaceOrder,
    pub certainty: Certainty,
    pub drag: Option<Drag>,
}

impl Planner<'_> {
    /// Which half of a replacement comes first. What is retained does not go, so that there is nothing to do
    /// first if the new one has another name.
    pub(crate) fn order(
        &self,
        id: NodeId,
        inputs: &BTreeMap<String, Input>,
        order: ReplaceOrder,
    ) -> ReplaceOrder {
        let order = match self.graph.nodes[id.index()].options.delete_before_replace {
            Some(true) => ReplaceOrder::DeleteFirst,
            Some(false) => ReplaceOrder::CreateFirst,
            None => order,
        };
        let stays = |old: &Resource| {
            self.retains(Some(id), old) && self.identity(id, old, inputs) == Identity::Differs
        };
        match self.old(id).filter(|_| order == ReplaceOrder::DeleteFirst) {
            Some(old) if stays(old) => ReplaceOrder::CreateFirst,
            _ => order,
        }
    }

    pub(crate) fn judge(&self, id: NodeId, changes: &[Change], order: ReplaceOrder) -> Decision {
        let node = &self.graph.nodes[id.index()];
        let Some(old) = self.old(id) else {
            return if node.options.import.is_some() { Decision::Import } else { Decision::Create };
        };
        if old.lifecycle != Lifecycle::Live {
            return Decision::Create;
        }
        #[cfg(stead_planted)]
        let order =
            if stead_model::planted::is("create-first-ignored") { ReplaceOrder::DeleteFirst } else { order };
        let replaced = |certainty, drag| Decision::Replace(Replacement { order, certainty, drag });
        if old.resource != node.resource {
            return replaced(Certainty::Certain, None);
        }
        let own = changes.iter().filter(|change| change.replaces).map(certainty).max();
        match (own, self.drag(id, old)) {
            (Some(own), dragged) => {
                let (by, drag) = dragged.map_or((own, None), |(by, drag)| (by, Some(drag)));
                replaced(own.max(by), drag)
            }
            (None, Some((by, drag))) => replaced(by, Some(drag)),
            (None, None) if !changes.is_empty() => Decision::Update,
            (None, None) => match self.noted(id, old) {
                noted if noted.is_empty() => Decision::Same,
                noted => Decision::Record(noted),
            },
        }
    }

    /// The replacement of another that leads to this one's.
    fn drag(&self, id: NodeId, old: &Resource) -> Option<(Certainty, Drag)> {
        let options = &self.graph.nodes[id.index()].options;
        let name = |of: NodeId| self.graph.nodes[of.index()].name.clone();
        let with = options.replace_with.iter().filter_map(|with| {
            Some((self.replacement(*with)?.certainty, Drag::ReplaceWith { name: name(*with) }))
        });
        // What it is in goes with its old copy, or went with it in a run that did not get further.
        let inside = options.deleted_with.and_then(|container| {
            let certainty = match self.replacement(container) {
                Some(replacement) => replacement.certainty,
                None => {
                    let gone = self.old(container)?;
                    let lost = gone.lifecycle == Lifecycle::Replacing
                        && old.ties.deleted_with.as_ref() == Some(&gone.uid);
                    if !lost {
                        return None;
                    }
                    Certainty::Certain
                }
            };
            Some((certainty, Drag::DeletedWith { name: name(container) }))
        });
        let served = options.provider.and_then(|provider| {
            Some((self.elsewhere(provider, old)?, Drag::Provider { name: name(provider) }))
        });
        inside.into_iter().chain(with).chain(served).max_by_key(|(certainty, _)| *certainty)
    }

    /// Whether the provider that serves a resource now leads somewhere else than the one that made it. Settings
    /// that can be changed in place, such as who asks, do not.
    fn elsewhere(&self, provider: NodeId, old: &Resource) -> Option<Certainty> {
        if let Some(replacement) = self.replacement(provider) {
            return Some(replacement.certainty);
        }
        let before = self.base.resolve(old.ties.provider.as_ref()?)?;
        // Not the same copy: a run that did not get further replaced it.
        if self.old(provider).is_some_and(|now| now.copy() == before.copy()) {
            return None;
        }
        let node = &self.graph.nodes[provider.index()];
        if before.resource != node.resource {
            return Some(Certainty::Certain);
        }
        let decided = self.decided[provider.index()].as_ref()?;
        let fixed =
            self.catalog.get(&node.resource)?.properties.iter().filter(|property| property.create_only);
        let differs = |name: &str| {
            let then = before.inputs.get(name);
            match (&decided.decision, decided.inputs.get(name)) {
                (Decision::Untouched | Decision::Same | Decision::Record(_), _) => {
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

    /// What holds for a recorded copy by the program and what is around it.
    pub(crate) fn today(&self, node: Option<NodeId>, copy: &Resource) -> Marks {
        let declared = node.map(|id| self.graph.nodes[id.index()].effective_marks());
        today(declared, copy, &self.request.outer)
    }

    /// Whether the real thing stays when its record goes: the safer of what holds today and what is recorded.
    pub(crate) fn retains(&self, node: Option<NodeId>, copy: &Resource) -> bool {
        #[cfg(stead_planted)]
        if stead_model::planted::is("retain-ignored-on-replace") {
            return false;
        }
        copy.deletion_policy == Some(DeletionPolicy::Retain) || self.today(node, copy).retains()
    }
}

fn certainty(change: &Change) -> Certainty {
    match &change.new {
        None | Some(Input::Known(_)) => Certainty::Certain,
        Some(_) => Certainty::Possible,
    }
}
