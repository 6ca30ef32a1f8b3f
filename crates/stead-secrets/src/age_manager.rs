//! The manager of an age recipient, or the refusal of a build without it.

use std::sync::Arc;

use stead_world::World;

use crate::{Ask, KeyManager, ManagerError};

/// Returns the manager of a recipient: an age or SSH public key. `ask` asks for the passphrase of an encrypted SSH key.
#[cfg(feature = "age")]
pub fn age_manager(
    recipient: &str,
    world: World,
    ask: Option<Arc<dyn Ask>>,
) -> Result<Arc<dyn KeyManager>, ManagerError> {
    Ok(Arc::new(crate::AgeManager::new(recipient, world, ask)?))
}

/// Refuses a recipient, because this build leaves the manager out.
#[cfg(not(feature = "age"))]
pub fn age_manager(_: &str, _: World, _: Option<Arc<dyn Ask>>) -> Result<Arc<dyn KeyManager>, ManagerError> {
    Err(crate::cloud::left_out_manager("age"))
}
