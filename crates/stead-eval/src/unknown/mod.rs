//! Unknown values: which operations on values known only after apply can be deferred, and how they run later.
//!
//! [`builtins`] lists the operations that can be deferred, [`errors`] explains the rest, [`facts`] knows their
//! types and sizes, [`functions`] evaluates after apply.

pub(crate) mod apply;
pub(crate) mod builtins;
pub(crate) mod computed;
pub(crate) mod errors;
pub(crate) mod facts;
pub(crate) mod functions;
pub(crate) mod interpreter;
pub(crate) mod members;
