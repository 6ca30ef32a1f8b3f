//! The calls of CloudWatch Logs that bring events in and read them. A log group is a resource and must exist.
//!
//! Nothing writes to a log by itself: functions are not executed. Events come from clients and from tests.

use serde::{Deserialize, Serialize};
use serde_json::json;
use stead_model::{Map, Value};
use stead_world::Timestamp;

use super::batches::{Batch, LogEvent, Shelf};
use super::calls::{Answer, Function};
use super::error::{ErrorKind, ServiceError};
use super::machine::{Call, Machine};
use super::place::Place;
use super::state::ResourceKey;

pub(crate) const GROUP: &str = "AWS::Logs::LogGroup";
const STREAM: &str = "AWS::Logs::LogStream";
/// Prefix of the header `X-Amz-Target`.
pub(crate) const TARGET: &str = "Logs_20140328.";

/// Most events of one page, and of one call that brings events.
const MOST: usize = 10_000;
/// Events may be two hours ahead and fourteen days old.
const AHEAD: u64 = 2 * 3_600_000;
const OLD: u64 = 14 * 24 * 3_600_000;

/// An event that a client brings. Without a time it happens now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLogEvent {
    #[serde(default)]
    pub timestamp: Option<u64>,
    pub message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Put {
    log_group_name: String,
    log_stream_name: String,
    log_events: Vec<NewLogEvent>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreateStream {
    log_group_name: String,
    log_stream_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreateGroup {
    log_group_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filter {
    log_group_name: Option<String>,
    log_group_identifier: Option<String>,
    #[serde(default)]
    log_stream_names: Vec<String>,
    log_stream_name_prefix: Option<String>,
    start_time: Option<u64>,
    end_time: Option<u64>,
    filter_pattern: Option<String>,
    next_token: Option<String>,
    limit: Option<usize>,
}

/// Returns the call with this name.
pub(crate) fn named(name: &str) -> Option<Function> {
    Some(match name {
        "CreateLogGroup" => create_group,
        "CreateLogStream" => create_stream,
        "PutLogEvents" => put,
        "FilterLogEvents" => filter,
        _ => return None,
    })
}

fn create_group(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let CreateGroup { log_group_name } = call.parsed()?;
    let name = [("LogGroupName".to_owned(), Value::from(log_group_name))];
    let desired: Map = name.into_iter().collect();
    machine.insert(call.place, GROUP, &desired, call.now).map_err(|error| match error.kind {
        ErrorKind::AlreadyExists => {
            ServiceError::new(ErrorKind::ResourceAlreadyExists, "The specified log group already exists")
        }
        _ => ServiceError::new(ErrorKind::InvalidParameter, error.message),
    })?;
    Ok(Value::Map(Map::new()))
}

fn create_stream(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let CreateStream { log_group_name: group, log_stream_name: stream } = call.parsed()?;
    machine.log_group(call.place, &group)?;
    if machine.has_stream(call.place, &group, &stream) {
        let message = "The specified log stream already exists";
        return Err(ServiceError::new(ErrorKind::ResourceAlreadyExists, message));
    }
    let key = machine.state.next_batch(call.place, Shelf::Stream { group, stream });
    machine.state.set_batch(key, Some(Batch::Events(Vec::new())));
    Ok(Value::Map(Map::new()))
}

fn put(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let Put { log_group_name: group, log_stream_name: stream, log_events: events } = call.parsed()?;
    machine.log_group(call.place, &group)?;
    if !machine.has_stream(call.place, &group, &stream) {
        return Err(not_found("The specified log stream does not exist."));
    }
    let invalid = |message: &str| Err(ServiceError::new(ErrorKind::InvalidParameter, message));
    if events.is_empty() || events.len() > MOST {
        return invalid(
            "1 validation error detected: Value at 'logEvents' failed to satisfy constraint: Member must have length between 1 and 10000",
        );
    }
    let at = |event: &NewLogEvent| event.timestamp.unwrap_or(call.now.0);
    if events.windows(2).any(|pair| at(&pair[0]) > at(&pair[1])) {
        return invalid("Log events in a single PutLogEvents request must be in chronological order.");
    }
    let too_old = events.partition_point(|event| at(event) + OLD < call.now.0);
    let too_new = events.partition_point(|event| at(event) <= call.now.0 + AHEAD);
    let taken = events.get(too_old..too_new).unwrap_or_default().to_vec();
    let count = events.len();
    machine.put_log_events(call.place, &group, &stream, taken, call.now)?;
    let mut rejected = serde_json::Map::new();
    if too_old > 0 {
        rejected.insert("tooOldLogEventEndIndex".to_owned(), json!(too_old));
    }
    if too_new < count {
        rejected.insert("tooNewLogEventStartIndex".to_owned(), json!(too_new));
    }
    let mut answer = serde_json::Map::new();
    answer.insert("nextSequenceToken".to_owned(), json!("0"));
    if !rejected.is_empty() {
        answer.insert("rejectedLogEventsInfo".to_owned(), rejected.into());
    }
    answered(&answer.into())
}

fn filter(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let wanted: Filter = call.parsed()?;
    let invalid = |message: &str| ServiceError::new(ErrorKind::InvalidParameter, message);
    let group = wanted.log_group_name.as_deref().or(wanted.log_group_identifier.as_deref().map(group_of));
    let group =
        group.ok_or_else(|| invalid("Either logGroupName or logGroupIdentifier must be provided."))?;
    machine.log_group(call.place, group)?;
    if wanted.filter_pattern.as_ref().is_some_and(|pattern| !pattern.is_empty()) {
        return Err(invalid("the embedded cloud evaluates no filterPattern"));
    }
    let limit = wanted.limit.unwrap_or(MOST);
    if !(1..=MOST).contains(&limit) {
        return Err(invalid("limit must be between 1 and 10000"));
    }
    let in_stream = |stream: &str| {
        let named =
            wanted.log_stream_names.is_empty() || wanted.log_stream_names.iter().any(|one| one == stream);
        named
            && wanted.log_stream_name_prefix.as_ref().is_none_or(|prefix| stream.starts_with(prefix.as_str()))
    };
    let in_time = |at: u64| {
        wanted.start_time.is_none_or(|start| start <= at) && wanted.end_time.is_none_or(|end| at <= end)
    };
    let mut found = Vec::new();
    for (key, stream, batch) in machine.state.batches().of_group(call.place, group) {
        let Batch::Events(events) = batch else { continue };
        let events = events.iter().enumerate().filter(|(_, event)| in_stream(stream) && in_time(event.at));
        found.extend(events.map(|(index, event)| (event_id(event.at, key.number, index), stream, event)));
    }
    // An id starts with the time of its event.
    found.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let after = wanted.next_token.unwrap_or_default();
    let start = found.partition_point(|(id, ..)| *id <= after);
    let page: Vec<_> = found.get(start..).unwrap_or_default().iter().take(limit).collect();
    let next = page.last().filter(|_| start + page.len() < found.len()).map(|(id, ..)| id.clone());
    let events: Vec<serde_json::Value> = page
        .iter()
        .map(|(id, stream, event)| {
            json!({
                "logStreamName": stream,
                "timestamp": event.at,
                "message": event.message,
                "ingestionTime": event.received,
                "eventId": id,
            })
        })
        .collect();
    let mut answer = json!({ "events": events, "searchedLogStreams": [] });
    if let Some(next) = next {
        answer["nextToken"] = json!(next);
    }
    answered(&answer)
}

impl Machine {
    /// Fails unless the log group exists.
    fn log_group(&self, place: &Place, group: &str) -> Result<(), ServiceError> {
        match self.state.resource(&key(place, GROUP, group.to_owned())) {
            Some(_) => Ok(()),
            None => Err(not_found("The specified log group does not exist.")),
        }
    }

    fn has_stream(&self, place: &Place, group: &str, stream: &str) -> bool {
        let resource = key(place, STREAM, format!("{group}|{stream}"));
        self.state.resource(&resource).is_some()
            || self.state.batches().of_group(place, group).any(|(_, of, _)| of == stream)
    }

    /// Adds events to a stream of a log group that exists.
    pub(crate) fn put_log_events(
        &mut self,
        place: &Place,
        group: &str,
        stream: &str,
        events: Vec<NewLogEvent>,
        now: Timestamp,
    ) -> Result<(), ServiceError> {
        self.log_group(place, group)?;
        let event = |NewLogEvent { timestamp, message }| LogEvent {
            at: timestamp.unwrap_or(now.0),
            received: now.0,
            message,
        };
        let shelf = Shelf::Stream { group: group.to_owned(), stream: stream.to_owned() };
        let key = self.state.next_batch(place, shelf);
        self.state.set_batch(key, Some(Batch::Events(events.into_iter().map(event).collect())));
        Ok(())
    }
}

fn key(place: &Place, type_name: &str, identifier: String) -> ResourceKey {
    ResourceKey { place: place.of_type(type_name), type_name: type_name.to_owned(), identifier }
}

/// Returns the name of a group from its name or its ARN.
fn group_of(identifier: &str) -> &str {
    identifier.split_once(":log-group:").map_or(identifier, |(_, name)| name.trim_end_matches(":*"))
}

/// Returns the id of an event: 56 digits, as AWS's have.
fn event_id(at: u64, batch: u64, index: usize) -> String {
    format!("{at:020}{batch:018}{index:018}")
}

fn not_found(message: &str) -> ServiceError {
    ServiceError::new(ErrorKind::ResourceNotFound, message)
}

/// Returns an answer that was made as JSON.
pub(super) fn answered(json: &serde_json::Value) -> Answer {
    serde_json::from_str(&json.to_string())
        .map_err(|error| ServiceError::new(ErrorKind::InternalFailure, error.to_string()))
}
