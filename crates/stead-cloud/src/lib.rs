//! A cloud in this process, as strict as Cloud Control: what it does with one resource, without wire or clock.
//!
//! It knows schemas and the rules of the service, and nothing of how stead makes patches: it is what they are
//! proved against. **Invariant:** pure; same bytes in, same bytes out.

mod guarded;
mod json_patch;
mod rejection;
mod resource;
mod sample;
mod synthesis;
mod validate;

pub use json_patch::apply;
pub use rejection::Rejection;
pub use resource::{creatable, create, read, update};
pub use sample::Sampler;
pub use synthesis::canonical;
pub use validate::validate;
