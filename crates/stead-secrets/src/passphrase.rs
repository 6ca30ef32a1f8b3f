//! The manager `passphrase`: a data key is wrapped with a key that is stretched from a passphrase.
//!
//! The text of a wrapped key is `p1:<iterations>:<base64 of the salt>:<base64 of nonce, ciphertext and tag>`. Stretching is slow
//! on purpose. All wraps of a ring share a salt, and so do the rings that one command makes or opens with one passphrase. The
//! stretched keys are shared by the managers of a project ([`StretchedKeys`]), so that a command stretches once.

mod shared;
mod source;
mod strength;
mod stretch;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use async_trait::async_trait;
use stead_model::{KeyId, Keyring, RingKey};
use stead_world::World;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

pub use shared::StretchedKeys;
pub use source::PassphraseSource;
pub use strength::{Strength, strength};
pub(crate) use stretch::pbkdf2;

use crate::cipher::{Cipher, NONCE, from_base64, to_base64};
use crate::{Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, Question, WrapContext};
use stretch::Parameters;

/// Name of the manager in `stead.toml` and in rings.
const NAME: &str = "passphrase";

/// Wraps data keys with a passphrase. It asks for the passphrase when the first key is wrapped or unwrapped.
pub struct PassphraseManager {
    source: PassphraseSource,
    world: World,
    /// Wraps of the ring, which prove a passphrase before it wraps their keys again.
    known: BTreeMap<KeyId, String>,
    /// Salt and cost of new wraps, if the ring has some that are good enough.
    preferred: Option<Parameters>,
    memory: Mutex<Memory>,
    /// Stretched keys of the other managers of this process.
    shared: StretchedKeys,
}

/// The passphrase and the keys that were stretched from it.
#[derive(Default)]
struct Memory {
    passphrase: Option<Zeroizing<String>>,
    stretched: Vec<Stretched>,
}

#[derive(Clone)]
struct Stretched {
    parameters: Parameters,
    cipher: Cipher,
    /// This key opened or wrapped a data key, so the passphrase is right.
    proven: bool,
}

impl PassphraseManager {
    /// Returns the manager of a ring. New wraps share the salt of the ring, and a passphrase that does not open the ring's wraps
    /// replaces none of them. To set a new passphrase, give an empty ring.
    pub fn new(source: PassphraseSource, ring: &Keyring, world: World) -> PassphraseManager {
        let wrap_of = |key: &RingKey| {
            let wrap = key.wraps.iter().find(|wrap| wrap.manager == NAME)?;
            Some((key.id.clone(), wrap.data.clone()))
        };
        let known: BTreeMap<KeyId, String> = ring.keys.iter().filter_map(wrap_of).collect();
        let newest = ring.keys.iter().rev().filter_map(|key| known.get(&key.id));
        let parsed =
            newest.filter_map(|text| Wrapped::parse(text).ok()).map(|wrapped| wrapped.parameters).next();
        let preferred = parsed.filter(|parameters| parameters.iterations >= stretch::ITERATIONS);
        let (memory, shared) = (Mutex::default(), StretchedKeys::default());
        PassphraseManager { source, world, known, preferred, memory, shared }
    }

    /// Returns the manager with the stretched keys of other managers, which get its own ones, too.
    #[must_use]
    pub fn sharing(self, shared: StretchedKeys) -> PassphraseManager {
        PassphraseManager { shared, ..self }
    }

    /// Returns the position of the stretched key for these parameters, and stretches it if it is not in memory.
    async fn stretched(
        &self,
        memory: &mut Memory,
        parameters: &Parameters,
        question: &Question,
    ) -> Result<usize, ManagerError> {
        if let Some(at) = memory.stretched.iter().position(|known| known.parameters == *parameters) {
            return Ok(at);
        }
        let passphrase = self.passphrase(memory, question).await?;
        let cipher = self.shared.get(&passphrase, parameters, &self.world).await?;
        memory.stretched.push(Stretched { parameters: parameters.clone(), cipher, proven: false });
        Ok(memory.stretched.len() - 1)
    }

    async fn passphrase(
        &self,
        memory: &mut Memory,
        question: &Question,
    ) -> Result<Zeroizing<String>, ManagerError> {
        let passphrase = match &memory.passphrase {
            Some(known) => known.clone(),
            None => self.source.get(&self.world, question).await?,
        };
        memory.passphrase = Some(passphrase.clone());
        Ok(passphrase)
    }

