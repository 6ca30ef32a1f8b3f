//! A life: one randomly generated test case, from the script that a seed yields to the final convergence check.
//!
//! `script` generates the test case, `simulation` runs it round by round, `convergence` checks its end, `operate` and `amend` map its commands to operations of the
//! library, `branches` changes the pinfile as people do without a command, `observe` keeps the reference model up to date, and `shrink` minimizes a failing script.

mod amend;
mod branches;
mod concurrency;
mod convergence;
mod depleted;
pub(crate) mod edit;
pub(crate) mod initial_stack;
mod observe;
pub(crate) mod operate;
pub(crate) mod program;
mod renamed_stack;
mod run_observer;
pub(crate) mod script;
pub(crate) mod shrink;
pub(crate) mod simulation;
