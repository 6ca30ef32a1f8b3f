//! The real process against a real kernel: killed anywhere, eight at once, without room, interrupted.
//!
//! The built-in provider makes files; scripts stand for a provider elsewhere. Each script leaves one object in a
//! folder that plays the cloud, under the operation's idempotency key, so that a doubled or a lost one shows.

mod cloud;
mod crowd;
mod full_disk;
mod interrupts;
mod ordeal;
