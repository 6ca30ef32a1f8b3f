//! The provider interface: creates, reads, updates and deletes real resources.
//!
//! A call that changes a resource takes a [`Receipt`], which only a durable intent gives. A deletion also
//! takes a [`DeletePermit`], which only the guards give. No such call is possible without them.

mod batch;
mod configuration;
mod cut;
mod listing;
mod outcome;
mod ownership;
mod reads;
mod refusal;
mod registry;
mod request;
mod telemetry;
mod veil;

use std::time::Duration;

use async_trait::async_trait;
use stead_model::{Inputs, Map, Operation, OperationToken, PhysicalId, ProviderPlace, Resource, TypeToken};
use stead_schema::{Catalog, Problem, TypeSchema};

pub use batch::BatchReads;
pub use configuration::{Completeness, Configurable, Configuration};
pub use cut::{cut_log, whole_lines_of_end};
pub use listing::{ListParent, ListScope, Listed, Listing};
pub use outcome::{
    CallOutcome, Created, Doubt, LiveState, PartialResult, Reads, Recovery, Statement, Updated,
};
pub use ownership::{Claim, Description, MarksUnavailable, Occasion, OwnerMark, Ownership, StatePlace};
pub use reads::{ReadCount, ReadsUnderWay};
pub use refusal::{Refusal, RefusalClass, RefusalScope};
pub use registry::Providers;
pub use request::{CreateRequest, DeleteRequest, Diff, UpdateRequest};
pub use stead_guard::DeletePermit;
pub use stead_journal::{Ack, Receipt, Warnings};
pub use telemetry::{LogLine, LogLines, Moment, Rest, Series, Span, Statistic, Telemetry, Unit};
pub use veil::{conceal_declared, conceal_named, conceal_sent};

