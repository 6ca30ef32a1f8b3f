//! The identities of a run: each pair of profile and role looks its credentials up once, and asks STS once.

use std::sync::{Arc, Mutex, PoisonError};

use stead_aws_auth::{AwsAuth, Options};

/// Identities by their options, without the region. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Identities(Arc<Mutex<Vec<(Options, AwsAuth)>>>);

impl Identities {
    /// Returns the identity of these options, in their region. `make` makes it the first time.
    pub(crate) fn of(&self, options: Options, make: impl FnOnce(Options) -> AwsAuth) -> AwsAuth {
        let region = options.region.clone();
        let key = Options { region: None, ..options };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, auth)) = known.iter().find(|(options, _)| *options == key) {
            return auth.in_region(region);
        }
        let auth = make(key.clone()).in_region(region);
        known.push((key, auth.clone()));
        auth
    }
}
