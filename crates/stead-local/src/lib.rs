//! The built-in provider for this machine: files, folders, commands, random values, key pairs.
//!
//! This file dispatches calls to the resource types, which have files of their own in `types/`.
//! **Invariants:** this crate accesses the machine only through `stead_world`; no secret is in an input, an
//! output, an error or a log.

mod failure;
mod files;
mod inputs;
mod logs;
mod machine;
mod owners;
mod types;

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use stead_model::{
    Hint, Input, Inputs, Map, Operation, OperationToken, PhysicalId, PropertyPath, Resource, TypeToken,
};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, LiveState, Ownership, Provider,
    Reads, Receipt, Recovery, Refusal, Statement, Telemetry, UpdateRequest, Updated,
};
use stead_schema::{Problem, ReplaceOrder, TypeSchema};
use stead_world::World;

use crate::failure::{Failure, outcome};
use crate::files::path::drop_respelling;
use crate::inputs::InputView;
use crate::machine::Machine;
use crate::types::ResourceType;

/// Serves the types `local.*`.
pub struct LocalProvider {
    machine: Machine,
    types: BTreeMap<TypeToken, ServedType>,
}

/// A resource type with its schema and defaults.
struct ServedType {
    schema: TypeSchema,
    defaults: Map,
    operations: &'static dyn ResourceType,
}

impl LocalProvider {
    /// Returns a provider whose relative paths start in the folder `project`.
    pub fn new(world: World, project: PathBuf) -> LocalProvider {
        let served = |operations: &'static dyn ResourceType| {
            let schema = operations.schema();
            (schema.token.clone(), ServedType { schema, defaults: operations.defaults(), operations })
        };
        LocalProvider {
            machine: Machine { world, project },
            types: types::ALL.into_iter().map(served).collect(),
        }
    }

    fn served(&self, resource: &TypeToken) -> Result<&ServedType, Refusal> {
        self.types.get(resource).ok_or_else(|| {
            let known: Vec<&str> = self.types.keys().map(TypeToken::as_str).collect();
            Refusal::new(format!("the provider `local` has no type `{resource}`"))
                .help(format!("it has: {}", known.join(", ")))
        })
    }

    /// Returns the type's operations after checking the inputs again, since some were unknown at the first
    /// check.
    fn checked(&self, resource: &TypeToken, inputs: &Map) -> Result<&'static dyn ResourceType, Refusal> {
        let operations = self.served(resource)?.operations;
        match operations.problems(InputView::Resolved(inputs)).into_iter().next() {
            None => Ok(operations),
            Some(Problem { path, message, help }) => {
                Err(Refusal { path: Some(path), help: help.map(Hint::from), ..Refusal::new(message) })
            }
        }
    }
}

#[async_trait]
impl Provider for LocalProvider {
    fn name(&self) -> &str {
        "local"
    }

    fn types(&self) -> Vec<TypeSchema> {
        self.types.values().map(|served| served.schema.clone()).collect()
    }

    async fn check(&self, resource: &TypeToken, mut inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
        let served = self.served(resource).map_err(|Refusal { message, help, .. }| {
            vec![Problem { path: PropertyPath::default(), message, help: help.map(|hint| hint.to_string()) }]
        })?;
        let mut problems = stead_schema::check(&served.schema, &inputs);
        for (name, value) in &served.defaults {
            if !inputs.contains_key(name) {
                inputs.insert(name.clone(), Input::Known(value.clone()));
            }
        }
        problems.extend(served.operations.problems(InputView::Declared(&inputs)));
        if problems.is_empty() { Ok(inputs) } else { Err(problems) }
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        let Ok(served) = self.served(&old.ty) else { return Diff::default() };
        let changes = stead_schema::diff(&served.schema, &old.inputs, inputs);
        let mut changes = served.operations.significant_changes(&self.machine, inputs, changes);
        // Two copies cannot be in one place, whatever else forces a replacement.
        let order = match drop_respelling(&self.machine, &mut changes).await {
            true => ReplaceOrder::DeleteFirst,
            false => served.schema.replace_order,
        };
        Diff { changes, order, ..Diff::default() }
    }

    fn reads(&self, resource: &TypeToken) -> Reads {
        self.served(resource).map_or(Reads::RealResource, |served| served.operations.reads())
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        let recorded = LiveState { inputs: resource.inputs.clone(), outputs: resource.outputs.clone() };
        self.served(&resource.ty)?.operations.read(&self.machine, &recorded).await
    }

    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        let served = self.served(resource)?;
        let Some(from_id) = served.operations.inputs_from_id(id.as_str()) else {
            let message = format!("a {resource} exists only in the state of its stack");
            return Err(Refusal::new(message)
                .help("make it an output of that stack, and read it with `stead.stack(…).outputs`"));
        };
        let mut inputs = served.defaults.clone();
        inputs.extend(from_id);
        served.operations.read(&self.machine, &LiveState { inputs, outputs: Map::new() }).await
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        match self.checked(request.resource, request.inputs) {
            Ok(operations) => {
                let attempt = operations.create(&self.machine, &receipt, request.inputs).await;
                let id = || PhysicalId(receipt.idempotency_key().to_owned());
                outcome(attempt, request.inputs, |outputs| Created { id: id(), outputs })
            }
            Err(refusal) => CallOutcome::Refused(refusal),
        }
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        let UpdateRequest { resource, old_inputs, .. } = request;
        match self.checked(&resource.ty, &resource.inputs) {
            Ok(operations) => {
                let attempt = operations.update(&self.machine, &receipt, resource, old_inputs).await;
                outcome(attempt, &resource.inputs, |outputs| Updated { outputs })
            }
            Err(refusal) => CallOutcome::Refused(refusal),
        }
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()> {
        let DeleteRequest { resource } = request;
        if *permit.copy() != resource.copy() {
            let message = format!("the permit to delete is for {}, not for {}", permit.copy(), resource.name);
            let help = "this is a bug in stead; please report it";
            return CallOutcome::Refused(Refusal::new(message).help(help));
        }
        match self.served(&resource.ty) {
            Ok(served) => {
                let attempt = served.operations.delete(&self.machine, &receipt, resource).await;
                outcome(attempt, &resource.inputs, |_| ())
            }
            Err(refusal) => CallOutcome::Refused(refusal),
        }
    }

    async fn take_back(&self, receipt: Receipt, request: DeleteRequest<'_>) -> Result<(), Refusal> {
        let DeleteRequest { resource } = request;
        let operations = &self.served(&resource.ty)?.operations;
        operations.take_back(&self.machine, &receipt, resource).await.map_err(Failure::into_refusal)
    }

    async fn may_still_run(&self, resource: &TypeToken, token: &OperationToken) -> Option<String> {
        self.served(resource).ok()?.operations.may_still_run(&self.machine, token)
    }

    async fn settle_work(
        &self,
        resource: &TypeToken,
        token: &OperationToken,
        statement: Statement,
    ) -> Result<(), Refusal> {
        self.served(resource)?.operations.settle_work(&self.machine, token, statement).await
    }

    fn ownership(&self) -> Option<&dyn Ownership> {
        Some(self)
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }

    fn recovery(&self, operation: Operation, resource: &TypeToken, inputs: &Map) -> Recovery {
        match self.served(resource) {
            Ok(served) => served.operations.recovery(operation, inputs),
            Err(_) => Recovery::Ask,
        }
    }
}
