//! Secrets: data keys, the managers that wrap them, and the search for secrets in texts.
//!
//! A stack has a ring of data keys ([`stead_model::Keyring`]). A [`KeyManager`] wraps a data key, so that only holders of the
//! manager's own key can use it. **Invariants:** a key is zeroised when it is dropped, and no key or secret is in a message.

mod cloud;
mod key;
mod manager;

pub use cloud::cloud_manager;
pub use key::DataKey;
pub use manager::{KeyManager, ManagerError, ManagerErrorClass, WrapContext};
