//! `GetResourceRequestStatus`, `ListResourceRequests` and `CancelResourceRequest`.

use stead_model::Value;

use super::Answer;
use crate::service::error::{ErrorKind, ServiceError};
use crate::service::machine::{Call, Machine};
use crate::service::progress::event;
use crate::service::state::{Request, RequestKey, Status};
use crate::service::wire::{NEXT_TOKEN, REQUEST_TOKEN, object, text};

/// Size of a page if the call does not give one.
const PAGE: usize = 20;

fn named(machine: &Machine, call: &Call<'_>) -> Result<(RequestKey, Request), ServiceError> {
    let token = call.parameters.required(&REQUEST_TOKEN)?;
    let key = RequestKey { place: call.place.clone(), token: token.to_owned() };
    let Some(request) = machine.state.request(&key) else {
        let message = format!("Request with token {token} was not found.");
        return Err(ServiceError::new(ErrorKind::RequestTokenNotFound, message));
    };
    Ok((key, request.clone()))
}

pub(super) fn status(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let (key, mut request) = named(machine, call)?;
    if !request.status.is_over()
        && let Some(left) = request.looks_left
    {
        request.looks_left = Some(left.saturating_sub(1));
        machine.state.set_request(key.clone(), request);
        machine.settle(call.now);
    }
    let (key, request) = named(machine, call)?;
    Ok(object([("ProgressEvent", Some(event(&key, &request)))]))
}

pub(super) fn list(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let size = call.parameters.max_results(PAGE)?;
    let filter = call.parameters.0.get("ResourceRequestStatusFilter").and_then(Value::as_map);
    let allowed = |name: &str, found: &str| {
        let names = filter.and_then(|filter| filter.get(name)).and_then(Value::as_list);
        names.is_none_or(|names| names.is_empty() || names.iter().any(|name| name.as_str() == Some(found)))
    };
    let mut all: Vec<(&RequestKey, &Request)> = machine
        .state
        .requests(call.place)
        .filter(|(_, request)| allowed("Operations", request.operation.name()))
        .filter(|(_, request)| allowed("OperationStatuses", request.status.name()))
        .collect();
    all.sort_by_key(|(key, request)| (request.accepted, key.token.clone()));
    let start = match call.parameters.optional(&NEXT_TOKEN)? {
        // A request that is gone ends the list.
        Some(token) => all.iter().position(|(key, _)| key.token == token).map_or(all.len(), |at| at + 1),
        None => 0,
    };
    let page = &all[start..all.len().min(start + size)];
    let more = start + page.len() < all.len();
    let next = page.last().filter(|_| more).map(|(key, _)| key.token.clone());
    let events: Vec<Value> = page.iter().map(|(key, request)| event(key, request)).collect();
    Ok(object([
        ("ResourceRequestStatusSummaries", Some(Value::from(events))),
        ("NextToken", next.and_then(text)),
    ]))
}

/// Stops an operation before it takes effect.
pub(super) fn cancel(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let (key, mut request) = named(machine, call)?;
    if !matches!(request.status, Status::Pending | Status::InProgress) {
        let message = format!("The request is in status {} and cannot be canceled.", request.status.name());
        return Err(ServiceError::new(ErrorKind::ConcurrentModification, message));
    }
    request.status = Status::CancelInProgress;
    request.event_time = call.now.0;
    let answer = object([("ProgressEvent", Some(event(&key, &request)))]);
    machine.state.set_request(key, request);
    Ok(answer)
}
