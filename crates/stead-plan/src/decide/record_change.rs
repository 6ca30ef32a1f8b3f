//! Changes of a record while the physical resource stays unchanged.

use std::collections::BTreeSet;

use serde::Serialize;
use stead_model::{Lifecycle, Name, NodeId, Resource, Uid};

use super::Planner;

/// A difference between a record and the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordChange {
    /// The resource was imported, and this is the first program that declares it.
    Declared,
    Pinned,
    Unpinned,
    PreventDelete,
    DeletionPolicy,
    /// The marks have the same values, but are set at other places.
    MarkSource,
    FormerNames,
    Parent,
    Provider,
    DeletedWith,
    ReplaceWith,
    /// The dependencies of the resource, or of its properties.
    Dependencies,
}

impl Planner<'_> {
    /// Returns all differences between the record and the program, besides the inputs.
    pub(super) fn record_changes(&self, id: NodeId, old: &Resource) -> Vec<RecordChange> {
        let mut changes = Vec::new();
        if old.imported && !self.graph.nodes[id.index()].options.undeclared {
            changes.push(RecordChange::Declared);
        }
        self.changed_marks(id, old, &mut changes);
        self.changed_ties(id, old, &mut changes);
        changes
    }

    fn changed_marks(&self, id: NodeId, old: &Resource, changes: &mut Vec<RecordChange>) {
        let node = &self.graph.nodes[id.index()];
        match (old.pinned, node.options.pinned.unwrap_or(false)) {
            (false, true) => changes.push(RecordChange::Pinned),
            (true, false) => changes.push(RecordChange::Unpinned),
            _ => {}
        }
        let marks = node.effective_marks();
        let (prevents, policy) =
            (old.recorded_prevention() != marks.prevents_deletion(), old.recorded_policy() != marks.policy());
        changes.extend(prevents.then_some(RecordChange::PreventDelete));
        changes.extend(policy.then_some(RecordChange::DeletionPolicy));
        if !prevents && !policy && old.marks_differ(&marks) {
            changes.push(RecordChange::MarkSource);
        }
    }

    fn changed_ties(&self, id: NodeId, old: &Resource, changes: &mut Vec<RecordChange>) {
        let node = &self.graph.nodes[id.index()];
        let options = &node.options;
        // A move step records the aliases itself.
        if old.name == node.name && self.aliases(id, old) != old.ties.aliases {
            changes.push(RecordChange::FormerNames);
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
        changes.extend(parent.then_some(RecordChange::Parent));
        changes.extend(provider.then_some(RecordChange::Provider));
        changes.extend(container.then_some(RecordChange::DeletedWith));
        changes.extend(
            differ(with, old.ties.replace_with.iter().collect()).then_some(RecordChange::ReplaceWith),
        );
        let needs = self.graph.provisioned(&self.needs[id.index()], &self.needs);
        let needs_differ = self.depends_on_old_copies(&needs, old)
            || differ(all(&needs), old.dependencies.iter().map(|dependency| &dependency.uid).collect())
            || self.sources_differ(id, old, all);
        changes.extend(needs_differ.then_some(RecordChange::Dependencies));
    }

    /// Returns true if the record refers to a copy that was or will be replaced.
    ///
    /// Such a copy keeps its old dependencies, and through them records could form a cycle.
    fn depends_on_old_copies(&self, needs: &BTreeSet<NodeId>, old: &Resource) -> bool {
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
