//! What makes, changes and deletes real things.
//!
//! A call that changes something takes a [`Receipt`], which only a durable intent gives, and a deletion a
//! [`DeletePermit`] besides, which only the guards give. There is no way to call without them.

mod outcome;
mod registry;
mod request;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use stead_model::{Input, Map, Operation, PhysicalId, Resource, TypeToken};
use stead_schema::{Problem, TypeSchema};

pub use outcome::{Class, Created, Doubt, Live, Outcome, Partly, Recovery, Refusal, Updated};
pub use registry::Providers;
pub use request::{CreateRequest, DeleteRequest, Diff, UpdateRequest};
pub use stead_guard::DeletePermit;
pub use stead_journal::Receipt;

/// Serves a family of resource types.
///
/// `check`, `diff` and `read` change nothing and may be called at any time, in parallel. `check` and `diff` answer from
/// what they are given: a refusal of theirs is about the inputs, and asking again would change nothing. `read` and
/// `find` go out, and are asked again if they say that somebody is busy.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What stands before the first dot of its types.
    fn name(&self) -> &str;

    fn types(&self) -> Vec<TypeSchema>;

    /// The inputs with defaults filled in, or everything that is wrong with them. What is deferred stays so.
    async fn check(
        &self,
        resource: &TypeToken,
        inputs: BTreeMap<String, Input>,
    ) -> Result<BTreeMap<String, Input>, Vec<Problem>>;

    /// What would have to change, and whether that can be done in place. `inputs` went through `check`.
    async fn diff(&self, old: &Resource, inputs: &BTreeMap<String, Input>) -> Diff;

    /// What is really there; `None` if nothing is.
    async fn read(&self, resource: &Resource) -> Result<Option<Live>, Refusal>;

    /// What is really there under an id, of which nothing is on record; `None` if nothing is.
    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<Live>, Refusal>;

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> Outcome<Created>;

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> Outcome<Updated>;

    async fn delete(&self, receipt: Receipt, permit: DeletePermit, request: DeleteRequest<'_>)
    -> Outcome<()>;

    /// How long a change may take before nobody waits for it any more. Option and schema come before this.
    fn patience(&self, _: Operation, _: &TypeToken) -> Duration {
        Duration::from_secs(30 * 60)
    }

    /// How long a look at one resource may take, attempts and pauses included. Option and schema come before this.
    fn look_patience(&self, _: &TypeToken) -> Duration {
        Duration::from_secs(5 * 60)
    }

    /// The version of what serves the types; that of what is built in is stead's own.
    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    /// How many of its calls may be under way at once; `None`: as many as the run allows.
    fn parallel(&self) -> Option<usize> {
        None
    }

    /// What to do about an operation whose end nobody knows.
    fn recovery(&self, operation: Operation, resource: &TypeToken, inputs: &Map) -> Recovery;
}
