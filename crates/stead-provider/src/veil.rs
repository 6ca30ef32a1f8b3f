//! The veil: reveals secrets to a provider, and marks every secret in its answers again.
//!
//! Providers work with plain values. Every registered provider stands behind a veil, so the engine never sees a secret as a plain
//! value, and no provider sees a mark. **Invariants:** an answer that contains a secret of its request, in any form that
//! [`Needles`] finds, is a secret, and so is one with a secret that the run knows ([`RunSecrets`]); a text of the provider shows none.

mod batch;
mod configuration;
mod known;
mod listing;
mod marks;
mod named;
mod ownership;
mod plain;
mod telemetry;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use stead_guard::DeletePermit;
use stead_journal::{Receipt, Warnings};
use stead_model::{Inputs, Map, Operation, OperationToken, PhysicalId, ProviderPlace, Resource, TypeToken};
use stead_schema::{Catalog, Problem, TypeSchema};

use crate::cut::shortened;
use crate::{
    BatchReads, CallOutcome, Configurable, CreateRequest, Created, DeleteRequest, Diff, Doubt, Listing,
    LiveState, Ownership, PartialResult, Provider, ReadCount, Reads, Recovery, Refusal, Statement, Telemetry,
    UpdateRequest, Updated,
};
pub(crate) use known::RunSecrets;
use marks::Marks;
pub use named::conceal_named;
use ownership::VeiledOwnership;
use plain::{given_stays_plain, short_stays_plain, unchanged_stays_plain};
use telemetry::VeiledTelemetry;

/// A provider behind the veil.
pub(crate) struct Veil {
    inner: Arc<dyn Provider>,
    catalog: Catalog,
    ownership: VeiledOwnership,
    telemetry: VeiledTelemetry,
    known: RunSecrets,
    reads: ReadCount,
}

impl Veil {
    /// Returns the provider behind a veil that shares the known secrets, and the count of reads, with the others of the run.
    pub(crate) fn new(inner: Arc<dyn Provider>, known: RunSecrets, reads: ReadCount) -> Veil {
        let catalog = inner.catalog();
        let ownership = VeiledOwnership::new(inner.clone(), known.clone());
        let telemetry = VeiledTelemetry::new(inner.clone(), known.clone());
        Veil { catalog, ownership, telemetry, known, reads, inner }
    }

    /// Marks the outputs of an answer, and learns their secrets. `before` are the recorded ones.
    fn outputs(&self, ty: &TypeToken, marks: &Marks, (outputs, before): (Map, &Map)) -> Map {
        let marked = short_stays_plain(marks.mark(outputs), before);
        let concealed = self.conceal(ty, self.known.mark(marked));
        self.known.learn(&concealed);
        concealed
    }

    /// Learns the secrets of a record.
    fn learn_record(&self, resource: &Resource) {
        self.known.learn_record(resource, self.catalog.get(&resource.ty));
    }

    /// Returns a refusal without secrets.
    fn refusal(&self, marks: &Marks, refusal: Refusal) -> Refusal {
        let refusal = self.known.refusal(marks.refusal(refusal));
        Refusal { message: shortened(refusal.message), ..refusal }
    }

    /// Returns a message without secrets, cut after the search.
    fn message(&self, marks: &Marks, message: &str) -> String {
        shortened(self.known.text(&marks.text(message)).into_owned())
    }

    /// Marks outputs like [`outputs`](Veil::outputs), and searches them for the secrets that they have at the paths of the request's
    /// secrets, whose values this process did not have.
    fn outputs_first_seen(&self, ty: &TypeToken, marks: &Marks, (outputs, before): (Map, &Map)) -> Map {
        let changed = marks.with_changed(&marks.mark(outputs.clone()));
        self.outputs(ty, changed.as_ref().unwrap_or(marks), (outputs, before))
    }

    /// Marks the values that the schema calls secret.
    fn conceal(&self, ty: &TypeToken, values: Map) -> Map {
        match self.catalog.get(ty) {
            Some(schema) => schema.conceal(values),
            None => values,
        }
    }

