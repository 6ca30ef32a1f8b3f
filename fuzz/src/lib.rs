//! The functions that the fuzz targets and the ordinary tests share: one a decoder.

#![allow(dead_code, unreachable_pub, reason = "the command line's files are used in part")]

pub mod entries;

#[path = "../../crates/stead-cli/src/failure.rs"]
mod failure;
#[path = "../../crates/stead-cli/src/project.rs"]
mod project;
#[path = "../../crates/stead-cli/src/sealed.rs"]
mod sealed;

/// `stead.toml`: what it says, or where it goes wrong.
pub fn config(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = project::check(text);
    }
}

/// A saved plan: its seal, and with a seal that fits what is inside.
pub fn saved(bytes: &[u8]) {
    let parse = |body: &[u8]| serde_json::from_slice::<serde_json::Value>(body).is_ok();
    let _ = sealed::open(bytes).map(parse);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let whole = sealed::seal(format!("{text}\n"));
        assert!(sealed::open(whole.as_bytes()).is_some());
    }
}
