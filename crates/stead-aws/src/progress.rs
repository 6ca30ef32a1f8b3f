//! Operations under way: asked for by their request tokens until they end.
//!
//! The token is recorded as soon as the service has told it, so that a run after a crash asks for the end of the same
//! operation. **Invariant:** an operation is sent again only while the service knows its client token, or if a second one does
//! no harm.

use std::time::Duration;

use stead_model::OperationToken;
use stead_provider::{Ack, Receipt, Warnings};
use stead_world::Timestamp;

use crate::client::Client;
use crate::fault::{Fault, FaultKind};
use crate::wire::{HookEvent, OperationStatus, ProgressEvent, Status};

/// Pauses between two questions, unless the service says when to ask: the first one, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Longest pause that the service can ask for.
const LONGEST_HINT: Duration = Duration::from_secs(50);

/// Questions without an answer after which the outcome counts as unknown.
const MAX_UNANSWERED: u32 = 10;

/// Time for which the service recognises a client token: 36 hours, less a margin.
const CLIENT_TOKEN_LIFETIME: Duration = Duration::from_secs(35 * 3600);

/// Difference between the clocks of two machines with which the service accepts the requests of both.
const CLOCKS_DIFFER: Duration = Duration::from_secs(15 * 60);

/// Progress of the operation in an earlier run.
pub(crate) enum Earlier {
    /// The service told the end of the operation.
    Ended(End),
    /// The service knows no request, and recognises the client token if there was one.
    Repeatable,
    /// The service may have forgotten a request.
    Forgotten,
}

/// Asks for the operation of an earlier run by its recorded token.
pub(crate) async fn earlier(client: &Client, receipt: &Receipt) -> Earlier {
    if receipt.attempt() == 1 {
        return Earlier::Repeatable;
    }
    if let Some(token) = receipt.token() {
        match client.status(token.as_str()).await {
            Ok(status) => return Earlier::Ended(wait(client, status, None, &receipt.warnings()).await),
            Err(fault) if fault.kind == FaultKind::UnknownRequest => {}
            Err(fault) => return Earlier::Ended(End::Unknown(fault)),
        }
    }
    match receipt.begun().is_some_and(|begun| is_recognised_by_all(begun, &clocks(client))) {
        true => Earlier::Repeatable,
        false => Earlier::Forgotten,
    }
}

/// Returns the time by the clock of this machine, and by that of the service.
fn clocks(client: &Client) -> [Timestamp; 2] {
    [client.world.clock.now(), client.now()]
}

/// Returns true if the client token of a request that was begun then, in seconds, is recognised by each of the clocks.
///
/// The beginning is recorded by the clock of the machine that began, which may have differed from that of the service then as the clock
/// of this machine does now, or not at all. The larger age counts.
fn is_recognised_by_all(begun: u64, clocks: &[Timestamp]) -> bool {
    clocks.iter().all(|now| is_recognised(begun, now.0 / 1000))
}

/// Returns true if the service recognises the client token of a request that was begun then. Both times are in seconds.
///
/// The age of a request that was begun in the future is unknown: a clock was set back.
fn is_recognised(begun: u64, now: u64) -> bool {
    let (begun, now) = (Duration::from_secs(begun), Duration::from_secs(now));
    match now.checked_sub(begun) {
        Some(age) => age < CLIENT_TOKEN_LIFETIME,
        None => begun.saturating_sub(now) <= CLOCKS_DIFFER,
    }
}

/// End of an operation.
pub(crate) enum End {
    Succeeded {
        identifier: String,
        /// The model as JSON, which may be only a part.
        model: Option<String>,
    },
    Failed {
        /// Set if the operation got so far that there may be a resource.
        identifier: Option<String>,
        fault: Fault,
    },
    /// The outcome cannot be found out now.
    Unknown(Fault),
}

/// Records the token of a request that the service accepted, and waits for the end of the operation. The caller limits the
/// time.
pub(crate) async fn finish(client: &Client, receipt: &Receipt, started: ProgressEvent) -> End {
    let token = OperationToken::try_from(started.request_token.clone()).ok();
    let recorded = token.filter(|_| !started.has_ended()).map(|token| receipt.record_token(token));
    let status = Status { progress_event: started, hooks_progress_event: Vec::new() };
    wait(client, status, recorded, &receipt.warnings()).await
}