    /// Marks the values of a real resource. A secret that was changed elsewhere is searched for as well, from its path on.
    fn live(&self, ty: &TypeToken, marks: &Marks, recorded: (&Map, &Map), live: LiveState) -> LiveState {
        let inputs_with = |marks: &Marks, inputs: Map| {
            let marked = self.known.mark(marks.mark(inputs));
            self.conceal(ty, unchanged_stays_plain(marked, recorded.0))
        };
        let inputs = inputs_with(marks, live.inputs.clone());
        let changed = marks.with_changed(&inputs);
        let inputs = match &changed {
            Some(changed) => inputs_with(changed, live.inputs),
            None => inputs,
        };
        // An output may have the digest of a secret input.
        self.known.learn(&inputs);
        let marks = changed.as_ref().unwrap_or(marks);
        let outputs = self.outputs(ty, marks, (live.outputs, recorded.1));
        LiveState { inputs: marks.restored(inputs), outputs }
    }

    /// Marks the secrets of an answer to a request that sent these inputs.
    fn call<T>(
        &self,
        (marks, sent): (&Marks, &Map),
        warnings: Warnings,
        outcome: CallOutcome<T>,
        done: impl FnOnce(T) -> T,
    ) -> CallOutcome<T> {
        for message in warnings.take() {
            warnings.add(self.message(marks, &message));
        }
        match outcome {
            CallOutcome::Done(value) => CallOutcome::Done(done(value)),
            CallOutcome::Partial(PartialResult { done: value, inputs, refusal }) => {
                let marked = self.known.mark(marks.mark(inputs));
                let inputs = marks.restored(unchanged_stays_plain(marked, sent));
                let refusal = self.refusal(marks, refusal);
                CallOutcome::Partial(PartialResult { done: done(value), inputs, refusal })
            }
            CallOutcome::Refused(refusal) => CallOutcome::Refused(self.refusal(marks, refusal)),
            CallOutcome::InDoubt(Doubt { message }) => {
                CallOutcome::InDoubt(Doubt { message: self.message(marks, &message) })
            }
        }
    }
}

/// Marks the secrets of an update that may have taken effect, in the values of the real resource.
pub fn conceal_sent(live: LiveState, sent: &Map) -> LiveState {
    let LiveState { inputs, outputs } = concealed(live, &Marks::default().with(sent));
    LiveState { inputs: unchanged_stays_plain(inputs, sent), outputs }
}

/// Marks the secrets that a program declares, in the values of a real resource that it imports.
pub fn conceal_declared(live: LiveState, declared: &Inputs) -> LiveState {
    let LiveState { inputs, outputs } = concealed(live, &Marks::of_inputs(declared));
    let known = declared.iter().filter_map(|(key, input)| Some((key.clone(), input.as_known()?.clone())));
    LiveState { inputs: unchanged_stays_plain(inputs, &known.collect()), outputs }
}

fn concealed(live: LiveState, marks: &Marks) -> LiveState {
    let inputs = marks.mark(live.inputs);
    let outputs = marks.with_changed(&inputs).as_ref().unwrap_or(marks).mark(live.outputs);
    LiveState { inputs, outputs }
}

#[async_trait]
impl Provider for Veil {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn types(&self) -> Vec<TypeSchema> {
        self.inner.types()
    }

    fn catalog(&self) -> Catalog {
        self.catalog.clone()
    }

    async fn check(&self, resource: &TypeToken, inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
        let concealed = |inputs: Inputs| match self.catalog.get(resource) {
            Some(schema) => schema.conceal_inputs(inputs),
            None => inputs,
        };
        // Before the call, since a problem may quote a property that only the schema calls secret.
        let inputs = concealed(inputs);
        let marks = Marks::of_inputs(&inputs);
        self.known.learn_from(&marks);
        let given = if marks.is_empty() && self.known.is_empty() { Inputs::new() } else { inputs.clone() };
        match self.inner.check(resource, marks.revealed_inputs(inputs)).await {
            Ok(checked) => {
                let marked = self.known.mark_inputs(marks.mark_inputs(checked));
                Ok(concealed(given_stays_plain(marked, &given)))
            }
            Err(problems) => {
                let shown = |problem| self.known.problem(marks.problem(problem));
                Err(problems.into_iter().map(shown).collect())
            }
        }
    }

