//! The built-in provider for AWS: all published types, through Cloud Control.
//!
//! This file dispatches calls; `operations/` has them, one file each. **Invariants:** no request changes a resource without
//! the client token of a durable intent; no value of a resource is in a log; a fault that leaves the outcome open is a doubt.

mod client;
mod comparison;
mod fault;
mod identities;
mod limiter;
mod model;
mod operations;
mod ownership;
mod permissions;
mod progress;
mod provider_resource;
mod settings;
mod tags;
mod telemetry;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use stead_aws_auth::{AwsAuth, Credentials};
use stead_model::{Inputs, Map, Operation, PhysicalId, PropertyPath, ProviderPlace, Resource, TypeToken};
use stead_provider::{
    BatchReads, CallOutcome, Configurable, CreateRequest, Created, DeletePermit, DeleteRequest, Diff,
    Listing, LiveState, Ownership, Provider, Reads, Receipt, Recovery, Refusal, Telemetry, UpdateRequest,
    Updated,
};
use stead_schema::cfn::{Handler, Schema};
use stead_schema::{Catalog, Problem, Shape, TypeSchema};
use stead_world::World;

use crate::client::{Client, own_endpoint};
use crate::identities::Identities;
use crate::limiter::Limiters;
use crate::tags::TagProperty;

pub use limiter::Limiter;
pub use permissions::{
    MANAGED_POLICY, MoreProperties, Permissions, Policy, SplitPolicy, Statement, TypeUse, UsedProvider,
    known_by_id, least,
};
pub use settings::{RoleSettings, Settings};

/// Time that reading one resource may take.
const READ_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Serves the types `aws.*`.
pub struct AwsProvider {
    client: Client,
    settings: Settings,
    catalog: Catalog,
    access: Access,
}

/// What all instances of the provider share.
#[derive(Clone)]
struct Access {
    world: World,
    limiters: Limiters,
    identities: Identities,
    /// Credentials for a cloud in this process; `None` looks them up on the machine.
    embedded: Option<Credentials>,
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
        let limiters = Limiters::like(Limiter::new(world.clock.clone()));
        let identities = Identities::default();
        AwsProvider::with(Access { world, limiters, identities, embedded: None }, settings, None)
    }

    /// Returns a provider for a cloud in this process: the `http` of the world. It has no rate, and takes any credentials.
    pub fn embedded(world: World, settings: Settings) -> AwsProvider {
        let embedded = Some(Credentials::new("embedded", "embedded"));
        let limiters = Limiters::like(Limiter::unlimited());
        let identities = Identities::default();
        AwsProvider::with(Access { world, limiters, identities, embedded }, settings, None)
    }

    /// Returns an instance whose credentials must belong to the expected account, if one is given.
    fn with(access: Access, settings: Settings, expected: Option<String>) -> AwsProvider {
        let world = access.world.clone();
        let auth = access.identities.of(settings.options(), |options| match access.embedded.clone() {
            Some(credentials) => AwsAuth::with_credentials(world.clone(), options, credentials),
            None => AwsAuth::new(world.clone(), options),
        });
        let client = Client::new(world, auth, access.limiters.clone(), expected);
        AwsProvider { client, settings, catalog: Catalog::default().with_published(), access }
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
        if provider_resource::is(resource) {
            return provider_resource::check(served.ty, inputs);
        }
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

    fn completed(&self, resource: &TypeToken, mut inputs: Map) -> Map {
        let served = self.served(resource).ok().filter(|_| !provider_resource::is(resource));
        if let Some(tags) = served.and_then(|served| served.tags) {
            tags.add(&mut inputs, &self.settings.default_tags);
        }
        inputs
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        match self.served(&old.ty) {
            Ok(served) if provider_resource::is(&old.ty) => provider_resource::diff(served.ty, old, inputs),
            Ok(served) => comparison::diff(served.ty, served.schema, (&old.inputs, &old.outputs), inputs),
            Err(_) => Diff::default(),
        }
    }

    fn reads(&self, resource: &TypeToken) -> Reads {
        if provider_resource::is(resource) { Reads::StateOnly } else { Reads::RealResource }
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        self.read_recorded(resource).await
    }

    async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        if provider_resource::is(resource) {
            return Err(provider_resource::not_real());
        }
        self.find_by_id(resource, id).await
    }

    async fn create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        if provider_resource::is(request.resource) {
            return self.create_provider(&receipt, &request).await.into();
        }
        self.create_resource(&receipt, &request).await
    }

    async fn update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        if provider_resource::is(&request.resource.ty) {
            return self.update_provider(&request).await.into();
        }
        self.update_resource(&receipt, &request).await
    }

    async fn delete(
        &self,
        receipt: Receipt,
        permit: DeletePermit,
        request: DeleteRequest<'_>,
    ) -> CallOutcome<()> {
        if provider_resource::is(&request.resource.ty) {
            return CallOutcome::Done(());
        }
        self.delete_resource(&receipt, &permit, request.resource).await
    }

    fn tells_ends(&self) -> bool {
        true
    }

    async fn end_of_create(&self, receipt: Receipt, request: CreateRequest<'_>) -> CallOutcome<Created> {
        self.ask_create(&receipt, &request).await
    }

    async fn end_of_update(&self, receipt: Receipt, request: UpdateRequest<'_>) -> CallOutcome<Updated> {
        self.ask_update(&receipt, &request).await
    }

    async fn end_of_delete(&self, receipt: Receipt, _: DeleteRequest<'_>) -> CallOutcome<()> {
        self.ask_delete(&receipt).await
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

    fn batch_reads(&self) -> Option<&dyn BatchReads> {
        Some(self)
    }

    fn configurable(&self) -> Option<&dyn Configurable> {
        Some(self)
    }

    async fn place(&self) -> Result<Option<ProviderPlace>, Refusal> {
        let place = self.client.place().await.map_err(|fault| fault.refusal())?;
        // A cloud in this process is the same one whatever URL the environment names.
        let endpoint = own_endpoint(place.url()).filter(|_| self.access.embedded.is_none());
        Ok(place.described(endpoint))
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }

    /// The client token of the intent makes every operation repeatable.
    fn recovery(&self, _: Operation, _: &TypeToken, _: &Map) -> Recovery {
        Recovery::Repeat
    }
}
