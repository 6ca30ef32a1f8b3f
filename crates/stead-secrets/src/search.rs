//! The search for secrets in texts, in every form that programs commonly write them.
//!
//! A secret of eight bytes or more is found anywhere in a text, a shorter one only if it is the whole text: `1` or `true` would
//! be found everywhere. Messages and logs, which may show a part of a text, are searched for the long lines of a secret of several lines,
//! too. Nothing finds a secret that was hashed, encrypted, compressed or cut into pieces.

mod automaton;
mod base64;
mod decoded;
mod escape;
mod forms;
mod index;
mod leaves;
mod needles;
mod spaced;
#[cfg(test)]
mod tests;

pub use forms::forms;
pub(crate) use leaves::digest_of;
pub use leaves::leaves;
pub use needles::Needles;
pub use spaced::lines;

/// Tells the search of this process's output of a text that opens keys.
pub(crate) fn tell_output_search(text: &str) {
    // A secret tells of its value when it is made.
    drop(stead_model::Secret::new(stead_model::Value::from(text)));
}

/// Fewest bytes of a secret that is searched for inside texts.
pub(crate) const SEARCHED: usize = 8;
