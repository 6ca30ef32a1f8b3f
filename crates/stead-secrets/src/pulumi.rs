//! Pulumi's passphrase manager: its state and its values are read and written.
//!
//! A state is `v1:<base64 of the salt>:v1:<base64 of the nonce>:<base64 of ciphertext and tag>`, and its ciphertext is that of the
//! word `pulumi`, which tells a wrong passphrase. A value is `v1:<nonce>:<ciphertext and tag>`. Nonces are random, and a value is
//! not bound to its place: these are Pulumi's formats, for import and export only.

#[cfg(test)]
mod tests;

use stead_world::World;
use zeroize::Zeroizing;

use crate::cipher::{Cipher, NONCE, from_base64, to_base64};
use crate::passphrase::pbkdf2;

/// Iterations of Pulumi's key derivation.
const ITERATIONS: u32 = 1_000_000;
/// Text that a state encrypts.
const TOKEN: &[u8] = b"pulumi";

/// Why a state or a value of Pulumi cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PulumiError {
    #[error("the passphrase of the Pulumi stack is wrong")]
    WrongPassphrase,
    #[error("this is not the state of a Pulumi passphrase (`v1:<salt>:v1:<nonce>:<ciphertext>`)")]
    NoState,
    #[error("this is not an encrypted Pulumi value (`v1:<nonce>:<ciphertext>`)")]
    NoValue,
    #[error("the encrypted Pulumi value is damaged, or was encrypted for another stack")]
    Damaged,
    #[error("the system gives no random numbers: {0}")]
    NoRandomness(String),
}

/// The opened key of a Pulumi stack.
pub struct PulumiCrypter {
    state: String,
    cipher: Cipher,
}

impl PulumiCrypter {
    /// Opens the key of a state. Stretches the passphrase, which takes a good part of a second; blocks.
    pub fn open(state: &str, passphrase: &str) -> Result<PulumiCrypter, PulumiError> {
        let (salt, token) = state
            .strip_prefix("v1:")
            .and_then(|rest| rest.split_once(':'))
            .and_then(|(salt, token)| Some((from_base64(salt)?, token)))
            .filter(|(salt, _)| salt.len() == 8)
            .ok_or(PulumiError::NoState)?;
        let token = parse(token).ok_or(PulumiError::NoState)?;
        let cipher = Cipher::new(&pbkdf2(passphrase, &salt, ITERATIONS));
        match cipher.open(&token, &[]) {
            Some(word) if *word == TOKEN => Ok(PulumiCrypter { state: state.to_owned(), cipher }),
            Some(_) => Err(PulumiError::NoState),
            None => Err(PulumiError::WrongPassphrase),
        }
    }

    /// Returns the key of a new state. Blocks as long as [`PulumiCrypter::open`].
    pub fn create(passphrase: &str, world: &World) -> Result<PulumiCrypter, PulumiError> {
        let salt: [u8; 8] = random(world)?;
        let cipher = Cipher::new(&pbkdf2(passphrase, &salt, ITERATIONS));
        let token = encrypt(&cipher, TOKEN, world)?;
        Ok(PulumiCrypter { state: format!("v1:{}:{token}", to_base64(&salt)), cipher })
    }

    /// Returns the state, which `encryptionsalt` in `Pulumi.<stack>.yaml` and `salt` in an export contain.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Decrypts a value.
    pub fn decrypt(&self, value: &str) -> Result<Zeroizing<Vec<u8>>, PulumiError> {
        let sealed = parse(value).ok_or(PulumiError::NoValue)?;
        self.cipher.open(&sealed, &[]).ok_or(PulumiError::Damaged)
    }

    /// Encrypts a value.
    pub fn encrypt(&self, plain: &[u8], world: &World) -> Result<String, PulumiError> {
        encrypt(&self.cipher, plain, world)
    }
}

/// Returns nonce, ciphertext and tag of `v1:<nonce>:<ciphertext and tag>`.
fn parse(value: &str) -> Option<Vec<u8>> {
    let (nonce, sealed) = value.strip_prefix("v1:")?.split_once(':')?;
    let (nonce, sealed) = (from_base64(nonce)?, from_base64(sealed)?);
    (nonce.len() == NONCE && sealed.len() >= 16).then(|| [&nonce[..], &sealed[..]].concat())
}

fn encrypt(cipher: &Cipher, plain: &[u8], world: &World) -> Result<String, PulumiError> {
    let sealed = cipher.seal(random(world)?, plain, &[]).ok_or(PulumiError::Damaged)?;
    let (nonce, sealed) = sealed.split_at(NONCE);
    Ok(format!("v1:{}:{}", to_base64(nonce), to_base64(sealed)))
}

fn random<const N: usize>(world: &World) -> Result<[u8; N], PulumiError> {
    let mut bytes = [0; N];
    world.entropy.fill(&mut bytes).map_err(|error| PulumiError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}
