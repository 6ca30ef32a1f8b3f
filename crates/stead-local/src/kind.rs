//! What a type of this provider has to say for itself.
//!
//! Shape, presence and create-only properties are the schema's business; a kind adds what a schema cannot
//! express, and does the work.

use std::collections::BTreeMap;

use async_trait::async_trait;
use stead_model::{Input, Map, Operation, Resource};
use stead_provider::{Created, Live, Receipt, Recovery, Refusal, Updated};
use stead_schema::{Change, Problem, TypeSchema};

use crate::failure::Attempt;
use crate::given::Given;
use crate::machine::Machine;

#[async_trait]
pub(crate) trait Kind: Send + Sync {
    fn schema(&self) -> TypeSchema;

    /// What is recorded for each `Filled` property that the user left out.
    fn defaults(&self) -> Map {
        Map::new()
    }

    /// What else is wrong with the inputs. What is not known, or has the wrong shape, is passed over.
    fn problems(&self, _inputs: Given<'_>) -> Vec<Problem> {
        Vec::new()
    }

    /// The changes that are worth an operation, each marked with whether it replaces.
    fn weigh(&self, _machine: &Machine, _new: &BTreeMap<String, Input>, changes: Vec<Change>) -> Vec<Change> {
        changes
    }

    /// The inputs that an id alone tells; `None`: nothing of the type is outside the record.
    fn of_id(&self, _id: &str) -> Option<Map> {
        None
    }

    /// What is really there of what is on record.
    async fn read(&self, machine: &Machine, recorded: &Live) -> Result<Option<Live>, Refusal>;

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

    fn recovery(&self, _operation: Operation, _inputs: &Map) -> Recovery {
        Recovery::Repeat
    }
}

/// What to do about something that is at a path already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfTaken {
    Refuse,
    /// An earlier attempt at this very operation may have made it.
    AcceptOurs,
    Replace,
}

impl IfTaken {
    pub(crate) fn at_attempt(receipt: &Receipt) -> IfTaken {
        if receipt.attempt() > 1 { IfTaken::AcceptOurs } else { IfTaken::Refuse }
    }
}
