//! Errors of the cloud managers: the manager, the attempt, the reason, and a next step.

use stead_world::HttpError;

use crate::{DataKey, ManagerError, ManagerErrorClass};

/// The direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Wrap,
    Unwrap,
}

impl Act {
    pub(super) fn verb(self) -> &'static str {
        match self {
            Act::Wrap => "wrap",
            Act::Unwrap => "unwrap",
        }
    }
}

/// Makes the errors of one request.
#[derive(Clone, Copy)]
pub(super) struct Failures<'a> {
    /// Name of the manager, as the project wrote it.
    pub(super) manager: &'a str,
    /// Name of the service, such as `AWS KMS`.
    pub(super) service: &'a str,
    pub(super) act: Act,
}

impl Failures<'_> {
    pub(super) fn error(&self, class: ManagerErrorClass, reason: &str) -> ManagerError {
        let Failures { manager, service, act } = self;
        let message = format!("{service} did not {} the data key with {manager}: {reason}", act.verb());
        ManagerError::new(class, message)
    }

    pub(super) fn http(&self, error: &HttpError) -> ManagerError {
        let reason = error.to_string();
        match error {
            HttpError::NotSent { .. } | HttpError::NoAnswer { .. } => self
                .error(ManagerErrorClass::Unavailable, &reason)
                .help("check the network, the proxy (HTTPS_PROXY, NO_PROXY) and the address, and try again"),
            HttpError::TooLarge { .. } => self.damaged(&reason),
            HttpError::Authorities { .. } | HttpError::Invalid { .. } => {
                self.error(ManagerErrorClass::NotConfigured, &reason)
            }
        }
    }

    pub(super) fn damaged(&self, reason: &str) -> ManagerError {
        self.error(ManagerErrorClass::Damaged, reason)
            .help("check that the address is that of the service, and not of a proxy that answers for it")
    }

    /// Returns the error for a wrapped key that is not in the format of the manager.
    pub(super) fn malformed(&self) -> ManagerError {
        let reason = "the wrapped key is damaged, or another manager wrapped it";
        self.error(ManagerErrorClass::Damaged, reason)
    }

    pub(super) fn throttled(&self, reason: &str) -> ManagerError {
        self.error(ManagerErrorClass::Unavailable, &format!("it keeps on asking for patience: {reason}"))
            .help("wait a minute and try again, or raise the quota of the service")
    }

    pub(super) fn wrong_key(&self, reason: &str) -> ManagerError {
        let explained = format!("the key does not open it, or it was wrapped for another owner ({reason})");
        self.error(ManagerErrorClass::WrongKey, &explained).help(
            "check that stead.toml names the key that wrapped it, and that the state is that of this stack",
        )
    }

    /// Makes a data key of the answer.
    pub(super) fn data_key(&self, bytes: &[u8]) -> Result<DataKey, ManagerError> {
        let key: [u8; 32] =
            bytes.try_into().map_err(|_| self.damaged("its answer is not a key of 32 bytes"))?;
        Ok(DataKey::new(key))
    }
}
