//! Exhaustive fault matrices: a fixed scenario, repeated with a fault injected at every possible point.

pub(crate) mod deep_chain;
pub(crate) mod run_matrix;
pub(crate) mod stack_matrix;
