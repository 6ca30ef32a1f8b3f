//! A manager whose key lives as long as its process, for stacks in memory: tests of programs and simulations.

use async_trait::async_trait;
use stead_model::{Binding, Ciphertext, Crypter as _, KeyId};
use zeroize::Zeroizing;

use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, SymmetricCrypter, WrapContext};

/// Wraps data keys with a key of this process. No other process opens them.
pub struct ProcessManager {
    name: String,
    crypter: SymmetricCrypter,
}

impl ProcessManager {
    pub fn new(name: &str, key: &DataKey) -> ProcessManager {
        ProcessManager {
            name: name.to_owned(),
            crypter: SymmetricCrypter::new(KeyId("process".to_owned()), key),
        }
    }

    fn failure(&self, class: ManagerErrorClass) -> ManagerError {
        ManagerError::new(class, format!("{}: the key of this process does not open it", self.name))
    }
}

#[async_trait]
impl KeyManager for ProcessManager {
    fn name(&self) -> &str {
        &self.name
    }

    fn assurance(&self) -> Assurance {
        Assurance::Authenticated
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let binding = [context.owner.as_str(), context.key.0.as_str()];
        let sealed = self.crypter.seal(key.expose(), Binding(&binding));
        sealed.map(|text| text.0).map_err(|_| self.failure(ManagerErrorClass::Unavailable))
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        let binding = [context.owner.as_str(), context.key.0.as_str()];
        let opened = self.crypter.open(&Ciphertext(wrapped.to_owned()), Binding(&binding));
        let bytes = Zeroizing::new(opened.map_err(|_| self.failure(ManagerErrorClass::WrongKey))?);
        DataKey::from_slice(&bytes).ok_or_else(|| self.failure(ManagerErrorClass::Damaged))
    }
}
