//! The built-in provider for AWS: all published types, through Cloud Control.
//!
//! This file dispatches calls; `operations/` has them, one file each. **Invariants:** no request changes a resource without
//! the client token of a durable intent; no value of a resource is in a log; a fault that leaves the outcome open is a doubt.

mod client;
mod comparison;
mod fault;
mod limiter;
mod model;
mod operations;
mod ownership;
mod permissions;
mod progress;
mod settings;
mod tags;
mod telemetry;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use stead_aws_auth::{AwsAuth, Credentials};
use stead_model::{Inputs, Map, Operation, PhysicalId, PropertyPath, Resource, TypeToken};
use stead_provider::{
    CallOutcome, CreateRequest, Created, DeletePermit, DeleteRequest, Diff, Listing, LiveState, Ownership,
    Provider, Reads, Receipt, Recovery, Refusal, Telemetry, UpdateRequest, Updated,
};
use stead_schema::cfn::{Handler, Schema};
use stead_schema::{Catalog, Problem, Shape, TypeSchema};
use stead_world::World;

use crate::client::Client;
use crate::tags::TagProperty;

pub use limiter::Limiter;
pub use permissions::{MANAGED_POLICY, MoreProperties, Permissions, Policy, Statement, TypeUse, least};
pub use settings::{RoleSettings, Settings};

/// Time that reading one resource may take.
const READ_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Serves the types `aws.*`.
pub struct AwsProvider {
    client: Client,
    settings: Settings,
    catalog: Catalog,
}

/// A type with its published schema.
struct ServedType<'a> {
    ty: &'a TypeSchema,
    schema: &'a Arc<Schema>,
    tags: Option<TagProperty>,
}

impl ServedType<'_> {
    /// Returns the name in Cloud Control, such as `AWS::S3::Bucket`.
    fn name(&self) -> &str {
        &self.schema.type_name
    }

    /// Returns why Cloud Control cannot manage the type.
    fn unmanageable(&self) -> Option<String> {
        let handlers = &self.schema.handlers;
        let all = [("create", handlers.create), ("read", handlers.read), ("delete", handlers.delete)];
        let missing: Vec<&str> =
            all.iter().filter(|(_, handler)| handler.is_none()).map(|(name, _)| *name).collect();
        (!missing.is_empty()).then(|| {
            format!(
                "{} cannot be managed through Cloud Control: it cannot {} it",
                self.name(),
                missing.join(" or ")
            )
        })
    }
}

impl AwsProvider {
    /// Returns a provider with the credentials that the machine has.
    pub fn new(world: World, settings: Settings) -> AwsProvider {
        let auth = AwsAuth::new(world.clone(), settings.options());
        let limiter = Limiter::new(world.clock.clone());
        AwsProvider::with(Client::new(world, auth, limiter), settings)
    }

    /// Returns a provider for a cloud in this process: the `http` of the world. It has no rate, and takes any credentials.
    pub fn embedded(world: World, settings: Settings) -> AwsProvider {
        let credentials = Credentials::new("embedded", "embedded");
        let auth = AwsAuth::with_credentials(world.clone(), settings.options(), credentials);
        let limiter = Limiter::unlimited(world.clock.clone());
        AwsProvider::with(Client::new(world, auth, limiter), settings)
    }

    fn with(client: Client, settings: Settings) -> AwsProvider {
        AwsProvider { client, settings, catalog: Catalog::default().with_published() }
    }

    fn served(&self, token: &TypeToken) -> Result<ServedType<'_>, Refusal> {
        let unknown = || {
            Refusal::new(format!("AWS has no type `{token}`"))
                .help("a newer version of stead may know more types")
        };
        let ty = self.catalog.get(token).ok_or_else(unknown)?;
        match ty.properties.first().map(|property| &property.shape) {
            Some(Shape::Published(published)) => {
                let schema = &published.schema;
                Ok(ServedType { ty, schema, tags: TagProperty::of(schema) })
            }
            _ => Err(unknown()),
        }
    }
}

#[async_trait]
impl Provider for AwsProvider {
    fn name(&self) -> &str {
        "aws"
    }

    fn types(&self) -> Vec<TypeSchema> {
        Vec::new()
    }

    fn catalog(&self) -> Catalog {
        self.catalog.clone()
    }

    async fn check(&self, resource: &TypeToken, mut inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
        let problem = |message: String, help: Option<String>| {
            vec![Problem { path: PropertyPath::default(), message, help }]
        };
        let served = self
            .served(resource)
            .map_err(|Refusal { message, help, .. }| problem(message, help.map(|help| help.to_string())))?;
        if let Some(reason) = served.unmanageable() {
            let help = "use another type for it, or manage it outside and give its id to the program";
            return Err(problem(reason, Some(help.to_owned())));
        }
        let problems = stead_schema::check(served.ty, &inputs);
        if !problems.is_empty() {
            return Err(problems);
        }
        if let Some(tags) = &served.tags {
            tags.add_defaults(&mut inputs, &self.settings.default_tags);
        }
        Ok(inputs)
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        match self.served(&old.ty) {
            Ok(served) => comparison::diff(served.ty, served.schema, (&old.inputs, &old.outputs), inputs),
            Err(_) => Diff::default(),
        }
    }

    fn reads(&self, _: &TypeToken) -> Reads {
        Reads::RealResource
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        self.read_recorded(resource).await
    }

    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        self.find_by_id(resource, id).await
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        self.create_resource(&receipt, &request).await
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        self.update_resource(&receipt, &request).await
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()> {
        self.delete_resource(&receipt, &permit, request.resource).await
    }

    fn timeout(&self, operation: Operation, resource: &TypeToken) -> Duration {
        let handler = self.served(resource).ok().and_then(|served| {
            let handlers = &served.schema.handlers;
            match operation {
                Operation::Create => handlers.create,
                Operation::Update => handlers.update,
                Operation::Delete => handlers.delete,
            }
        });
        let minutes = handler
            .map_or(stead_schema::cfn::DEFAULT_TIMEOUT_MINUTES, |Handler { timeout_minutes }| {
                timeout_minutes
            });
        // The service gives up first, and says why.
        Duration::from_secs(60 * (u64::from(minutes) + 5))
    }

    fn read_timeout(&self, _: &TypeToken) -> Duration {
        READ_TIMEOUT
    }

    fn ownership(&self) -> Option<&dyn Ownership> {
        Some(self)
    }

    fn listing(&self) -> Option<&dyn Listing> {
        Some(self)
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }

    /// The client token of the intent makes every operation repeatable.
    fn recovery(&self, _: Operation, _: &TypeToken, _: &Map) -> Recovery {
        Recovery::Repeat
    }
}
