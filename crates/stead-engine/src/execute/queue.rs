//! Order of execution: a step starts after its predecessors succeeded, longest remaining chain first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stead_model::Dag;
use stead_plan::{Plan, StepId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Started,
    Done,
    Failed,
    Skipped,
}

/// Steps of a plan that can start, and steps that wait for others.
///
/// The cost of each method is linear in the steps that it changes.
pub(crate) struct Queue {
    dag: Dag,
    /// For each step, the length of the longest chain of dependents that starts with it.
    chain: Vec<u32>,
    status: Vec<Status>,
    ready: BinaryHeap<(u32, Reverse<StepId>)>,
}

impl Queue {
    pub(crate) fn new(plan: &Plan) -> Queue {
        let count = plan.steps.len();
        let dag = Dag::new(plan.steps.iter().map(|step| step.after.iter().map(|before| before.0)));
        let mut chain = vec![1; count];
        for index in (0..count).rev() {
            // Steps wait only for earlier ones, so the chain of every dependent is known already.
            let longest = dag.dependents(index).iter().map(|dependent| chain[*dependent]).max();
            chain[index] += longest.unwrap_or(0);
        }
        let ready = dag.ready().map(|index| (chain[index], Reverse(StepId(index)))).collect();
        Queue { dag, chain, status: vec![Status::Waiting; count], ready }
    }

    /// Takes the ready step with the longest chain of dependents.
    pub(crate) fn start(&mut self) -> Option<StepId> {
        let (_, Reverse(id)) = self.ready.pop()?;
        self.status[id.0] = Status::Started;
        Some(id)
    }

    pub(crate) fn done(&mut self, id: StepId) {
        let Queue { dag, chain, status, ready } = self;
        status[id.0] = Status::Done;
        dag.finish(id.0, |dependent| {
            if status[dependent] == Status::Waiting {
                ready.push((chain[dependent], Reverse(StepId(dependent))));
            }
        });
    }

    /// Marks a step as failed. Returns the direct and indirect dependents, which are skipped, in order.
    pub(crate) fn failed(&mut self, id: StepId) -> Vec<StepId> {
        self.status[id.0] = Status::Failed;
        let mut skipped = Vec::new();
        let mut todo = self.dag.dependents(id.0).to_vec();
        while let Some(index) = todo.pop() {
            if self.status[index] == Status::Waiting {
                self.status[index] = Status::Skipped;
                skipped.push(StepId(index));
                todo.extend(self.dag.dependents(index));
            }
        }
        skipped.sort_unstable();
        skipped
    }

    /// Returns the steps that neither started nor were skipped, in order.
    pub(crate) fn unstarted(&self) -> Vec<StepId> {
        let waiting = |index: &usize| self.status[*index] == Status::Waiting;
        (0..self.status.len()).filter(waiting).map(StepId).collect()
    }
}
