//! One call to a service: signed, with the clock corrected, and repeated only if the class of a failure allows it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use stead_world::{Effect, HttpError, HttpRequest, HttpResponse, Timestamp, World};

use crate::moment::http_date;
use crate::sign::{Scope, sign};
use crate::{Credentials, CredentialsError, ServiceError, ServiceErrorClass};

/// Maximum number of times that a call is sent.
const ATTEMPTS: u32 = 4;

/// Longest wait between two attempts.
const MAX_WAIT_MS: u64 = 5_000;

/// Difference between this machine's clock and the service's from which on a signature is refused: a bit less than AWS's
/// five minutes.
const MAX_SKEW_MS: u64 = 4 * 60_000;

/// Whether a call may be sent again after it may have had an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The call has no effect, or has a token that makes a second one harmless.
    Safe,
    /// The call is sent again only if the first one certainly had no effect.
    OnlyIfUnsent,
    /// Every failure is returned at once, because the caller repeats the call by its own rules.
    ByCaller,
}

/// A call to a service. The request has no signature yet.
#[derive(Clone, Debug)]
pub struct Call {
    pub request: HttpRequest,
    pub scope: Scope,
    pub repeat: Repeat,
}

/// Why a call has no good answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl CallError {
    /// Returns whether the call can have had an effect.
    pub fn effect(&self) -> Effect {
        match self {
            CallError::Credentials(_) => Effect::None,
            CallError::Http(error) => error.effect(),
            CallError::Service(error) if error.class() == ServiceErrorClass::Transient => Effect::Unknown,
            CallError::Service(_) => Effect::None,
        }
    }
}

/// Sends calls. All calls share the correction of the clock.
pub(crate) struct Caller {
    pub(crate) world: World,
    /// Milliseconds that the services are ahead of this machine's clock.
    ahead: AtomicI64,
    authorities: Option<PathBuf>,
}

/// How a failed attempt goes on.
enum Next {
    /// The next attempt starts at once.
    Now,
    /// The next attempt starts after a wait.
    Later,
    Never,
}

impl Caller {
    pub(crate) fn new(world: World) -> Caller {
        let authorities = world.host.variables.get("AWS_CA_BUNDLE").filter(|path| !path.is_empty());
        let authorities = authorities.map(PathBuf::from);
        Caller { world, ahead: AtomicI64::new(0), authorities }
    }

    /// Returns the time as the services see it.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(self.world.clock.now().0.saturating_add_signed(self.ahead.load(Ordering::Relaxed)))
    }

    /// Sends a call, signed if there are credentials, and returns an answer whose status is below 400.
    pub(crate) async fn call(
        &self,
        call: &Call,
        credentials: Option<&Credentials>,
    ) -> Result<HttpResponse, CallError> {
        let mut corrected = false;
        let mut attempt = 1;
        loop {
            let mut request = call.request.clone();
            if request.authorities.is_none() {
                request.authorities.clone_from(&self.authorities);
            }
            if let Some(credentials) = credentials {
                sign(&mut request, credentials, &call.scope, self.now());
            }
            let (error, next) = match self.world.http.send(request).await {
                Ok(response) if response.status < 400 => return Ok(response),
                Ok(response) => {
                    let error = ServiceError::of(&response);
                    let next = self.after_answer(&response, &error, call.repeat, &mut corrected);
                    (CallError::Service(error), next)
                }
                Err(error) => {
                    let next = after_failure(&error, call.repeat);
                    (CallError::Http(error), next)
                }
            };
            match next {
                Next::Now => {}
                Next::Later if attempt < ATTEMPTS => self.wait(attempt).await,
                _ => return Err(error),
            }
            attempt += 1;
        }
    }

    fn after_answer(
        &self,
        response: &HttpResponse,
        error: &ServiceError,
        repeat: Repeat,
        corrected: &mut bool,
    ) -> Next {
        match error.class() {
            ServiceErrorClass::Throttled if repeat != Repeat::ByCaller => Next::Later,
            ServiceErrorClass::Transient if repeat == Repeat::Safe => Next::Later,
            ServiceErrorClass::Signature if !*corrected && self.correct(response) => {
                *corrected = true;
                Next::Now
            }
            _ => Next::Never,
        }
    }

    /// Takes over the service's clock if it differs much from ours. Returns true if it did.
    fn correct(&self, response: &HttpResponse) -> bool {
        let Some(theirs) = response.headers.get("date").and_then(http_date) else { return false };
        if theirs.0.abs_diff(self.now().0) < MAX_SKEW_MS {
            return false;
        }
        let ours = self.world.clock.now().0;
        self.ahead.store(theirs.0.cast_signed().wrapping_sub(ours.cast_signed()), Ordering::Relaxed);
        true
    }

    /// Waits before the next attempt: twice as long each time, and at random, so that callers spread.
    async fn wait(&self, attempt: u32) {
        let longest = (200u64 << attempt).min(MAX_WAIT_MS);
        let half = (longest / 2) as u32;
        // Without randomness the wait is only less spread.
        let random = self.world.entropy.below(half).unwrap_or(half / 2);
        self.world.clock.sleep(Duration::from_millis(u64::from(half) + u64::from(random))).await;
    }
}

fn after_failure(error: &HttpError, repeat: Repeat) -> Next {
    match error {
        HttpError::NotSent { .. } if repeat != Repeat::ByCaller => Next::Later,
        HttpError::NoAnswer { .. } if repeat == Repeat::Safe => Next::Later,
        HttpError::NotSent { .. }
        | HttpError::NoAnswer { .. }
        | HttpError::Invalid { .. }
        | HttpError::Authorities { .. }
        | HttpError::TooLarge { .. } => Next::Never,
    }
}
