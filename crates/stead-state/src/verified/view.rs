//! The rules' view of a verified state.

use stead_model::{CopyRef, Generation, KeyId, Name, OpId, OperationToken, Resource, Uid};

use super::VerifiedState;
use crate::rules::StateView;

impl StateView for VerifiedState {
    fn has_key(&self, key: &KeyId) -> bool {
        self.state.keyring().get(key).is_some()
    }

    fn copies(&self, uid: &Uid) -> Vec<&Resource> {
        self.state.copies_of(uid).collect()
    }

    fn copy(&self, copy: &CopyRef) -> Option<&Resource> {
        self.state.copy(copy)
    }

    fn current(&self, uid: &Uid) -> Option<&Resource> {
        self.state.copies_of(uid).filter(|copy| crate::rules::is_current(copy)).last()
    }

    fn newest(&self, uid: &Uid) -> Option<Generation> {
        self.state.copies_of(uid).last().map(|copy| copy.generation)
    }

    fn holders(&self, name: &Name) -> Vec<&Uid> {
        self.state.holder(name).into_iter().collect()
    }

    fn alias_holders(&self, name: &Name) -> Vec<&Uid> {
        self.state.by_former_name(name).into_iter().collect()
    }

    fn pending_on(&self, copy: &CopyRef) -> usize {
        self.by_copy.get(copy).copied().unwrap_or_default()
    }

    fn pending_with_key(&self, key: &str) -> usize {
        self.by_key.get(key).copied().unwrap_or_default()
    }

    fn pending_with_token(&self, token: &OperationToken) -> usize {
        self.by_token.get(token).copied().unwrap_or_default()
    }

    fn pending_creates(&self, name: &Name) -> usize {
        self.by_name.get(name).map_or(0, std::collections::BTreeSet::len)
    }

    fn counters(&self) -> (usize, u64, OpId) {
        (self.state.len(), self.state.uids(), self.state.next_op())
    }

    fn serial(&self) -> u64 {
        self.state.serial()
    }
}