    fn completed(&self, resource: &TypeToken, inputs: Map) -> Map {
        let marks = Marks::default().with(&inputs);
        if marks.is_empty() {
            return self.inner.completed(resource, inputs);
        }
        let revealed = marks.revealed(&inputs).into_owned();
        let completed = self.inner.completed(resource, revealed.clone());
        let filled_in = completed.into_iter().filter(|(key, value)| revealed.get(key) != Some(value));
        let mut all = inputs;
        all.extend(marks.mark(filled_in.collect()));
        all
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        let declared = Marks::of_inputs(inputs);
        self.known.learn_from(&declared);
        self.learn_record(old);
        let marks = declared.with(&old.inputs).with_outputs(&old.outputs);
        if marks.is_empty() {
            let diff = self.inner.diff(old, inputs).await;
            let problems = diff.problems.into_iter().map(|problem| self.known.problem(problem)).collect();
            return Diff { problems, ..diff };
        }
        let revealed = marks.revealed_inputs(inputs.clone());
        let shown = marks.record_for(old, inputs);
        let Diff { changes, order, problems } = self.inner.diff(&shown, &revealed).await;
        let changes = changes.into_iter().map(|change| marks.change(change, old, inputs)).collect();
        let shown = |problem| self.known.problem(marks.problem(problem));
        let problems = problems.into_iter().map(shown).collect();
        Diff { changes, order, problems }
    }

    fn reads(&self, resource: &TypeToken) -> Reads {
        self.inner.reads(resource)
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        let _under_way = self.reads.begin(1);
        let marks = Marks::of_record(resource);
        self.learn_record(resource);
        let read = match marks.is_empty() {
            true => self.inner.read(resource).await,
            false => self.inner.read(&marks.record(resource)).await,
        };
        match read {
            Ok(found) => Ok(found
                .map(|live| self.live(&resource.ty, &marks, (&resource.inputs, &resource.outputs), live))),
            Err(refusal) => Err(self.refusal(&marks, refusal)),
        }
    }

    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        let _under_way = self.reads.begin(1);
        let found = self.inner.find(resource, id).await;
        let found = found.map_err(|refusal| self.refusal(&Marks::default(), refusal))?;
        let unknown = Map::new();
        Ok(found.map(|live| self.live(resource, &Marks::default(), (&unknown, &unknown), live)))
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        let marks = Marks::default().with(request.inputs);
        self.known.learn_from(&marks);
        let inputs = marks.revealed(request.inputs);
        let warnings = receipt.warnings();
        let outcome = self.inner.create(receipt, CreateRequest { inputs: &inputs, ..request }).await;
        self.call((&marks, request.inputs), warnings, outcome, |Created { id, outputs }| Created {
            id,
            outputs: self.outputs(request.resource, &marks, (outputs, &Map::new())),
        })
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let marks = Marks::of_record(request.resource).with(request.old_inputs);
        self.learn_record(request.resource);
        self.known.learn(request.old_inputs);
        let (resource, old_inputs) = (marks.record(request.resource), marks.revealed(request.old_inputs));
        let revealed = UpdateRequest { resource: &resource, old_inputs: &old_inputs, ..request };
        let warnings = receipt.warnings();
        let outcome = self.inner.update(receipt, revealed).await;
        let record = request.resource;
        self.call((&marks, &record.inputs), warnings, outcome, |Updated { outputs }| Updated {
            outputs: self.outputs(&record.ty, &marks, (outputs, &record.outputs)),
        })
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()> {
        let marks = Marks::of_record(request.resource);
        self.learn_record(request.resource);
        let resource = marks.record(request.resource);
        let warnings = receipt.warnings();
        let outcome = self.inner.delete(receipt, permit, DeleteRequest { resource: &resource }).await;
        self.call((&marks, &Map::new()), warnings, outcome, |()| ())
    }