/// Serves a family of resource types.
///
/// `check`, `diff`, `read` and `find` change nothing and may be called at any time, in parallel. `check` and
/// `diff` use only their arguments, so a retry would not change their answer. `read` and `find` access the
/// real resource, and are retried after a transient refusal.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Returns the provider's name: the part of its type tokens before the first dot.
    fn name(&self) -> &str;

    /// Returns the types that the provider defines itself.
    fn types(&self) -> Vec<TypeSchema>;

    /// Returns all types that the provider serves. A provider of published types parses each when it is first needed.
    fn catalog(&self) -> Catalog {
        self.types().into_iter().collect()
    }

    /// Returns the inputs with defaults filled in, or all problems with them. Deferred inputs stay deferred.
    async fn check(&self, resource: &TypeToken, inputs: Inputs) -> Result<Inputs, Vec<Problem>>;

    /// Returns the inputs of a create or an update with the defaults that `check` could not fill in while parts of the inputs were
    /// deferred. Called right before the intent is recorded; the same inputs without deferred parts would get the same from `check`.
    fn completed(&self, _: &TypeToken, inputs: Map) -> Map {
        inputs
    }

    /// Returns the changes from a record to new inputs, and whether they can be made in place. `inputs` come
    /// from `check`.
    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff;

    /// Returns the ability of `read` for resources of a type.
    fn reads(&self, resource: &TypeToken) -> Reads;

    /// Reads the real resource of a record; `None` if it does not exist.
    ///
    /// Called only for types with [`Reads::RealResource`]. A property that cannot be read keeps its recorded
    /// value; all others have the value of the real resource.
    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal>;

    /// Reads a real resource without a record, by its id; `None` if it does not exist.
    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal>;

    /// Creates a resource.
    ///
    /// A provider whose service knows the operation by a name of its own records it with [`Receipt::record_token`], as does one
    /// that starts work of its own. A later attempt gets the name back from [`Receipt::token`], and asks for the end of that
    /// operation, or ends that work, before it sends anything.
    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created>;

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated>;

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()>;

    /// Asks for the end of a create of an earlier run by its recorded token, and sends nothing: `inputs` lacks a secret that this
    /// process does not have.
    ///
    /// Called only if [`Receipt::token`] is set and [`tells_ends`](Provider::tells_ends). The operation is in doubt if the service does not know the token any more.
    async fn end_of_create(&self, _: Receipt, _: CreateRequest<'_>) -> CallOutcome<Created> {
        CallOutcome::InDoubt(Doubt::not_asked())
    }

    /// Asks for the end of an update like [`end_of_create`](Provider::end_of_create).
    async fn end_of_update(&self, _: Receipt, _: UpdateRequest<'_>) -> CallOutcome<Updated> {
        CallOutcome::InDoubt(Doubt::not_asked())
    }

    /// Asks for the end of a deletion like [`end_of_create`](Provider::end_of_create). The record may lack secrets.
    async fn end_of_delete(&self, _: Receipt, _: DeleteRequest<'_>) -> CallOutcome<()> {
        CallOutcome::InDoubt(Doubt::not_asked())
    }

    /// Takes back the steps of an interrupted deletion that did not delete the real resource yet, and deletes nothing.
    ///
    /// Recovery calls it with the receipt of the deletion if the guards of today refuse to send that again. A provider whose
    /// deletion is one step has nothing to take back.
    async fn take_back(&self, _: Receipt, _: DeleteRequest<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    /// Returns the default timeout of a create, update or delete. The resource's options and its schema
    /// override it.
    fn timeout(&self, _: Operation, _: &TypeToken) -> Duration {
        Duration::from_secs(30 * 60)
    }

    /// Returns the default timeout of reading one resource, retries included. The resource's options and its
    /// schema override it.
    fn read_timeout(&self, _: &TypeToken) -> Duration {
        Duration::from_secs(5 * 60)
    }

    /// Returns the provider's version; a built-in provider has the version of stead.
    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    /// Returns the most calls that may be under way at once; `None`: as many as the run allows.
    fn max_parallel_calls(&self) -> Option<usize> {
        None
    }

    /// Returns a sentence about work of an operation in doubt that may still go on, for the person that gives the answer.
    ///
    /// `token` is the recorded name of the work. `None` if the work certainly ended, or the provider starts none that outlives the
    /// call on this side.
    async fn may_still_run(&self, _: &TypeToken, _token: &OperationToken) -> Option<String> {
        None
    }

    /// Makes a person's statement about an operation in doubt true of its work on this side, before the statement is recorded: work
    /// of an operation that did not happen is ended. Refuses if the work goes on.
    async fn settle_work(&self, _: &TypeToken, _: &OperationToken, _: Statement) -> Result<(), Refusal> {
        Ok(())
    }

    /// Returns true if the provider can ask for the end of an operation by its recorded token alone: `end_of_create`,
    /// `end_of_update` and `end_of_delete`.
    fn tells_ends(&self) -> bool {
        false
    }

    /// Returns the marks that name the owners of real resources; `None` if this provider has none.
    fn ownership(&self) -> Option<&dyn Ownership> {
        None
    }

    /// Returns the ability to list real resources; `None` if this provider has none.
    fn listing(&self) -> Option<&dyn Listing> {
        None
    }

    /// Returns the ability to read many resources at once; `None` if this provider has none.
    fn batch_reads(&self) -> Option<&dyn BatchReads> {
        None
    }

    /// Returns the ability to serve with the settings of provider resources; `None` if this provider has none.
    fn configurable(&self) -> Option<&dyn Configurable> {
        None
    }

    /// Returns where this provider keeps its resources; `None` if it has only one place.
    async fn place(&self) -> Result<Option<ProviderPlace>, Refusal> {
        Ok(None)
    }

    /// Returns the ability to read logs and figures of real resources; `None` if this provider has none.
    fn telemetry(&self) -> Option<&dyn Telemetry> {
        None
    }

    /// Returns how recovery settles an operation whose outcome is unknown.
    fn recovery(&self, operation: Operation, resource: &TypeToken, inputs: &Map) -> Recovery;
}
