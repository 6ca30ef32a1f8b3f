//! Which steps may start: those whose predecessors succeeded, longest remaining chain first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stead_plan::{Plan, StepId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Started,
    Done,
    Failed,
    Skipped,
}

/// The order of one plan's execution. Every operation costs what it touches.
pub(crate) struct Queue {
    dependants: Vec<Vec<StepId>>,
    waiting: Vec<usize>,
    /// How many steps are on the longest chain that starts here.
    chain: Vec<u32>,
    status: Vec<Status>,
    ready: BinaryHeap<(u32, Reverse<StepId>)>,
}

impl Queue {
    pub(crate) fn new(plan: &Plan) -> Queue {
        let count = plan.steps.len();
        let mut dependants = vec![Vec::new(); count];
        for (index, step) in plan.steps.iter().enumerate() {
            step.after.iter().for_each(|before| dependants[before.0].push(StepId(index)));
        }
        let mut chain = vec![1; count];
        for index in (0..count).rev() {
            // Steps wait only for earlier ones, so every dependant's chain is known already.
            let longest = dependants[index].iter().map(|dependant| chain[dependant.0]).max();
            chain[index] += longest.unwrap_or(0);
        }
        let waiting: Vec<usize> = plan.steps.iter().map(|step| step.after.len()).collect();
        let free = (0..count).filter(|index| waiting[*index] == 0);
        let ready = free.map(|index| (chain[index], Reverse(StepId(index)))).collect();
        Queue { dependants, waiting, chain, status: vec![Status::Waiting; count], ready }
    }

    pub(crate) fn start(&mut self) -> Option<StepId> {
        let (_, Reverse(id)) = self.ready.pop()?;
        self.status[id.0] = Status::Started;
        Some(id)
    }

    pub(crate) fn done(&mut self, id: StepId) {
        self.status[id.0] = Status::Done;
        for &dependant in &self.dependants[id.0] {
            self.waiting[dependant.0] -= 1;
            if self.waiting[dependant.0] == 0 && self.status[dependant.0] == Status::Waiting {
                self.ready.push((self.chain[dependant.0], Reverse(dependant)));
            }
        }
    }

    /// The step did not succeed: everything behind it is skipped. Returns what is, in order.
    pub(crate) fn failed(&mut self, id: StepId) -> Vec<StepId> {
        self.status[id.0] = Status::Failed;
        let mut skipped = Vec::new();
        let mut todo = self.dependants[id.0].clone();
        while let Some(id) = todo.pop() {
            if self.status[id.0] == Status::Waiting {
                self.status[id.0] = Status::Skipped;
                skipped.push(id);
                todo.extend(&self.dependants[id.0]);
            }
        }
        skipped.sort_unstable();
        skipped
    }

    /// What never got to start.
    pub(crate) fn unstarted(&self) -> Vec<StepId> {
        let waiting = |index: &usize| self.status[*index] == Status::Waiting;
        (0..self.status.len()).filter(waiting).map(StepId).collect()
    }
}
