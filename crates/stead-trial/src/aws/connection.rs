//! The way of a process to the embedded cloud: requests of a dead process have no effect, and a process can die at a request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use stead_cloud::{Cloud, Fault, HandlerError, Injected};
use stead_world::{Http, HttpError, HttpRequest, HttpResponse};

use crate::Rng;
use crate::world::process::Process;

/// Death at a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiesAt {
    /// The request was not sent.
    Before(u64),
    /// The cloud carried it out, and nobody heard the answer.
    After(u64),
}

impl DiesAt {
    /// Returns the same death after this many times as many requests.
    pub(super) fn later(self, times: u64) -> DiesAt {
        match self {
            DiesAt::Before(at) => DiesAt::Before(at * times),
            DiesAt::After(at) => DiesAt::After(at * times),
        }
    }
}

/// A connection of one process.
pub(super) struct Connection {
    pub cloud: Cloud,
    pub process: Process,
    pub dies_at: Option<DiesAt>,
    pub faults: CallFaults,
    pub sent: AtomicU64,
}

/// Faults of calls, drawn one by one.
pub(super) struct CallFaults {
    pub rng: Mutex<Rng>,
    /// Share of calls that fail, in hundredths.
    pub percent: u64,
}

/// Faults of every call.
const OF_ANY_CALL: &[Fault] = &[
    Fault::Throttled,
    Fault::InternalError,
    Fault::Unavailable,
    Fault::LostBefore,
    Fault::LostAfter,
    Fault::LostAfter,
];

/// Further faults of operations.
const OF_OPERATIONS: &[Fault] = &[
    Fault::HalfMade,
    Fault::HalfMade,
    Fault::Slow,
    Fault::Stale,
    Fault::Stale,
    Fault::Fails(HandlerError::Throttling),
    Fault::Fails(HandlerError::ServiceInternalError),
    Fault::Fails(HandlerError::NetworkFailure),
    Fault::Fails(HandlerError::ResourceConflict),
    Fault::Fails(HandlerError::AccessDenied),
];

impl CallFaults {
    /// Draws the fault of a call.
    fn draw(&self, call: &str) -> Option<Fault> {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        if rng.below(100) >= self.percent {
            return None;
        }
        let mut kinds = OF_ANY_CALL.to_vec();
        match call {
            "CreateResource" | "UpdateResource" | "DeleteResource" => kinds.extend(OF_OPERATIONS),
            "GetResource" | "GetResourceRequestStatus" if rng.one_in(4) => kinds = vec![Fault::ExpiredToken],
            _ => {}
        }
        rng.pick(&kinds).copied()
    }
}

#[async_trait]
impl Http for Connection {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let host = request.host().to_owned();
        let dead = || HttpError::NoAnswer { host: host.clone(), reason: "the process is dead".to_owned() };
        self.process.until_awake().await;
        let number = self.sent.fetch_add(1, Ordering::Relaxed) + 1;
        if self.dies_at == Some(DiesAt::Before(number)) {
            self.process.die("a request");
        }
        if !self.process.is_alive() {
            return Err(dead());
        }
        let target = request.headers.get("x-amz-target").unwrap_or_default();
        let call = target.rsplit('.').next().unwrap_or_default().to_owned();
        if let Some(fault) = self.faults.draw(&call) {
            self.cloud.fail_next(Injected::next(fault).of_call(call));
        }
        let answer = self.cloud.send(request).await;
        if self.dies_at == Some(DiesAt::After(number)) {
            self.process.die("an answer");
        }
        self.process.until_awake().await;
        if self.process.is_alive() { answer } else { Err(dead()) }
    }
}
