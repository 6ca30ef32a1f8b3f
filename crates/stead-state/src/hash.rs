//! Maps that are asked far more often than anything else here. Their order shows nowhere, so they may be fast; who
//! brings a state from outside cannot choose names that collide, because every process hashes otherwise.

pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