async fn wait(client: &Client, status: Status, mut recorded: Option<Ack>, warnings: &Warnings) -> End {
    let Status { progress_event: mut event, hooks_progress_event: mut hooks } = status;
    let (mut asked, mut unanswered) = (0, 0);
    loop {
        match event.operation_status {
            OperationStatus::Success => {
                hooks_of(client, &event, hooks)
                    .await
                    .iter()
                    .filter_map(said)
                    .for_each(|said| warnings.add(said));
                return succeeded(event);
            }
            OperationStatus::Failed => return failed(&event, &hooks_of(client, &event, hooks).await),
            OperationStatus::CancelComplete => {
                let message = event.status_message.as_deref().or(Some("the operation was cancelled"));
                let fault = Fault::of_operation(Some("Cancelled"), message);
                return End::Failed { identifier: event.identifier, fault };
            }
            OperationStatus::Pending | OperationStatus::InProgress | OperationStatus::CancelInProgress => {}
        }
        let pause = client.world.clock.sleep(pause(client, &event, asked));
        match recorded.take() {
            // A token that cannot be recorded is no reason to stop: the operation is under way.
            Some(recorded) => drop(tokio::join!(recorded.durable(), pause)),
            None => pause.await,
        }
        asked += 1;
        match client.status(&event.request_token).await {
            Ok(status) => {
                unanswered = 0;
                // The identifier may be in an early event only.
                let identifier = status.progress_event.identifier.or(event.identifier);
                event = ProgressEvent { identifier, ..status.progress_event };
                hooks = status.hooks_progress_event;
            }
            Err(fault) => {
                let goes_on = fault.is_transient() || fault.kind == FaultKind::UnknownRequest;
                unanswered += 1;
                if !goes_on || unanswered == MAX_UNANSWERED {
                    return End::Unknown(fault);
                }
            }
        }
    }
}

fn pause(client: &Client, event: &ProgressEvent, asked: u32) -> Duration {
    let now = client.now().0 as f64 / 1000.0;
    match event.retry_after.map(|at| at - now) {
        Some(wait) if wait > 0.0 => Duration::from_secs_f64(wait.min(LONGEST_HINT.as_secs_f64())),
        _ => (FIRST_PAUSE * 2u32.pow(asked.min(8))).min(LONGEST_PAUSE),
    }
}

/// Returns the events of hooks. The first answer about an operation has none.
async fn hooks_of(client: &Client, event: &ProgressEvent, known: Vec<HookEvent>) -> Vec<HookEvent> {
    if !known.is_empty() || event.hooks_request_token.is_none() {
        return known;
    }
    let status = client.status(&event.request_token).await;
    status.map(|status| status.hooks_progress_event).unwrap_or_default()
}

/// Returns the complaint of a hook that failed. In the mode `WARN` the operation goes on.
fn said(hook: &HookEvent) -> Option<String> {
    let reason = hook.hook_status_message.as_deref().unwrap_or("it gave no reason");
    hook.hook_status.contains("FAILED").then(|| format!("hook {}: {reason}", hook.hook_type_name))
}

fn succeeded(event: ProgressEvent) -> End {
    match event.identifier {
        Some(identifier) => End::Succeeded { identifier, model: event.resource_model },
        None => End::Unknown(Fault::unreadable("GetResourceRequestStatus", "it has no identifier")),
    }
}

fn failed(event: &ProgressEvent, hooks: &[HookEvent]) -> End {
    let mut fault = Fault::of_operation(event.error_code.as_deref(), event.status_message.as_deref());
    hooks.iter().filter_map(said).for_each(|said| fault.message.push_str(&format!("; {said}")));
    End::Failed { identifier: event.identifier.clone().filter(|id| !id.is_empty()), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_token_of_unknown_age_counts_as_forgotten() {
        let hour = 3600;
        let now = 1_000 * hour;
        for age in [0, 1, 34 * hour] {
            assert!(is_recognised(now - age, now), "{age}");
        }
        assert!(!is_recognised(now - 35 * hour, now));
        assert!(is_recognised(now + 60, now), "the clock of another machine is a minute ahead");
        assert!(!is_recognised(now + hour, now), "the clock was set back");
    }

    #[test]
    fn failed_operation_tells_what_its_hooks_said() {
        let status: Status = serde_json::from_str(
            r#"{"ProgressEvent":{"OperationStatus":"FAILED","RequestToken":"t","HooksRequestToken":"h","ErrorCode":"InvalidRequest",
                "StatusMessage":"a hook failed"},
                "HooksProgressEvent":[
                  {"HookTypeName":"Acme::S3::Encrypted","HookStatus":"HOOK_COMPLETE_FAILED","FailureMode":"FAIL",
                   "HookStatusMessage":"the bucket is not encrypted"},
                  {"HookTypeName":"Acme::S3::Named","HookStatus":"HOOK_COMPLETE_SUCCEEDED"}]}"#,
        )
        .unwrap();
        assert!(status.progress_event.has_ended() && status.progress_event.hooks_request_token.is_some());
        let End::Failed { identifier: None, fault } =
            failed(&status.progress_event, &status.hooks_progress_event)
        else {
            panic!()
        };
        let said = "InvalidRequest: a hook failed; hook Acme::S3::Encrypted: the bucket is not encrypted";
        assert_eq!(fault.message, said);
    }

    #[test]
    fn hook_that_failed_as_a_warning_is_quoted() {
        let event = |status: &str| {
            let text = format!(
                r#"{{"HookTypeName":"Acme::S3::Named","HookStatus":"{status}","FailureMode":"WARN","HookStatusMessage":"no name"}}"#
            );
            serde_json::from_str::<HookEvent>(&text).unwrap()
        };
        assert_eq!(said(&event("HOOK_COMPLETE_FAILED")).as_deref(), Some("hook Acme::S3::Named: no name"));
        assert_eq!(said(&event("HOOK_COMPLETE_SUCCEEDED")), None);
    }
}
