//! Rule S08 while a run writes: every copy has a higher rank than all copies that it needs.
//!
//! Such ranks exist if and only if there is no cycle. They are maintained with the algorithm of Pearce and Kelly: when a
//! copy comes to need one of higher rank, the search covers only the ranks between the two. Transitive users of the copy
//! move up and transitive needs of the other move down, within the ranks that both groups had before. A copy in both
//! groups is on a cycle.

use std::collections::BTreeSet;

use stead_model::Dag;

use super::VerifiedState;
use crate::Violation;
use crate::rules::needs;

impl VerifiedState {
    /// Assigns ranks to all copies of a state without a cycle, in topological order.
    pub(super) fn rank_all(&mut self) {
        let slots: BTreeSet<u32> =
            self.state.resources().into_iter().filter_map(|resource| self.index.slot(resource)).collect();
        // Slots without a copy are vertices without needs, which costs a rank and nothing else.
        let count = slots.last().map_or(0, |slot| slot + 1);
        let needs = |slot| if slots.contains(&slot) { self.needs(slot) } else { BTreeSet::new() };
        let order =
            Dag::new((0..count).map(|slot| needs(slot).into_iter().map(|need| need as usize))).order();
        let ranked =
            order.into_iter().zip(0..).filter_map(|(slot, rank)| Some((u32::try_from(slot).ok()?, rank)));
        ranked
            .filter(|(slot, _)| slots.contains(slot))
            .for_each(|(slot, rank)| self.index.set_rank(slot, rank));
    }

    /// Restores the rank order of these copies, or reports a violation if they are on a cycle.
    pub(super) fn update_ranks(&mut self, affected: &BTreeSet<u32>, violations: &mut Vec<Violation>) {
        for &user in affected {
            for need in self.needs(user) {
                self.checks += 1;
                if self.rank(need) >= self.rank(user) && !self.reorder(user, need) {
                    let subject = self.index.node(user).copy.to_string();
                    let problem = "it is part of a cycle".to_owned();
                    violations.push(Violation { rule: "S08", subject, problem });
                    return;
                }
            }
        }
    }

    /// Moves `user` and its transitive users above `need` and its transitive needs.
    ///
    /// Returns false if a copy is in both groups, which is a cycle.
    fn reorder(&mut self, user: u32, need: u32) -> bool {
        let (low, high) = (self.rank(user), self.rank(need));
        let above = self.reach(user, |state, slot| state.users(slot), |rank| rank <= high);
        let below = self.reach(need, |state, slot| state.needs(slot), |rank| rank >= low);
        if above.iter().any(|slot| below.contains(slot)) {
            return false;
        }
        let by_rank = |slots: BTreeSet<u32>| {
            let mut slots: Vec<u32> = slots.into_iter().collect();
            slots.sort_unstable_by_key(|slot| self.rank(*slot));
            slots
        };
        let sorted: Vec<u32> = by_rank(below).into_iter().chain(by_rank(above)).collect();
        let mut ranks: Vec<u64> = sorted.iter().map(|slot| self.rank(*slot)).collect();
        ranks.sort_unstable();
        sorted.into_iter().zip(ranks).for_each(|(slot, rank)| self.index.set_rank(slot, rank));
        true
    }

    /// Returns the copies reachable from `from` over copies with allowed ranks.
    fn reach(
        &mut self,
        from: u32,
        next: impl Fn(&VerifiedState, u32) -> BTreeSet<u32>,
        allowed: impl Fn(u64) -> bool,
    ) -> BTreeSet<u32> {
        let mut found = BTreeSet::from([from]);
        let mut todo = vec![from];
        while let Some(slot) = todo.pop() {
            self.checks += 1;
            for reached in next(self, slot) {
                if allowed(self.rank(reached)) && found.insert(reached) {
                    todo.push(reached);
                }
            }
        }
        found
    }

    /// Returns true if every copy has a higher rank than all copies that it needs.
    #[cfg(test)]
    pub(super) fn ranks_hold(&self) -> bool {
        let slots = self.state.copies().filter_map(|resource| self.index.slot(resource));
        slots
            .into_iter()
            .all(|slot| self.needs(slot).into_iter().all(|need| self.rank(need) < self.rank(slot)))
    }

    fn rank(&self, slot: u32) -> u64 {
        self.index.node(slot).rank
    }

    fn needs(&self, slot: u32) -> BTreeSet<u32> {
        let resource = self.state.copy(&self.index.node(slot).copy);
        let needs = resource.into_iter().flat_map(|resource| needs(self, resource));
        needs.filter_map(|need| self.index.slot(need)).collect()
    }

    /// Returns the copies that need this one.
    fn users(&self, slot: u32) -> BTreeSet<u32> {
        let uid = &self.index.node(slot).copy.uid;
        self.index.referrers(uid).filter(|user| self.needs(*user).contains(&slot)).collect()
    }
}
