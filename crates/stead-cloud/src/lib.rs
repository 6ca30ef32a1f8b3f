//! In-process model of Cloud Control, as strict as the service: its operations on one resource, without network or clock.
//!
//! It knows schemas and the rules of the service, but not how stead computes patches: tests check stead's patches against
//! it. **Invariant:** pure; same bytes in, same bytes out.

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
