//! A state that keeps the rules, record by record: what a record touched is looked at, and what refers to
//! that; never the whole.
//!
//! **Invariant:** after every record that [`Sound::apply`] took, `verify` of the whole finds nothing.

mod index;
mod look;
mod rank;

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{CopyRef, Name, OpId, Uid};

use crate::hash::HashMap;
use crate::rules::{Check, Problems, RULES, report};
use crate::state::Touched;
use crate::{Intent, Pending, Record, ReplayError, State, Violation, verify};
use index::Index;

/// A state that breaks no rule, with what it takes to keep it so.
#[derive(Clone, Debug)]
pub struct Sound {
    state: State,
    index: Index,
    /// The operations that have to do with a resource, a key or a name.
    by_uid: HashMap<Uid, BTreeSet<OpId>>,
    by_copy: HashMap<CopyRef, usize>,
    by_key: HashMap<String, usize>,
    by_name: HashMap<Name, BTreeSet<OpId>>,
    known: BTreeMap<OpId, Intent>,
    looks: u64,
}

/// Why a record is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("it would break the rules: {}", .0.iter().map(Violation::to_string).collect::<Vec<_>>().join("; "))]
    Rules(Vec<Violation>),
}

impl Sound {
    /// Asks all rules about the whole, once.
    pub fn new(state: State) -> Result<Sound, Vec<Violation>> {
        let violations = verify(&state.snapshot(None));
        if !violations.is_empty() {
            return Err(violations);
        }
        Ok(Sound::of_checked(state))
    }

    /// As `new`, of a state in which `verify` has found nothing already.
    pub fn of_checked(state: State) -> Sound {
        let mut sound = Sound {
            index: Index::default(),
            by_uid: HashMap::default(),
            by_copy: HashMap::default(),
            by_key: HashMap::default(),
            by_name: HashMap::default(),
            known: BTreeMap::new(),
            looks: 0,
            state,
        };
        sound.index = Index::of(&sound.state);
        sound.rank_all();
        let pending: Vec<Pending> = sound.state.pending().cloned().collect();
        pending.iter().for_each(|pending| sound.watch(pending));
        sound
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn into_state(self) -> State {
        self.state
    }

    /// How often a rule was asked since the start, and how often the search for a circle took a step.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// Folds a record in, if every rule holds then. After a refusal this state is good for nothing.
    pub fn apply(&mut self, record: &Record) -> Result<(), Refused> {
        let mut touched = Touched::new();
        self.state.fold(record, &mut touched)?;
        touched.sort_unstable();
        touched.dedup();
        let mut operations: BTreeSet<OpId> = BTreeSet::new();
        if let Record::Begin { op, .. } | Record::End { op, .. } | Record::Settle { op, .. } = record {
            self.follow(*op);
            operations.insert(*op);
        }
        let mut affected = BTreeSet::new();
        for uid in &touched {
            operations.extend(self.by_uid.get(uid).into_iter().flatten());
            for copy in self.state.copies_of(uid) {
                operations.extend(self.by_name.get(&copy.name).into_iter().flatten());
            }
            affected.extend(self.index.update(&self.state, uid));
        }
        let mut violations = Vec::new();
        self.ask(&touched, &affected, &operations, &mut violations);
        self.keep_ranks(&affected, &mut violations);
        #[cfg(stead_planted)]
        if stead_model::planted::is("rules-not-asked") {
            return Ok(());
        }
        if violations.is_empty() { Ok(()) } else { Err(Refused::Rules(violations)) }
    }

    fn ask(
        &mut self,
        touched: &[Uid],
        affected: &BTreeSet<u32>,
        operations: &BTreeSet<OpId>,
        violations: &mut Vec<Violation>,
    ) {
        let mut problems = Problems::new();
        let mut looks = 0;
        let copies = || affected.iter().filter_map(|slot| self.state.copy(&self.index.node(*slot).copy));
        for (rule, check) in RULES.iter().flat_map(|rule| rule.checks.iter().map(move |check| (rule, check)))
        {
            match check {
                Check::Copy(look) => copies().for_each(|resource| {
                    looks += 1;
                    look(self, resource, &mut problems);
                    report(rule, &resource.name, &mut problems, violations);
                }),
                Check::Kin(look) => touched.iter().for_each(|uid| {
                    looks += 1;
                    look(self, uid, &mut problems);
                    report(rule, uid, &mut problems, violations);
                }),
                Check::Pending(look) => {
                    for pending in operations.iter().filter_map(|op| self.state.operation(*op)) {
                        looks += 1;
                        look(self, pending, &mut problems);
                        let subject = format_args!("operation {}", pending.op);
                        report(rule, &subject, &mut problems, violations);
                    }
                }
                Check::Counts(look) => {
                    looks += 1;
                    look(self, &mut problems);
                    report(rule, &"uids", &mut problems, violations);
                }
                // The circle is looked for by rank; that everything is sorted is how snapshots are made.
                Check::Whole(_) => {}
            }
        }
        self.looks += looks;
    }

    /// Takes notice of an operation that began or ended.
    fn follow(&mut self, op: OpId) {
        match (self.state.operation(op).cloned(), self.known.contains_key(&op)) {
            (Some(pending), false) => self.watch(&pending),
            (None, true) => self.forget(op),
            _ => {}
        }
    }

    fn watch(&mut self, pending: &Pending) {
        let Pending { op, intent, .. } = pending;
        for uid in concerns(intent) {
            self.by_uid.entry(uid.clone()).or_default().insert(*op);
        }
        *self.by_copy.entry(intent.copy()).or_default() += 1;
        *self.by_key.entry(intent.key().to_owned()).or_default() += 1;
        if let Intent::Create { resource, .. } = intent {
            self.by_name.entry(resource.name.clone()).or_default().insert(*op);
        }
        self.known.insert(*op, intent.clone());
    }

    fn forget(&mut self, op: OpId) {
        let Some(intent) = self.known.remove(&op) else { return };
        for uid in concerns(&intent) {
            if let Some(operations) = self.by_uid.get_mut(uid) {
                operations.remove(&op);
                if operations.is_empty() {
                    self.by_uid.remove(uid);
                }
            }
        }
        less(&mut self.by_copy, &intent.copy());
        less(&mut self.by_key, &intent.key().to_owned());
        if let Intent::Create { resource, .. } = &intent
            && let Some(operations) = self.by_name.get_mut(&resource.name)
        {
            operations.remove(&op);
            if operations.is_empty() {
                self.by_name.remove(&resource.name);
            }
        }
    }
}

fn less<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// The resources whose going or coming can make an operation wrong.
fn concerns(intent: &Intent) -> Vec<&Uid> {
    match intent {
        Intent::Delete { copy, .. } => vec![&copy.uid],
        Intent::Create { resource, .. } | Intent::Update { resource, .. } => {
            let needs = resource.dependencies.iter().chain(&resource.ties.provider).map(|copy| &copy.uid);
            std::iter::once(&resource.uid).chain(needs).collect()
        }
    }
}

#[cfg(test)]
mod tests;
