//! Steps that change records and call no provider.

use stead_model::{CopyRef, DeletionPolicy, NodeId, Resource, StepEnd};
use stead_plan::{Action, StepId, Why};
use stead_state::{AfterDelete, Record, RetainReason};

use crate::execute::executor::Executor;

impl Executor<'_> {
    /// Executes a step that changes only the record of a resource.
    pub(crate) fn change_record(&mut self, id: StepId) {
        let step = &self.plan.steps[id.0];
        match (&step.action, step.node) {
            (Action::Record { copy }, Some(node)) => {
                if let Some(old) = self.context.base.copy(copy) {
                    let resource = self.context.changed_record(node, old, old.inputs.clone());
                    self.amend(id, Some(node), resource);
                }
            }
            (Action::Move { copy, to, .. }, node) => {
                if let Some(old) = self.context.base.copy(copy) {
                    let resource = self.context.moved_record(node, old, to);
                    self.amend(id, node, resource);
                }
            }
            (Action::Import { incarnation, id: physical, inputs, outputs }, Some(node)) => {
                let (physical, inputs, outputs) = (physical.clone(), inputs.clone(), outputs.clone());
                let resource = self.context.imported_record(node, incarnation, physical, inputs, outputs);
                resource.id.iter().for_each(|id| self.physical_ids.add(&resource, id));
                self.adopted.push(resource.clone());
                self.submit(id, Record::Adopt { resource: Box::new(resource.clone()) });
                self.context.set_current(node, resource);
            }
            (Action::Forget { copy, after_delete }, _) => {
                self.forget(id, copy.clone(), *after_delete, self.retain_reason(id, copy));
            }
            _ => {}
        }
    }

    /// Replaces the record of a copy.
    pub(crate) fn amend(&mut self, id: StepId, node: Option<NodeId>, resource: Resource) {
        self.submit(id, Record::Amend { resource: Box::new(resource.clone()) });
        if let Some(node) = node {
            self.context.set_current(node, resource);
        }
    }

    /// Removes the record of a copy. A copy that is being replaced keeps its record without a physical object.
    pub(crate) fn forget(
        &mut self,
        id: StepId,
        copy: CopyRef,
        after: AfterDelete,
        kept: Option<Box<RetainReason>>,
    ) {
        self.physical_ids.remove(copy.clone());
        self.owners.forget(&copy);
        self.let_go.extend(self.context.base.copy(&copy).cloned());
        let record = match after {
            AfterDelete::Gone => Record::Forget { copy, kept },
            AfterDelete::Replacing => Record::observed(copy, None, None),
        };
        self.submit(id, record);
    }

    /// Returns the run and the policy to record for a resource that is retained and no longer managed.
    fn retain_reason(&self, id: StepId, copy: &CopyRef) -> Option<Box<RetainReason>> {
        let step = &self.plan.steps[id.0];
        let resource = self.context.base.copy(copy).filter(|_| step.why == Why::Retained)?;
        let declared = match step.node.and_then(|node| self.context.graph.node(node)) {
            Some(node) => self.plan.outer.with_flag(node.effective_marks(), &node.ty),
            None => self.plan.outer.marks_for(resource),
        };
        let policies = [declared.deletion_policy, resource.recorded_marks().deletion_policy];
        let policy = policies.into_iter().flatten().find(|mark| mark.value == DeletionPolicy::Retain);
        let source = policy.map(|mark| mark.source);
        Some(Box::new(RetainReason { run: self.run.id(), source }))
    }

    fn submit(&mut self, id: StepId, record: Record) {
        let ack = self.run.submit(record);
        self.queue.done(id);
        self.end_when_durable(id, ack, StepEnd::Done);
    }
}
