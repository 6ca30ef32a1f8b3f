//! The deletions that the guards have to permit: steps that delete or forget a resource, and contents of deleted containers.

use std::collections::{BTreeMap, HashMap, HashSet};

use stead_guard::pins::Declared;
use stead_guard::{Cause, Deletion, DeletionEffect, OuterLevels};
use stead_model::{CopyRef, Graph, Input, Lifecycle, Marks, Name, Node, NodeId, Resource, Uid};
use stead_schema::Change;
use stead_state::{AfterDelete, State};

use crate::Purpose;
use crate::assemble::is_in;
use crate::plan::{Action, Plan, ReplacementCause, Step, Why};

impl Plan {
    /// Returns all resources that would be deleted or forgotten, for the guards.
    pub fn deletions<'a>(&self, base: &'a State, graph: &Graph) -> Vec<Deletion<'a>> {
        let causes = Causes::of(self);
        let declared = |id: NodeId| graph.node(id).map(Node::effective_marks).unwrap_or_default();
        let today =
            |node: Option<NodeId>, copy: &Resource| current_marks(node.map(declared), copy, &self.outer);
        let removed = match self.purpose {
            Purpose::Up => Cause::Removed,
            Purpose::Destroy => Cause::Destroyed,
        };
        let mut deletions: Vec<Deletion<'a>> =
            self.steps.iter().filter_map(|step| deletion(step, base, &causes, &removed, &today)).collect();
        let known: HashMap<CopyRef, usize> =
            deletions.iter().enumerate().map(|(index, deletion)| (deletion.resource.copy(), index)).collect();
        let nodes: HashMap<&Uid, NodeId> = self.existing.iter().map(|(id, copy)| (&copy.uid, *id)).collect();
        let deleted = self.steps.iter().filter_map(|step| match &step.action {
            Action::Delete { copy, .. } => base.copy(copy),
            _ => None,
        });
        for (inner, container) in contents(deleted, base) {
            let fate = DeletionEffect::DeletedWithContainer { name: container.clone() };
            match known.get(&inner.copy()).map(|index| &mut deletions[*index]) {
                Some(Deletion { effect: DeletionEffect::Deleted, .. }) => {}
                Some(deletion) => deletion.effect = fate,
                None => {
                    let today = today(nodes.get(&inner.uid).copied(), inner);
                    deletions.push(Deletion {
                        resource: inner,
                        current_marks: today,
                        cause: removed.clone(),
                        effect: fate,
                        declared_pin: Declared::NotPinned,
                    });
                }
            }
        }
        let pinned = |id: &NodeId| graph.node(*id).is_some_and(|node| node.options.pinned == Some(true));
        let pinned: HashSet<&Uid> =
            self.existing.iter().filter(|(id, _)| pinned(id)).map(|(_, copy)| &copy.uid).collect();
        for deletion in deletions.iter_mut().filter(|deletion| pinned.contains(&deletion.resource.uid)) {
            deletion.declared_pin = Declared::Pinned;
        }
        deletions
    }
}

/// Marks and pin of a resource in the current program.
pub struct DeclaredGuards {
    pub marks: Marks,
    pub pin: Declared,
}

/// Returns a deletion that an interrupted run had started, and the deletions of the contents.
///
/// `declared` gives the marks and the pin of a resource in the current program, if it is declared there.
pub fn interrupted_deletions<'a>(
    resource: &'a Resource,
    base: &'a State,
    outer: &OuterLevels,
    declared: impl Fn(&Resource) -> Option<DeclaredGuards>,
) -> Vec<Deletion<'a>> {
    let deletion = |resource: &'a Resource, fate| {
        let (marks, pin) = declared(resource).map(|declared| (declared.marks, declared.pin)).unzip();
        Deletion {
            resource,
            current_marks: current_marks(marks, resource, outer),
            cause: Cause::LeftOver,
            effect: fate,
            declared_pin: pin.unwrap_or(Declared::NotPinned),
        }
    };
    let inner = contents(std::iter::once(resource), base).into_iter();
    let inner = inner.map(|(inner, container)| {
        deletion(inner, DeletionEffect::DeletedWithContainer { name: container.clone() })
    });
    std::iter::once(deletion(resource, DeletionEffect::Deleted)).chain(inner).collect()
}

/// Returns the marks in effect for a copy, from its declaration, or else from the outer levels.
///
/// For a condemned copy the recorded marks count, and these are empty. The exception is a declared policy to retain: most likely the
/// program had it already in the interrupted run that replaced the copy.
pub(crate) fn current_marks(declared: Option<Marks>, copy: &Resource, outer: &OuterLevels) -> Marks {
    let condemned = copy.lifecycle == Lifecycle::Condemned;
    match declared.map(|marks| outer.with_flag(marks, &copy.ty)) {
        Some(marks) if condemned && marks.retains() => Marks { prevent_delete: None, ..marks },
        _ if condemned => Marks::default(),
        Some(marks) => marks,
        None => outer.marks_for(copy),
    }
}

