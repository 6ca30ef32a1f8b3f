//! Pins: what is to stay what and where it is, in the source, in the pinfile and in state.
//!
//! Pure. **Invariants:** a pinfile is read before anything else happens, and what it does not allow has asked no provider
//! anything; nothing here writes: what a file should hold comes out as text.

mod ambiguous;
mod file;
mod hold;
mod json;
mod path;
mod refusals;
mod section;
mod settle;
mod stateful;
#[cfg(test)]
mod tests;

pub use file::{Content, Entry, Pinfile, Section, print};
pub use hold::{Declared, Hold, Standing, Unlisted, hold};
pub use path::{paths_of, physical_path, split_path};
pub use refusals::program_word;
pub use section::{
    Emptied, Pins, add_entries, keeps_pins, missing_entries, move_pin, no_such_pin, remove_pin,
};
pub use settle::{
    Line, Orphans, Override, Refused, Settled, Types, attributes_of, entries_of, is_mistake, settle,
    without_pins,
};
pub use stateful::{is_stateful, stateful_types};
