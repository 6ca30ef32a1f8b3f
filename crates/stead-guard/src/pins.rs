//! Pins: resources whose identity must stay, recorded in the program, in the pinfile and in state.
//!
//! This module is pure. **Invariants:** the pinfile is read and applied before any provider is called; a change of the
//! pinfile is returned as text, and the caller writes it.

mod ambiguous;
mod apply;
mod file;
mod frozen;
mod json;
mod problems;
mod prune;
mod section;
mod settled;
mod stateful;
#[cfg(test)]
mod tests;
mod verdict;

pub use apply::{
    AppliedPinfile, Orphans, Override, PinRefusal, PinfileChange, Types, apply_pinfile, is_pinfile_error,
};
pub use file::{EntryStatus, PinEntry, Pinfile, PinfileUpdate, Section, print};
pub use frozen::{entries_from_state, identity_attributes};
use stead_model::physical_path as path;

pub use path::{paths_of, physical_path, split_path};
pub use problems::program_value;
pub use prune::{PrunedEntry, PrunedPart, PrunedStack, prune};
pub use section::{
    EmptySection, Pins, add_entries, carry_frozen, keeps_pins, missing_entries, move_pin, no_such_pin,
    release_pin,
};
pub use settled::SettledGraph;
pub use stateful::{is_stateful, stateful_types};
pub use verdict::{Declared, PinVerdict, PinfileStatus, is_held, pin_verdict};
