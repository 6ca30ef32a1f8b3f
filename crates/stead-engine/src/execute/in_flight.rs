//! Provider calls in flight, and the queues of providers that limit their calls.

use std::collections::{BTreeSet, HashMap, VecDeque};

use stead_plan::StepId;

/// Steps whose provider has not answered, and steps that wait for a provider.
#[derive(Default)]
pub(crate) struct Calls<'a> {
    in_flight: BTreeSet<StepId>,
    by_provider: HashMap<&'a str, usize>,
    /// Ready steps whose provider is at its limit.
    waiting_for_provider: HashMap<&'a str, VecDeque<StepId>>,
    /// Steps that start before all others: their provider has room again, or their retry is due.
    startable: VecDeque<StepId>,
}

impl<'a> Calls<'a> {
    pub(crate) fn count(&self) -> usize {
        self.in_flight.len()
    }

    pub(crate) fn count_of(&self, provider: &str) -> usize {
        self.by_provider.get(provider).copied().unwrap_or_default()
    }

    /// Returns the steps whose provider has not answered, in order.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = StepId> + '_ {
        self.in_flight.iter().copied()
    }

    pub(crate) fn begin(&mut self, step: StepId, provider: &'a str) {
        self.in_flight.insert(step);
        *self.by_provider.entry(provider).or_default() += 1;
    }

    /// Removes an answered call. The next step that waits for its provider becomes startable.
    pub(crate) fn finish(&mut self, step: StepId, provider: &str) {
        self.in_flight.remove(&step);
        if let Some(calls) = self.by_provider.get_mut(provider) {
            *calls -= 1;
        }
        self.startable.extend(self.waiting_for_provider.get_mut(provider).and_then(VecDeque::pop_front));
    }

    pub(crate) fn wait_for_provider(&mut self, step: StepId, provider: &'a str) {
        self.waiting_for_provider.entry(provider).or_default().push_back(step);
    }

    pub(crate) fn make_startable(&mut self, step: StepId) {
        self.startable.push_back(step);
    }

    pub(crate) fn next_startable(&mut self) -> Option<StepId> {
        self.startable.pop_front()
    }

    /// Returns the steps that left the queue of the plan and did not start, in no particular order.
    pub(crate) fn unstarted(&self) -> impl Iterator<Item = StepId> + '_ {
        self.waiting_for_provider.values().flatten().chain(&self.startable).copied()
    }
}
