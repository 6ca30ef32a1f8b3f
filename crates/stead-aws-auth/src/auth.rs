//! The chain of credentials: looked up once, renewed before they expire, shared by all calls.

use std::sync::Arc;

use stead_world::{HttpResponse, Timestamp, World};
use tokio::sync::{Mutex, OnceCell};

use crate::call::{Call, CallError, Caller};
use crate::config::Config;
use crate::error::{CredentialsError, CredentialsErrorClass, Source};
use crate::service_error::ServiceErrorClass;
use crate::{Credentials, Identity, endpoint, sources};

/// Time before the expiry at which credentials are renewed.
const RENEW_BEFORE_MS: u64 = 5 * 60_000;

/// Choices of a caller that are stronger than the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Profile to use; then no other source is tried.
    pub profile: Option<String>,
    pub region: Option<String>,
    /// URL of every service, STS included.
    pub endpoint: Option<String>,
    /// Role to assume with the credentials that are found.
    pub role: Option<AssumedRole>,
}

/// A role to assume, and the settings of its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssumedRole {
    pub arn: String,
    pub external_id: Option<String>,
    pub session_name: Option<String>,
}

/// Credentials, region and signed calls of one identity. Clones share the credentials.
#[derive(Clone)]
pub struct AwsAuth {
    caller: Arc<Caller>,
    options: Options,
    /// Credentials that are given instead of looked up.
    given: Option<Credentials>,
    /// Credentials of the last look-up. Locked during a look-up, so that there is one at a time.
    current: Arc<Mutex<Option<Credentials>>>,
    /// The answer of STS, which does not change with a renewal of the credentials.
    pub(crate) identity: Arc<OnceCell<Identity>>,
}

impl AwsAuth {
    pub fn new(world: World, options: Options) -> AwsAuth {
        let (caller, current, identity) = (Arc::new(Caller::new(world)), Arc::default(), Arc::default());
        AwsAuth { caller, options, given: None, current, identity }
    }

    /// Returns the time: the clock of the services, if one of them refused a request because of this machine's clock.
    pub fn now(&self) -> Timestamp {
        self.caller.now()
    }

    /// Returns the same identity in another region. Both look the credentials up once, and ask STS once.
    #[must_use]
    pub fn in_region(&self, region: Option<String>) -> AwsAuth {
        AwsAuth { options: Options { region, ..self.options.clone() }, ..self.clone() }
    }

    /// Returns an identity with these credentials, which are never looked up, or with a role that they assume.
    pub fn with_credentials(world: World, options: Options, credentials: Credentials) -> AwsAuth {
        AwsAuth { given: Some(credentials), ..AwsAuth::new(world, options) }
    }

    /// Returns credentials that are valid for some minutes.
    pub async fn credentials(&self) -> Result<Credentials, CredentialsError> {
        let mut current = self.current.lock().await;
        let now = self.caller.now();
        if let Some(known) = current.as_ref().filter(|known| known.last(now, RENEW_BEFORE_MS)) {
            return Ok(known.clone());
        }
        match sources::look_up(&self.caller, &self.options, self.given.as_ref()).await {
            Ok(found) => Ok(current.insert(found).clone()),
            // A renewal can fail for a while without harm.
            Err(error) => match current.as_ref().filter(|known| known.last(now, 0)) {
                Some(known) => Ok(known.clone()),
                None => Err(error),
            },
        }
    }

    /// Returns the region: of the options, `AWS_REGION`, `AWS_DEFAULT_REGION` or the profile.
    pub async fn region(&self) -> Result<String, CredentialsError> {
        let found = sources::region(&self.caller.world, &self.options).await;
        found
            .map_err(|reason| self.no_region(reason))?
            .ok_or_else(|| self.no_region("no region is set".to_owned()))
    }

    /// Returns the URL of a service in a region, without a slash at the end.
    pub async fn endpoint(&self, service: &str, region: &str) -> String {
        let world = &self.caller.world;
        if let Some(url) = &self.options.endpoint {
            return url.trim_end_matches('/').to_owned();
        }
        if let Some(url) = endpoint::overridden(&world.host.variables, service) {
            return url;
        }
        let profile = sources::profile_name(world, &self.options);
        let config = Config::load(world).await.unwrap_or_default();
        let url = config.profile(profile).and_then(|profile| profile.get("endpoint_url"));
        url.map_or_else(
            || endpoint::endpoint(world, service, region),
            |url| url.trim_end_matches('/').to_owned(),
        )
    }

    /// Sends a signed call and returns an answer whose status is below 400.
    ///
    /// A throttled call is repeated a few times. Credentials that a service calls expired are looked up again, once.
    pub async fn send(&self, call: &Call) -> Result<HttpResponse, CallError> {
        let credentials = self.credentials().await?;
        match self.caller.call(call, Some(&credentials)).await {
            Err(CallError::Service(error)) if error.class() == ServiceErrorClass::Expired => {
                self.forget(&credentials).await;
                let credentials = self.credentials().await?;
                self.caller.call(call, Some(&credentials)).await
            }
            answered => answered,
        }
    }

    /// Forgets credentials that a service refused, unless another call renewed them already.
    async fn forget(&self, refused: &Credentials) {
        let mut current = self.current.lock().await;
        if current.as_ref() == Some(refused) {
            *current = None;
        }
    }

    fn no_region(&self, reason: String) -> CredentialsError {
        CredentialsError::Unusable {
            from: Source::Profile(sources::profile_name(&self.caller.world, &self.options).to_owned()),
            class: CredentialsErrorClass::NotConfigured,
            reason,
            hint: Some("set AWS_REGION, such as AWS_REGION=eu-central-1".to_owned()),
            tried: Vec::new(),
        }
    }
}