fn deletion<'a>(
    step: &Step,
    base: &'a State,
    causes: &Causes<'_>,
    removed: &Cause,
    today: &impl Fn(Option<NodeId>, &Resource) -> Marks,
) -> Option<Deletion<'a>> {
    let (copy, fate) = match (&step.action, &step.why) {
        (Action::Delete { copy, .. }, _) => (copy, DeletionEffect::Deleted),
        (Action::Forget { copy, .. }, Why::RetainedNameConflict)
        | (Action::Forget { copy, after_delete: AfterDelete::Replacing }, Why::Retained) => {
            (copy, DeletionEffect::RetainedNameConflict)
        }
        (Action::Forget { copy, .. }, Why::Retained) => (copy, DeletionEffect::Forgotten),
        (Action::Forget { copy, .. }, Why::DeletedWithContainer { name }) => {
            (copy, DeletionEffect::DeletedWithContainer { name: name.clone() })
        }
        _ => return None,
    };
    let resource = base.copy(copy)?;
    let cause = match (&step.why, step.node) {
        _ if resource.lifecycle == Lifecycle::Condemned => Cause::LeftOver,
        (_, Some(node)) => Cause::Replaced { because: causes.because(node, step) },
        (Why::OldCopy, None) => Cause::Replaced { because: forced_by(step) },
        (_, None) => removed.clone(),
    };
    Some(Deletion {
        resource,
        current_marks: today(step.node, resource),
        cause,
        effect: fate,
        declared_pin: Declared::NotPinned,
    })
}

/// Returns all recorded contents of deleted containers, at any depth, each with the name of its container.
///
/// The record decides, not the program: a resource that the program takes out of its container in the same run is still inside.
fn contents<'a>(
    deleted: impl Iterator<Item = &'a Resource>,
    base: &'a State,
) -> Vec<(&'a Resource, &'a Name)> {
    let mut todo: Vec<&Resource> = deleted.collect();
    let exists = |resource: &&Resource| resource.lifecycle != Lifecycle::Replacing;
    let live = |resource: &&Resource| resource.lifecycle == Lifecycle::Live;
    let mut seen: HashSet<CopyRef> = todo.iter().map(|resource| resource.copy()).collect();
    let mut contents = Vec::new();
    while let Some(container) = todo.pop() {
        // A condemned copy contains only resources that did not move to its successor.
        let holds = |inner: &&Resource| live(&container) || is_in(inner, container);
        for inner in base.deleted_with(&container.uid).filter(exists).filter(holds) {
            contents.push((inner, &container.name));
            if seen.insert(inner.copy()) {
                todo.push(inner);
            }
        }
    }
    contents.sort_by(|(a, _), (b, _)| a.sort_key().cmp(&b.sort_key()));
    contents
}

/// The replacements of a plan, to trace one back to its cause.
struct Causes<'p> {
    by_node: BTreeMap<NodeId, &'p Step>,
    by_name: BTreeMap<&'p Name, &'p Step>,
}

impl<'p> Causes<'p> {
    fn of(plan: &'p Plan) -> Causes<'p> {
        let replacements = || plan.steps.iter().filter(|step| matches!(step.why, Why::Replaced { .. }));
        Causes {
            by_node: replacements().filter_map(|step| Some((step.node?, step))).collect(),
            by_name: replacements().map(|step| (&step.name, step)).collect(),
        }
    }

    /// Explains why a node is replaced, back to the first replacement in the chain.
    fn because(&self, node: NodeId, step: &Step) -> String {
        let Some(replacement) = self.by_node.get(&node) else { return forced_by(step) };
        let Some(direct) = other_cause(replacement) else { return forced_by(replacement) };
        let mut root = direct;
        let mut seen: HashSet<&Name> = HashSet::from([&replacement.name]);
        let own = loop {
            match self.by_name.get(root) {
                Some(step) if seen.insert(root) => match other_cause(step) {
                    Some(further) => root = further,
                    None => break format!(", where {}", forced_by(step)),
                },
                Some(_) => break String::new(),
                None => return format!("it is replaced because of changes to {root}"),
            }
        };
        if root == direct {
            format!("it is replaced because {root} is{own}")
        } else {
            format!("it is replaced because {direct} is, and that because {root} is{own}")
        }
    }
}

/// Returns the other resource that causes a replacement, unless a known change of its own forces it.
fn other_cause(step: &Step) -> Option<&Name> {
    let own = |change: &Change| change.replaces && matches!(change.new, None | Some(Input::Known(_)));
    if step.changes.iter().any(own) {
        return None;
    }
    match &step.why {
        Why::Replaced { cause: Some(cause), .. } => cause.name(),
        _ => step.unknown_from.first(),
    }
}

fn forced_by(step: &Step) -> String {
    if matches!(&step.why, Why::Replaced { cause: Some(ReplacementCause::Requested), .. }) {
        return "the request asks for its replacement".to_owned();
    }
    let forcing: Vec<String> = step
        .changes
        .iter()
        .filter(|change| change.replaces)
        .map(|change| format!("`{}`", change.path))
        .collect();
    match forcing.as_slice() {
        [] => "its type or one of its ties changed".to_owned(),
        [one] => format!("a change of {one} forces it"),
        many => format!("changes of {} force it", many.join(", ")),
    }
}
