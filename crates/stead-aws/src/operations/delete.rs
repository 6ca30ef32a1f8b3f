//! Deletions.

use stead_model::Resource;
use stead_provider::{CallOutcome, DeletePermit, Receipt, Refusal};

use super::{in_doubt, not_started, not_told};
use crate::AwsProvider;
use crate::fault::FaultKind;
use crate::progress::{Earlier, End, earlier, finish};

/// Attempts at a deletion while another operation on the resource is under way.
const BUSY_ATTEMPTS: u32 = 30;

impl AwsProvider {
    pub(crate) async fn delete_resource(
        &self,
        receipt: &Receipt,
        permit: &DeletePermit,
        resource: &Resource,
    ) -> CallOutcome<()> {
        if *permit.copy() != resource.copy() {
            let message = format!("the permit to delete is for {}, not for {}", permit.copy(), resource.name);
            let help = "this is a bug in stead; please report it";
            return CallOutcome::Refused(Refusal::new(message).help(help));
        }
        let served = match self.served(&resource.ty) {
            Ok(served) => served,
            Err(refusal) => return CallOutcome::Refused(refusal),
        };
        let Some(id) = &resource.id else { return CallOutcome::Done(()) };
        if let Earlier::Ended(end) = earlier(&self.client, receipt).await {
            return deleted(end);
        }
        for attempt in 1.. {
            match self.client.delete(served.name(), id.as_str(), receipt.idempotency_key()).await {
                Ok(event) => return deleted(finish(&self.client, receipt, event).await),
                // It was deleted already, by an earlier attempt or outside.
                Err(fault) if fault.kind == FaultKind::NotFound => return CallOutcome::Done(()),
                Err(fault) if fault.kind == FaultKind::Conflict && attempt < BUSY_ATTEMPTS => {
                    self.client.pause(attempt).await;
                }
                Err(fault) => return not_started(&fault),
            }
        }
        CallOutcome::Refused(Refusal::transient("other operations on the resource do not end"))
    }

    /// Asks for the end of a deletion of an earlier run, and sends nothing.
    pub(crate) async fn ask_delete(&self, receipt: &Receipt) -> CallOutcome<()> {
        match earlier(&self.client, receipt).await {
            Earlier::Ended(end) => deleted(end),
            Earlier::Repeatable | Earlier::Forgotten => not_told(),
        }
    }
}

/// Returns the outcome of a deletion that the service accepted.
fn deleted(end: End) -> CallOutcome<()> {
    match end {
        End::Succeeded { .. } => CallOutcome::Done(()),
        End::Failed { fault, .. } if fault.kind == FaultKind::NotFound => CallOutcome::Done(()),
        End::Failed { fault, .. } => CallOutcome::Refused(fault.refusal().of_operation()),
        End::Unknown(fault) => in_doubt(&fault),
    }
}
