//! S08 while a run writes: every copy has a rank above those of all it needs.
//!
//! Such ranks exist if and only if there is no circle. When a copy gains a need of higher rank, only what
//! lies between the two is searched and put in order anew (the algorithm of Pearce and Kelly): what needs
//! the copy goes up, what the need needs goes down, into the ranks that both had together. If the two
//! parts meet, that is a circle.

use std::collections::BTreeSet;

use super::Sound;
use crate::Violation;
use crate::rules::needs;

impl Sound {
    /// Ranks for a state that has no circle: whatever waits for nothing more comes next.
    pub(super) fn rank_all(&mut self) {
        let slots: Vec<u32> =
            self.state.resources().into_iter().filter_map(|resource| self.index.slot(resource)).collect();
        let count = slots.iter().max().map_or(0, |slot| *slot as usize + 1);
        let mut waiting = vec![0usize; count];
        let mut dependants: Vec<Vec<u32>> = vec![Vec::new(); count];
        for &slot in &slots {
            let needs = self.needs(slot);
            waiting[slot as usize] = needs.len();
            needs.into_iter().for_each(|need| dependants[need as usize].push(slot));
        }
        let mut free: Vec<u32> = slots.into_iter().filter(|slot| waiting[*slot as usize] == 0).collect();
        let mut rank = 0;
        while let Some(slot) = free.pop() {
            self.index.set_rank(slot, rank);
            rank += 1;
            for &dependant in &dependants[slot as usize] {
                waiting[dependant as usize] -= 1;
                if waiting[dependant as usize] == 0 {
                    free.push(dependant);
                }
            }
        }
    }

    /// Sees to it that each of these copies ranks above what it needs.
    pub(super) fn keep_ranks(&mut self, affected: &BTreeSet<u32>, violations: &mut Vec<Violation>) {
        for &user in affected {
            for need in self.needs(user) {
                self.looks += 1;
                if self.rank(need) >= self.rank(user) && !self.reorder(user, need) {
                    let subject = self.index.node(user).copy.to_string();
                    let problem = "it waits for itself".to_owned();
                    violations.push(Violation { rule: "S08", subject, problem });
                    return;
                }
            }
        }
    }

    /// Moves `user` and what needs it above `need` and what that needs. `false`: they are the same things.
    fn reorder(&mut self, user: u32, need: u32) -> bool {
        let (low, high) = (self.rank(user), self.rank(need));
        let above = self.reach(user, |sound, slot| sound.users(slot), |rank| rank <= high);
        let below = self.reach(need, |sound, slot| sound.needs(slot), |rank| rank >= low);
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

    /// What can be reached from a copy without leaving the ranks that are allowed.
    fn reach(
        &mut self,
        from: u32,
        next: impl Fn(&Sound, u32) -> BTreeSet<u32>,
        allowed: impl Fn(u64) -> bool,
    ) -> BTreeSet<u32> {
        let mut found = BTreeSet::from([from]);
        let mut todo = vec![from];
        while let Some(slot) = todo.pop() {
            self.looks += 1;
            for reached in next(self, slot) {
                if allowed(self.rank(reached)) && found.insert(reached) {
                    todo.push(reached);
                }
            }
        }
        found
    }

    /// Whether every copy ranks above all that it needs.
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

    /// The copies that need this very one.
    fn users(&self, slot: u32) -> BTreeSet<u32> {
        let uid = &self.index.node(slot).copy.uid;
        self.index.users(uid).filter(|user| self.needs(*user).contains(&slot)).collect()
    }
}
