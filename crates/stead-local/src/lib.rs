//! The built-in provider for this machine: files, folders, commands, random values, key pairs.
//!
//! This file only finds the type and hands over; what a type is and does stands in its own file.
//! **Invariants:** the machine is reached through `stead_world` alone; no secret is in an input, an output,
//! an error or a log.

mod command;
mod data;
mod directory;
mod disk;
mod failure;
mod file;
mod given;
mod key_pair;
mod kind;
mod machine;
mod mode;
mod openssh;
mod place;
mod random_pet;
mod random_string;
mod shell;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use stead_model::{Input, Map, Operation, PhysicalId, PropertyPath, Resource, TypeToken};
use stead_provider::{
    CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Live, Outcome, Provider, Receipt, Recovery,
    Refusal, UpdateRequest, Updated,
};
use stead_schema::{Problem, TypeSchema};
use stead_world::World;

use crate::failure::outcome;
use crate::given::Given;
use crate::kind::Kind;
use crate::machine::Machine;

/// Serves the types `local.*`.
pub struct LocalProvider {
    machine: Machine,
    types: BTreeMap<TypeToken, Served>,
}

/// A type, with what is asked of it all the time made once.
struct Served {
    schema: TypeSchema,
    defaults: Map,
    kind: &'static dyn Kind,
}

const KINDS: [&dyn Kind; 7] = [
    &file::File,
    &directory::Directory,
    &command::Command,
    &random_string::RandomString,
    &random_pet::RandomPet,
    &key_pair::KeyPair,
    &data::Data,
];

impl LocalProvider {
    /// `project` is the folder that relative paths start from.
    pub fn new(world: World, project: PathBuf) -> LocalProvider {
        let served = |kind: &'static dyn Kind| {
            let schema = kind.schema();
            (schema.token.clone(), Served { schema, defaults: kind.defaults(), kind })
        };
        LocalProvider { machine: Machine { world, project }, types: KINDS.into_iter().map(served).collect() }
    }

    fn served(&self, resource: &TypeToken) -> Result<&Served, Refusal> {
        self.types.get(resource).ok_or_else(|| {
            let known: Vec<&str> = self.types.keys().map(TypeToken::as_str).collect();
            Refusal::new(format!("the provider `local` has no type `{resource}`"))
                .help(format!("it has: {}", known.join(", ")))
        })
    }

    /// The type, once nothing is wrong with inputs that were not all known when they were checked.
    fn ready(&self, resource: &TypeToken, inputs: &Map) -> Result<&'static dyn Kind, Refusal> {
        let kind = self.served(resource)?.kind;
        match kind.problems(Given::Resolved(inputs)).into_iter().next() {
            None => Ok(kind),
            Some(Problem { path, message, help }) => {
                Err(Refusal { path: Some(path), help, ..Refusal::new(message) })
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

    async fn check(
        &self,
        resource: &TypeToken,
        mut inputs: BTreeMap<String, Input>,
    ) -> Result<BTreeMap<String, Input>, Vec<Problem>> {
        let served = self.served(resource).map_err(|Refusal { message, help, .. }| {
            vec![Problem { path: PropertyPath::default(), message, help }]
        })?;
        let mut problems = stead_schema::check(&served.schema, &inputs);
        for (name, value) in &served.defaults {
            if !inputs.contains_key(name) {
                inputs.insert(name.clone(), Input::Known(value.clone()));
            }
        }
        problems.extend(served.kind.problems(Given::Declared(&inputs)));
        if problems.is_empty() { Ok(inputs) } else { Err(problems) }
    }

    async fn diff(&self, old: &Resource, inputs: &BTreeMap<String, Input>) -> Diff {
        let Ok(served) = self.served(&old.ty) else { return Diff::default() };
        let changes = stead_schema::diff(&served.schema, &old.inputs, inputs);
        let changes = served.kind.weigh(&self.machine, inputs, changes);
        Diff { changes, order: served.schema.replace_order }
    }

    async fn read(&self, resource: &Resource) -> Result<Option<Live>, Refusal> {
        let recorded = Live { inputs: resource.inputs.clone(), outputs: resource.outputs.clone() };
        self.served(&resource.ty)?.kind.read(&self.machine, &recorded).await
    }

    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<Live>, Refusal> {
        let served = self.served(resource)?;
        let Some(told) = served.kind.of_id(id.as_str()) else {
            let message = format!("a {resource} is nowhere but in the state of its stack");
            return Err(
                Refusal::new(message).help("export what is needed of it, and use `stead.stack(…).outputs`")
            );
        };
        let mut inputs = served.defaults.clone();
        inputs.extend(told);
        served.kind.read(&self.machine, &Live { inputs, outputs: Map::new() }).await
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> Outcome<Created> {
        match self.ready(request.resource, request.inputs) {
            Ok(kind) => outcome(kind.create(&self.machine, &receipt, request.inputs).await),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> Outcome<Updated> {
        let UpdateRequest { resource, old_inputs } = request;
        match self.ready(&resource.ty, &resource.inputs) {
            Ok(kind) => outcome(kind.update(&self.machine, &receipt, resource, old_inputs).await),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> Outcome<()> {
        let DeleteRequest { resource } = request;
        if *permit.copy() != resource.copy() {
            let message = format!("the permit to delete is for {}, not for {}", permit.copy(), resource.name);
            let help = "this is a fault in stead, not in the program; please report it";
            return Outcome::Refused(Refusal::new(message).help(help));
        }
        match self.served(&resource.ty) {
            Ok(served) => outcome(served.kind.delete(&self.machine, &receipt, resource).await),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    fn recovery(&self, operation: Operation, resource: &TypeToken, inputs: &Map) -> Recovery {
        match self.served(resource) {
            Ok(served) => served.kind.recovery(operation, inputs),
            Err(_) => Recovery::Ask,
        }
    }
}
