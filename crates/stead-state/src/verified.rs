//! A state that keeps all rules after every record.
//!
//! After a record, the rules are checked for the copies that it changed and for the copies that refer to them, never for
//! the whole state. **Invariant:** after every record that [`VerifiedState::apply`] accepted, `verify` finds no violation
//! in the whole state.

mod index;
mod rank;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{CopyRef, Name, OpId, OperationToken, Uid};

use crate::hash::HashMap;
use crate::rules::{Check, Problems, RULES, report};
use crate::state::Touched;
use crate::{Intent, Pending, Record, ReplayError, State, Violation, verify};
use index::Index;

/// A state that breaks no rule, with the indexes that checking single records needs.
#[derive(Clone, Debug)]
pub struct VerifiedState {
    state: State,
    index: Index,
    /// The pending operations whose validity depends on a resource.
    by_uid: HashMap<Uid, BTreeSet<OpId>>,
    /// The number of pending operations on a copy.
    by_copy: HashMap<CopyRef, usize>,
    /// The number of pending operations with an idempotency key.
    by_key: HashMap<String, usize>,
    /// The number of pending operations with a token.
    by_token: HashMap<OperationToken, usize>,
    /// The pending creates of a name.
    by_name: HashMap<Name, BTreeSet<OpId>>,
    /// The pending operations that the indexes contain.
    indexed: BTreeMap<OpId, Pending>,
    checks: u64,
}

/// Why a record was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("it would break the rules: {}", .0.iter().map(Violation::to_string).collect::<Vec<_>>().join("; "))]
    Rules(Vec<Violation>),
}

impl VerifiedState {
    /// Checks all rules on the whole state, once.
    pub fn new(state: State) -> Result<VerifiedState, Vec<Violation>> {
        let violations = verify(&state.snapshot(None));
        if !violations.is_empty() {
            return Err(violations);
        }
        Ok(VerifiedState::from_verified(state))
    }

    /// Wraps a state in which the caller has already found no violation with [`verify`].
    pub fn from_verified(state: State) -> VerifiedState {
        let mut verified = VerifiedState {
            index: Index::default(),
            by_uid: HashMap::default(),
            by_copy: HashMap::default(),
            by_key: HashMap::default(),
            by_token: HashMap::default(),
            by_name: HashMap::default(),
            indexed: BTreeMap::new(),
            checks: 0,
            state,
        };
        verified.index = Index::of(&verified.state);
        verified.rank_all();
        let pending: Vec<Pending> = verified.state.pending().cloned().collect();
        pending.iter().for_each(|pending| verified.add_operation(pending));
        verified
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn into_state(self) -> State {
        self.state
    }

    /// Returns the number of rule checks and of steps of the cycle search so far, for tests of the cost of a record.
    pub fn checks(&self) -> u64 {
        self.checks
    }

    /// Folds a record into the state if all rules hold afterwards.
    ///
    /// After an error the state is not usable any more.
    pub fn apply(&mut self, record: &Record) -> Result<(), ApplyError> {
        let mut touched = Touched::new();
        self.state.fold(record, &mut touched)?;
        touched.sort_unstable();
        touched.dedup();
        let mut operations: BTreeSet<OpId> = BTreeSet::new();
        if let Record::Begin { op, .. }
        | Record::Progress { op, .. }
        | Record::End { op, .. }
        | Record::Settle { op, .. } = record
        {
            self.update_operation(*op);
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
        self.check(&touched, &affected, &operations, &mut violations);
        self.update_ranks(&affected, &mut violations);
        if violations.is_empty() { Ok(()) } else { Err(ApplyError::Rules(violations)) }
    }

    fn check(
        &mut self,
        touched: &[Uid],
        affected: &BTreeSet<u32>,
        operations: &BTreeSet<OpId>,
        violations: &mut Vec<Violation>,
    ) {
        let mut problems = Problems::new();
        let mut checks = 0;
        let copies = || affected.iter().filter_map(|slot| self.state.copy(&self.index.node(*slot).copy));
        for (rule, check) in RULES.iter().flat_map(|rule| rule.checks.iter().map(move |check| (rule, check)))
        {
            match check {
                Check::Copy(check) => copies().for_each(|resource| {
                    checks += 1;
                    check(self, resource, &mut problems);
                    report(rule, &resource.name, &mut problems, violations);
                }),
                Check::AllCopies(check) => touched.iter().for_each(|uid| {
                    checks += 1;
                    check(self, uid, &mut problems);
                    report(rule, uid, &mut problems, violations);
                }),
                Check::Pending(check) => {
                    for pending in operations.iter().filter_map(|op| self.state.operation(*op)) {
                        checks += 1;
                        check(self, pending, &mut problems);
                        let subject = format_args!("operation {}", pending.op);
                        report(rule, &subject, &mut problems, violations);
                    }
                }
                Check::Counters(check) => {
                    checks += 1;
                    check(self, &mut problems);
                    report(rule, &"uids", &mut problems, violations);
                }
                // Ranks detect cycles, and a snapshot of a state is always sorted.
                Check::Whole(_) => {}
            }
        }
        self.checks += checks;
    }

    /// Updates the indexes after an operation began, got a token, or ended.
    fn update_operation(&mut self, op: OpId) {
        match (self.state.operation(op), self.indexed.get_mut(&op)) {
            (Some(pending), None) => {
                let pending = pending.clone();
                self.add_operation(&pending);
            }
            (None, Some(_)) => self.remove_operation(op),
            (Some(pending), Some(indexed)) if pending.token != indexed.token => {
                let before = std::mem::replace(&mut indexed.token, pending.token.clone());
                before.iter().for_each(|token| decrement(&mut self.by_token, token));
                pending.token.iter().for_each(|token| increment(&mut self.by_token, token));
            }
            _ => {}
        }
    }

    fn add_operation(&mut self, pending: &Pending) {
        let Pending { op, intent, token, .. } = pending;
        for uid in referenced(intent) {
            self.by_uid.entry(uid.clone()).or_default().insert(*op);
        }
        increment(&mut self.by_copy, &intent.copy());
        increment(&mut self.by_key, &intent.key().to_owned());
        token.iter().for_each(|token| increment(&mut self.by_token, token));
        if let Intent::Create { resource, .. } = intent {
            self.by_name.entry(resource.name.clone()).or_default().insert(*op);
        }
        self.indexed.insert(*op, pending.clone());
    }

    fn remove_operation(&mut self, op: OpId) {
        let Some(Pending { intent, token, .. }) = self.indexed.remove(&op) else { return };
        for uid in referenced(&intent) {
            if let Some(operations) = self.by_uid.get_mut(uid) {
                operations.remove(&op);
                if operations.is_empty() {
                    self.by_uid.remove(uid);
                }
            }
        }
        decrement(&mut self.by_copy, &intent.copy());
        decrement(&mut self.by_key, &intent.key().to_owned());
        token.iter().for_each(|token| decrement(&mut self.by_token, token));
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

fn increment<K: std::hash::Hash + Eq + Clone>(counts: &mut HashMap<K, usize>, key: &K) {
    *counts.entry(key.clone()).or_default() += 1;
}

fn decrement<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// Returns the resources on whose existence the validity of an operation depends.
fn referenced(intent: &Intent) -> Vec<&Uid> {
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
