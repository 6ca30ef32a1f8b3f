//! Settings of a cloud: how slow, how consistent, how faulty it is.

use std::time::Duration;

use stead_world::Timestamp;

use super::faults::FaultPlan;

/// Settings of a cloud. The default is a cloud without delays, faults and limits on the rate.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Seed of the identifiers that the cloud makes.
    pub seed: u64,
    /// Time from the acceptance of an operation to its end.
    pub operations: Delay,
    /// Time for which reads return the model before a change. After a create, a read finds nothing.
    pub consistency: Delay,
    pub faults: Option<FaultPlan>,
    /// Limit on calls per account and region.
    pub rate: Option<Rate>,
    pub quotas: Quotas,
    pub references: References,
    pub list: ListedModels,
    /// Time that each call takes.
    pub latency: Duration,
}

/// A time of waiting. It ends after the duration, or earlier if a client has looked often enough.
///
/// A count of looks makes a wait independent of the clock, which stands still in some worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    pub duration: Duration,
    pub looks: Option<u32>,
}

impl Delay {
    pub const NONE: Delay = Delay { duration: Duration::ZERO, looks: None };

    pub fn of(duration: Duration) -> Delay {
        Delay { duration, looks: None }
    }

    /// Returns a wait of this many looks, whatever the clock says.
    pub fn looks(count: u32) -> Delay {
        Delay { duration: Duration::from_secs(3600), looks: Some(count) }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.duration.is_zero()
    }

    pub(crate) fn end(&self, start: Timestamp) -> Timestamp {
        Timestamp(start.0.saturating_add(self.duration.as_millis() as u64))
    }
}

/// Limit on calls: a bucket of `burst` tokens that gets `per_second` tokens each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub per_second: u32,
    pub burst: u32,
}

/// Whether the known quotas of services are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quotas {
    #[default]
    Enforced,
    Ignored,
}

/// Whether references between resources are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum References {
    #[default]
    Checked,
    Ignored,
}

/// Properties that `ListResources` returns. Services differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListedModels {
    /// The primary identifier, as most services do.
    #[default]
    Identifiers,
    /// Everything that `GetResource` returns.
    Whole,
}
