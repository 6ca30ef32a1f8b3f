//! Stretching a passphrase into a key: PBKDF2-HMAC-SHA256.

use sha2::Sha256;
use stead_world::{SlowWork, World};
use zeroize::Zeroizing;

use crate::cipher::{Cipher, from_base64};
use crate::{ManagerError, ManagerErrorClass};

/// Iterations of new wraps. Pulumi has the same cost.
pub(super) const ITERATIONS: u32 = 1_000_000;
/// Fewest iterations that are accepted: fewer would make a stolen ring easy to search.
const FEWEST: u32 = 600_000;
/// Most iterations that are accepted. More would stop a command for a minute.
const MOST: u32 = 100_000_000;

/// Salt and cost of a stretched key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    pub(super) iterations: u32,
    pub(super) salt: [u8; 16],
}

impl Parameters {
    /// Reads the two fields of a wrapped key. `None` if they are malformed or out of range.
    pub(super) fn parse(iterations: &str, salt: &str) -> Option<Parameters> {
        let number: u32 = iterations.parse().ok()?;
        let plain = number.to_string() == iterations;
        let salt = from_base64(salt)?.as_slice().try_into().ok()?;
        (plain && (FEWEST..=MOST).contains(&number)).then_some(Parameters { iterations: number, salt })
    }
}

/// Stretches a passphrase, on another thread where the world allows it.
pub(super) async fn stretch(
    passphrase: Zeroizing<String>,
    parameters: Parameters,
    world: &World,
) -> Result<Cipher, ManagerError> {
    tracing::debug!(iterations = parameters.iterations, "passphrase stretched");
    let work = move || Cipher::new(&pbkdf2(&passphrase, &parameters.salt, parameters.iterations));
    if world.slow_work == SlowWork::Inline {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        ManagerError::new(ManagerErrorClass::Unavailable, "passphrase: the stretching was interrupted")
    })
}

/// Returns the key of a passphrase.
pub(crate) fn pbkdf2(passphrase: &str, salt: &[u8], iterations: u32) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    pbkdf2::pbkdf2_hmac::<Sha256>(passphrase.as_bytes(), salt, iterations, key.as_mut_slice());
    key
}
