//! Limit on the rate of calls, per account and region.

use std::collections::BTreeMap;

use stead_world::Timestamp;

use super::place::Place;
use super::settings::Rate;

/// Buckets of tokens, in thousandths of a token, with the time of the last refill.
#[derive(Default)]
pub(crate) struct Limiter {
    buckets: BTreeMap<Place, (u64, Timestamp)>,
}

impl Limiter {
    /// Takes a token for a call, or returns false if there is none.
    pub(crate) fn admits(&mut self, place: &Place, rate: Rate, now: Timestamp) -> bool {
        let full = u64::from(rate.burst) * 1000;
        let (tokens, last) = self.buckets.entry(place.clone()).or_insert((full, now));
        let gained = now.0.saturating_sub(last.0).saturating_mul(u64::from(rate.per_second));
        (*tokens, *last) = (tokens.saturating_add(gained).min(full), now);
        let admitted = *tokens >= 1000;
        if admitted {
            *tokens -= 1000;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_refilled_with_time_and_belongs_to_one_place() {
        let mut limiter = Limiter::default();
        let (rate, here, there) =
            (Rate { per_second: 10, burst: 2 }, Place::new("1", "a"), Place::new("1", "b"));
        let mut admits = |place: &Place, now| limiter.admits(place, rate, Timestamp(now));
        assert!(admits(&here, 0) && admits(&here, 0) && !admits(&here, 0));
        assert!(admits(&there, 0));
        assert!(!admits(&here, 99) && admits(&here, 100) && !admits(&here, 100));
    }
}
