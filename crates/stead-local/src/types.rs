//! The resource types of this provider.
//!
//! The schema describes shapes, required properties and create-only properties. A [`ResourceType`] adds the
//! checks that a schema cannot express, and the operations.

mod command;
mod data;
mod directory;
mod file;
mod key_pair;
mod random_pet;
mod random_string;

use async_trait::async_trait;
use std::path::PathBuf;
use stead_model::{Inputs, Map, Operation, OperationToken, Resource};
use stead_provider::{Created, LiveState, Reads, Receipt, Recovery, Refusal, Statement, Updated};
use stead_schema::{Change, Problem, TypeSchema};

use crate::failure::Attempt;
use crate::inputs::InputView;
use crate::machine::Machine;

/// All resource types of this provider.
pub(crate) const ALL: [&dyn ResourceType; 7] = [
    &file::File,
    &directory::Directory,
    &command::Command,
    &random_string::RandomString,
    &random_pet::RandomPet,
    &key_pair::KeyPair,
    &data::Data,
];

/// Implementation of one resource type.
#[async_trait]
pub(crate) trait ResourceType: Send + Sync {
    fn schema(&self) -> TypeSchema;

    /// Returns the default of each `Filled` property, which is recorded if the user left it out.
    fn defaults(&self) -> Map {
        Map::new()
    }

    /// Returns the problems that the schema cannot find. Unknown values and values of the wrong shape are
    /// skipped.
    fn problems(&self, _inputs: InputView<'_>) -> Vec<Problem> {
        Vec::new()
    }

    /// Returns the changes that need an operation, each marked with whether it forces a replacement.
    fn significant_changes(&self, _machine: &Machine, _new: &Inputs, changes: Vec<Change>) -> Vec<Change> {
        changes
    }

    /// Returns the inputs that follow from an id; `None` if the resource exists only in state.
    fn inputs_from_id(&self, _id: &str) -> Option<Map> {
        None
    }

    /// Returns the places on this machine that the resource consists of; empty if it exists only in state.
    fn places(&self, _machine: &Machine, _inputs: &Map) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the ability of `read`.
    fn reads(&self) -> Reads;

    /// Reads the real resource of a record. Only a type with [`Reads::RealResource`] has one.
    async fn read(&self, _machine: &Machine, _recorded: &LiveState) -> Result<Option<LiveState>, Refusal> {
        Err(Refusal::new("it cannot be read"))
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created>;

    /// `resource` has the new inputs and the old outputs.
    async fn update(
        &self,
        machine: &Machine,
        receipt: &Receipt,
        resource: &Resource,
        old_inputs: &Map,
    ) -> Attempt<Updated>;

    async fn delete(&self, machine: &Machine, receipt: &Receipt, resource: &Resource) -> Attempt<()>;

    /// Takes back the first steps of an interrupted deletion. A type that deletes in one step has nothing to take back.
    async fn take_back(&self, _machine: &Machine, _receipt: &Receipt, _resource: &Resource) -> Attempt<()> {
        Ok(())
    }

    /// Returns a sentence about work of an earlier attempt that may still go on; `None` if none can.
    fn may_still_run(&self, _machine: &Machine, _token: &OperationToken) -> Option<String> {
        None
    }

    /// Makes a person's statement about an operation true of its work; see [`stead_provider::Provider::settle_work`].
    async fn settle_work(
        &self,
        _machine: &Machine,
        _token: &OperationToken,
        _statement: Statement,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    fn recovery(&self, _operation: Operation, _inputs: &Map) -> Recovery {
        Recovery::Repeat
    }
}

/// Behaviour of a create when its path already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfExists {
    Refuse,
    /// Accept the path if an earlier attempt at this operation may have created it.
    AcceptOwn,
    Replace,
}

impl IfExists {
    /// Returns the behaviour for the attempt that a receipt is for.
    pub(crate) fn at_attempt(receipt: &Receipt) -> IfExists {
        if receipt.attempt() > 1 { IfExists::AcceptOwn } else { IfExists::Refuse }
    }
}
