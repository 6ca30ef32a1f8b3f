//! AWS credentials and signed requests: one chain of sources for the key manager, the provider and S3.
//!
//! [`AwsAuth`] finds credentials (environment, profile, web identity, container, instance metadata), renews them before they
//! expire, signs requests (Signature Version 4), and repeats a call only if the class of its failure allows it.
//! **Invariants:** a secret has no `Debug` and is in no error; only one look-up runs at a time; a call that may have had an
//! effect is repeated only if the caller says that this is safe.

mod auth;
mod call;
mod config;
mod credentials;
mod endpoint;
mod error;
mod escape;
mod identity;
mod moment;
mod service_error;
mod sign;
mod sources;

pub use auth::{AssumedRole, AwsAuth, Options};
pub use call::{Call, CallError, Repeat};
pub use credentials::{Credentials, Secret};
pub use error::{CredentialsError, CredentialsErrorClass, Source, Tried};
pub use identity::Identity;
pub use moment::{http_date, rfc3339};
pub use service_error::{ServiceError, ServiceErrorClass};
pub use sign::{Scope, Style, sign};
