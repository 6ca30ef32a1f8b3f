//! Operations under way: asked for by their request tokens until they end.

use std::time::Duration;

use crate::client::Client;
use crate::fault::{Fault, FaultKind};
use crate::wire::{HookEvent, OperationStatus, ProgressEvent};

/// Pauses between two questions, unless the service says when to ask: the first one, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Longest pause that the service can ask for.
const LONGEST_HINT: Duration = Duration::from_secs(50);

/// Questions without an answer after which the outcome counts as unknown.
const MAX_UNANSWERED: u32 = 10;

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

/// Waits for the end of an operation. The caller limits the time.
pub(crate) async fn finish(client: &Client, started: ProgressEvent) -> End {
    let (mut event, mut hooks) = (started, Vec::new());
    let (mut asked, mut unanswered) = (0, 0);
    loop {
        match event.operation_status {
            OperationStatus::Success => return succeeded(event),
            OperationStatus::Failed => return failed(event, &hooks),
            OperationStatus::CancelComplete => {
                let message = event.status_message.as_deref().or(Some("the operation was cancelled"));
                let fault = Fault::of_operation(Some("Cancelled"), message);
                return End::Failed { identifier: event.identifier, fault };
            }
            OperationStatus::Pending | OperationStatus::InProgress | OperationStatus::CancelInProgress => {}
        }
        client.world.clock.sleep(pause(client, &event, asked)).await;
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
    let now = client.world.clock.now().0 as f64 / 1000.0;
    match event.retry_after.map(|at| at - now) {
        Some(wait) if wait > 0.0 => Duration::from_secs_f64(wait.min(LONGEST_HINT.as_secs_f64())),
        _ => (FIRST_PAUSE * 2u32.pow(asked.min(8))).min(LONGEST_PAUSE),
    }
}

fn succeeded(event: ProgressEvent) -> End {
    match event.identifier {
        Some(identifier) => End::Succeeded { identifier, model: event.resource_model },
        None => End::Unknown(Fault::unreadable("GetResourceRequestStatus", "it has no identifier")),
    }
}

fn failed(event: ProgressEvent, hooks: &[HookEvent]) -> End {
    let mut fault = Fault::of_operation(event.error_code.as_deref(), event.status_message.as_deref());
    for hook in hooks.iter().filter(|hook| hook.hook_status.contains("FAILED")) {
        let said = hook.hook_status_message.as_deref().unwrap_or("it gave no reason");
        fault.message.push_str(&format!("; hook {}: {said}", hook.hook_type_name));
    }
    End::Failed { identifier: event.identifier.filter(|id| !id.is_empty()), fault }
}
