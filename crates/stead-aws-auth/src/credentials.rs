//! Credentials. They have no `Debug`, and their secret parts are overwritten when they are dropped.

use stead_world::Timestamp;
use zeroize::Zeroizing;

/// A secret text without `Debug`, `Display` or `Serialize`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(Zeroizing::new(text.into()))
    }

    /// Returns the text, for a signature or a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Credentials of AWS.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub access_key_id: String,
    pub secret_access_key: Secret,
    pub session_token: Option<Secret>,
    /// Time at which the credentials stop to work. `None`: never.
    pub expires: Option<Timestamp>,
}

impl Credentials {
    pub fn new(access_key_id: impl Into<String>, secret_access_key: impl Into<String>) -> Credentials {
        Credentials {
            access_key_id: access_key_id.into(),
            secret_access_key: Secret::new(secret_access_key),
            session_token: None,
            expires: None,
        }
    }

    /// Adds a session token. An empty one counts as none.
    #[must_use]
    pub fn with_token(mut self, token: Option<impl Into<String>>) -> Credentials {
        self.session_token =
            token.map(Into::into).filter(|token: &String| !token.is_empty()).map(Secret::new);
        self
    }

    #[must_use]
    pub fn expiring(mut self, expires: Option<Timestamp>) -> Credentials {
        self.expires = expires;
        self
    }

    /// Returns true if the credentials still work after so many milliseconds.
    pub(crate) fn last(&self, now: Timestamp, milliseconds: u64) -> bool {
        self.expires.is_none_or(|expires| expires.0 > now.0.saturating_add(milliseconds))
    }
}
