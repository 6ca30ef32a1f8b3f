//! The operations on one resource.

mod batch;
mod create;
mod delete;
mod list;
mod read;
mod update;

use stead_model::Map;
use stead_provider::{CallOutcome, Doubt};
use stead_world::Effect;

use crate::fault::Fault;
use crate::{AwsProvider, ServedType};

/// Reads of marks and of listed resources that are under way at once. The limiter keeps their rate.
pub(crate) const PARALLEL_READS: usize = 16;

/// A resource as the service describes it.
pub(crate) struct Found {
    pub(crate) identifier: String,
    /// The whole model, without tags of AWS.
    pub(crate) model: Map,
}

impl Found {
    /// Returns the model without the owner's mark, as it is recorded and compared.
    pub(crate) fn outputs(&self, served: &ServedType<'_>) -> Map {
        let mut outputs = self.model.clone();
        if let Some(tags) = &served.tags {
            tags.strip(&mut outputs);
        }
        outputs
    }
}

/// Returns the outcome of an operation that the service did not accept.
fn not_started<T>(fault: &Fault) -> CallOutcome<T> {
    match fault.effect {
        Effect::None => CallOutcome::Refused(fault.refusal()),
        Effect::Unknown => in_doubt(fault),
    }
}

/// Returns the outcome of an operation that lacks a secret, and whose end the service does not tell.
fn not_told<T>() -> CallOutcome<T> {
    let message = "AWS does not tell its end any more, and it cannot be sent again without its secret";
    CallOutcome::InDoubt(Doubt { message: message.to_owned() })
}

fn in_doubt<T>(fault: &Fault) -> CallOutcome<T> {
    CallOutcome::InDoubt(Doubt { message: fault.message.clone() })
}

impl AwsProvider {
    /// Reads a resource; `None` if it does not exist.
    pub(crate) async fn get(
        &self,
        served: &ServedType<'_>,
        identifier: &str,
    ) -> Result<Option<Found>, Fault> {
        use crate::fault::FaultKind;
        let described = match self.client.get(served.name(), identifier).await {
            Ok(described) => described,
            Err(fault) if fault.kind == FaultKind::NotFound => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let mut model = crate::model::parse(&described.properties)?;
        if let Some(tags) = &served.tags {
            tags.strip_tags_of_aws(&mut model);
        }
        let identifier =
            if described.identifier.is_empty() { identifier.to_owned() } else { described.identifier };
        Ok(Some(Found { identifier, model }))
    }

    /// Reads a resource that was just created or changed, which the service may not find at once.
    pub(crate) async fn read_back(
        &self,
        served: &ServedType<'_>,
        identifier: &str,
    ) -> Result<Option<Found>, Fault> {
        self.read_until_found(served, identifier, 7).await
    }

    /// Reads a resource, and takes it for deleted only if several reads do not find it: one alone may be stale.
    pub(crate) async fn read_or_deleted(
        &self,
        served: &ServedType<'_>,
        identifier: &str,
    ) -> Result<Option<Found>, Fault> {
        self.read_until_found(served, identifier, 3).await
    }

    async fn read_until_found(
        &self,
        served: &ServedType<'_>,
        identifier: &str,
        attempts: u32,
    ) -> Result<Option<Found>, Fault> {
        for attempt in 1..attempts {
            if let Some(found) = self.get(served, identifier).await? {
                return Ok(Some(found));
            }
            self.client.pause(attempt).await;
        }
        self.get(served, identifier).await
    }
}
