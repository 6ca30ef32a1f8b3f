//! `SortedMap`: a small, shared map, for the maps that each resource has several of.
//!
//! The entries are one sorted vector behind a pointer that clones share. A map of one entry takes about 100 bytes, where a
//! `BTreeMap` takes a leaf of more than 600; an empty map takes none.
//!
//! An insertion at the end costs the same for every size; one elsewhere moves the entries behind it. A map of many unsorted entries
//! is therefore collected from an iterator, which sorts once.

mod iter;
mod serde;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

pub(crate) use iter::Iter;

use crate::Text;

/// Compares a key with another spelling of it, in the order of the keys: a `Text` with a `str` or a `String`.
pub trait Compare<Q: ?Sized> {
    fn compare(&self, other: &Q) -> Ordering;
}

macro_rules! compare_as_str {
    ($($key:ty: $other:ty),*) => { $(
        impl Compare<$other> for $key {
            fn compare(&self, other: &$other) -> Ordering {
                let (key, other): (&str, &str) = (self, other);
                key.cmp(other)
            }
        }
    )* };
}

compare_as_str!(Text: str, Text: String, Text: Text, String: str, String: String, String: Text, &str: str, &str: String, &str: Text);

/// A sorted map. A clone is a pointer to the same entries; the first change of a clone copies them.
pub struct SortedMap<K, V>(Option<Arc<Vec<(K, V)>>>);

impl<K, V> SortedMap<K, V> {
    pub const fn new() -> Self {
        SortedMap(None)
    }

    pub fn len(&self) -> usize {
        self.entries().len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.entries().iter())
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.entries().iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.entries().iter().map(|(_, value)| value)
    }

    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Returns true if both maps are one allocation, or both are empty. Equal maps may be two.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => self.is_empty() && other.is_empty(),
        }
    }

    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// Returns the address of the entries, which clones have in common.
    pub(crate) fn address(&self) -> *const (K, V) {
        self.entries().as_ptr()
    }

    fn entries(&self) -> &[(K, V)] {
        self.0.as_ref().map_or(&[], |entries| entries.as_slice())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    pub fn get<Q: ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Compare<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    pub fn get_key_value<Q: ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Compare<Q>,
    {
        let (key, value) = &self.entries()[self.find(key)?];
        Some((key, value))
    }

    pub fn contains_key<Q: ?Sized>(&self, key: &Q) -> bool
    where
        K: Compare<Q>,
    {
        self.find(key).is_some()
    }

    fn find<Q: ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Compare<Q>,
    {
        self.entries().binary_search_by(|(known, _)| known.compare(key)).ok()
    }

    /// Returns the position of the key, or the position where it belongs.
    fn place(&self, key: &K) -> Result<usize, usize> {
        let entries = self.entries();
        match entries.last() {
            // Maps are often built in order.
            Some((last, _)) if last < key => Err(entries.len()),
            _ => entries.binary_search_by(|(known, _)| known.cmp(key)),
        }
    }

    /// Makes a map of entries in any order. Of equal keys, the last one wins.
    fn from_entries(mut entries: Vec<(K, V)>) -> Self {
        if !entries.is_sorted_by(|(one, _), (next, _)| one < next) {
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            // `dedup_by` keeps the first of equal keys; the last entry's value moves there.
            entries.dedup_by(|later, kept| {
                let is_same = later.0 == kept.0;
                if is_same {
                    std::mem::swap(later, kept);
                }
                is_same
            });
        }
        entries.shrink_to_fit();
        SortedMap((!entries.is_empty()).then(|| Arc::new(entries)))
    }
}

impl<K: Ord + Clone, V: Clone> SortedMap<K, V> {
    /// Sets the value of a key and returns the former value.
    pub fn insert(&mut self, key: impl Into<K>, value: V) -> Option<V> {
        let key = key.into();
        match self.place(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.entries_mut()[at].1, value)),
            Err(at) => {
                self.insert_at(at, key, value);
                None
            }
        }
    }

    pub fn get_mut<Q: ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Compare<Q>,
    {
        let at = self.find(key)?;
        Some(&mut self.entries_mut()[at].1)
    }

    pub fn remove<Q: ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Compare<Q>,
    {
        let at = self.find(key)?;
        Some(self.entries_mut().remove(at).1)
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        if !self.is_empty() {
            self.entries_mut().retain_mut(|(key, value)| keep(key, value));
        }
    }

    /// Returns the place of a key, for a value that is inserted only if the map does not have the key.
    pub fn entry(&mut self, key: impl Into<K>) -> Entry<'_, K, V> {
        Entry { map: self, key: key.into() }
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries_mut().iter_mut().map(|(key, value)| (&*key, value))
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries_mut().iter_mut().map(|(_, value)| value)
    }

    pub fn into_keys(self) -> impl Iterator<Item = K> {
        self.into_iter().map(|(key, _)| key)
    }

    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }

    fn insert_at(&mut self, at: usize, key: K, value: V) {
        let entries = self.entries_mut();
        if entries.len() < 4 {
            entries.reserve_exact(1); // most maps stay this small
        }
        entries.insert(at, (key, value));
    }

    /// Returns the entries. The order of the keys must stay the same.
    pub(crate) fn entries_mut(&mut self) -> &mut Vec<(K, V)> {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

/// The place of a key in a map, from [`SortedMap::entry`].
pub struct Entry<'a, K, V> {
    map: &'a mut SortedMap<K, V>,
    key: K,
}

impl<'a, K: Ord + Clone, V: Clone> Entry<'a, K, V> {
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'a mut V {
        let at = self.map.place(&self.key).unwrap_or_else(|at| {
            self.map.insert_at(at, self.key, value());
            at
        });
        &mut self.map.entries_mut()[at].1
    }

    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

impl<K, V> Clone for SortedMap<K, V> {
    fn clone(&self) -> Self {
        SortedMap(self.0.clone())
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: Eq, V: Eq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.entries() == other.entries()
    }
}

impl<K: Eq, V: Eq> Eq for SortedMap<K, V> {}

impl<K: Ord, V: Ord> PartialOrd for SortedMap<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, V: Ord> Ord for SortedMap<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_same(other) { Ordering::Equal } else { self.entries().cmp(other.entries()) }
    }
}

impl<K: Ord + Compare<Q>, V, Q: ?Sized> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    /// Returns the value of a key.
    ///
    /// # Panics
    ///
    /// Panics if the map does not have the key, as other maps do; `get` does not.
    fn index(&self, key: &Q) -> &V {
        &self.entries()[self.find(key).unwrap_or(self.len())].1
    }
}
