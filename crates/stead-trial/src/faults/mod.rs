//! Injected faults as data, drawn from a seed: crashes, power loss, disk errors, unreliable providers and stores.

pub(crate) mod behaviour;
pub(crate) mod faulty_store;
pub(crate) mod plan;
pub(crate) mod process_faults;
pub(crate) mod rng;
