//! The cloud managers against faithful servers on loopback ports, through the real HTTP client.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod aws;
mod azure;
mod fakes;
mod gcp;
mod suite;
mod tokens;
mod vault;

use std::path::Path;
use std::sync::Arc;

use stead_model::KeyId;
use stead_secrets::{DataKey, KeyManager, WrapContext, cloud_manager};
use stead_world::Timestamp;
use stead_world::testing::{FastClock, world};

/// 2026-11-18T04:00:00Z.
const NOW: Timestamp = Timestamp(1_794_974_400_000);

/// The bytes of the data key in every test; an error must contain them in no form.
const KEY: [u8; 32] = *b"canary-canary-canary-canary-0123";
const KEY_BASE64: &str = "Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5LTAxMjM=";

fn key() -> DataKey {
    DataKey::new(KEY)
}

fn context(owner: &str) -> WrapContext {
    WrapContext { owner: owner.to_owned(), key: KeyId("k1".to_owned()) }
}

/// Returns the manager that a text names, on a machine with these variables and this home folder.
fn manager(text: &str, variables: &[(&str, &str)], home: Option<&Path>) -> Arc<dyn KeyManager> {
    let world = world(&FastClock::at(NOW), variables, home);
    match cloud_manager(&world, text).unwrap() {
        Ok(manager) => manager,
        Err(error) => panic!("{error}"),
    }
}
