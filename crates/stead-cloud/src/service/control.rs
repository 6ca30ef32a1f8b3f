//! Control of a served cloud over HTTP, under the path `/_stead/`: JSON in, JSON out, without a signature.

use serde::Deserialize;
use serde_json::json;
use stead_model::{Map, Value};
use stead_world::{HttpResponse, Method, Timestamp};

use super::error::{ErrorKind, ServiceError};
use super::faults::{FaultPlan, Injected};
use super::logs::NewLogEvent;
use super::machine::Machine;
use super::metrics::{MetricName, NewPoint};
use super::outside::{ResourceName, Snapshot};
use super::place::Place;
use super::wire::response;

pub(crate) const PREFIX: &str = "/_stead/";

#[derive(Deserialize)]
struct Drift {
    #[serde(flatten)]
    name: ResourceName,
    patch: Value,
}

#[derive(Deserialize)]
struct Contents {
    #[serde(flatten)]
    name: ResourceName,
    count: u64,
}

#[derive(Deserialize)]
struct New {
    #[serde(flatten)]
    place: Place,
    type_name: String,
    properties: Map,
}

#[derive(Deserialize)]
struct Events {
    #[serde(flatten)]
    place: Place,
    group: String,
    #[serde(default = "default_stream")]
    stream: String,
    events: Vec<NewLogEvent>,
}

#[derive(Deserialize)]
struct Points {
    #[serde(flatten)]
    place: Place,
    #[serde(flatten)]
    metric: MetricName,
    points: Vec<NewPoint>,
}

fn default_stream() -> String {
    "default".to_owned()
}

#[derive(Deserialize)]
struct Plan {
    seed: u64,
    rate: f64,
}

pub(crate) fn answer(
    machine: &mut Machine,
    now: Timestamp,
    method: Method,
    path: &str,
    body: &[u8],
) -> HttpResponse {
    let (status, value) = match carried_out(machine, now, method, path, body) {
        Ok(value) => (200, value),
        Err(error) => (error.kind.status(), json!({ "error": error.kind.name(), "message": error.message })),
    };
    response(status, "application/json", value.to_string(), "-")
}

fn carried_out(
    machine: &mut Machine,
    now: Timestamp,
    method: Method,
    path: &str,
    body: &[u8],
) -> Result<serde_json::Value, ServiceError> {
    let done = json!({});
    Ok(match (method, path) {
        (Method::Get, "health") => json!({ "status": "ok" }),
        (Method::Get, "calls") => json!(machine.counts),
        (Method::Get, "throttled") => json!(machine.throttled),
        (Method::Get, "resources") => {
            machine.settle(now);
            json!(machine.names())
        }
        (Method::Get, "snapshot") => json!(machine.snapshot()),
        (Method::Post, "snapshot") => {
            machine.restore(&parsed::<Snapshot>(body)?);
            done
        }
        (Method::Post, "reset") => {
            machine.reset();
            done
        }
        (Method::Post, "insert") => {
            let New { place, type_name, properties } = parsed(body)?;
            json!({ "identifier": machine.insert(&place, &type_name, &properties, now)? })
        }
        (Method::Post, "model") => {
            machine.settle(now);
            json!(machine.model(&parsed(body)?))
        }
        (Method::Post, "drift") => {
            machine.settle(now);
            let Drift { name, patch } = parsed(body)?;
            machine.drift(&name, &patch)?;
            done
        }
        (Method::Post, "remove") => {
            machine.settle(now);
            machine.remove(&parsed(body)?)?;
            done
        }
        (Method::Post, "contents") => {
            machine.settle(now);
            let Contents { name, count } = parsed(body)?;
            machine.set_contents(&name, count)?;
            done
        }
        (Method::Post, "logs") => {
            machine.settle(now);
            let Events { place, group, stream, events } = parsed(body)?;
            machine.put_log_events(&place, &group, &stream, events, now)?;
            done
        }
        (Method::Post, "metrics") => {
            let Points { place, metric, points } = parsed(body)?;
            machine.put_points(&place, metric, &points, now);
            done
        }
        (Method::Post, "fail-next") => {
            machine.faults.injected.push(parsed::<Injected>(body)?);
            done
        }
        (Method::Post, "faults") => {
            let plan = parsed::<Option<Plan>>(body)?;
            machine.faults.plan = plan.map(|Plan { seed, rate }| FaultPlan { seed, rate });
            done
        }
        _ => {
            return Err(ServiceError::new(
                ErrorKind::UnknownOperation,
                format!("{} {path:?}", method.as_str()),
            ));
        }
    })
}

fn parsed<T: for<'a> Deserialize<'a>>(body: &[u8]) -> Result<T, ServiceError> {
    serde_json::from_slice(body)
        .map_err(|error| ServiceError::new(ErrorKind::Serialization, error.to_string()))
}
