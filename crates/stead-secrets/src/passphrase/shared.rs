//! Stretched keys that the managers of a project share, so that one passphrase with one salt is stretched once in a process.
//!
//! **Invariants:** a key is found only with the passphrase that it was stretched from; passphrases and keys are zeroised when the
//! last manager is dropped.

use std::sync::Arc;

use stead_world::World;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::stretch::{self, Parameters};
use crate::ManagerError;
use crate::cipher::Cipher;

/// Keys that were stretched from passphrases. Clones share them.
#[derive(Clone, Default)]
pub struct StretchedKeys(Arc<Mutex<Vec<Stretched>>>);

struct Stretched {
    passphrase: Zeroizing<String>,
    parameters: Parameters,
    cipher: Cipher,
    /// The key opened or wrapped a data key, so the passphrase is right.
    proven: bool,
}

impl StretchedKeys {
    /// Returns the key of a passphrase, and stretches it if no manager did so before.
    pub(super) async fn get(
        &self,
        passphrase: &Zeroizing<String>,
        parameters: &Parameters,
        world: &World,
    ) -> Result<Cipher, ManagerError> {
        // The lock is held during the work: two managers never stretch the same passphrase.
        let mut known = self.0.lock().await;
        if let Some(known) = known.iter().find(|known| known.is_of(passphrase, parameters)) {
            return Ok(known.cipher.clone());
        }
        let cipher = stretch::stretch(passphrase.clone(), parameters.clone(), world).await?;
        known.push(Stretched {
            passphrase: passphrase.clone(),
            parameters: parameters.clone(),
            cipher: cipher.clone(),
            proven: false,
        });
        Ok(cipher)
    }

    /// Notes that the passphrase is right.
    pub(super) async fn prove(&self, passphrase: &Zeroizing<String>, parameters: &Parameters) {
        let mut known = self.0.lock().await;
        let of_both = known.iter_mut().filter(|known| known.is_of(passphrase, parameters));
        of_both.for_each(|known| known.proven = true);
    }

    /// Returns salt and cost of the latest ring that this passphrase opened, if the cost is that of new wraps or higher.
    pub(super) async fn proven_parameters(&self, passphrase: &Zeroizing<String>) -> Option<Parameters> {
        let known = self.0.lock().await;
        let good = |known: &&Stretched| {
            known.proven
                && known.passphrase == *passphrase
                && known.parameters.iterations >= stretch::ITERATIONS
        };
        known.iter().rfind(good).map(|known| known.parameters.clone())
    }
}

impl Stretched {
    fn is_of(&self, passphrase: &Zeroizing<String>, parameters: &Parameters) -> bool {
        self.parameters == *parameters && self.passphrase == *passphrase
    }
}
