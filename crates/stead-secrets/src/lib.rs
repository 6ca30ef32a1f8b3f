//! Secrets: data keys, the managers that wrap them, and the search for secrets in texts.
//!
//! A stack has a ring of data keys ([`stead_model::Keyring`]). A [`KeyManager`] wraps a data key, so that only holders of the
//! manager's own key can use it. [`unlock`] opens a ring, and its [`SymmetricCrypter`] seals and opens values. **Invariants:** a
//! key is zeroised when it is dropped, and no key or secret is in a message.

#[cfg(feature = "age")]
mod age;
mod age_manager;
mod ask;
mod cipher;
mod cloud;
mod command;
mod crypter;
mod key;
mod known;
mod manager;
mod passphrase;
mod process;
mod pulumi;
mod redactor;
mod ring;
mod search;

#[cfg(feature = "age")]
pub use age::{AgeManager, NewIdentity, new_identity};
pub use age_manager::age_manager;
pub use ask::{Ask, Question};
pub use cloud::cloud_manager;
pub use command::CommandManager;
pub use crypter::{BlindingCrypter, LockedCrypter, SymmetricCrypter};
pub use key::DataKey;
pub use known::{Digests, KnownSecrets, ShortSecrets};
pub use manager::{Assurance, KeyManager, ManagerError, ManagerErrorClass, WrapContext};
pub use passphrase::{PassphraseManager, PassphraseSource, Strength, StretchedKeys, strength};
pub use process::ProcessManager;
pub use pulumi::{PulumiCrypter, PulumiError};
pub use redactor::Redactor;
pub use ring::{MissingKey, UnlockedRing, create, unlock};
pub use search::{Needles, forms, leaves, lines};

/// Text that stands for a secret in every output.
pub const HIDDEN: &str = "[secret]";
