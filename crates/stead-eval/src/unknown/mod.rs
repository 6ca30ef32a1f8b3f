//! Unknown values: which operations on values known only after apply can be deferred, and how they run later.
//!
//! [`builtins`] lists the operations that can be deferred, [`errors`] explains the rest, [`functions`] evaluates after apply.

pub(crate) mod apply;
pub(crate) mod builtins;
pub(crate) mod errors;
pub(crate) mod functions;
pub(crate) mod interpreter;
