//! What must be written down about a resource to which nothing real happens.

use std::collections::BTreeSet;

use serde::Serialize;
use stead_model::{Lifecycle, Name, NodeId, Resource, Uid};

use crate::planner::Planner;

/// What is not any more as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Noted {
    Pinned,
    Unpinned,
    PreventDelete,
    DeletionPolicy,
    /// The marks hold as before, and are set somewhere else.
    MarkSource,
    FormerNames,
    Parent,
    Provider,
    DeletedWith,
    ReplaceWith,
    /// What it needs, or which of its properties needs what.
    Dependencies,
}

impl Planner<'_> {
    /// Everything but the inputs that must be written down.
    pub(crate) fn noted(&self, id: NodeId, old: &Resource) -> Vec<Noted> {
        let mut noted = Vec::new();
        self.note_marks(id, old, &mut noted);
        self.note_ties(id, old, &mut noted);
        noted
    }

    fn note_marks(&self, id: NodeId, old: &Resource, noted: &mut Vec<Noted>) {
        let node = &self.graph.nodes[id.index()];
        match (old.pinned, node.options.pinned.unwrap_or(false)) {
            (false, true) => noted.push(Noted::Pinned),
            (true, false) => noted.push(Noted::Unpinned),
            _ => {}
        }
        let marks = node.effective_marks();
        let (prevents, policy) =
            (old.prevent_delete != marks.prevents_deletion(), old.deletion_policy != marks.policy());
        noted.extend(prevents.then_some(Noted::PreventDelete));
        noted.extend(policy.then_some(Noted::DeletionPolicy));
        if !prevents && !policy && old.marks_differ(&marks) {
            noted.push(Noted::MarkSource);
        }
    }

    fn note_ties(&self, id: NodeId, old: &Resource, noted: &mut Vec<Noted>) {
        let node = &self.graph.nodes[id.index()];
        let options = &node.options;
        // A move writes its own aliases.
        if old.name == node.name && self.aliases(id, old) != old.ties.aliases {
            noted.push(Noted::FormerNames);
        }
        let uid = |id: NodeId| self.old(id).map(|resource| &resource.uid);
        let bound = |id: Option<NodeId>, recorded: Option<&Uid>| match id {
            Some(id) => uid(id) != recorded || recorded.is_none(),
            None => recorded.is_some(),
        };
        let parent = bound(self.graph.provisioned_parent(id), old.ties.parent.as_ref());
        let provider = bound(options.provider, old.ties.provider.as_ref().map(|copy| &copy.uid));
        let container = bound(options.deleted_with, old.ties.deleted_with.as_ref());
        let all = |ids: &BTreeSet<NodeId>| ids.iter().map(|id| uid(*id)).collect::<Option<BTreeSet<_>>>();
        let differ = |wanted: Option<BTreeSet<&Uid>>, recorded: BTreeSet<&Uid>| wanted != Some(recorded);
        let with = all(&options.replace_with.iter().copied().collect());
        noted.extend(parent.then_some(Noted::Parent));
        noted.extend(provider.then_some(Noted::Provider));
        noted.extend(container.then_some(Noted::DeletedWith));
        noted.extend(differ(with, old.ties.replace_with.iter().collect()).then_some(Noted::ReplaceWith));
        let needs = self.graph.provisioned(&self.needs[id.index()], &self.needs);
        let needs_differ = self.is_tied_to_old_copies(&needs, old)
            || differ(all(&needs), old.dependencies.iter().map(|dependency| &dependency.uid).collect())
            || self.sources_differ(id, old, all);
        noted.extend(needs_differ.then_some(Noted::Dependencies));
    }

    /// Whether its record names a copy that is replaced, or will be. Such a copy has the needs of long ago; through
    /// them, records could form a circle.
    fn is_tied_to_old_copies(&self, needs: &BTreeSet<NodeId>, old: &Resource) -> bool {
        let is_old = |copy| {
            self.base.copy(copy).is_some_and(|resource: &Resource| resource.lifecycle == Lifecycle::Condemned)
        };
        needs.iter().any(|need| self.replacement(*need).is_some()) || old.dependencies.iter().any(is_old)
    }

    fn sources_differ<'s>(
        &'s self,
        id: NodeId,
        old: &'s Resource,
        all: impl Fn(&BTreeSet<NodeId>) -> Option<BTreeSet<&'s Uid>>,
    ) -> bool {
        let wanted = self.graph.property_dependencies(id);
        wanted.len() != old.property_dependencies.len()
            || wanted.iter().any(|(property, nodes)| {
                let recorded = old.property_dependencies.get(*property);
                all(nodes) != recorded.map(|uids| uids.iter().collect())
            })
    }

    fn aliases(&self, id: NodeId, old: &Resource) -> Vec<Name> {
        self.aliases.kept(&self.graph.nodes[id.index()], id, Some(old))
    }
}
