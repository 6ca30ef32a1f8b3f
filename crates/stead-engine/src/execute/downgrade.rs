//! Downgrades of possible replacements.
//!
//! A replacement is only possible as long as the value that would force it is unknown, or the service has not told whether it makes
//! the change in place. If the value turns out to be the recorded one, or the service makes the change, the resource is updated, or
//! left as it is.

use std::collections::{HashMap, HashSet};

use stead_model::{Input, Map, NodeId, PropertyPath, Segment, StepEnd, Value};
use stead_plan::{Action, Certainty, Plan, ReplacementCause, Step, StepId, Why};
use stead_schema::Change;
use stead_state::Outcome;

use crate::execute::call::Answer;
use crate::execute::executor::Executor;
use crate::execute::values::Unresolved;

/// Replacements of a plan, and the ones that turned out to be unnecessary.
pub(crate) struct Replacements {
    steps: HashMap<NodeId, (StepId, Certainty)>,
    unneeded: HashSet<NodeId>,
    /// Steps that try the change in place.
    trying: HashMap<StepId, NodeId>,
    /// Nodes whose change the service does not make in place.
    refused_in_place: HashSet<NodeId>,
}

/// Whether a planned replacement is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Needed,
    Unneeded,
    /// The service tells when the change is tried in place.
    Untried,
}

impl Replacements {
    pub(crate) fn of(plan: &Plan) -> Replacements {
        let replacement = |(index, step): (usize, &Step)| match (&step.why, step.node) {
            (Why::Replaced { certainty, .. }, Some(node)) => Some((node, (StepId(index), *certainty))),
            _ => None,
        };
        let steps = plan.steps.iter().enumerate().filter_map(replacement).collect();
        Replacements {
            steps,
            unneeded: HashSet::new(),
            trying: HashMap::new(),
            refused_in_place: HashSet::new(),
        }
    }

    /// Returns true if the node is to be replaced as far as is known now.
    fn is_replaced(&self, node: NodeId) -> bool {
        self.steps.contains_key(&node) && !self.unneeded.contains(&node)
    }
}

impl Executor<'_> {
    /// Returns whether a possible replacement turned out to be necessary. All dependencies of the node are done.
    pub(crate) fn replacement_need(&mut self, node: NodeId) -> Result<Need, Unresolved> {
        if self.replacements.unneeded.contains(&node) {
            return Ok(Need::Unneeded);
        }
        let Some((step, Certainty::Possible)) = self.replacements.steps.get(&node).copied() else {
            return Ok(Need::Needed);
        };
        let step = &self.plan.steps[step.0];
        let Action::Create { inputs, .. } = &step.action else { return Ok(Need::Needed) };
        let Some(old) = self.plan.existing.get(&node).and_then(|copy| self.context.base.copy(copy)) else {
            return Ok(Need::Needed);
        };
        let options = &self.context.graph.nodes[node.index()].options;
        // The provider may turn out to manage the same place; to move the resource there in silence is worse.
        let moved = match &step.why {
            Why::Replaced { cause: Some(ReplacementCause::DefaultProvider), .. } => true,
            Why::Replaced { cause: Some(ReplacementCause::Provider { .. }), .. } => {
                options.provider.is_some_and(|provider| !self.replacements.steps.contains_key(&provider))
            }
            _ => false,
        };
        if moved {
            return Ok(Need::Needed);
        }
        let mut causes = options.replace_with.iter().chain(&options.deleted_with).chain(&options.provider);
        if causes.any(|other| self.replacements.is_replaced(*other)) {
            return Ok(Need::Needed);
        }
        let wanted = self.context.values(inputs)?;
        let forcing = step.changes.iter().filter(|change| {
            let is_known = matches!(change.new, None | Some(Input::Known(_)));
            change.replaces && (is_known || at(&old.inputs, &change.path) != at(&wanted, &change.path))
        });
        let (tried, forcing): (Vec<&Change>, Vec<&Change>) =
            forcing.partition(|change| change.tried_in_place);
        if !forcing.is_empty() || self.replacements.refused_in_place.contains(&node) {
            return Ok(Need::Needed);
        }
        if !tried.is_empty() {
            return Ok(Need::Untried);
        }
        self.replacements.unneeded.insert(node);
        Ok(Need::Unneeded)
    }

    /// Tries the change of a possible replacement in place, in the first step of the replacement.
    pub(crate) fn try_in_place(&mut self, id: StepId, node: NodeId) {
        let plan = self.plan;
        let create = self.replacements.steps.get(&node).map(|(step, _)| &plan.steps[step.0].action);
        let (Some(Action::Create { inputs, .. }), Some(old)) = (create, self.context.current(node).cloned())
        else {
            return;
        };
        match self.context.values(inputs) {
            Ok(inputs) => {
                self.replacements.trying.insert(id, node);
                self.update(id, node, old, inputs);
            }
            Err(unresolved) => self.unresolved(id, &unresolved),
        }
    }

    /// Notes the answer to a change that was tried in place. Returns true if the replacement has to follow.
    pub(crate) fn tried_in_place(&mut self, id: StepId, answer: &Answer) -> bool {
        let Some(node) = self.replacements.trying.remove(&id) else { return false };
        if answer.needs_replacement() {
            self.replacements.refused_in_place.insert(node);
            return true;
        }
        if let Outcome::Updated { .. } = answer.outcome {
            self.replacements.unneeded.insert(node);
        }
        false
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
