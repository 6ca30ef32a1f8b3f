//! Faults on request: the next calls fail in a given way, or a share of all calls fails in ways drawn from a seed.

use serde::{Deserialize, Serialize};

use super::error::{ErrorKind, HandlerError, ServiceError};
use super::ids::scramble;

/// Share of calls that fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultPlan {
    pub seed: u64,
    /// Between 0 (no call) and 1 (every call).
    pub rate: f64,
}

/// Way in which a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The call is refused because of its rate.
    Throttled,
    /// The answer is an internal error (500), without an effect.
    InternalError,
    /// The answer is 503, without an effect.
    Unavailable,
    /// The connection is closed without an effect.
    LostBefore,
    /// The connection is closed after the effect.
    LostAfter,
    /// The session of the caller has expired.
    ExpiredToken,
    /// The operation is accepted and fails with this code, without an effect.
    Fails(HandlerError),
    /// The operation is accepted, takes effect and fails: a created resource exists, and the event names it.
    HalfMade,
    /// The operation takes ten minutes, or five looks at its progress.
    Slow,
    /// The next two reads of the resource return its model before the operation.
    Stale,
}

/// Fault of the next calls that fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injected {
    pub fault: Fault,
    /// Call that fails, such as `CreateResource`. `None`: any.
    #[serde(default)]
    pub call: Option<String>,
    /// Type whose calls fail. `None`: any.
    #[serde(default)]
    pub type_name: Option<String>,
    /// Number of calls that fail.
    #[serde(default = "once")]
    pub times: u32,
}

fn once() -> u32 {
    1
}

impl Injected {
    /// Returns a fault of the next call, whatever it is.
    pub fn next(fault: Fault) -> Injected {
        Injected { fault, call: None, type_name: None, times: 1 }
    }

    /// Limits the fault to one of the eight calls.
    #[must_use]
    pub fn of_call(self, call: impl Into<String>) -> Injected {
        Injected { call: Some(call.into()), ..self }
    }

    /// Limits the fault to one type.
    #[must_use]
    pub fn of_type(self, type_name: impl Into<String>) -> Injected {
        Injected { type_name: Some(type_name.into()), ..self }
    }

    fn fits(&self, call: &str, type_name: &str) -> bool {
        let same =
            |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
        same(&self.call, call)
            && same(&self.type_name, type_name)
            && (!self.fault.is_of_operation() || is_operation(call))
    }
}

impl Fault {
    /// Returns true for a fault that only an operation on a resource can have.
    fn is_of_operation(self) -> bool {
        matches!(self, Fault::Fails(_) | Fault::HalfMade | Fault::Slow | Fault::Stale)
    }

    /// Returns the error that answers the call, if the fault refuses it.
    pub(crate) fn refusal(self) -> Option<ServiceError> {
        let (kind, message) = match self {
            Fault::Throttled => (ErrorKind::Throttling, "Rate exceeded"),
            Fault::InternalError => (ErrorKind::InternalFailure, "An internal error has occurred"),
            Fault::Unavailable => (ErrorKind::ServiceUnavailable, "Service is unable to handle request."),
            Fault::ExpiredToken => {
                (ErrorKind::ExpiredToken, "The security token included in the request is expired")
            }
            _ => return None,
        };
        Some(ServiceError::new(kind, message))
    }
}

/// Returns true for a call that starts an operation on a resource.
fn is_operation(call: &str) -> bool {
    matches!(call, "CreateResource" | "UpdateResource" | "DeleteResource")
}

/// Faults of calls of every kind, in a plan.
const OF_ANY_CALL: &[Fault] =
    &[Fault::Throttled, Fault::InternalError, Fault::Unavailable, Fault::LostBefore, Fault::LostAfter];
/// Further faults of operations, in a plan.
const OF_OPERATIONS: &[Fault] = &[
    Fault::Fails(HandlerError::Throttling),
    Fault::Fails(HandlerError::ServiceInternalError),
    Fault::Fails(HandlerError::NetworkFailure),
    Fault::Fails(HandlerError::ResourceConflict),
    Fault::HalfMade,
    Fault::Slow,
    Fault::Stale,
];

/// Faults still to come, and the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) plan: Option<FaultPlan>,
    pub(crate) injected: Vec<Injected>,
    drawn: u64,
}

impl Faults {
    pub(crate) fn of(plan: Option<FaultPlan>) -> Faults {
        Faults { plan, ..Faults::default() }
    }

    /// Returns the fault of a call: an injected one, or one of the plan.
    pub(crate) fn take(&mut self, call: &str, type_name: &str) -> Option<Fault> {
        if let Some(at) = self.injected.iter().position(|injected| injected.fits(call, type_name)) {
            let fault = self.injected[at].fault;
            self.injected[at].times = self.injected[at].times.saturating_sub(1);
            if self.injected[at].times == 0 {
                self.injected.remove(at);
            }
            return Some(fault);
        }
        let FaultPlan { seed, rate } = self.plan?;
        self.drawn += 1;
        let bits = scramble(seed, self.drawn);
        // The upper half decides whether, the lower half which.
        let share = (bits >> 32) as f64 / f64::from(u32::MAX);
        if share >= rate {
            return None;
        }
        let mut kinds = OF_ANY_CALL.to_vec();
        if is_operation(call) {
            kinds.extend(OF_OPERATIONS);
        }
        Some(kinds[(bits & 0xffff_ffff) as usize % kinds.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_draws_the_same_faults_again_and_keeps_its_rate() {
        let draw = |rate| {
            let mut faults = Faults::of(Some(FaultPlan { seed: 7, rate }));
            (0..1000).map(|_| faults.take("CreateResource", "T")).collect::<Vec<_>>()
        };
        assert_eq!(draw(0.2), draw(0.2));
        let count = draw(0.2).iter().flatten().count();
        assert!((150..250).contains(&count), "{count}");
        assert_eq!(draw(0.0).iter().flatten().count(), 0);
    }

    #[test]
    fn an_injected_fault_waits_for_its_call_and_type() {
        let mut faults = Faults::default();
        faults.injected.push(Injected::next(Fault::HalfMade).of_type("A"));
        assert_eq!(faults.take("GetResource", "A"), None);
        assert_eq!(faults.take("CreateResource", "B"), None);
        assert_eq!(faults.take("CreateResource", "A"), Some(Fault::HalfMade));
        assert_eq!(faults.take("CreateResource", "A"), None);
    }
}
