//! Execution may do less than planned: a replacement that an unknown value might have forced is spared when the
//! value turns out to be the old one.

use std::collections::HashMap;

use stead_model::{Input, Map, NodeId, PropertyPath, Segment, StepEnd, Value};
use stead_plan::{Action, Certainty, Plan, Step, StepId, Why};

use crate::execute::executor::Executor;
use crate::execute::values::Unresolved;

/// The replacements of a plan, by what is replaced.
pub(crate) struct Replacements {
    steps: HashMap<NodeId, (StepId, Certainty)>,
}

impl Replacements {
    pub(crate) fn of(plan: &Plan) -> Replacements {
        let replacement = |(index, step): (usize, &Step)| match (&step.why, step.node) {
            (Why::Replaced { certainty, .. }, Some(node)) => Some((node, (StepId(index), *certainty))),
            _ => None,
        };
        Replacements { steps: plan.steps.iter().enumerate().filter_map(replacement).collect() }
    }
}

impl Executor<'_> {
    /// Whether the node was to be replaced, and need not be. Everything it depends on is done.
    pub(crate) fn replacement_unneeded(&mut self, node: NodeId) -> Result<bool, Unresolved> {
        if self.spared.contains(&node) {
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
        let mut with = options.replace_with.iter().chain(&options.deleted_with).chain(&options.provider);
        if with.any(|other| self.replacements.steps.contains_key(other) && !self.spared.contains(other)) {
            return Ok(false);
        }
        let wanted = self.context.values(inputs)?;
        let forced = step.changes.iter().filter(|change| change.replaces).any(|change| {
            matches!(change.new, None | Some(Input::Known(_)))
                || at(&old.inputs, &change.path) != at(&wanted, &change.path)
        });
        if !forced {
            self.spared.insert(node);
        }
        Ok(!forced)
    }

    /// Whether what a copy was to go with is spared: then nothing takes the copy along, and it is deleted by itself.
    pub(crate) fn outlives_its_container(&self, step: &Step) -> bool {
        let Why::DeletedWithContainer { name } = &step.why else { return false };
        let replacement_unneeded = |earlier: &StepId| {
            let earlier = &self.plan.steps[earlier.0];
            earlier.name == *name && earlier.node.is_some_and(|node| self.spared.contains(&node))
        };
        step.after.iter().any(replacement_unneeded)
    }

    /// A step of a replacement that was spared: the create becomes an update or less, the rest nothing.
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

/// The value at a place.
fn at<'v>(values: &'v Map, path: &PropertyPath) -> Option<&'v Value> {
    let (first, rest) = path.0.split_first()?;
    let Segment::Key(key) = first else { return None };
    rest.iter().try_fold(values.get(key)?, |value, segment| match (value, segment) {
        (Value::Map(map), Segment::Key(key)) => map.get(key),
        (Value::List(items), Segment::Index(index)) => items.get(*index),
        _ => None,
    })
}
