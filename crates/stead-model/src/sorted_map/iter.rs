//! Iteration over a sorted map, and maps from iterators.

use std::sync::Arc;
use std::{slice, vec};

use super::SortedMap;

/// The entries of a map, in the order of their keys.
pub struct Iter<'a, K, V>(pub(super) slice::Iter<'a, (K, V)>);

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter(self.0.clone())
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

/// The entries of a map, with values that can be changed.
pub struct IterMut<'a, K, V>(slice::IterMut<'a, (K, V)>);

impl<'a, K, V> Iterator for IterMut<'a, K, V> {
    type Item = (&'a K, &'a mut V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (&*key, value))
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, K: Ord + Clone, V: Clone> IntoIterator for &'a mut SortedMap<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        IterMut(self.entries_mut().iter_mut())
    }
}

impl<K: Clone, V: Clone> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    /// Moves the entries out of the map, or copies them if another map shares them.
    fn into_iter(self) -> Self::IntoIter {
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

impl<Q: Into<K>, K: Ord, V> FromIterator<(Q, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (Q, V)>>(entries: I) -> Self {
        SortedMap::from_entries(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<Q: Into<K>, K: Ord, V, const N: usize> From<[(Q, V); N]> for SortedMap<K, V> {
    fn from(entries: [(Q, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<Q: Into<K>, K: Ord + Clone, V: Clone> Extend<(Q, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (Q, V)>>(&mut self, entries: I) {
        let mut entries = entries.into_iter();
        // Single insertions move the entries behind them; many are sorted in together.
        for (key, value) in entries.by_ref().take(4) {
            self.insert(key, value);
        }
        let mut more = entries.map(|(key, value)| (key.into(), value)).peekable();
        if more.peek().is_some() {
            let all = std::mem::take(self).into_iter().chain(more).collect();
            *self = SortedMap::from_entries(all);
        }
    }
}
