//! The hash map of the hot paths.
//!
//! Its iteration order is never visible in an output. Each process seeds the hash anew, so that a crafted state file
//! cannot choose names that collide.

pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