    async fn end_of_create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        let marks = Marks::default().with(request.inputs);
        let inputs = marks.revealed(request.inputs);
        let warnings = receipt.warnings();
        let outcome = self.inner.end_of_create(receipt, CreateRequest { inputs: &inputs, ..request }).await;
        self.call((&marks, request.inputs), warnings, outcome, |Created { id, outputs }| Created {
            id,
            outputs: self.outputs_first_seen(request.resource, &marks, (outputs, &Map::new())),
        })
    }

    async fn end_of_update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let marks = Marks::of_record(request.resource).with(request.old_inputs);
        let (resource, old_inputs) = (marks.record(request.resource), marks.revealed(request.old_inputs));
        let revealed = UpdateRequest { resource: &resource, old_inputs: &old_inputs, ..request };
        let warnings = receipt.warnings();
        let outcome = self.inner.end_of_update(receipt, revealed).await;
        let record = request.resource;
        self.call((&marks, &record.inputs), warnings, outcome, |Updated { outputs }| Updated {
            outputs: self.outputs_first_seen(&record.ty, &marks, (outputs, &record.outputs)),
        })
    }

    async fn end_of_delete(&self, receipt: Receipt, request: DeleteRequest<'_>) -> CallOutcome<()> {
        let marks = Marks::of_record(request.resource);
        let resource = marks.record(request.resource);
        let warnings = receipt.warnings();
        let outcome = self.inner.end_of_delete(receipt, DeleteRequest { resource: &resource }).await;
        self.call((&marks, &Map::new()), warnings, outcome, |()| ())
    }

    fn timeout(&self, operation: Operation, resource: &TypeToken) -> Duration {
        self.inner.timeout(operation, resource)
    }

    fn read_timeout(&self, resource: &TypeToken) -> Duration {
        self.inner.read_timeout(resource)
    }

    fn version(&self) -> &str {
        self.inner.version()
    }

    fn max_parallel_calls(&self) -> Option<usize> {
        self.inner.max_parallel_calls()
    }

    async fn take_back(&self, receipt: Receipt, request: DeleteRequest<'_>) -> Result<(), Refusal> {
        let marks = Marks::of_record(request.resource);
        self.learn_record(request.resource);
        let resource = marks.record(request.resource);
        let taken_back = self.inner.take_back(receipt, DeleteRequest { resource: &resource }).await;
        taken_back.map_err(|refusal| self.refusal(&marks, refusal))
    }

    async fn may_still_run(&self, resource: &TypeToken, token: &OperationToken) -> Option<String> {
        let says = self.inner.may_still_run(resource, token).await?;
        Some(self.known.text(&says).into_owned())
    }

    async fn settle_work(
        &self,
        resource: &TypeToken,
        token: &OperationToken,
        statement: Statement,
    ) -> Result<(), Refusal> {
        let settled = self.inner.settle_work(resource, token, statement).await;
        settled.map_err(|refusal| self.known.refusal(refusal))
    }

    fn tells_ends(&self) -> bool {
        self.inner.tells_ends()
    }

    fn ownership(&self) -> Option<&dyn Ownership> {
        self.inner.ownership().map(|_| &self.ownership as &dyn Ownership)
    }

    fn listing(&self) -> Option<&dyn Listing> {
        self.inner.listing().map(|_| self as &dyn Listing)
    }

    fn batch_reads(&self) -> Option<&dyn BatchReads> {
        self.inner.batch_reads().map(|_| self as &dyn BatchReads)
    }

    fn configurable(&self) -> Option<&dyn Configurable> {
        self.inner.configurable().map(|_| self as &dyn Configurable)
    }

    async fn place(&self) -> Result<Option<ProviderPlace>, Refusal> {
        self.inner.place().await.map_err(|refusal| self.known.refusal(refusal))
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        self.inner.telemetry().map(|_| &self.telemetry as &dyn Telemetry)
    }

    fn recovery(&self, operation: Operation, resource: &TypeToken, inputs: &Map) -> Recovery {
        let marks = Marks::default().with(inputs);
        self.inner.recovery(operation, resource, &marks.revealed(inputs))
    }
}

#[cfg(test)]
mod local_tests;
#[cfg(test)]
mod part_tests;
#[cfg(test)]
mod tests;
