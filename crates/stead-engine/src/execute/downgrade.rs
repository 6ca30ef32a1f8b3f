//! Downgrades of possible replacements.
//!
//! A replacement is only possible as long as the value that would force it is unknown. If the value turns out to be the recorded
//! one, the resource is updated, or left as it is.

use std::collections::{HashMap, HashSet};

use stead_model::{Input, Map, NodeId, PropertyPath, Segment, StepEnd, Value};
use stead_plan::{Action, Certainty, Plan, Step, StepId, Why};

use crate::execute::executor::Executor;
use crate::execute::values::Unresolved;

/// Replacements of a plan, and the ones that turned out to be unnecessary.
pub(crate) struct Replacements {
    steps: HashMap<NodeId, (StepId, Certainty)>,
    unneeded: HashSet<NodeId>,
}

impl Replacements {
    pub(crate) fn of(plan: &Plan) -> Replacements {
        let replacement = |(index, step): (usize, &Step)| match (&step.why, step.node) {
            (Why::Replaced { certainty, .. }, Some(node)) => Some((node, (StepId(index), *certainty))),
            _ => None,
        };
        let steps = plan.steps.iter().enumerate().filter_map(replacement).collect();
        Replacements { steps, unneeded: HashSet::new() }
    }

    /// Returns true if the node is to be replaced as far as is known now.
    fn is_replaced(&self, node: NodeId) -> bool {
        self.steps.contains_key(&node) && !self.unneeded.contains(&node)
    }
}

impl Executor<'_> {
    /// Returns true if a possible replacement turned out to be unnecessary. All dependencies of the node are done.
    pub(crate) fn replacement_unneeded(&mut self, node: NodeId) -> Result<bool, Unresolved> {
        if self.replacements.unneeded.contains(&node) {
            return Ok(true);
        }
        let Some((step, Certainty::Possible)) = self.replacements.steps.get(&node).copied() else {
            return Ok(false);
        };
        let step = &self.plan.steps[step.0];
        let Action::Create { inputs, .. } = &step.action else { return Ok(false) };
        let Some(old) = self.plan.existing.get(&node).and_then(|copy| self.context.base.copy(copy)) else {
            return Ok(false);
        };
        let options = &self.context.graph.nodes[node.index()].options;
        let mut causes = options.replace_with.iter().chain(&options.deleted_with).chain(&options.provider);
        if causes.any(|other| self.replacements.is_replaced(*other)) {
            return Ok(false);
        }
        let wanted = self.context.values(inputs)?;
        let forced = step.changes.iter().filter(|change| change.replaces).any(|change| {
            matches!(change.new, None | Some(Input::Known(_)))
                || at(&old.inputs, &change.path) != at(&wanted, &change.path)
        });
        if !forced {
            self.replacements.unneeded.insert(node);
        }
        Ok(!forced)
    }

    /// Returns true if the step counts on the deletion of a container whose replacement turned out to be unnecessary.
    ///
    /// The copy in the container then needs a deletion of its own.
    pub(crate) fn container_is_kept(&self, step: &Step) -> bool {
        let Why::DeletedWithContainer { name } = &step.why else { return false };
        step.after.iter().map(|earlier| &self.plan.steps[earlier.0]).any(|earlier| {
            earlier.name == *name
                && earlier.node.is_some_and(|node| self.replacements.unneeded.contains(&node))
        })
    }

    /// Executes a step of an unnecessary replacement: the create becomes an update, other steps do nothing.
    pub(crate) fn downgrade_replacement(&mut self, id: StepId, node: NodeId) {
        let Action::Create { inputs, .. } = &self.plan.steps[id.0].action else {
            self.operations[id.0] = None;
            self.queue.done(id);
            return self.ended(id, StepEnd::Done);
        };
        match self.context.values(inputs) {
            Ok(inputs) => {
                if let Some(old) = self.context.current(node).cloned() {
                    self.operations[id.0] = None;
                    self.update(id, node, old, inputs);
                }
            }
            Err(unresolved) => self.unresolved(id, &unresolved),
        }
    }
}

/// Returns the value at a path.
fn at<'v>(values: &'v Map, path: &PropertyPath) -> Option<&'v Value> {
    let (first, rest) = path.0.split_first()?;
    let Segment::Key(key) = first else { return None };
    rest.iter().try_fold(values.get(key)?, |value, segment| match (value, segment) {
        (Value::Map(map), Segment::Key(key)) => map.get(key),
        (Value::List(items), Segment::Index(index)) => items.get(*index),
        _ => None,
    })
}