    /// Returns salt and cost of a new wrap: those of the ring, else those that this manager or another one used for the same
    /// passphrase, else new ones.
    async fn parameters_of_new_wrap(
        &self,
        memory: &mut Memory,
        question: &Question,
    ) -> Result<Parameters, ManagerError> {
        let good = |known: &&Stretched| known.parameters.iterations >= stretch::ITERATIONS;
        let known = memory.stretched.iter().rfind(good).map(|known| &known.parameters);
        if let Some(parameters) = self.preferred.as_ref().or(known) {
            return Ok(parameters.clone());
        }
        let passphrase = self.passphrase(memory, question).await?;
        Ok(match self.shared.proven_parameters(&passphrase).await {
            Some(parameters) => parameters,
            None => Parameters { iterations: stretch::ITERATIONS, salt: self.random()? },
        })
    }

    /// Opens a wrapped key. A failure that proves the passphrase wrong makes the next attempt ask again.
    async fn open(
        &self,
        memory: &mut Memory,
        wrapped: &str,
        context: &WrapContext,
    ) -> Result<DataKey, ManagerError> {
        let wrapped = Wrapped::parse(wrapped)?;
        let question = Question::Passphrase { owner: context.owner.clone() };
        let at = self.stretched(memory, &wrapped.parameters, &question).await?;
        let known = &mut memory.stretched[at];
        match known.cipher.open(&wrapped.sealed, &context.to_bytes()) {
            Some(bytes) => {
                if !known.proven {
                    known.proven = true;
                    self.prove(memory, &wrapped.parameters).await;
                }
                DataKey::from_slice(&bytes).ok_or_else(damaged)
            }
            None if known.proven => Err(damaged()),
            None => {
                // The next attempt asks again, unless the passphrase opened a key with another salt.
                if !memory.stretched.iter().any(|known| known.proven) {
                    *memory = Memory::default();
                }
                let message = "passphrase: the passphrase is wrong, or the wrapped key was changed";
                Err(ManagerError::new(ManagerErrorClass::WrongKey, message).help(source::ways_to_give()))
            }
        }
    }

    /// Lets new rings take these parameters: the passphrase in memory is right.
    async fn prove(&self, memory: &Memory, parameters: &Parameters) {
        if let Some(passphrase) = &memory.passphrase {
            self.shared.prove(passphrase, parameters).await;
        }
    }

    fn random<const N: usize>(&self) -> Result<[u8; N], ManagerError> {
        let mut bytes = [0; N];
        self.world.entropy.fill(&mut bytes).map_err(|error| {
            let message = format!("passphrase: the system gives no random numbers: {error}");
            ManagerError::new(ManagerErrorClass::Unavailable, message)
        })?;
        Ok(bytes)
    }
}

#[async_trait]
impl KeyManager for PassphraseManager {
    fn name(&self) -> &str {
        NAME
    }

    fn assurance(&self) -> Assurance {
        Assurance::Authenticated
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let mut memory = self.memory.lock().await;
        if let Some(text) = self.known.get(&context.key)
            && !memory.stretched.iter().any(|known| known.proven)
        {
            self.open(&mut memory, text, context).await?;
        }
        let question = Question::NewPassphrase { owner: context.owner.clone() };
        let parameters = self.parameters_of_new_wrap(&mut memory, &question).await?;
        let at = self.stretched(&mut memory, &parameters, &question).await?;
        let Some(sealed) =
            memory.stretched[at].cipher.seal(self.random::<NONCE>()?, key.expose(), &context.to_bytes())
        else {
            return Err(damaged());
        };
        memory.stretched[at].proven = true;
        self.prove(&memory, &parameters).await;
        Ok(Wrapped { parameters, sealed }.to_text())
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        self.open(&mut *self.memory.lock().await, wrapped, context).await
    }
}

/// The parts of a wrapped key.
struct Wrapped {
    parameters: Parameters,
    sealed: Vec<u8>,
}

impl Wrapped {
    fn parse(text: &str) -> Result<Wrapped, ManagerError> {
        let parts: Vec<&str> = text.split(':').collect();
        let ["p1", iterations, salt, sealed] = parts.as_slice() else { return Err(damaged()) };
        let parameters = Parameters::parse(iterations, salt).ok_or_else(damaged)?;
        let sealed = from_base64(sealed).ok_or_else(damaged)?.to_vec();
        Ok(Wrapped { parameters, sealed })
    }

    fn to_text(&self) -> String {
        let Parameters { iterations, salt } = &self.parameters;
        format!("p1:{iterations}:{}:{}", to_base64(salt), to_base64(&self.sealed))
    }
}

fn damaged() -> ManagerError {
    ManagerError::new(ManagerErrorClass::Damaged, "passphrase: the wrapped key is damaged")
}
